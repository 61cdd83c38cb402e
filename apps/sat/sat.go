// Package sat tells whether a Boolean formula has a model.
//
// It is cube and conquer: a cube, the formula with some literals made true, is given to a solver that learns
// from conflicts, the best method known for formulas of every kind. When that takes too long the cube is
// split in two, by the variable whose values both leave the least, and so are its halves, a few times, before
// they are attempted in turn. So how finely the formula is cut depends on how hard it is, and where.
package sat

import (
	"slices"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
)

func init() {
	satin.Register("sat.solve", solve, satin.Certificate(Cube.proves), satin.Essence(Cube.essence),
		satin.Small(apps.Instance[Cube](setup, "--random", "150", "--seed", "1")))
}

// solve finds a model of a cube, if it has one. Whether it has one does not depend on the order in which jobs
// run; which one it finds does.
func solve(f *satin.Frame, c Cube) Result {
	r, halves := c.solve(f.Aborted)
	g := satin.Fork(f, solve)
	for _, half := range slices.Backward(halves) { // the newest job runs first, so the more promising one comes last
		g.Spawn(half)
	}
	for half := range g.Results() {
		if r = r.and(half); r.Satisfiable {
			break // which aborts the other half
		}
	}
	return r
}
