// Package base is what every part of a peer stands on: its log, its clock, and goroutines that end with it.
package base

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/satin-peer/satin/peer/cabinet"
)

// A Base is one peer's. Its parts embed it; what it has is not changed once they work.
type Base struct {
	Log *slog.Logger
	// Now is the only clock of the parts of a peer besides their tickers.
	Now func() time.Time
	// Every is how often a peer's parts look after what they have: see Config.Every of package peer.
	Every time.Duration
	// Medium is what the files of runs are changed on.
	Medium cabinet.Medium

	Ctx    context.Context // ends when the peer is closed
	Cancel context.CancelFunc
	Tasks  sync.WaitGroup // what Spawn has begun
}

// New makes one that works on the disk.
func New(log *slog.Logger, now func() time.Time, every time.Duration) *Base {
	b := &Base{Log: log, Now: now, Every: every, Medium: cabinet.OnDisk{}}
	b.Ctx, b.Cancel = context.WithCancel(context.Background())
	return b
}

// OpenCabinet opens one of this peer's: see [cabinet.Open].
func OpenCabinet(b *Base, dir, kind string, most int) (*cabinet.Cabinet, error) {
	return cabinet.Open(b.Medium, b.Now, dir, kind, most)
}

// Spawn runs f on a goroutine that End waits for; ctx ends when the peer is closed.
func (b *Base) Spawn(f func(ctx context.Context)) {
	b.Tasks.Add(1)
	go func() {
		defer b.Tasks.Done()
		f(b.Ctx)
	}()
}

// End ends all goroutines and waits for them; besides is done in between.
func (b *Base) End(besides func()) {
	b.Cancel()
	besides()
	b.Tasks.Wait()
}
