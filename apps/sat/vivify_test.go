package sat

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/cputime"
)

// tried are the formulas on which it is tried what the solver leaves out, by a number that makes each another one.
var tried = []struct {
	name string
	f    func(i uint64) *Formula
}{
	{"waerden_3,9,77", func(i uint64) *Formula { return renamed(waerden(3, 9, 77), i) }},
	{"waerden_3,10,97", func(i uint64) *Formula { return renamed(waerden(3, 10, 97), i) }},
	{"waerden_4,6,73", func(i uint64) *Formula { return renamed(waerden(4, 6, 73), i) }},
	{"palindromic_3,13,160", func(i uint64) *Formula { return renamed(palindromic(waerden(3, 13, 160)), i) }},
	{"random_220", func(i uint64) *Formula { return randomFormula(220, 1012, i) }},
	{"pigeonhole_8", func(i uint64) *Formula { return renamed(pigeonhole(8), i) }},
	{"Schur_14", func(i uint64) *Formula { return renamed(schur(14, 3), i) }},
	{"Ramsey_9", func(i uint64) *Formula { return renamed(ramsey(9), i) }},
}

// schur says that the numbers to n have so many colours, and no x + y = z has one.
func schur(n, colours int) *Formula {
	f := &Formula{Variables: n * colours}
	for i := range n {
		var some []int
		for c := range colours {
			some = append(some, i*colours+c+1)
			for j := i; i+j+1 < n; j++ {
				f.add(-(i*colours + c + 1), -(j*colours + c + 1), -((i+j+1)*colours + c + 1))
			}
		}
		f.add(some...)
	}
	return f
}

// ramsey says that the edges between n points have two colours, no three points the one and no four the other.
func ramsey(n int) *Formula {
	edge := func(i, j int) int { return i*n + j + 1 } // i < j
	f := &Formula{Variables: n * n}
	for a := range n {
		for b := a + 1; b < n; b++ {
			for c := b + 1; c < n; c++ {
				f.add(edge(a, b), edge(a, c), edge(b, c))
				for d := c + 1; d < n; d++ {
					f.add(-edge(a, b), -edge(a, c), -edge(b, c), -edge(a, d), -edge(b, d), -edge(c, d))
				}
			}
		}
	}
	return f
}

// renamed is a formula whose variables have other names, drawn by a number, and whose clauses another order: the same
// problem, searched in another way.
func renamed(f *Formula, i uint64) *Formula {
	chance := rand.New(rand.NewPCG(i, 0))
	names := chance.Perm(f.Variables)
	var clauses [][]int
	for c := range f.all() {
		clause := make([]int, len(c))
		for k, l := range c {
			if clause[k] = names[max(l, -l)-1] + 1; l < 0 {
				clause[k] = -clause[k]
			}
		}
		clauses = append(clauses, clause)
	}
	chance.Shuffle(len(clauses), func(a, b int) { clauses[a], clauses[b] = clauses[b], clauses[a] })
	g := &Formula{Variables: f.Variables}
	for _, c := range clauses {
		g.add(c...)
	}
	return g
}

// BenchmarkVivify says what vivification would bring: the solver has none. It gives the mean ratio, with to without, of
// conflicts and of processor time, if learned clauses are shortened at each restart (Luo and others, "An effective
// learnt clause minimization approach for CDCL SAT solvers", 2017): all of them, or the better quarter, which costs a
// third. No proof is written.
func BenchmarkVivify(b *testing.B) {
	const each = 6
	for _, f := range tried {
		for name, oneIn := range map[string]int{"all": 1, "a_quarter": 4} {
			b.Run(f.name+"/"+name, func(b *testing.B) {
				var conflicts, seconds []float64
				for b.Loop() {
					conflicts, seconds = nil, nil
					for i := range each {
						formula := f.f(uint64(i))
						without, with := vivifier{}, vivifier{oneIn: oneIn}
						without.refute(formula) // twice: then there is the memory
						without = vivifier{}
						without.refute(formula)
						with.refute(formula)
						conflicts = append(conflicts, math.Log(float64(with.conflicts)/float64(without.conflicts)))
						seconds = append(seconds, math.Log(float64(with.time)/float64(without.time)))
					}
				}
				report(b, "conflicts", conflicts)
				report(b, "time", seconds)
			})
		}
	}
}

// report gives the mean of logarithms as a ratio, with its standard error in percent.
func report(b *testing.B, unit string, logs []float64) {
	mean, deviation := spread(logs)
	b.ReportMetric(math.Exp(mean), unit)
	b.ReportMetric(100*deviation, "%±"+unit)
}

