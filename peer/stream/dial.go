package stream

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/satin-peer/satin/internal/wire"
)

// dials bounds how many dials are under way at once. Near peers and wide ones have turns of their own: a
// steal inside the cluster does not wait for dials that go over a slow link.
type dials struct {
	near, wide chan struct{}
}

func (d *dials) init(cfg Config) {
	d.near = make(chan struct{}, cfg.MaxDials)
	d.wide = make(chan struct{}, cfg.MaxWideDials)
}

// turn waits for one, as long as ctx allows.
func (d *dials) turn(ctx context.Context, wide bool) (done func(), err error) {
	slots := d.near
	if wide {
		slots = d.wide
	}
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%w are being dialed: %w", ErrTooMany, ctx.Err())
	}
}

// A way is what is known about reaching a partner. After a dial that failed, Sends fail at once for a while:
// a dead peer costs one dial now and then, however much there is to say to it.
type way struct {
	mu       sync.Mutex
	failures int
	until    time.Time // no dial before
	why      error
}

func (w *way) closed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failures > 0 && time.Now().Before(w.until) {
		return w.why
	}
	return nil
}

// closedTo says why a stream to the partner is not worth a try now: nil if it is, also when the partner has
// connected to us meanwhile.
func (p *partner) closedTo() error {
	err := p.way.closed()
	if err != nil && p.connected(true) {
		return nil
	}
	return err
}

// connected says whether there is a connection to the partner; relayed counts one through a relay, too.
func (p *partner) connected(relayed bool) bool {
	c := p.t.net.Network().Connectedness(p.id)
	return c == network.Connected || relayed && c == network.Limited
}

// goesByRelay says what of a partner that no hole could be punched to goes through a relay: all but what jobs share,
// which is large and can be had elsewhere. A relay bounds each connection to 4 MiB in ten minutes.
func goesByRelay(protocol protocol.ID) bool { return protocol != wire.PiecesProtocol }

func (w *way) failed(cfg Config, why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	pause := min(cfg.RedialAfter<<min(w.failures, 16), cfg.RedialMax)
	w.failures++
	w.until, w.why = time.Now().Add(pause), why
}

// open says that the peer was heard or reached.
func (w *way) open() {
	w.mu.Lock()
	w.failures = 0
	w.mu.Unlock()
}

// open opens a stream to the partner, connecting to it if need be, within the dial timeout.
func (p *partner) open(protocol protocol.ID) (network.Stream, error) {
	ctx, cancel := context.WithTimeout(p.t.ctx, p.t.cfg.DialTimeout)
	defer cancel()
	if err := p.connect(ctx, goesByRelay(protocol)); err != nil {
		return nil, err
	}
	if goesByRelay(protocol) {
		ctx = network.WithAllowLimitedConn(ctx, "work goes on while no hole is punched")
	}
	var err error
	for range 2 { // one opening in a million fails for no reason found
		var s network.Stream
		if s, err = p.t.net.NewStream(network.WithNoDial(ctx, "connected already"), p.id, protocol); err != nil {
			continue
		}
		deadline, _ := ctx.Deadline()
		_ = s.SetWriteDeadline(deadline)
		if _, err = s.Write(wire.Opening{Life: p.t.life, Serial: p.t.serial.Add(1)}.Append(nil)); err != nil {
			_ = s.Reset()
			continue
		}
		p.t.count.opened.Add(1)
		p.way.open()
		return p.t.untilClosed(s), nil
	}
	return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
}

// A mortal stream does not hold Close up: a write that blocks ends then.
type mortal struct {
	network.Stream
	closed  context.Context // of the transport
	release func() bool
}

func (t *Transport) untilClosed(s network.Stream) network.Stream {
	return mortal{s, t.ctx, context.AfterFunc(t.ctx, func() { _ = s.SetWriteDeadline(time.Unix(1, 0)) })}
}

// SetWriteDeadline does not put off the one that Close has set.
func (s mortal) SetWriteDeadline(d time.Time) error {
	err := s.Stream.SetWriteDeadline(d)
	if s.closed.Err() != nil {
		return s.Stream.SetWriteDeadline(time.Unix(1, 0))
	}
	return err
}

func (s mortal) Close() error {
	s.release()
	return s.Stream.Close()
}

func (s mortal) Reset() error {
	s.release()
	return s.Stream.Reset()
}

// connect makes sure that there is a connection, and that it may be used.
func (p *partner) connect(ctx context.Context, relayed bool) error {
	if admitted := p.t.cfg.Admitted; p.connected(relayed) && (admitted == nil || admitted(p.id)) {
		return nil
	}
	wide := p.wide()
	if wide {
		if err := p.t.makeRoomForWide(p); err != nil {
			return err
		}
	}
	done, err := p.t.dials.turn(ctx, wide)
	if err != nil {
		return err
	}
	defer done()
	if err := p.t.cfg.Dial(ctx, p.id); err != nil {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return nil
}

// makeRoomForWide keeps the number of wide-area partners that we have dialed within its bound. The one that
// has been silent for longest goes, if it has been for a while.
func (t *Transport) makeRoomForWide(newcomer *partner) error {
	var idlest *partner
	active := 0
	for _, p := range t.everyone() {
		if p == newcomer || !p.writes() || !p.wide() {
			continue
		}
		active++
		if idlest == nil || p.used.Load() < idlest.used.Load() {
			idlest = p
		}
	}
	if active < t.cfg.MaxWidePartners {
		return nil
	}
	if idlest.idle() < t.cfg.WideIdle {
		return fmt.Errorf("%w behind wide-area links: %d", ErrTooMany, active)
	}
	idlest.retire()
	return nil
}

// unreachable fails the messages of a batch, and all that is queued behind them.
func (p *partner) unreachable(o *outbox, list []queued, why error) {
	if p.t.ctx.Err() != nil {
		return
	}
	p.way.failed(p.t.cfg, why)
	for _, q := range list {
		p.t.lose(q.letter, why)
	}
	for _, q := range o.lose() {
		p.t.lose(q.letter, why)
	}
}
