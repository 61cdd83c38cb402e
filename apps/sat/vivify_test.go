package sat

import (
	"fmt"
	"slices"
	"testing"
)

// BenchmarkVivify says what vivification could do, and sharing of clauses: the solver has neither. Of w(2;3,t) it
// gives the share of conflicts that is met in attempts which are given up, whose clauses are lost with them, how many
// of these clauses propagation alone shortens, and how many of their literals that takes.
func BenchmarkVivify(b *testing.B) {
	for _, w := range [][2]int{{9, 77}, {10, 97}, {11, 114}} {
		b.Run(fmt.Sprint("t=", w[0]), func(b *testing.B) {
			var v vivified
			for b.Loop() {
				v = vivified{}
				v.walk(Cube{Formula: waerden(3, w[0], w[1]), Threshold: defaultThreshold})
			}
			b.ReportMetric(100*float64(v.lost)/float64(v.conflicts), "%lost")
			b.ReportMetric(100*float64(v.shortened)/float64(v.clauses), "%shortened")
			b.ReportMetric(100*float64(v.cut)/float64(v.literals), "%cut")
			b.ReportMetric(float64(v.clauses), "clauses")
		})
	}
}

// vivified is what was counted.
type vivified struct{ conflicts, lost, clauses, shortened, literals, cut int }

// walk attempts a cube and its parts, as the jobs do.
func (v *vivified) walk(c Cube) {
	if c.Splits == 0 {
		s := newSolver(c.Formula, c.Facts, nil)
		end := s.search(c.Threshold, nil)
		if v.conflicts += s.conflicts; end == unknown {
			v.lost += s.conflicts
			s.backTo(0)
			for clause := range s.clauses() {
				if l := slices.Clone(s.literals(clause)); s.glue(clause) > 0 && len(l) > 2 {
					v.clause(s, l)
				}
			}
		}
	}
	_, halves := c.solve(nil)
	for _, half := range halves {
		v.walk(half)
	}
}

// clause makes the literals of a clause false, one after the other: it may end where they lead to a conflict or make
// another one true, and needs none that they make false. The clause itself leads to nothing before its last one.
func (v *vivified) clause(s *solver, l []literal) {
	v.clauses++
	v.literals += len(l)
	needless := 0
	for i := range len(l) - 1 {
		if value := s.values[l[i]]; value > 0 {
			needless = len(l) - 1 - i
			break
		} else if value < 0 {
			needless++
			continue
		}
		if s.decide(l[i].not()); s.propagate() != noClause {
			needless = len(l) - 1 - i
			break
		}
	}
	s.backTo(0)
	if needless > 0 {
		v.shortened++
		v.cut += needless
	}
}
