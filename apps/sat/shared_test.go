package sat

import (
	"math"
	"slices"
	"testing"
)

// BenchmarkShared says what sharing of learned clauses would bring: the solver shares none. Of the clauses of two and
// three literals it counts those that follow from the formula without the cube in which they were learned, which any
// other job could have through a lattice. Then it gives the ratio of conflicts, with to without, if each attempt begins
// with all of those that were learned before anywhere, at most five literals long: more than any lattice brings, as all
// attempts are in one order. Last, the same if the parts of a cube begin with what the attempt at it has learned, up to
// six literals long, and how much larger pieces are that show all of these.
func BenchmarkShared(b *testing.B) {
	const each = 4
	for _, f := range tried {
		b.Run(f.name, func(b *testing.B) {
			var everywhere, below, bytes []float64
			var without sharer
			for b.Loop() {
				everywhere, below, bytes, without = nil, nil, nil, sharer{}
				for i := range each {
					c := Cube{Formula: f.f(uint64(i)), Threshold: defaultThreshold}
					alone, pool, parts := sharer{}, sharer{pooled: 5}, sharer{inherited: 6}
					for _, x := range []*sharer{&alone, &pool, &parts} {
						x.walk(c, nil)
					}
					ratio := func(x, y int) float64 { return math.Log(float64(x) / float64(y)) }
					everywhere = append(everywhere, ratio(pool.conflicts, alone.conflicts))
					below = append(below, ratio(parts.conflicts, alone.conflicts))
					bytes = append(bytes, ratio(parts.bytes, alone.bytes))
					without.short += alone.short
					without.free += alone.free
				}
			}
			b.ReportMetric(float64(without.short), "short")
			b.ReportMetric(float64(without.free), "free")
			report(b, "everywhere", everywhere)
			report(b, "below", below)
			report(b, "bytes", bytes)
		})
	}
}

// A sharer attempts a cube and its parts as the jobs do, with proofs.
type sharer struct {
	pooled, inherited int // so long are the clauses that all attempts, or those at the parts, begin with
	conflicts, bytes  int
	short, free       int
	pool              [][]int
}

func (x *sharer) walk(c Cube, from [][]int) {
	f := &Formula{Variables: c.Formula.Variables, Clauses: c.Formula.Clauses, Literals: slices.Clip(c.Formula.Literals)}
	for _, clause := range slices.Concat(from, x.pool) {
		f.add(clause...)
	}
	s := newSolver(f, c.Facts, newRecorder(f, c.Facts))
	defer solvers.Put(s)
	splits := c.Splits - 1
	end := unknown
	if c.Splits == 0 {
		end = s.search(c.Threshold, nil)
		x.conflicts += s.conflicts
		splits = splitsAtOnce - 1
		lemmas := x.look(s.proof, c.Facts)
		if x.inherited > 0 {
			from = append(slices.Clip(from), lemmas...)
		}
	}
	var parts []Cube
	if end == unknown {
		parts = halves(s, c, splits)
		s.proof.note(s)
	}
	x.bytes += x.piece(s, c.Splits == 0)
	for _, half := range parts {
		x.walk(half, from)
	}
}

// look counts the clauses of an attempt. Free is one whose hints rest on nothing that the cube makes true. It returns
// those for the parts, and adds those for all to the pool.
func (x *sharer) look(r *recorder, facts []int32) (lemmas [][]int) {
	of := make([]bool, 2*r.formula.Variables) // by literal: it is false because of the cube
	for _, l := range facts {
		of[toLiteral(-l)] = true
	}
	bound := make([]bool, len(r.steps)+1)
	for n := 1; n <= len(r.steps); n++ {
		_, lemma, hints := r.step(n)
		for _, u := range hints {
			switch h := hint(u); h % hintKinds {
			case ofPiece:
				_, used, _ := r.step(int(h / hintKinds))
				bound[n] = bound[n] || bound[h/hintKinds]
				for _, l := range used {
					bound[n] = bound[n] || of[l]
				}
			case ofFormula:
				for _, d := range r.formula.Literals[r.starts[h/hintKinds-1]:] {
					if d == 0 {
						break
					}
					bound[n] = bound[n] || of[toLiteral(d)]
				}
			}
		}
		if len(lemma) == 1 && bound[n] {
			of[literal(lemma[0]).not()] = true
		}
		var clause []int
		for _, l := range lemma {
			clause = append(clause, int(literal(l).dimacs()))
		}
		if k := len(lemma); k == 2 || k == 3 {
			if x.short++; !bound[n] {
				x.free++
			}
		}
		if k := len(lemma); k > 0 && k <= x.pooled && !bound[n] {
			x.pool = append(x.pool, clause)
		}
		if k := len(lemma); k > 1 && k <= x.inherited {
			lemmas = append(lemmas, clause)
		}
	}
	return lemmas
}

// piece is how large the piece of an attempt is: that of one which was given up has all steps that show what its parts
// begin with.
func (x *sharer) piece(s *solver, attempt bool) int {
	r := s.proof
	defer spare.Put(r)
	p := &r.pruner
	p.begin(r, s)
	for n := len(r.steps); n > 0; n-- {
		if _, lemma, _ := r.step(n); attempt && !r.refuted && len(lemma) <= x.inherited {
			p.kept[n] = true
		}
		p.look(n)
	}
	return len(p.write(nil))
}
