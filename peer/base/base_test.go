package base

import (
	"context"
	"log/slog"
	"testing"
	"time"
)

// What ends a peer has its goroutines told first, does what only then can be done, and waits for them.
func TestEnd(t *testing.T) {
	b := New(slog.New(slog.DiscardHandler), time.Now, time.Second)
	let, gone := make(chan struct{}), false
	b.Spawn(func(ctx context.Context) {
		<-ctx.Done()
		<-let
		gone = true
	})
	b.End(func() {
		if b.Ctx.Err() == nil {
			t.Error("it is not told")
		}
		close(let)
	})
	if !gone {
		t.Error("a goroutine is left")
	}
}
