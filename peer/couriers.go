package peer

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	lp2p "github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer/library"
)

// Messages about modules go to each member on a stream of their own, one way, in order, and away from the streams
// of the steal protocol, so that no steal waits behind a module. A message may be lost: what is wanted is asked for
// again.

const (
	moduleProtocol = protocol.ID("/satin/module/1")
	// courierQueue is how many messages may wait for one member: four windows of pieces.
	courierQueue = 256
	// maxCouriers bounds the members that are written to at a time.
	maxCouriers = 256
	// courierIdle is how long a stream stays open without a message, courierTime how long one message may take.
	courierIdle = 30 * time.Second
	courierTime = 20 * time.Second
	// maxCouriersFrom bounds the streams of one member.
	maxCouriersFrom = 4
)

// couriers are the streams to others.
type couriers struct {
	*base
	net    lp2p.Host
	failed func(to peer.ID, m []byte) // a message was certainly not delivered

	mu sync.Mutex
	to map[peer.ID]chan []byte
}

func newCouriers(b *base, net lp2p.Host, failed func(peer.ID, []byte)) *couriers {
	return &couriers{base: b, net: net, failed: failed, to: map[peer.ID]chan []byte{}}
}

// send sends a message, or loses it.
func (c *couriers) send(to library.PeerID, m []byte) {
	id, err := peer.Decode(string(to))
	if err != nil || c.ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	queue := c.to[id]
	if queue == nil {
		if len(c.to) >= maxCouriers {
			return
		}
		queue = make(chan []byte, courierQueue)
		c.to[id] = queue
		c.spawn(func(ctx context.Context) { c.run(ctx, id, queue) })
	}
	select {
	case queue <- m:
	default:
	}
}

// run writes one member's messages until there are none for a while, or the stream breaks. Its queue is taken out
// of the table with the mutex held, so that what is sent later finds another one, and what was sent before is
// answered for.
func (c *couriers) run(ctx context.Context, to peer.ID, queue chan []byte) {
	var s network.Stream
	var err error
	var m []byte
	for err == nil {
		if m = c.next(ctx, to, queue); m == nil {
			break
		}
		if s == nil {
			opening, cancel := context.WithTimeout(ctx, courierTime)
			s, err = c.net.NewStream(network.WithAllowLimitedConn(opening, string(moduleProtocol)), to, moduleProtocol)
			cancel()
		}
		if err == nil {
			err = s.SetWriteDeadline(c.now().Add(courierTime))
		}
		if err == nil {
			err = wire.WriteFrame(s, m, library.MaxMessage)
		}
	}
	if err == nil {
		if s != nil {
			_ = s.Close()
		}
		return
	}
	c.log.Debug("messages about modules not delivered", "peer", to, "error", err)
	if s != nil {
		_ = s.Reset()
	}
	c.mu.Lock()
	delete(c.to, to)
	c.mu.Unlock()
	for m != nil {
		c.failed(to, m)
		select {
		case m = <-queue:
		default:
			m = nil
		}
	}
}

// next waits for a message; nil if there has been none for long, and then the queue is out of the table.
func (c *couriers) next(ctx context.Context, to peer.ID, queue chan []byte) []byte {
	timer := time.NewTimer(courierIdle)
	defer timer.Stop()
	select {
	case m := <-queue:
		return m
	case <-timer.C:
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case m := <-queue:
		if ctx.Err() == nil {
			return m
		}
	default:
	}
	delete(c.to, to)
	return nil
}

// serveCourier takes in what members send.
func (x *switchboard) serveCourier(received func(from peer.ID, m []byte) error) {
	var mu sync.Mutex
	open := map[peer.ID]int{}
	x.net.SetStreamHandler(moduleProtocol, func(s network.Stream) {
		from := s.Conn().RemotePeer()
		mu.Lock()
		ok := open[from] < maxCouriersFrom && x.admitted(from)
		if ok {
			open[from]++
		}
		mu.Unlock()
		if !ok {
			_ = s.Reset()
			return
		}
		err := receive(s, x.now, func(m []byte) error { return received(from, m) })
		mu.Lock()
		if open[from]--; open[from] == 0 {
			delete(open, from)
		}
		mu.Unlock()
		if !errors.Is(err, io.EOF) {
			x.log.Debug("a stream about modules ended", "peer", from, "error", err)
		}
		_ = s.Reset() // nothing is sent back; after the end it does nothing
	})
}

// receive reads messages until the stream ends, which is an error.
func receive(s network.Stream, now func() time.Time, received func([]byte) error) error {
	for {
		if err := s.SetReadDeadline(now().Add(2 * courierIdle)); err != nil {
			return err
		}
		m, err := wire.ReadFrame(s, nil, library.MaxMessage)
		if err != nil {
			return err
		}
		if err := received(m); err != nil {
			return err
		}
	}
}
