// Package golomb looks for optimal Golomb rulers: marks at whole distances, as many as asked for, no two pairs of them
// equally far apart, and as short as that can be (OEIS A003022). It is the program of the chapter on branch and bound
// in docs/writing-applications.md.
package golomb

import "github.com/satin-peer/satin"

func init() {
	satin.RegisterLattice("golomb.shortest", shorter, isRuler)
	satin.Register("golomb.solve", solve)
	satin.Register("golomb.search", search)
}

// Problem is the argument of the root job.
type Problem struct {
	Marks int // of the ruler, 2 to MaxMarks
	Leaf  int // how many marks a job places without spawning
}

// Job is a ruler with some of its marks. The shortest ruler so far is not in it, so a job that is run again is the
// same.
type Job struct {
	Best satin.Lattice[int, Ruler]
	Part Part
	Leaf int
}

// solve is the root job.
func solve(f *satin.Frame, p Problem) Ruler {
	first := greedy(p.Marks)
	best := satin.ShareLattice(f, shorter, p.Marks, first)
	return shorter(first, search(f, Job{best, begin(p.Marks), p.Leaf}))
}

// search places one mark more in each way that may still lead to a ruler as short as the shortest that is known.
//
// Children that nobody steals run the newest first, so those that are likely to be short are spawned last: else the
// search would begin at the long end, where no bound helps.
func search(f *satin.Frame, j Job) Ruler {
	if !j.Part.mayBeat(j.Best.Value(f)) { // it has waited, and meanwhile a shorter one was found
		return Ruler{}
	}
	if j.Part.Left <= j.Leaf {
		l := leaf{f: f, best: j.Best}
		l.place(j.Part)
		return l.found
	}
	g := satin.Fork(f, search)
	for d := j.Part.longest(j.Best.Value(f)); d > 0; d-- {
		if j.Part.fits(d) {
			g.Spawn(Job{j.Best, j.Part.add(d), j.Leaf})
		}
	}
	var found Ruler
	for r := range g.Results() {
		found = shorter(found, r)
	}
	return found
}

// A leaf is a search without jobs, and what it has found.
type leaf struct {
	f     *satin.Frame
	best  satin.Lattice[int, Ruler]
	found Ruler
}

// place looks at the bound, which is a load, once for each mark, and again where a search may have made it better.
func (l *leaf) place(p Part) {
	if p.Left == 0 {
		r := p.ruler()
		l.best.Offer(l.f, r)
		l.found = shorter(l.found, r)
		return
	}
	longest := p.longest(l.best.Value(l.f))
	for d := 1; d <= longest; d++ {
		if p.fits(d) {
			l.place(p.add(d))
			longest = p.longest(l.best.Value(l.f))
		}
	}
}
