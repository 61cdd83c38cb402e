package stream

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/steal"
)

// A Transport sends and receives messages for one peer. See the package comment.
type Transport struct {
	net     host.Host
	cfg     Config
	handler Handler
	self    steal.PeerID
	life    uint64 // of this transport, for wire.Opening
	began   time.Time
	// of the streams that it opened; not the partner's, whose record may be forgotten and made again
	serial   atomic.Uint64
	ctx      context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup
	dials    dials
	offences offences
	late     laggards
	failures failures
	count    counters
	memory   atomic.Int64 // bytes of long results that are being received

	mu       sync.RWMutex
	partners map[steal.PeerID]*partner

	// entering is taken behind any other lock, as by a Send that finds no writer, and mu before those of partners.
	entering sync.RWMutex
	closed   bool
}

// New starts a transport on n: from now on streams of our protocols are accepted. Close ends it; n stays the
// caller's. It panics if a function of h is missing.
func New(n host.Host, cfg Config, h Handler) *Transport {
	if h.Received == nil || h.Failed == nil || (h.Shared == nil) != (h.SharedFailed == nil) {
		panic("stream: a Handler needs both functions, and both or none of those for what is shared")
	}
	cfg.setDefaults()
	if cfg.Dial == nil {
		cfg.Dial = func(ctx context.Context, id peer.ID) error { return n.Connect(ctx, peer.AddrInfo{ID: id}) }
	}
	t := &Transport{net: n, cfg: cfg, handler: h, self: steal.PeerID(n.ID().String()), life: rand.Uint64(),
		began: time.Now(), partners: map[steal.PeerID]*partner{}}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.dials.init(cfg)
	t.failures.wake = make(chan struct{}, 1)
	t.running.Go(t.reportFailures)
	t.running.Go(t.tidyUp)
	n.SetStreamHandler(wire.StealProtocol, func(s network.Stream) { t.accept(s, (*partner).readControl) })
	n.SetStreamHandler(wire.BulkProtocol, func(s network.Stream) { t.accept(s, (*partner).readBulk) })
	if h.Shared != nil {
		n.SetStreamHandler(wire.SharedProtocol, func(s network.Stream) {
			t.accept(s, func(p *partner, s network.Stream) { p.readShared(s, &p.inShared, false) })
		})
		n.SetStreamHandler(wire.PiecesProtocol, func(s network.Stream) {
			t.accept(s, func(p *partner, s network.Stream) { p.readShared(s, &p.inPieces, true) })
		})
	}
	return t
}

// Send sends m to m.To.Peer, at once if nothing is in front of it. It does not wait. m must not be changed any more.
func (t *Transport) Send(m *steal.Message) {
	if err := t.send(m); err != nil {
		t.fail(m, err)
	}
}

func (t *Transport) send(m *steal.Message) error {
	for {
		p, err := t.partner(m.To.Peer)
		if err != nil {
			return err
		}
		if body := longBody(m); len(body) > t.cfg.BulkFrom {
			err = p.bulk.add(p, m, body)
		} else {
			err = p.control.add(p, letter{m: m})
		}
		if err != errGone {
			return err
		}
	}
}

// partner finds or makes the record of a peer.
func (t *Transport) partner(name steal.PeerID) (*partner, error) {
	t.mu.RLock()
	p := t.partners[name]
	t.mu.RUnlock()
	switch {
	case t.ctx.Err() != nil:
		return nil, ErrClosed
	case p != nil && t.offences.refuses(p.id):
		return nil, ErrRefused
	case p != nil:
		return p, nil
	}
	id, err := peer.Decode(string(name))
	if err != nil || id.String() != string(name) {
		return nil, fmt.Errorf("%w: %.100q is no peer ID in its usual form", ErrAddress, name)
	}
	return t.admit(id, 0)
}

