package stream

import (
	"fmt"
	"math"
	"sync"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/steal"
)

// A bulkbox is what waits for a partner's bulk stream. Its writer runs, as that of the control stream, from
// the first long result until the stream is retired.
type bulkbox struct {
	mu      sync.Mutex
	waiting []*transfer // in the order of their Sends
	known   map[transferKey]bool
	bytes   int // of all that are known
	running bool
	lost    bool // no stream could be opened the last time
	retire  bool
	gone    bool
	empty   []chan struct{}
	wake    chan struct{}
}

// A transfer is one long result on its way.
type transfer struct {
	m     *steal.Message
	key   transferKey
	head  []byte // the message without its outcome, encoded
	body  []byte
	tries int

	// On the stream of this try, by the bulk writer only:
	id    uint32
	sent  int // bytes of the body written
	acked int
}

// add queues a long result, unless the same is on its way.
func (b *bulkbox) add(p *partner, m *steal.Message, body []byte) error {
	if len(body) > wire.MaxValue {
		return fmt.Errorf("%w: an outcome of %d bytes, at most %d may leave a peer", ErrTooLarge, len(body),
			wire.MaxValue)
	}
	head, err := wire.Control().Encode(withBody(m, nil))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	t := &transfer{m: m, key: keyOf(m), head: head, body: body}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.gone:
		return errGone
	case b.known[t.key]:
		p.t.count.bulkRepeated.Add(1)
		return nil
	case b.bytes > 0 && b.bytes+len(body) > p.t.cfg.BulkQueue:
		return ErrQueueFull
	}
	if !b.running || b.lost {
		if err := p.closedTo(); err != nil {
			return err
		}
	}
	if !b.running {
		if !p.t.enter() {
			return ErrClosed
		}
		b.running = true
		go p.writeBulk()
	}
	if b.known == nil {
		b.known = map[transferKey]bool{}
	}
	b.known[t.key] = true
	b.bytes += len(body)
	b.waiting = append(b.waiting, t)
	b.retire = false
	poke(b.wake)
	return nil
}

// take moves up to n waiting transfers out.
func (b *bulkbox) take(n int) []*transfer {
	b.mu.Lock()
	defer b.mu.Unlock()
	n = min(n, len(b.waiting))
	taken := b.waiting[:n:n]
	b.waiting = b.waiting[n:]
	return taken
}

// forget ends the account of a transfer that is over.
func (b *bulkbox) forget(t *transfer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.known, t.key)
	b.bytes -= len(t.body)
	if len(b.known) == 0 {
		b.waiting = nil
		b.tellEmpty()
	}
}

func (b *bulkbox) tellEmpty() {
	for _, c := range b.empty {
		close(c)
	}
	b.empty = nil
}

func (b *bulkbox) setLost(lost bool) {
	b.mu.Lock()
	b.lost = lost
	b.mu.Unlock()
}

// retired says whether the stream is to be closed.
func (b *bulkbox) retired() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.retire && len(b.known) == 0
}

// ends says whether the writer is to end, and if so that it has.
func (b *bulkbox) ends(closed bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if closed || b.retire && len(b.known) == 0 {
		b.running = false
		b.tellEmpty()
	}
	return !b.running
}

func (b *bulkbox) whenEmpty() <-chan struct{} {
	c := make(chan struct{})
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.known) == 0 {
		close(c)
	} else {
		b.empty = append(b.empty, c)
	}
	return c
}

func (b *bulkbox) retireWhenEmpty() {
	b.mu.Lock()
	b.retire = true
	b.mu.Unlock()
	poke(b.wake)
}

// writeBulk is the partner's bulk writer: it has a stream while there are transfers, and takes another when it broke.
func (p *partner) writeBulk() {
	defer p.t.running.Done()
	var again []*transfer // from a stream that broke
	for {
		if len(again) == 0 {
			again = p.bulk.take(p.t.cfg.BulkActive)
		}
		if len(again) == 0 {
			if p.bulk.ends(p.t.ctx.Err() != nil) {
				return
			}
			select {
			case <-p.bulk.wake:
			case <-p.t.ctx.Done():
			}
			continue
		}
		again = p.bulkStream(again)
		if p.t.ctx.Err() != nil {
			p.bulk.ends(true)
			return
		}
	}
}

// bulkStream sends transfers over one stream until it is to be retired, or breaks; then it returns those that
// are to be tried again.
func (p *partner) bulkStream(first []*transfer) (again []*transfer) {
	s, err := p.open(wire.BulkProtocol)
	if err != nil {
		if p.t.ctx.Err() == nil {
			p.way.failed(p.t.cfg, err)
		}
		p.bulk.setLost(true)
		for _, t := range append(first, p.bulk.take(math.MaxInt)...) {
			p.failTransfer(t, err)
		}
		return nil
	}
	p.bulk.setLost(false)
	w := newBulkWriter(p, s, first)
	acks := make(chan struct{})
	go func() {
		defer close(acks)
		w.readAcks()
	}()
	if err = w.run(); err == nil {
		_ = s.Close()
	} else {
		_ = s.Reset()
	}
	close(w.quit)
	<-acks
	for _, t := range w.active {
		t.tries++
		switch {
		case t.sent == len(t.body):
			p.bulk.forget(t) // all of it may have arrived
		case t.tries < 2 && p.t.ctx.Err() == nil:
			again = append(again, t)
		default:
			p.failTransfer(t, err)
		}
	}
	return again
}

func (p *partner) failTransfer(t *transfer, why error) {
	p.bulk.forget(t)
	p.t.fail(t.m, why)
}
