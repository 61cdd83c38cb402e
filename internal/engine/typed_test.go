package engine_test

import (
	"context"
	"unsafe"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
)

// The engine is tried with typed programs: satin's, on the engine's own pools.

// frame is a worker as its jobs see it.
func frame(w *engine.Worker) *satin.Frame { return (*satin.Frame)(unsafe.Pointer(w)) }

// worker is the worker that runs the frame.
func worker(f *satin.Frame) *engine.Worker { return (*engine.Worker)(unsafe.Pointer(f)) }

// recordOf gives the record that a future stands for, its first word.
func recordOf[A, R any](x satin.Future[A, R]) *engine.Record {
	return *(**engine.Record)(unsafe.Pointer(&x))
}

// nameOf gives the name that a function is registered under.
func nameOf[F any](fn F) string {
	return engine.MustLookup(*(*unsafe.Pointer)(unsafe.Pointer(&fn))).Name
}

// Run is satin.Run on a pool of the engine.
func Run[A, R any](ctx context.Context, p *engine.Pool, fn func(*satin.Frame, A) R, arg A) (r R, err error) {
	v, err := p.Run(ctx, nameOf(fn), arg)
	if err == nil {
		r = v.(R)
	}
	return r, err
}

// RunErr is satin.RunErr on a pool of the engine.
func RunErr[A, R any](ctx context.Context, p *engine.Pool, fn func(*satin.Frame, A) (R, error), arg A) (r R,
	err error) {
	v, err := p.Run(ctx, nameOf(fn), arg)
	if v != nil {
		r = v.(R)
	}
	return r, err
}