// A vivifier searches as the jobs do, and shortens one in so many of the clauses that were learned since the last
// restart, those of the least glue; 0: none.
type vivifier struct {
	oneIn, conflicts int
	time             time.Duration
	sorted           []literal
	phase            []int8
}

func (v *vivifier) refute(f *Formula) {
	began := cputime.Used()
	v.walk(Cube{Formula: f, Threshold: defaultThreshold})
	v.time = cputime.Used() - began
}

// walk attempts a cube and its parts.
func (v *vivifier) walk(c Cube) {
	s := newSolver(c.Formula, c.Facts, nil)
	defer solvers.Put(s)
	splits := c.Splits - 1
	if c.Splits == 0 {
		end, before := unknown, 0
		for restart := 0; end == unknown && s.conflicts < c.Threshold; restart++ {
			end = s.search(min(c.Threshold, s.conflicts+50*luby(restart)), nil)
			if end == unknown && v.oneIn > 0 {
				v.shorten(s, before)
				before = len(s.learned)
			}
		}
		if v.conflicts += s.conflicts; end != unknown {
			return
		}
		splits = splitsAtOnce - 1
	}
	for _, half := range halves(s, c, splits) {
		v.walk(half)
	}
}

// halves are what is left of a cube without a proof.
func halves(s *solver, c Cube, splits int) []Cube {
	l, found := s.lookahead()
	if !found {
		return nil
	}
	var facts []int32
	for _, l := range s.trail {
		facts = append(facts, l.dimacs())
	}
	half := func(l literal) Cube {
		return Cube{Formula: c.Formula, Facts: append(slices.Clone(facts), l.dimacs()), Splits: splits,
			Threshold: c.Threshold}
	}
	return []Cube{half(l), half(l.not())}
}

// shorten does it for the clauses learned from the given one on.
func (v *vivifier) shorten(s *solver, from int) {
	fresh := slices.Clone(s.learned[min(from, len(s.learned)):])
	slices.SortStableFunc(fresh, func(a, b clause) int { return s.glue(a) - s.glue(b) })
	v.phase = append(v.phase[:0], s.phase...) // what it tries is no experience
	for _, c := range fresh[:len(fresh)/v.oneIn] {
		l := s.literals(c)
		holds := slices.ContainsFunc(l, func(l literal) bool { return s.values[l] > 0 })
		if len(l) > 2 && !holds && !s.failed {
			v.clause(s, c)
		}
	}
	copy(s.phase, v.phase)
}

// clause makes the literals of a clause false, the most active first, until they lead to a conflict or make another one
// true: those that this rests on are enough.
func (v *vivifier) clause(s *solver, c clause) {
	v.sorted = append(v.sorted[:0], s.literals(c)...)
	slices.SortFunc(v.sorted, func(a, b literal) int {
		return cmp.Or(cmp.Compare(s.order.activity[b>>1], s.order.activity[a>>1]), cmp.Compare(a, b))
	})
	why, implied := noClause, ^literal(0)
	s.lemma = s.lemma[:0]
	for _, l := range v.sorted {
		if s.values[l] < 0 {
			continue
		}
		if s.values[l] > 0 {
			why, implied = s.reason[l.variable()], l
			s.lemma = append(s.lemma, l)
			s.mark(l.variable())
			break
		}
		s.decide(l.not())
		if why = s.propagate(); why != noClause {
			break
		}
	}
	for at := len(s.trail); ; {
		for _, l := range s.literals(why) {
			if x := l.variable(); s.level[x] > 0 && !s.seen[x] {
				s.mark(x)
			}
		}
		for why = noClause; why == noClause && at > s.starts[0]; {
			at--
			if l := s.trail[at]; l == implied || !s.seen[l.variable()] {
				continue
			} else if why = s.reason[l.variable()]; why == noClause {
				s.lemma = append(s.lemma, l.not())
			}
		}
		if why == noClause {
			break
		}
	}
	for _, x := range s.marked {
		s.seen[x] = false
	}
	s.marked = s.marked[:0]
	s.backTo(0)
	if len(s.lemma) < len(v.sorted) {
		replace(s, c)
	}
}

// replace takes the lemma for a clause.
func replace(s *solver, c clause) {
	for _, l := range s.literals(c)[:2] {
		s.watches[l] = slices.DeleteFunc(s.watches[l], func(w watch) bool { return w.clause == c })
	}
	glue := s.glue(c)
	s.arena[c+1] = dropped
	i := slices.Index(s.learned, c)
	if len(s.lemma) == 1 {
		s.learned = slices.Delete(s.learned, i, i+1)
		s.fact(s.lemma[0])
		s.settle()
		return
	}
	s.learned[i] = s.store(s.lemma, min(glue, len(s.lemma)-1))
	s.watch(s.learned[i])
}
