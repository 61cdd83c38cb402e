// Package tsp finds shortest tours through up to 128 cities, and proves that they are: the travelling
// salesman problem by branch and bound.
//
// Its jobs share nothing. What a job needs to know, the best tour so far and what has been decided on the way to it,
// travels down in its argument; what it finds comes up as its result. Two things make that fast: a start tour that is
// nearly always the best one already, and a bound tight enough that few jobs are left (see relaxation.go).
package tsp

import "github.com/satin-peer/satin"

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
	switch len(children) {
	case 0:
		return best
	case 1:
		return search(f, children[0])
	}
	// The job spawned last runs first, unless they are stolen: the more promising one comes last.
	second := satin.Spawn(f, search, children[1])
	first := satin.Spawn(f, search, children[0]).Get()
	if first.Length == best.Length {
		return shorter(best, second.Get())
	}
	// There is a better tour to compare with now. If the second job is still to be done, it is done with that one.
	f.Abort()
	if t, err := second.Try(); err == nil {
		return shorter(first, t)
	}
	children[1].Best = first
	return search(f, children[1])
}
