package stream

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/satin-peer/satin/internal/wire"
)

// turns keeps the messages of one sender in order across its streams. A sender uses one stream of a kind at a
// time and numbers them, but their handlers are goroutines that begin when they like. The rules, for a stream
// N that comes while stream P is the last one that came:
//
//  1. P is of the same life and has a higher number: N is stale. Its sender had given it up before it opened P. It is
//     reset unread; what was in it is lost, which messages may be.
//  2. P is of another life: the sender's process has started again and nothing of P matters. P is reset, and
//     N waits until P's reader has returned from its handler.
//  3. Otherwise N waits until P's reader has ended: at the end that its sender has made, or at a reset. If that does
//     not come within settleFor (its connection died and nobody knows yet), P is reset.
//
// A reader that waits has not begun, so there is always at most one that reads, and the streams are read in
// the order of their numbers. What was rejected: to let a new stream replace the old at once. The old
// stream's last frames, sent before, are then delivered after the new one's first, or never, although its
// sender closed it in an orderly way.
type turns struct {
	mu      sync.Mutex
	last    *turn
	waiting int
}

type turn struct {
	opening wire.Opening
	stream  network.Stream
	done    chan struct{}
}

const (
	settleFor       = 2 * time.Second
	maxTurnsWaiting = 4
)

var (
	errStale        = errors.New("a later stream has come already")
	errTurnsWaiting = errors.New("too many streams wait for the one before them")
)

// enter waits for the stream's turn. The caller calls leave when it gets one.
func (q *turns) enter(ctx context.Context, s network.Stream, o wire.Opening) (*turn, error) {
	q.mu.Lock()
	before := q.last
	if before != nil && before.opening.Life == o.Life && before.opening.Serial >= o.Serial {
		q.mu.Unlock()
		return nil, errStale
	}
	if q.waiting >= maxTurnsWaiting {
		q.mu.Unlock()
		return nil, errTurnsWaiting
	}
	mine := &turn{opening: o, stream: s, done: make(chan struct{})}
	q.last = mine
	q.waiting++
	q.mu.Unlock()
	err := wait(ctx, before, o)
	q.mu.Lock()
	q.waiting--
	q.mu.Unlock()
	if err != nil {
		close(mine.done)
		return nil, err
	}
	return mine, nil
}

func wait(ctx context.Context, before *turn, o wire.Opening) error {
	if before == nil {
		return nil
	}
	settle := time.NewTimer(settleFor)
	defer settle.Stop()
	if before.opening.Life == o.Life {
		select {
		case <-before.done:
			return nil
		case <-settle.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	_ = before.stream.Reset()
	select {
	case <-before.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leave ends the turn: the reader has returned.
func (t *turn) leave() { close(t.done) }
