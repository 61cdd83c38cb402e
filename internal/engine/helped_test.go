package engine_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
)

func init() {
	satin.Register("test.waiter", waiter)
	satin.Register("test.believer", believer)
	satin.Register("test.doomed", doomed)
}

// The pool that waiter runs on, and the workers that run waiter and doomed.
var (
	helpPool         atomic.Pointer[engine.Pool]
	waiting, helping atomic.Pointer[engine.Worker]
)

// waiter waits for a child that another worker runs, and helps that one: there is no third worker to park for.
func waiter(f *satin.Frame, unwinds bool) int {
	waiting.Store(worker(f))
	x := satin.Spawn(f, believer, unwinds)
	for !gates[0].reached.Load() {
		satin.Spawn(f, identity, 1).Get()
	}
	defer helpPool.Load().HideSpares()()
	defer func() { // it unwinds: whatever the believer was given it has time to go on with
		for n := 0; n < 50 && !gates[2].reached.Load(); n++ {
			time.Sleep(time.Millisecond)
		}
	}()
	return x.Get()
}

// believer goes on with whatever comes of a child that another worker runs.
func believer(f *satin.Frame, unwinds bool) int {
	defer gates[2].unwound.Store(true)
	gates[0].reached.Store(true)
	x := satin.Spawn(f, doomed, unwinds)
	for !gates[1].reached.Load() {
		satin.Spawn(f, identity, 1).Get()
	}
	_, _ = x.Try()
	gates[2].reached.Store(true)
	return 0
}

// doomed runs until it is aborted, and then returns anything, or unwinds.
func doomed(f *satin.Frame, unwinds bool) int {
	helping.Store(worker(f))
	gates[1].reached.Store(true)
	for !f.Aborted() || unwinds {
		runtime.Gosched()
		if unwinds {
			satin.Spawn(f, identity, 1).Get()
		}
	}
	return -1
}

// TestHelpOfAborted: a frame that waits for a job helps with a job below that one, and is aborted. Whoever runs the job
// that is waited for hears nothing of the one below it any more: neither what that returned when it saw the abort, nor
// that it was aborted, which its own spawner was not.
func TestHelpOfAborted(t *testing.T) {
	p := testPool(t, 2)
	p.AddWorkers(engine.MaxForLocal)
	helpPool.Store(p)
	for _, unwinds := range []bool{false, true} {
		resetGates()
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for !gates[1].reached.Load() && t.Context().Err() == nil {
				runtime.Gosched()
			}
			cancel()
		}()
		if _, err := Run(ctx, p, waiter, unwinds); err != context.Canceled {
			t.Fatal(err)
		}
		until(t, "the job that was waited for ends", gates[2].unwound.Load)
		if gates[2].reached.Load() {
			t.Fatalf("a job was given what came of one that was aborted; unwound: %v", unwinds)
		}
		if helping.Load() != waiting.Load() {
			t.Error("who waited has not helped")
		}
	}
}
