package host

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"golang.org/x/time/rate"
)

// Pacing keeps what the owner of the machine says of its bandwidth: bytes a second to other peers, and from them, over
// all streams of the house's protocols. A stream is paced where it is written and read, so TCP, QUIC and relays are the
// same; libp2p's own protocols, and connections that this peer relays, are not counted.
//
// Each direction is one bucket. What is sent takes its bytes out of the bucket and waits until there are as many. Small
// messages, heartbeats above all, may be ahead of it by so much as comes in pacingAhead: a peer whose line is full of
// results is not taken for dead. As they take their bytes too, the others wait for them, and the bound holds. One peer
// has one piece take its bytes at a time, and one small message, over all its streams: else it would be ahead of all.
type pacing struct {
	up, down *rate.Limiter
	turns    *turns
}

const (
	// pacedPiece is how many bytes are sent or taken at a time; what is more is divided.
	pacedPiece = 16 << 10
	// smallMessage is what may be ahead.
	smallMessage = 4 << 10
	pacingAhead  = 2 * time.Second
)

func newPacing() pacing {
	return pacing{rate.NewLimiter(rate.Inf, pacedPiece), rate.NewLimiter(rate.Inf, pacedPiece),
		&turns{all: map[whose]*turn{}}}
}

// SetBandwidth says how many bytes a second may go to other peers and come from them, from now on; 0: any. Whoever
// waits already goes on waiting for what it was told.
func (h *Host) SetBandwidth(up, down int64) {
	for l, most := range map[*rate.Limiter]int64{h.pacing.up: up, h.pacing.down: down} {
		limit := rate.Limit(most)
		if most <= 0 {
			limit = rate.Inf
		}
		if l.Limit() != limit {
			l.SetLimit(limit)
		}
	}
}

// pace makes a stream keep it.
func (p pacing) pace(s network.Stream) network.Stream {
	ctx, cancel := context.WithCancel(context.Background())
	return &pacedStream{Stream: s, pacing: p, ctx: ctx, cancel: cancel}
}

// A pacedStream is read by one goroutine and written by one at a time, as streams are; deadlines may be set, and it may
// be reset, by others meanwhile, which ends the waiting.
type pacedStream struct {
	network.Stream
	pacing
	ctx    context.Context // ends when the stream is reset
	cancel context.CancelFunc

	mu          sync.Mutex
	read, write time.Time     // deadlines
	moved       chan struct{} // closed when one is set; nil: nobody waits
}

// await takes n bytes, at most pacedPiece, from a bucket, and waits until they may go.
func (s *pacedStream) await(l *rate.Limiter, n int, deadline *time.Time) error {
	small := n <= smallMessage
	mine, leave := s.turns.enter(whose{s.Conn().RemotePeer(), l, small})
	defer leave()
	if err := pause(s, mine, deadline); err != nil {
		return err
	}
	defer func() { mine <- struct{}{} }()
	taken := l.ReserveN(time.Now(), n)
	wait := taken.Delay()
	if small {
		wait -= pacingAhead
	}
	if wait <= 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	err := pause(s, timer.C, deadline)
	if err != nil {
		taken.Cancel()
	}
	return err
}

// pause waits until something is due, or for a deadline or the end of the stream.
func pause[T any](s *pacedStream, due <-chan T, deadline *time.Time) error {
	select {
	case <-due:
		return nil
	default:
	}
	late := time.NewTimer(0)
	defer late.Stop()
	for {
		until, moved := s.until(deadline)
		late.Stop()
		if !until.IsZero() {
			late.Reset(time.Until(until))
		}
		select {
		case <-due:
			return nil
		case <-moved:
		case <-late.C:
			return os.ErrDeadlineExceeded
		case <-s.ctx.Done():
			return network.ErrReset
		}
	}
}

// turns are of those who want one: has it who has taken what is in its channel.
type turns struct {
	mu  sync.Mutex
	all map[whose]*turn
}

type whose struct {
	peer  peer.ID
	of    *rate.Limiter
	small bool
}

type turn struct {
	free   chan struct{}
	wanted int
}

func (t *turns) enter(w whose) (free chan struct{}, leave func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x := t.all[w]
	if x == nil {
		x = &turn{free: make(chan struct{}, 1)}
		x.free <- struct{}{}
		t.all[w] = x
	}
	x.wanted++
	return x.free, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if x.wanted--; x.wanted == 0 {
			delete(t.all, w)
		}
	}
}

// until is a deadline, and a channel that is closed when one is set.
func (s *pacedStream) until(deadline *time.Time) (time.Time, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.moved == nil {
		s.moved = make(chan struct{})
	}
	return *deadline, s.moved
}

func (s *pacedStream) Write(b []byte) (sent int, err error) {
	if s.up.Limit() == rate.Inf {
		return s.Stream.Write(b)
	}
	for {
		piece := b[sent:min(len(b), sent+pacedPiece)]
		if err := s.await(s.up, len(piece), &s.write); err != nil {
			return sent, err
		}
		n, err := s.Stream.Write(piece)
		if sent += n; err != nil || sent == len(b) {
			return sent, err
		}
	}
}

// Read waits after it has read: the other side is held back by the stream's window.
func (s *pacedStream) Read(b []byte) (int, error) {
	if s.down.Limit() == rate.Inf {
		return s.Stream.Read(b)
	}
	n, err := s.Stream.Read(b[:min(len(b), pacedPiece)])
	if n > 0 {
		if late := s.await(s.down, n, &s.read); late != nil {
			return n, late // it was read all the same
		}
	}
	return n, err
}

func (s *pacedStream) Reset() error {
	s.cancel()
	return s.Stream.Reset()
}

func (s *pacedStream) ResetWithError(code network.StreamErrorCode) error {
	s.cancel()
	return s.Stream.ResetWithError(code)
}

func (s *pacedStream) Close() error {
	s.cancel()
	return s.Stream.Close()
}

func (s *pacedStream) SetDeadline(t time.Time) error {
	s.note(t, &s.read, &s.write)
	return s.Stream.SetDeadline(t)
}

func (s *pacedStream) SetReadDeadline(t time.Time) error {
	s.note(t, &s.read)
	return s.Stream.SetReadDeadline(t)
}

func (s *pacedStream) SetWriteDeadline(t time.Time) error {
	s.note(t, &s.write)
	return s.Stream.SetWriteDeadline(t)
}

func (s *pacedStream) note(t time.Time, deadlines ...*time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range deadlines {
		*d = t
	}
	if s.moved != nil {
		close(s.moved)
		s.moved = nil
	}
}
