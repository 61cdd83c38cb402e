package barneshut

import "math"

// Force is what acts on a body: an acceleration, and last its potential for a mass of 1.
type Force [4]float64

// Law is what forces depend on but the bodies.
type Law struct {
	Theta float64 // a cell of this size, seen from a distance of 1, is looked into
	Soft  float64 // softens forces between bodies that are this close
}

// forces computes the forces on the bodies of a cell.
func (t *Tree) forces(cell int32, law Law) []Force {
	c := t.Cells[cell]
	all := make([]Force, c.Count)
	for i := range all {
		w := walker{tree: t, self: c.Bodies + int32(i), at: t.At[c.Bodies+int32(i)], theta2: law.Theta * law.Theta,
			soft2: law.Soft * law.Soft}
		w.cell(&t.Cells[0])
		all[i] = w.sum
	}
	return all
}

// walker adds up what acts on one body.
type walker struct {
	tree          *Tree
	self          int32
	at            Vec
	theta2, soft2 float64
	sum           Force
}

// cell adds a cell: as one mass if it is far enough and does not hold the body or, if not, by what is in it (Barnes and
// Hut, "A hierarchical O(N log N) force-calculation algorithm", Nature 324, 1986).
func (w *walker) cell(c *Cell) {
	d := Vec{c.Center[0] - w.at[0], c.Center[1] - w.at[1], c.Center[2] - w.at[2]}
	d2 := float64(d[0]*d[0]) + float64(d[1]*d[1]) + float64(d[2]*d[2])
	if w.theta2*d2 > c.Size*c.Size && (w.self < c.Bodies || w.self >= c.Bodies+c.Count) {
		w.pull(d, d2, c.Mass)
		return
	}
	if c.Children > 0 {
		for i := range c.Children {
			w.cell(&w.tree.Cells[c.Child+i])
		}
		return
	}
	w.bodies(c.Bodies, c.Bodies+c.Count)
}

// bodies adds the bodies from first to last-1, but for the body itself.
func (w *walker) bodies(first, last int32) {
	for i := first; i < last; i++ {
		if i == w.self {
			continue
		}
		p := &w.tree.At[i]
		d := Vec{p[0] - w.at[0], p[1] - w.at[1], p[2] - w.at[2]}
		w.pull(d, float64(d[0]*d[0])+float64(d[1]*d[1])+float64(d[2]*d[2]), w.tree.Mass)
	}
}

func (w *walker) pull(d Vec, d2, mass float64) {
	near := 1 / math.Sqrt(d2+w.soft2)
	potential := mass * near
	w.sum[3] -= potential
	strength := potential * (near * near)
	w.sum[0] += float64(strength * d[0])
	w.sum[1] += float64(strength * d[1])
	w.sum[2] += float64(strength * d[2])
}

// direct computes the forces on the bodies from first to last-1 of all others, one by one.
func (t *Tree) direct(first, last int32, law Law) []Force {
	all := make([]Force, last-first)
	for i := range all {
		w := walker{tree: t, self: first + int32(i), at: t.At[first+int32(i)], soft2: law.Soft * law.Soft}
		w.bodies(0, int32(len(t.At)))
		all[i] = w.sum
	}
	return all
}
