package tsp

import (
	"math"
	"slices"
)

// Subproblem are the tours that contain the chosen edges and none of the discarded ones. A better one than those that
// are known is wanted: a shorter one or, if it is known how long a shortest one is, one that comes first.
//
// How a subproblem is split depends on what it is and not on the tours that have been found, which only say what of it
// is left out. So all searches have one tree: whoever does a lost job again comes to the jobs that others have done
// under it, and what is first is the same for all.
type Subproblem struct {
	Goal    int64   // tours as long or longer are of no use
	Known   bool    // a shortest tour is shorter by 1
	Shift   int     // of distances in the relaxation
	Edges   []uint8 // Cities x Cities, symmetric: open, chosen or discarded
	Open    int     // number of open edges
	Penalty []int32 // the parent's, where the search for penalties starts; nil at the root
	Floor   int64   // no tour costs less, in the relaxation
	At      []uint8 // which child of which child of the root, the more promising 0
}

// whole is the subproblem in which nothing has been decided.
func whole(in *Instance, goal int64) Subproblem {
	n := in.Cities
	edges := make([]uint8, n*n)
	for a := range n {
		edges[a*n+a] = discarded
	}
	return Subproblem{Goal: goal, Shift: shiftOf(in), Edges: edges, Open: n * (n - 1) / 2}
}

// firstOf is the same, with the length of a shortest tour.
func firstOf(in *Instance, length int64) Subproblem {
	s := whole(in, length+1)
	s.Known = true
	return s
}

// limit is what a tour may cost, in the relaxation, if it is to be better than the best one.
func (s *Subproblem) limit(best Tour) int64 {
	switch {
	case !s.Known:
		return (best.Length - 1) << s.Shift
	case best.Length < s.Goal && slices.Compare(best.At, s.At) < 0:
		return math.MinInt64 // all of this comes later
	}
	return (s.Goal - 1) << s.Shift
}

// branch returns the best tour that it knows, and subproblems that contain every better one, the most promising
// first: with an open edge chosen and with it discarded, or none at all. It leaves s as it is.
func (s *Subproblem) branch(in *Instance, best Tour) (Tour, []Subproblem) {
	rest := *s
	r := relax(in, s)
	defer relaxations.Put(r)
	for ; ; r.restart(in, &rest) {
		tour, bound, left := r.ascend(s.Goal, s.limit(best), rest.schedule())
		if tour != nil {
			tour.At = slices.Clone(s.At)
			return shorter(best, *tour), nil
		}
		if !left {
			return best, nil
		}
		d := decided(in, &rest)
		edges, left := r.reduce(d, (s.Goal-1)<<r.shift-bound)
		if !left {
			return best, nil
		}
		rest.Penalty = slices.Clone(r.penalty[:r.cities])
		rest.Edges, rest.Open, rest.Floor = d.edges, d.open, bound
		if e, found := r.dearest(edges, d); found {
			return best, rest.split(d, e)
		}
		// The edges that the bound came from have been decided since: there is a better bound now.
	}
}

// split returns s with e chosen and with e discarded, as far as that leaves tours. It uses up d.
func (s *Subproblem) split(d *decisions, e edge) []Subproblem {
	children := make([]Subproblem, 0, 2)
	add := func(d *decisions, floor int64) {
		c := *s
		c.Edges, c.Open, c.Floor = d.edges, d.open, floor
		c.At = append(slices.Clone(s.At), uint8(len(children)))
		children = append(children, c)
	}
	with, without := d.clone(), d
	if with.choose(e.a, e.b) && with.settle() {
		add(with, s.Floor)
	}
	without.discard(e.a, e.b)
	if without.settle() {
		add(without, s.Floor+e.rise)
	}
	return children
}

// edge is an open edge of the 1-tree.
type edge struct {
	a, b uint8
	rise int64 // by how much the bound rises at least if the edge is discarded
}

// dearest returns the open edge without which the bound rises most, of those at a city where the 1-tree has too many.
func (r *relaxation) dearest(edges []edge, d *decisions) (dearest edge, found bool) {
	for _, e := range edges {
		tooMany := r.tree.degree[e.a] > 2 || r.tree.degree[e.b] > 2
		if tooMany && d.of(e.a, e.b) == open && (!found || e.rise > dearest.rise) {
			dearest, found = e, true
		}
	}
	return dearest, found
}

// reduce decides what the bound alone decides. Slack is what the bound may still rise by in a tour shorter than the
// goal. An edge is discarded if the cheapest 1-tree that contains it costs more, and chosen if the
// cheapest one without it does. It returns the 1-tree's open edges, some of which may have been decided
// since, and false if no shorter tour is left.
func (r *relaxation) reduce(d *decisions, slack int64) ([]edge, bool) {
	t := &r.tree
	rise := r.discardDear(d, slack)
	edges := make([]edge, 0, r.cities)
	for a := uint8(2); int(a) < r.cities; a++ {
		edges = append(edges, edge{a, t.parent[a], rise[a] - withoutBonus(t.toParent[a])})
	}
	for i, end := range t.ends {
		edges = append(edges, edge{0, end, rise[0] - withoutBonus(t.toEnds[i])})
	}
	edges = slices.DeleteFunc(edges, func(e edge) bool { return d.of(e.a, e.b) != open })
	for _, e := range edges {
		if e.rise > slack && d.of(e.a, e.b) == open && !d.choose(e.a, e.b) {
			return nil, false
		}
	}
	return edges, d.settle()
}

// discardDear discards the open edges that cost too much to be exchanged for the dearest edge of the 1-tree
// that they can replace. For the other edges it returns the cheapest replacements: at the city below for
// those of the tree, at 0 for those at city 0.
func (r *relaxation) discardDear(d *decisions, slack int64) (replacement perCity[int64]) {
	for i := range r.cities {
		replacement[i] = math.MaxInt64 / 2 // as if infinitely dear; differences do not overflow
	}
	t := &r.tree
	for a := range uint8(r.cities) {
		to, costs := r.edges.of(a)
		for i, b := range to {
			if b < a || d.of(a, b) != open || t.has(a, b) {
				continue
			}
			cost := int64(costs[i]) + int64(r.penalty[a]) + int64(r.penalty[b])
			dearest := int64(t.toEnds[1])
			if a != 0 {
				dearest = math.MinInt64
				for below := range t.path(a, b) {
					dearest = max(dearest, int64(t.toParent[below]))
				}
			}
			switch {
			case cost-dearest > slack:
				d.discard(a, b)
			case a == 0:
				replacement[0] = min(replacement[0], cost)
			default:
				for below := range t.path(a, b) {
					replacement[below] = min(replacement[below], cost)
				}
			}
		}
	}
	return replacement
}
