package switchboard

import (
	"context"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/wire"
)

// A Transit counts what is in memory here because it is on its way to other members, or from them: they decide how
// slowly. One has so much at a time, or one thing that is larger, if it has nothing else on its way; all have so
// much of what is not larger, and so much of what is. Whoever finds no room is not waited for: it asks somebody
// else, or again.
type Transit struct {
	mu    sync.Mutex
	small int // bytes of what is not larger than transitPart
	large int // and of what is
	of    map[peer.ID]int
}

// AtOnce is how many members may have as much on its way here as one may.
const AtOnce = transitSmall / transitPart

const (
	transitPart  = wire.MaxValue       // of one member
	transitSmall = 4 * transitPart     // of all
	transitLarge = 2 * wire.MaxOutcome // of all
	transitFree  = 64 << 10            // what is not counted: as much as a stream holds anyway
)

// Enter takes room for so many bytes; ok says that there is, and leave gives it back.
func (t *Transit) Enter(who peer.ID, n int) (leave func(), ok bool) {
	if n <= transitFree {
		return func() {}, true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	all, most := &t.small, transitSmall
	if n > transitPart {
		all, most = &t.large, transitLarge
	}
	if has := t.of[who]; *all+n > most || has > 0 && has+n > transitPart {
		return nil, false
	}
	if t.of == nil {
		t.of = map[peer.ID]int{}
	}
	t.of[who] += n
	*all += n
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		*all -= n
		if t.of[who] -= n; t.of[who] == 0 {
			delete(t.of, who)
		}
	}, true
}

// Await is Enter for what can be had nowhere else: it waits until there is room.
func (t *Transit) Await(ctx context.Context, who peer.ID, n int) (leave func(), err error) {
	const every = 20 * time.Millisecond
	for {
		if leave, ok := t.Enter(who, n); ok {
			return leave, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(every):
		}
	}
}
