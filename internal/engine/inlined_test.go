//go:build !race

package engine_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
)

// unregistered is what no job may be; a slot's record never fits it.
func unregistered(*satin.Frame, int) int { return 0 }

// TestSpawnIsInlined: Spawn is part of the function that calls it. It is at the bound of what the compiler puts
// there, so a statement more is a nanosecond more. The race detector makes it longer.
func TestSpawnIsInlined(t *testing.T) {
	w := engine.NewWorker(nil, 0)
	w.Enter(0, 0)
	panicsInlined(t, "satin.Spawn[", func() { satin.Spawn(frame(w), unregistered, 1) })
}

// A search that looks at a lattice in every node of its tree is as fast as one that looks at a variable.
func TestValueIsInlined(t *testing.T) {
	panicsInlined(t, ".Value", func() { satin.Lattice[int, int]{}.Value(nil) })
}

// panicsInlined says whether a function that panics in another, of that name, has that one inlined.
func panicsInlined(t *testing.T, name string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if recover() == nil {
			t.Fatal("it did not panic")
		}
		at := make([]uintptr, 32)
		frames := runtime.CallersFrames(at[:runtime.Callers(0, at)])
		for f, more := frames.Next(); more; f, more = frames.Next() {
			if strings.Contains(f.Function, name) {
				if f.Func != nil { // only functions that are not inlined have one
					t.Errorf("%s has become too long to be inlined", f.Function)
				}
				return
			}
		}
		t.Errorf("%s is not in the stack trace", name)
	}()
	f()
}
