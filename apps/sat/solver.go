package sat

import (
	"iter"
	"slices"
	"sync"
)

// literal is a variable, counted from 0, with its sign in the lowest bit, so that it can be an index.
type literal uint32

func toLiteral(dimacs int32) literal {
	if dimacs < 0 {
		return literal(-dimacs-1)<<1 | 1
	}
	return literal(dimacs-1) << 1
}

func (l literal) dimacs() int32 {
	if l&1 == 1 {
		return -int32(l>>1) - 1
	}
	return int32(l>>1) + 1
}

func (l literal) not() literal     { return l ^ 1 }
func (l literal) variable() uint32 { return uint32(l >> 1) }

// clause is the place of a clause in solver.arena.
type clause uint32

const noClause = clause(0) // nothing begins there

// solver looks for a model of a formula by conflict-driven clause learning, the method of GRASP (Marques-Silva and
// Sakallah, 1996), with the data structures of Chaff (Moskewicz and others, 2001) and the code's shape of MiniSat
// (Eén and Sörensson, "An extensible SAT-solver", 2003).
//
// It takes no random choices and reads no clock: the same formula is always searched in the same way.
type solver struct {
	// arena holds the clauses: the number of literals, the number of levels they were from when the clause
	// was learned (its glue, 0 for a clause of the formula), and the literals. The first two are watched; of
	// a clause that has implied a literal, that is the first.
	arena   []literal
	spare   []literal // memory for the next arena
	learned []clause
	watches [][]watch // by literal: the clauses that watch it
	lists   []watch   // the memory of most of them
	weight  []float64 // that of weights
	failed  bool      // the formula has no model

	values []int8    // by literal: 1 true, -1 false, 0 neither
	trail  []literal // the true ones in the order in which they became so
	done   int       // those of them whose consequences have been drawn
	starts []int     // where in trail each level after 0 begins
	level  []int32   // by variable, if it has a value
	reason []clause  // by variable: the clause that implied its value; noClause for a decision

	order     order
	phase     []int8 // by variable: the last value, which is tried first
	conflicts int

	// of learn, kept to be used again
	seen          []bool   // by variable: it is marked
	marked, stack []uint32 // variables
	lemma         []literal
	stamps        []int32 // by literal or level: the last count that met it
	stamp         int32

	proof *recorder // nil: nobody asked for one
}

// watch is a clause that watches a literal, and another literal of it: while that is true, the clause need
// not be looked at.
type watch struct {
	clause  clause
	blocker literal
}

// solvers are those that have ended. There are some thousand attempts and splits in a second, and each would else spend
// much of its time on memory larger than the formula, for itself and for the garbage collector.
var solvers = sync.Pool{New: func() any { return new(solver) }}

// newSolver loads f with the literals of cube made true. Clauses that they satisfy are left out, and literals
// that they make false. What it concludes goes into proof, if there is one. Whoever has it may put it back into
// solvers.
func newSolver(f *Formula, cube []int32, proof *recorder) *solver {
	n := f.Variables
	old := solvers.Get().(*solver)
	s := &solver{
		arena:   append(slices.Grow(old.arena[:0], len(f.Literals)+f.Clauses+1), 0),
		spare:   old.spare,
		learned: old.learned[:0],
		watches: room(old.watches, 2*n),
		lists:   old.lists,
		weight:  old.weight,
		values:  room(old.values, 2*n),
		trail:   old.trail[:0],
		starts:  old.starts[:0],
		level:   room(old.level, n),
		reason:  room(old.reason, n),
		order:   old.order,
		phase:   room(old.phase, n),
		seen:    room(old.seen, n),
		marked:  old.marked[:0],
		stack:   old.stack[:0],
		lemma:   old.lemma[:0],
		stamps:  room(old.stamps, 2*n+1),
		proof:   proof,
	}
	for _, l := range cube {
		s.fact(toLiteral(l))
	}
	if proof != nil {
		proof.noted = len(s.trail) // shown where the cube was made
	}
	rest, number := s.lemma, 0
	for c := range f.all() {
		number++
		rest = rest[:0]
		if !s.satisfiedOrReduced(c, &rest) {
			s.addClause(rest, number)
		}
	}
	s.lemma = rest
	s.watchAll()
	s.order.begin(s.weights())
	s.settle()
	return s
}

// settle draws the conclusions of the facts, at level 0. The formula may fail by them.
func (s *solver) settle() {
	if s.failed {
		return
	}
	if conflict := s.propagate(); conflict != noClause {
		s.refuted(conflict)
	}
}

// refuted says that a clause is false by facts alone.
func (s *solver) refuted(c clause) {
	if s.failed = true; s.proof != nil {
		s.proof.refute(s, c)
	}
}

// satisfiedOrReduced tells whether c is true already, or always; if not, it appends the literals that are not
// false, each once.
func (s *solver) satisfiedOrReduced(c []int32, rest *[]literal) bool {
	s.stamp++
	for _, d := range c {
		l := toLiteral(d)
		switch {
		case s.values[l] > 0 || s.stamps[l.not()] == s.stamp:
			return true
		case s.values[l] == 0 && s.stamps[l] != s.stamp:
			s.stamps[l] = s.stamp
			*rest = append(*rest, l)
		}
	}
	return false
}

