package sat

import "slices"

// Cube is a part of a problem: the formula with some literals made true. The two cubes that a variable splits
// a cube into have all its models between them.
type Cube struct {
	Formula   *Formula
	Facts     []int32 // literals, as in a formula
	Splits    int     // how often to split it before the next attempt to solve it
	Threshold int     // conflicts after which an attempt is given up

	Proof     bool    // a refutation is wanted
	Decisions []int32 // those of the facts that splits decided, in their order; only for a proof
}

// splitsAtOnce is how often a cube that was too hard is split before its parts are attempted: one attempt in
// 1 << splitsAtOnce is in vain.
const splitsAtOnce = 4

// candidates is how many variables lookahead compares.
const candidates = 32

// solve decides the cube or splits it in two, the more promising first. Stop makes it give up sooner; it may
// be nil. The result of a cube that was split is that there is no model yet, and what its proof begins with.
func (c *Cube) solve(stop func() bool) (Result, []Cube) {
	s := newSolver(c.Formula, c.Facts, c.recorder())
	defer solvers.Put(s)
	splits := c.Splits - 1
	var r Result
	if c.Splits == 0 {
		v := s.search(c.Threshold, stop)
		r.Attempts, r.Conflicts = 1, uint64(s.conflicts)
		switch v {
		case satisfiable:
			r.Satisfiable, r.Model = true, s.model()
			return r, nil
		case unsatisfiable:
			r.Proof = c.refuted(s)
			return r, nil
		}
		splits = splitsAtOnce - 1
	}
	l, found := s.lookahead()
	switch {
	case s.failed:
		r.Proof = c.refuted(s)
		return r, nil
	case !found:
		r.Satisfiable, r.Model = true, s.model()
		return r, nil
	}
	facts := make([]int32, 0, len(s.trail))
	for _, fact := range s.trail {
		facts = append(facts, fact.dimacs())
	}
	with := func(l literal) Cube {
		half := Cube{Formula: c.Formula, Facts: append(slices.Clone(facts), l.dimacs()), Splits: splits,
			Threshold: c.Threshold, Proof: c.Proof}
		if c.Proof {
			half.Decisions = append(slices.Clone(c.Decisions), l.dimacs())
		}
		return half
	}
	r.Proof = c.split(s)
	return r, []Cube{with(l), with(l.not())}
}

// lookahead returns the literal to split the cube by (Heule, Kullmann, Wieringa, Biere, "Cube and conquer:
// guiding CDCL SAT solvers by lookaheads", 2011): it tries both values of the most active variables and takes
// the one for which both shorten many clauses. A value that leads to a conflict is ruled out at once. It
// returns false if that solves the cube: all variables have a value then, or it has failed.
//
// The literal is the one that shortens less, and so leaves more models, if any.
func (s *solver) lookahead() (best literal, found bool) {
	weights := s.weights()
	var tried []uint32
	bestScore := -1.0
	for !s.failed && (len(tried) < candidates || !found) {
		v, more := s.order.top()
		if !more {
			break
		}
		l := literal(v << 1)
		if s.values[l] != 0 {
			continue
		}
		tried = append(tried, v)
		a, b := s.shortens(l, weights), s.shortens(l.not(), weights)
		if s.values[l] != 0 || s.failed { // one of them failed
			continue
		}
		// the product is rounded first on all machines: they come to the same cubes
		if score := float64(a*b) + a + b; score > bestScore {
			if bestScore, best, found = score, l, true; a > b {
				best = l.not()
			}
		}
	}
	for _, v := range tried {
		s.order.restore(v)
	}
	if found && s.values[best] != 0 && !s.failed { // ruled out by a later one
		return s.lookahead()
	}
	return best, found
}

// shortens returns the weight of the clauses that l, made true, shortens without satisfying them by a literal
// that is true already. If l leads to a conflict, its negation becomes a fact.
func (s *solver) shortens(l literal, weights []float64) (sum float64) {
	if s.values[l] != 0 {
		return 0
	}
	before := len(s.trail)
	s.decide(l)
	conflict := s.propagate()
	for _, x := range s.trail[before:] {
		sum += weights[x.not()]
	}
	if conflict != noClause && s.proof != nil {
		s.explain(conflict, l)
	}
	s.backTo(0)
	if conflict != noClause {
		s.fact(l.not())
		s.settle()
	}
	return sum
}

// explain records that the only decision, l, led to a conflict: the opposite follows.
func (s *solver) explain(conflict clause, l literal) {
	for c, i := conflict, len(s.trail); ; {
		for _, x := range s.literals(c) {
			if v := x.variable(); s.level[v] > 0 && !s.seen[v] {
				s.mark(v)
			}
		}
		for i--; !s.seen[s.trail[i].variable()]; i-- {
		}
		if s.trail[i] == l {
			break
		}
		c = s.reason[s.trail[i].variable()]
	}
	s.proof.conflict(s, conflict, []literal{l.not()})
	for _, v := range s.marked {
		s.seen[v] = false
	}
	s.marked = s.marked[:0]
}

// weights returns, by literal, how many clauses of the formula it is in, one of two literals counting as much
// as four of three.
func (s *solver) weights() []float64 {
	s.weight = room(s.weight, len(s.values))
	w := s.weight
	for c := range s.clauses() {
		if s.glue(c) > 0 { // learned
			continue
		}
		l := s.literals(c)
		weight := 1.0
		for i := 2; i < min(len(l), 20); i++ {
			weight /= 4
		}
		for _, x := range l {
			w[x] += weight
		}
	}
	return w
}
