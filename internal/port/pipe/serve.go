package pipe

import (
	"bufio"
	"errors"
	"io"
	"math"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/port"
)

// Serve has an engine do what comes from r and tells w what happens, until r ends. The error is nil if that
// was between two orders. The engine is closed by whoever opened it.
//
// Whoever reads an order carries it out, and tells at once what came of it: an order to give a job away is answered
// without waking another goroutine. Another one waits for what happens by itself. One of them tells at a time, and
// keeps nobody from carrying out orders meanwhile: jobs may have more and more to be told of, and are paused or aborted
// all the same.
//
// What nobody goes on because of (see waits) is written with the next event that somebody does, or maxWait later: each
// write wakes a process, which costs more than all that it has to read.
func Serve(e port.Live, r io.Reader, w io.Writer) error {
	s := &server{e: e, out: bufio.NewWriterSize(w, 64<<10), timer: time.NewTimer(0)}
	defer s.timer.Stop()
	ended := make(chan error, 1)
	go func() { ended <- s.read(r) }()
	for {
		var err error
		select {
		case <-e.Bell():
			err = s.turn(nil, true)
		case <-s.timer.C:
			err = s.turn(nil, true)
		case err = <-ended:
			if errors.Is(err, io.EOF) {
				return nil
			}
		}
		if err != nil {
			s.mu.Lock()
			s.over = true // whoever reads comes too late
			s.mu.Unlock()
			return err
		}
	}
}

type server struct {
	timer *time.Timer // the engine is to be asked again

	mu      sync.Mutex
	e       port.Live
	telling bool // somebody does
	over    bool

	// Of whoever tells.
	out    *bufio.Writer
	urgent bool      // something in it does not wait
	due    time.Time // when what is in it, and waits, is to be written; zero if nothing is
}

// maxWait is how long an event may wait for company.
const maxWait = 10 * time.Millisecond

// waits says whether an event may wait: outcomes and jobs are safer for it, and nothing else follows.
func waits(k port.EventKind) bool { return k == port.Kept || k == port.Delivered }

// read carries out orders as they come, and tells when no other is there already.
func (s *server) read(r io.Reader) error {
	in := newReader(r, math.MaxInt)
	for {
		b, err := in.next()
		var o *port.Order
		if err == nil {
			o, err = decodeOrder(b)
		}
		if err == nil {
			err = s.turn(o, !in.frames.More())
		}
		if err != nil {
			return err
		}
	}
}

// turn carries out an order, if there is one, and tells all that the engine has to tell; but whoever reads orders, if
// it has much, only the beginning.
func (s *server) turn(o *port.Order, tell bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return io.ErrClosedPipe
	}
	if o != nil {
		s.e.Do(o)
	}
	if !tell || s.telling { // whoever does comes to what the order has brought about
		return nil
	}
	s.telling = true
	polls := math.MaxInt
	if o != nil {
		polls = 2
	}
	again, err := s.tell(polls)
	if s.telling = false; again == 0 {
		again = time.Hour
	}
	s.timer.Reset(again)
	return err
}

// tell writes what the engine tells when it is polled so often, and says when to do so again; 0 is never. The mutex is
// held, but not while events are written.
func (s *server) tell(polls int) (again time.Duration, err error) {
	for ; polls > 0; polls-- {
		events, again := s.e.Poll()
		if len(events) == 0 {
			return s.flush(again)
		}
		s.mu.Unlock()
		err := s.write(events)
		s.mu.Lock()
		switch {
		case err != nil:
			return 0, err
		case s.over:
			return 0, io.ErrClosedPipe
		}
	}
	return 1, nil
}

func (s *server) write(events []port.Event) error {
	for i := range events {
		b, err := frames(&events[i], values(events[i].Shared))
		if err == nil {
			_, err = s.out.Write(b)
		}
		if err != nil {
			return err
		}
		s.urgent = s.urgent || !waits(events[i].Kind)
	}
	return nil
}

// flush has what was told read, unless all of it waits.
func (s *server) flush(again time.Duration) (time.Duration, error) {
	if s.out.Buffered() == 0 {
		s.urgent, s.due = false, time.Time{}
		return again, nil
	}
	now := time.Now()
	if s.due.IsZero() {
		s.due = now.Add(maxWait)
	}
	if wait := s.due.Sub(now); !s.urgent && wait > 0 {
		if again == 0 || wait < again {
			again = wait
		}
		return again, nil
	}
	s.urgent, s.due = false, time.Time{}
	return again, s.out.Flush()
}
