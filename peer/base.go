package peer

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/satin-peer/satin/peer/cabinet"
)

// A base is what every part of a peer stands on: its log, its clock, and goroutines that Close waits for.
type base struct {
	log *slog.Logger
	// now is the only clock of this package besides its tickers.
	now func() time.Time
	// every is Config.Every.
	every time.Duration
	// medium is what the files of runs are changed on.
	medium cabinet.Medium

	ctx    context.Context // ends when the peer is closed
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

func newBase(log *slog.Logger, now func() time.Time, every time.Duration) *base {
	b := &base{log: log, now: now, every: every, medium: cabinet.OnDisk{}}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return b
}

// openCabinet opens one of this peer's: see cabinet.Open.
func openCabinet(b *base, dir, kind string, most int) (*cabinet.Cabinet, error) {
	return cabinet.Open(b.medium, b.now, dir, kind, most)
}

// spawn runs f on a goroutine that Close waits for; ctx ends when the peer is closed.
func (b *base) spawn(f func(ctx context.Context)) {
	b.wg.Add(1)
	go func() {
		defer b.wg.Done()
		f(b.ctx)
	}()
}

// end ends all goroutines and waits for them; besides is done in between.
func (b *base) end(besides func()) {
	b.cancel()
	besides()
	b.wg.Wait()
}
