// Package tsp finds shortest tours through up to 128 cities, and proves that they are: the travelling
// salesman problem by branch and bound.
//
// Its jobs share the shortest tour so far: a lattice that all of them look at and offer to. Two things make the rest
// fast: a start tour that is nearly always the best one already, and a bound tight enough that few jobs are left (see
// relaxation.go).
package tsp

import (
	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
)

func init() {
	satin.RegisterLattice("tsp.best", shorter, (*Instance).check)
	satin.Register("tsp.solve", solve, satin.Unlike(Problem.unlike),
		satin.Small(apps.Instance[Problem](setup, "--random", "50", "--seed", "1")))
	satin.Register("tsp.walk", walkElsewhere)
	satin.Register("tsp.search", search)
}

// Problem is the argument of the root job.
type Problem struct {
	Map       *Instance
	Threshold int // subproblems with at most as many undecided edges are not split into jobs unless others wait
}

// Job is a subproblem. The shortest tour so far is not in it, so a job that is run again is the same.
type Job struct {
	Map       satin.Constant[*Instance]
	Best      satin.Lattice[*Instance, Tour]
	Part      Subproblem
	Threshold int
}

func (Problem) unlike() string {
	return "which tours its jobs leave out depends on what they hear of each other, and when"
}

// solve is the root job: it finds a shortest tour.
func solve(f *satin.Frame, p Problem) Tour {
	in := satin.ShareConstant(f, p.Map)
	var others [ways - 1]satin.Future[Walk, Tour]
	for i := range others {
		others[i] = satin.Spawn(f, walkElsewhere, Walk{in, uint64(i) + 1})
	}
	start := walk(p.Map, 0)
	for i := range others {
		start = shorter(start, others[i].Get())
	}
	return solveFrom(f, p, in, start)
}

// Walk is one of the walks of [startTour].
type Walk struct {
	Map satin.Constant[*Instance]
	Way uint64
}

func walkElsewhere(f *satin.Frame, w Walk) Tour { return walk(w.Map.Read(f), w.Way) }

// solveFrom finds how long a shortest tour is; nearly always it is the start tour. If not, which of them the search
// comes upon depends on who hears of what when, so a second search finds the first one in the order of the sequential
// program: the answer is a function of the instance, and two masters do not differ. It is short, with the best of all
// bounds.
func solveFrom(f *satin.Frame, p Problem, in satin.Constant[*Instance], start Tour) Tour {
	look := func(s Subproblem, from Tour) Tour {
		return search(f, Job{in, satin.ShareLattice(f, shorter, p.Map, from), s, p.Threshold})
	}
	best := look(whole(p.Map, start.Length), start)
	if best.Length == start.Length {
		return start
	}
	return look(firstOf(p.Map, best.Length), Tour{Length: best.Length + 1})
}

// search returns the best tour that it knows of, which another job may have found: whoever leaves something out
// because of a tour has that tour in its result. So the root's is a best one, whatever the jobs hear of each other,
// and when.
//
// A job that has waited while a better tour was found looks at that first, and may end at once.
func search(f *satin.Frame, j Job) Tour {
	in, best := j.Map.Read(f), j.Best.Value(f)
	s := &j.Part
	if s.Floor > s.limit(best) {
		return best
	}
	if s.Open <= j.Threshold>>f.Deeper() {
		return j.offer(f, best, s.searchAlone(in, best))
	}
	found, children := s.branch(in, best)
	best = j.offer(f, best, found)
	switch len(children) {
	case 0:
		return best
	case 1:
		j.Part = children[0]
		return search(f, j)
	}
	// The more promising one runs here at once; the other one after it, unless it is stolen.
	first, second := j, j
	first.Part, second.Part = children[0], children[1]
	other := satin.Spawn(f, search, second)
	return shorter(search(f, first), other.Get())
}

// offer tells all jobs of a tour that is better than the best one was.
func (j *Job) offer(f *satin.Frame, best, found Tour) Tour {
	if found.before(best) {
		j.Best.Offer(f, found)
	}
	return found
}
