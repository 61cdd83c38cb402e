package engine_test

import (
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/job"
)

func init() {
	satin.Register("test.paths", paths)
}

// pathArg carries the path that a job should find to be its own.
type pathArg struct {
	Depth int
	Path  []uint32
}

// paths checks its own ID and spawns children in every way; the result is the number of jobs with a wrong ID.
func paths(f *satin.Frame, a pathArg) (wrong int) {
	if f.ID().Path.String() != job.Path(a.Path).String() {
		wrong++
	}
	if a.Depth == 0 {
		return wrong
	}
	child := func(i uint32) pathArg {
		return pathArg{a.Depth - 1, append(a.Path[:len(a.Path):len(a.Path)], i)}
	}
	x, y := satin.Spawn(f, paths, child(1)), satin.Spawn(f, paths, child(2))
	wrong += x.Get()
	g := satin.Fork(f, paths)
	g.Spawn(child(3))
	wrong += y.Get()
	g.Spawn(child(4))
	for r := range g.Results() {
		wrong += r
	}
	z := satin.Spawn(f, paths, child(5))
	f.Sync()
	return wrong + z.Get()
}

// A job's path names its place in the tree, wherever it runs.
func TestPaths(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 4} {
		p := testPool(t, workers)
		for range 5 {
			if wrong := run(t, p, paths, pathArg{Depth: 5}); wrong != 0 {
				t.Fatalf("%d workers: %d jobs found a wrong ID", workers, wrong)
			}
		}
	}
}
