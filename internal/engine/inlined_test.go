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
	defer func() {
		if recover() == nil {
			t.Fatal("an unregistered function was spawned")
		}
		at := make([]uintptr, 32)
		frames := runtime.CallersFrames(at[:runtime.Callers(0, at)])
		for f, more := frames.Next(); more; f, more = frames.Next() {
			if strings.Contains(f.Function, "satin.Spawn[") {
				if f.Func != nil { // only functions that are not inlined have one
					t.Error("Spawn has become too long to be inlined")
				}
				return
			}
		}
		t.Error("Spawn is not in the stack trace")
	}()
	w := engine.NewWorker(nil, 0)
	w.Enter(0, 0)
	satin.Spawn(frame(w), unregistered, 1)
}
