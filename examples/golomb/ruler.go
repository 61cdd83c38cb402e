package golomb

import (
	"fmt"
	"math/bits"
	"slices"
)

// MaxMarks is the largest order for which the greedy ruler has room in a set: it is 122 long.
const MaxMarks = 12

// shortest are the lengths of the shortest rulers, by their marks (OEIS A003022): a check for the answer, and a bound
// for the rest of a longer ruler, which is one itself.
var shortest = [...]int{0, 0, 1, 3, 6, 11, 17, 25, 34, 44, 55, 72, 85}

// A Ruler is the places of its marks from 0 on; none is a ruler that was not found, longer than all others.
type Ruler struct{ Places []int }

// shorter is the better of two rulers: the shorter one, and of equal ones the first in the order of their places.
func shorter(a, b Ruler) Ruler {
	switch {
	case len(a.Places) == 0:
		return b
	case len(b.Places) == 0 || a.length() < b.length():
		return a
	case b.length() < a.length() || slices.Compare(b.Places, a.Places) < 0:
		return b
	}
	return a
}

func (r Ruler) length() int { return r.Places[len(r.Places)-1] }

// isRuler says why a ruler, which another peer may have offered, is none with so many marks.
func isRuler(marks int, r Ruler) error {
	if len(r.Places) == 0 {
		return nil
	}
	if len(r.Places) != marks || r.Places[0] != 0 {
		return fmt.Errorf("%v has not %d marks from 0 on", r.Places, marks)
	}
	seen := map[int]bool{}
	for i, p := range r.Places {
		for _, q := range r.Places[:i] {
			if p <= q || seen[p-q] {
				return fmt.Errorf("%v is no ruler: two of its marks are as far apart as two others", r.Places)
			}
			seen[p-q] = true
		}
	}
	return nil
}

// greedy is a ruler that the search begins with: each mark as far left as it may be.
func greedy(marks int) Ruler {
	p := begin(marks)
	for p.Left > 0 {
		d := 1
		for !p.fits(d) {
			d++
		}
		p = p.add(d)
	}
	return p.ruler()
}

// maxLength is the longest distance that a set has room for.
const maxLength = 127

// A Set has whole numbers from 0 to 127.
type Set struct{ Low, High uint64 }

// shift adds n, which is not negative, to each.
func (s Set) shift(n int) Set {
	by := uint(n)
	return Set{s.Low << by, s.High<<by | s.Low>>(64-by) | s.Low<<(by-64)} // a shift by 64 and more gives 0
}

func (s Set) with(n int) Set {
	one := Set{Low: 1}.shift(n)
	return Set{s.Low | one.Low, s.High | one.High}
}

func (s Set) meets(t Set) bool { return s.Low&t.Low|s.High&t.High != 0 }

// A Part is a ruler with some of its marks: the first one is at 0, each further one is right of those before.
type Part struct {
	Left  int // marks still to place
	Last  int // where the last mark is
	First int // the distance of the second mark from the first; 0: there is none yet
	Marks Set // where the marks are, as distances to the left from the last one
	Used  Set // distances between two marks
}

// begin is a ruler with the first of its marks.
func begin(marks int) Part { return Part{Left: marks - 1, Marks: Set{}.with(0)} }

// fits says whether a mark may be at some distance to the right of the last one: no distance comes twice, and the ruler
// is not the mirror of one that is looked at elsewhere.
func (p *Part) fits(distance int) bool {
	return !p.Marks.shift(distance).meets(p.Used) && (p.Left > 1 || p.First <= distance)
}

// add is the ruler with a mark there, which fits.
func (p *Part) add(distance int) Part {
	marks := p.Marks.shift(distance)
	used := Set{p.Used.Low | marks.Low, p.Used.High | marks.High}
	next := Part{p.Left - 1, p.Last + distance, p.First, marks.with(0), used}
	if p.First == 0 {
		next.First = distance
	}
	return next
}

// longest is the longest distance to the next mark with which the ruler may become as short as the shortest known.
func (p *Part) longest(known Ruler) int {
	return min(known.length()-p.Last-shortest[p.Left], maxLength-p.Last)
}

// mayBeat says whether the ruler may become as short as the shortest known, one that is as short may come before it. It
// is what longest was asked before the last mark was added: a looser bound would let through what the twin leaves out.
func (p *Part) mayBeat(known Ruler) bool { return p.Last+shortest[p.Left+1] <= known.length() }

// ruler is the finished one.
func (p *Part) ruler() Ruler {
	var places []int
	for _, half := range []struct {
		of   uint64
		from int
	}{{p.Marks.Low, 0}, {p.Marks.High, 64}} {
		for of := half.of; of != 0; of &= of - 1 {
			places = append(places, p.Last-half.from-bits.TrailingZeros64(of))
		}
	}
	slices.Reverse(places)
	return Ruler{places}
}
