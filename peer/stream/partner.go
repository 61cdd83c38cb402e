package stream

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"golang.org/x/time/rate"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/steal"
)

// A partner is one peer with which this one talks: a control stream and a bulk stream out, two for what jobs share, the
// same in, each opened when it is wanted.
type partner struct {
	t    *Transport
	id   peer.ID
	name steal.PeerID

	control   outbox
	bulk      bulkbox
	shared    outbox
	pieces    outbox
	inControl turns
	inBulk    turns
	inShared  turns
	inPieces  turns
	way       way
	used      atomic.Int64  // when something was last sent or received, by the transport's clock
	memory    atomic.Int64  // bytes of long results that are being received from it
	handing   *rate.Limiter // bytes of what it hands over
	readers   atomic.Int32
}

// errGone says that a record has just been forgotten; the caller gets a new one.
var errGone = errors.New("gone")

func newPartner(t *Transport, id peer.ID, name steal.PeerID) *partner {
	p := &partner{t: t, id: id, name: name, handing: rate.NewLimiter(handedRate, handedAtOnce)}
	p.control = newOutbox(wire.StealProtocol, t.cfg.QueueMessages, t.cfg.QueueBytes)
	p.shared = newOutbox(wire.SharedProtocol, t.cfg.QueueMessages, t.cfg.QueueBytes)
	p.pieces = newOutbox(wire.PiecesProtocol, t.cfg.QueueMessages, t.cfg.PiecesBytes)
	p.bulk.wake = make(chan struct{}, 1)
	p.use()
	return p
}

// wide is asked anew each time: where a peer is may become known later.
func (p *partner) wide() bool { return p.t.cfg.Wide != nil && p.t.cfg.Wide(p.name) }

func (p *partner) use() { p.used.Store(p.t.clock()) }

func (p *partner) idle() time.Duration { return time.Duration(p.t.clock() - p.used.Load()) }

// outboxes are those of the streams that carry messages whole.
func (p *partner) outboxes() [3]*outbox { return [...]*outbox{&p.control, &p.shared, &p.pieces} }

// retire asks the writers to close their streams when they have nothing to write.
func (p *partner) retire() {
	for _, o := range p.outboxes() {
		o.retireWhenEmpty()
	}
	p.bulk.retireWhenEmpty()
}

// writes says whether it has a stream from us, or is to have one.
func (p *partner) writes() bool {
	defer p.lock()()
	return p.writing()
}

// lock locks all that waits for it.
func (p *partner) lock() (unlock func()) {
	for _, o := range p.outboxes() {
		o.mu.Lock()
	}
	p.bulk.mu.Lock()
	return func() {
		p.bulk.mu.Unlock()
		for _, o := range p.outboxes() {
			o.mu.Unlock()
		}
	}
}

func (p *partner) writing() bool {
	return p.control.running || p.shared.running || p.pieces.running || p.bulk.running
}

// end marks the record as gone if nothing is going on: no writer, no reader, nothing queued.
func (p *partner) end() bool {
	defer p.lock()()
	if p.writing() || p.readers.Load() > 0 {
		return false
	}
	for _, o := range p.outboxes() {
		o.gone = true
	}
	p.bulk.gone = true
	return true
}