// admit finds the record of a peer, or makes it if there is room. It counts so many readers in at once,
// before the record can be forgotten again.
func (t *Transport) admit(id peer.ID, readers int32) (*partner, error) {
	name := steal.PeerID(id.String())
	switch {
	case id == t.net.ID():
		return nil, fmt.Errorf("%w: it is our own address", ErrAddress)
	case t.offences.refuses(id):
		return nil, ErrRefused
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ctx.Err() != nil {
		return nil, ErrClosed
	}
	if p := t.partners[name]; p != nil {
		p.readers.Add(readers)
		return p, nil
	}
	if len(t.partners) >= t.cfg.MaxPartners && !t.dropIdle() {
		return nil, ErrTooMany
	}
	p := newPartner(t, id, name)
	p.readers.Add(readers)
	t.partners[name] = p
	return p, nil
}

// dropIdle forgets one partner with which nothing is going on. t.mu is held.
func (t *Transport) dropIdle() bool {
	for name, p := range t.partners {
		if p.end() {
			delete(t.partners, name)
			return true
		}
	}
	return false
}

// clock is the time of this transport, in ns. That on the wall may be set back or forward.
func (t *Transport) clock() int64 { return int64(time.Since(t.began)) }

// everyone is a snapshot of the partners.
func (t *Transport) everyone() []*partner {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Collect(maps.Values(t.partners))
}

// accept is the handler of inbound streams.
func (t *Transport) accept(s network.Stream, read func(*partner, network.Stream)) {
	id := s.Conn().RemotePeer()
	if t.cfg.Admitted != nil && !t.cfg.Admitted(id) {
		t.count.refused.Add(1)
		_ = s.Reset()
		return
	}
	if !t.enter() {
		_ = s.Reset()
		return
	}
	defer t.running.Done()
	p, err := t.admit(id, 1)
	if err != nil {
		t.count.refused.Add(1)
		_ = s.Reset()
		return
	}
	defer p.readers.Add(-1)
	stop := context.AfterFunc(t.ctx, func() { _ = s.Reset() })
	defer stop()
	read(p, s)
}

// enter counts a goroutine that Close has to wait for; false if it is too late to begin.
func (t *Transport) enter() bool {
	t.entering.RLock()
	defer t.entering.RUnlock()
	if !t.closed {
		t.running.Add(1)
	}
	return !t.closed
}

// tidyUp closes streams that carry nothing, and forgets partners that have gone and offences of long ago.
func (t *Transport) tidyUp() {
	tick := time.NewTicker(max(t.cfg.IdleAfter/4, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-t.ctx.Done():
			return
		case now := <-tick.C:
			for _, p := range t.everyone() {
				if p.idle() >= t.cfg.IdleAfter {
					p.retire()
				}
			}
			t.mu.Lock()
			for name, p := range t.partners {
				if p.idle() >= t.cfg.IdleAfter && p.end() {
					delete(t.partners, name)
				}
			}
			t.mu.Unlock()
			t.offences.forget(now, t.cfg)
		}
	}
}

// Flush waits until everything that was queued by earlier Sends has been written or has failed: a goodbye
// before Close. Long results count as written when they are acknowledged. It returns ctx's error if that
// comes first.
func (t *Transport) Flush(ctx context.Context) error {
	for _, p := range t.everyone() {
		for _, empty := range []<-chan struct{}{p.control.whenEmpty(), p.shared.whenEmpty(), p.bulk.whenEmpty()} {
			select {
			case <-empty:
			case <-ctx.Done():
				return ctx.Err()
			case <-t.ctx.Done():
				return ErrClosed
			}
		}
	}
	return nil
}

// Close stops the transport: nothing more is accepted, what is queued is dropped without a word, and streams
// are closed. It waits for calls of the handler to return, so it must not be called from one. The error is
// always nil.
func (t *Transport) Close() error {
	t.net.RemoveStreamHandler(wire.StealProtocol)
	t.net.RemoveStreamHandler(wire.BulkProtocol)
	t.net.RemoveStreamHandler(wire.SharedProtocol)
	t.net.RemoveStreamHandler(wire.PiecesProtocol)
	t.entering.Lock()
	t.closed = true
	t.entering.Unlock()
	t.cancel()
	for _, p := range t.everyone() {
		for _, o := range p.outboxes() {
			poke(o.wake)
		}
	}
	t.running.Wait()
	return nil
}

// Partners are the peers with which there is a stream in use or wanted, in the order of their names.
func (t *Transport) Partners() []steal.PeerID {
	var all []steal.PeerID
	for _, p := range t.everyone() {
		all = append(all, p.name)
	}
	slices.Sort(all)
	return all
}
