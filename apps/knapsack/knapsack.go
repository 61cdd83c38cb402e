// Package knapsack solves the 0-1 knapsack problem by branch and bound: which of some items, each with a profit and a
// weight, to take for the highest profit within a capacity.
package knapsack

import (
	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
)

func init() {
	satin.RegisterLattice("knapsack.best", better, (*Instance).check)
	satin.Register("knapsack.solve", solve, satin.Unlike(Problem.unlike),
		satin.Small(apps.Instance[Problem](setup, "--generate", "similar", "50", "1000", "20")))
	satin.Register("knapsack.search", search)
}

// Problem is the argument of the root job.
type Problem struct {
	Instance *Instance
	Grain    int // how many nodes a job visits before it shares what is left
}

// Job is a part of a problem. The best solution so far is not in it, so a job that is run again is the same.
type Job struct {
	Instance satin.Constant[*Instance]
	Best     satin.Lattice[*Instance, Solution]
	Part     Part
	Grain    int
}

func (Problem) unlike() string {
	return "which solutions its jobs leave out depends on what they hear of each other, and when"
}

// solve is the root job.
func solve(f *satin.Frame, p Problem) Solution {
	none := Solution{Taken: newSet(p.Instance.size())}
	best := satin.ShareLattice(f, better, p.Instance, none)
	return search(f, Job{satin.ShareConstant(f, p.Instance), best, everything(p.Instance), p.Grain})
}

// search searches a part, and each time it has visited as many nodes as the grain says, it spawns the oldest
// and so likely largest piece that is left. How much there is below a node depends on the bounds, so nothing
// else would give jobs of a similar size.
//
// It returns the best solution it knows of, which may be another job's. A solution is only passed over for a better
// one, and of equal ones that is the one that the sequential search finds first. So nothing makes a job pass over the
// best of all, and the root returns it, whoever searches the pieces, in whatever order and whatever they hear of each
// other.
//
// A piece that has waited while a better solution was found looks at that first, and may end at once.
func search(f *satin.Frame, j Job) Solution {
	w := walk(j.Instance.Read(f), j.Part, j.Best.Value(f))
	var pieces []satin.Future[Job, Solution]
	for more := true; more; {
		w.hear(j.Best.Value(f))
		if more = w.visit(j.Grain); w.found {
			j.Best.Offer(f, w.best)
			w.found = false
		}
		if !more {
			break
		}
		if rest, found := w.share(); found {
			pieces = append(pieces, satin.Spawn(f, search, Job{j.Instance, j.Best, rest, j.Grain}))
		}
	}
	best := w.best
	for i := len(pieces) - 1; i >= 0; i-- { // the newest first, which is cheapest
		best = better(best, pieces[i].Get())
	}
	return best
}
