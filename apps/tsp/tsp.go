// Package tsp finds shortest tours through up to 128 cities, and proves that they are: the travelling salesman problem by
// branch and bound.
//
// Its jobs share nothing. What a job needs to know, the best tour so far and what has been decided on the way to it,
// travels down in its argument; what it finds comes up as its result. Two things make that fast: a start tour that is
// nearly always the best one already, and a bound tight enough that few jobs are left (see relaxation.go).
package tsp

import (
	"slices"

	"github.com/satin-peer/satin"
)

func init() {
	satin.Register("tsp.solve", solve)
	satin.Register("tsp.search", search)
}

// Problem is the argument of the root job.
type Problem struct {
	Map       *Instance
	Threshold int // subproblems with at most as many undecided edges are not split into jobs
}

// solve is the root job: it finds a shortest tour.
func solve(f *satin.Frame, p Problem) Tour {
	return search(f, whole(p.Map, startTour(p.Map), p.Threshold))
}

// search finds the shortest tour of a subproblem.
func search(f *satin.Frame, s Subproblem) Tour {
	if s.Open <= s.Threshold {
		return searchAlone(s)
	}
	best, children := s.branch()
	g := satin.Fork(f, search)
	for _, c := range slices.Backward(children) { // the newest job runs first, so the most promising one comes last
		g.Spawn(c)
	}
	for t := range g.Results() {
		best = shorter(best, t)
	}
	return best
}
