package pipe

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/wire"
)

// Bounds on what waits, in bytes, and one message more; and on a message, besides the shared value that it brings.
const (
	maxUnwritten = 256 << 20
	maxUnread    = 64 << 20 // of memory
	maxMessage   = 64<<20 + wire.MaxOutcome
)

// bounds are these, or smaller ones of a test.
type bounds struct{ unwritten, unread, message int }

// An Engine is the one at the other end of a pair of pipes.
type Engine struct {
	r    io.ReadCloser
	w    io.WriteCloser
	try  func([]byte) int  // writes as many bytes as can be without waiting
	why  func(error) error // why the engine is gone, given how the pipe ended
	bell chan struct{}
	most bounds
	wg   sync.WaitGroup

	stock stock // of whoever drives the engine

	mu        sync.Mutex
	changed   *sync.Cond // something below
	unwritten queue      // orders; the first may have been begun
	writing   bool       // some are being written
	events    []port.Event
	unread    int   // memory that they take
	ended     error // how the pipe ended
	told      bool  // that the engine died
	closed    bool
}

// New makes an engine of what is at the other end of r and w, which it closes. Shared is how many bytes the largest
// shared value may have. When the pipe has ended, why is asked for the reason, which it may wait for; nil: what the
// pipe says.
func New(r io.ReadCloser, w io.WriteCloser, shared int, why func(error) error) *Engine {
	return newEngine(r, w, why, bounds{maxUnwritten + shared, maxUnread, maxMessage + shared})
}

func newEngine(r io.ReadCloser, w io.WriteCloser, why func(error) error, most bounds) *Engine {
	if why == nil {
		why = func(err error) error { return err }
	}
	e := &Engine{r: r, w: w, try: tries(w), why: why, most: most, bell: make(chan struct{}, 1)}
	e.changed = sync.NewCond(&e.mu)
	e.wg.Go(e.write)
	e.wg.Go(e.read)
	return e
}

// Do takes an order: see port.Engine.
func (e *Engine) Do(o *port.Order) {
	if e.stock.order(o) {
		e.tell(o)
	}
	e.tellOut()
}

// Answer tells the engine what came of something that no driver has to do with. Any goroutine may call it.
func (e *Engine) Answer(o *port.Order) { e.tell(o) }

// tellOut tells the engine what the stock wants.
func (e *Engine) tellOut() {
	for i := range e.stock.out {
		e.tell(&e.stock.out[i])
	}
	e.stock.out = e.stock.out[:0]
}

// tell tells the engine an order. It is written at once if the pipe has room, else queued.
func (e *Engine) tell(o *port.Order) {
	b, err := encodeOrder(o)
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.ended != nil:
		return
	case err != nil:
		e.end(fmt.Errorf("an order that cannot be encoded: %w", err))
		return
	case e.unwritten.bytes > e.most.unwritten:
		e.end(errors.New("the engine does not take its orders"))
		return
	case e.unwritten.drop(o):
		return
	}
	begun := false
	if e.unwritten.list.Len() == 0 && !e.writing {
		n := e.try(b)
		if b, begun = b[n:], n > 0; len(b) == 0 {
			return
		}
	}
	e.unwritten.add(o, b, begun)
	e.changed.Broadcast()
}

// Bell says when to Poll: see port.Live.
func (e *Engine) Bell() <-chan struct{} { return e.bell }

// Poll gives what has come: see port.Live.
func (e *Engine) Poll() ([]port.Event, time.Duration) {
	events := e.stock.events(e.heard())
	e.tellOut()
	return events, 0
}

// maxHeard is how many events are heard at once: a million of some kind keep a driver for minutes from all others.
const maxHeard = 1024

// heard gives what has come, or as much of it as is heard at once; what waits counts until all of it was heard.
func (e *Engine) heard() []port.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := min(len(e.events), maxHeard)
	events := e.events[:n:n]
	if e.events = e.events[n:]; len(e.events) > 0 {
		e.ring()
	} else {
		e.events, e.unread = nil, 0
	}
	for i := range events {
		if events[i].Kind == port.Made && events[i].Shared.Recipe != nil {
			e.unwritten.made(events[i].Shared.Recipe.Digest())
		}
	}
	if e.ended != nil && !e.told && e.events == nil {
		e.told = true
		events = append(events, port.Event{Kind: port.Died, Text: e.ended.Error(),
			Good: errors.Is(e.ended, port.ErrByJobs)})
	}
	e.changed.Broadcast()
	return events
}

// Close closes the pipes, and waits until nothing is written or read any more.
func (e *Engine) Close() {
	e.mu.Lock()
	e.closed = true
	e.end(io.ErrClosedPipe)
	e.mu.Unlock()
	e.wg.Wait()
}

// end closes the pipes and remembers why; only the first time counts. The mutex is held.
func (e *Engine) end(err error) {
	if e.ended != nil {
		return
	}
	e.ended = err
	e.unwritten = queue{}
	e.changed.Broadcast()
	_ = e.w.Close() // it is over anyway
	_ = e.r.Close()
	e.ring()
}

func (e *Engine) ring() {
	select {
	case e.bell <- struct{}{}:
	default:
	}
}

// write writes the orders that had to be queued.
func (e *Engine) write() {
	out := bufio.NewWriter(e.w)
	for {
		e.mu.Lock()
		e.writing = false
		for e.unwritten.list.Len() == 0 && e.ended == nil {
			e.changed.Wait()
		}
		list := e.unwritten.next()
		e.writing = true
		over := e.ended != nil
		e.mu.Unlock()
		if over {
			return
		}
		var err error
		for _, b := range list {
			if err == nil {
				_, err = out.Write(b)
			}
		}
		if err == nil {
			err = out.Flush()
		}
		if err != nil {
			return // why is for the reader to learn: what the engine told before it went is still there
		}
	}
}

// read reads events as they come.
func (e *Engine) read() {
	in := newReader(e.r, e.most.message)
	for {
		b, err := in.next()
		var ev port.Event
		if err == nil {
			ev, err = decodeEvent(b)
		}
		if err != nil {
			e.mu.Lock()
			closed := e.closed
			e.mu.Unlock()
			if !closed {
				err = e.why(err)
			}
			e.mu.Lock()
			e.end(err)
			e.mu.Unlock()
			return
		}
		e.mu.Lock()
		for e.unread > e.most.unread && e.ended == nil {
			e.changed.Wait()
		}
		e.events = append(e.events, ev)
		e.unread += memory(&ev, len(b))
		e.ring()
		e.mu.Unlock()
	}
}

// never writes nothing: everything is left to the goroutine that may wait.
func never([]byte) int { return 0 }