// addClause adds what is left of a clause of the formula, literals that have no value, and its number.
func (s *solver) addClause(literals []literal, number int) {
	switch len(literals) {
	case 0:
		if s.failed = true; s.proof != nil {
			s.proof.refuteByFormula(s, number)
		}
	case 1:
		s.fact(literals[0])
		if s.proof != nil {
			s.proof.unit(s, literals[0], number)
		}
	default:
		c := s.store(literals, 0)
		if s.proof != nil {
			s.proof.at(c, hintTo(ofFormula, number))
		}
	}
}

// store puts a clause into the arena.
func (s *solver) store(literals []literal, glue int) clause {
	c := clause(len(s.arena))
	s.arena = append(s.arena, literal(len(literals)), literal(glue))
	s.arena = append(s.arena, literals...)
	return c
}

// watch watches the first two literals of a clause.
func (s *solver) watch(c clause) {
	l := s.literals(c)
	s.watches[l[0]] = append(s.watches[l[0]], watch{c, l[1]})
	s.watches[l[1]] = append(s.watches[l[1]], watch{c, l[0]})
}

// watchAll watches every clause, in lists cut from one piece of memory, with room for as many watches more.
func (s *solver) watchAll() {
	counts := make([]int, len(s.watches))
	total := 0
	for c := range s.clauses() {
		for _, l := range s.literals(c)[:2] {
			counts[l]++
			total++
		}
	}
	s.lists = slices.Grow(s.lists[:0], 2*total)
	rest := s.lists[:2*total]
	for l, n := range counts {
		s.watches[l], rest = rest[:0:2*n], rest[2*n:]
	}
	for c := range s.clauses() {
		s.watch(c)
	}
}

// clauses yields the clauses in the arena.
func (s *solver) clauses() iter.Seq[clause] {
	return func(yield func(clause) bool) {
		for c := clause(1); int(c) < len(s.arena); c += clause(s.arena[c]) + 2 {
			if !yield(c) {
				return
			}
		}
	}
}

func (s *solver) literals(c clause) []literal {
	return s.arena[c+2 : c+2+clause(s.arena[c])]
}

func (s *solver) glue(c clause) int { return int(s.arena[c+1]) }

// fact makes l true for good; only at level 0.
func (s *solver) fact(l literal) {
	switch s.values[l] {
	case 0:
		s.assign(l, noClause)
	case -1: // a cube that contradicts itself: this solver makes none
		if s.failed = true; s.proof != nil {
			s.proof.gaps = true
		}
	}
}

// facts is how many entries of the trail are at level 0.
func (s *solver) facts() int {
	if len(s.starts) > 0 {
		return s.starts[0]
	}
	return len(s.trail)
}

// assign makes l true because of the given clause.
func (s *solver) assign(l literal, because clause) {
	v := l.variable()
	s.values[l], s.values[l.not()] = 1, -1
	s.level[v], s.reason[v] = int32(len(s.starts)), because
	s.trail = append(s.trail, l)
}

// decide begins a level in which l is true.
func (s *solver) decide(l literal) {
	s.starts = append(s.starts, len(s.trail))
	s.assign(l, noClause)
}

// propagate draws the conclusions of what has become true: a clause with one literal that is not false makes
// it true. It returns a clause that has none, or noClause.
func (s *solver) propagate() clause {
	for s.done < len(s.trail) {
		falsified := s.trail[s.done].not()
		s.done++
		watches := s.watches[falsified]
		kept := 0
		for i := 0; i < len(watches); i++ {
			w := watches[i]
			if s.values[w.blocker] > 0 {
				watches[kept] = w
				kept++
				continue
			}
			l := s.literals(w.clause)
			if l[0] == falsified {
				l[0], l[1] = l[1], l[0]
			}
			first := l[0]
			w.blocker = first
			if s.values[first] > 0 {
				watches[kept] = w
				kept++
				continue
			}
			if s.watchAnother(l, w) {
				continue
			}
			watches[kept] = w
			kept++
			if s.values[first] < 0 {
				kept += copy(watches[kept:], watches[i+1:])
				s.watches[falsified] = watches[:kept]
				s.done = len(s.trail)
				return w.clause
			}
			s.assign(first, w.clause)
		}
		s.watches[falsified] = watches[:kept]
	}
	return noClause
}

// watchAnother watches a literal after the first two instead of the second, if one is not false.
func (s *solver) watchAnother(l []literal, w watch) bool {
	for k := 2; k < len(l); k++ {
		if s.values[l[k]] >= 0 {
			l[1], l[k] = l[k], l[1]
			s.watches[l[1]] = append(s.watches[l[1]], w)
			return true
		}
	}
	return false
}

// backTo takes back what has become true after the given level.
func (s *solver) backTo(level int) {
	if level >= len(s.starts) {
		return
	}
	for i := len(s.trail) - 1; i >= s.starts[level]; i-- {
		l := s.trail[i]
		v := l.variable()
		s.phase[v] = 1 - 2*int8(l&1)
		s.values[l], s.values[l.not()] = 0, 0
		s.order.restore(v)
	}
	s.trail = s.trail[:s.starts[level]]
	s.starts = s.starts[:level]
	s.done = len(s.trail)
}
