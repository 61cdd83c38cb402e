package barneshut

import "math"

// Force is what acts on a body: an acceleration, and last its potential for a mass of 1.
type Force [4]float64

// Law is what forces depend on but the bodies.
type Law struct {
	Theta  float64 // a cell of this size, seen from a distance of 1, is looked into
	Soft   float64 // softens forces between bodies that are this close
	Direct bool    // all bodies one by one
}

// forces computes the forces of all trees on some bodies of one of them.
func forces(all []Chunk, own int, first, count int32, law Law) []Force {
	found := make([]Force, count)
	for i := range found {
		found[i] = pull(all, own, first+int32(i), law)
	}
	return found
}

// pull is the force on a body of one of the trees.
func pull(all []Chunk, own int, body int32, law Law) Force {
	w := walker{at: all[own].tree.At[body], theta2: law.Theta * law.Theta, soft2: law.Soft * law.Soft}
	for k, t := range all {
		w.self = -1
		if k == own {
			w.self = body
		}
		if law.Direct {
			w.bodies(t.tree, 0, int32(len(t.tree.At)))
		} else {
			w.tree(t.tree)
		}
	}
	return w.sum
}

// walker adds up what acts on one body.
type walker struct {
	self          int32 // its number in the tree, if it is there
	at            Vec
	theta2, soft2 float64
	sum           Force
}

// tree adds a tree: a cell as one mass if it is far enough and does not hold the body or, if not, by what is in it
// (Barnes and Hut, "A hierarchical O(N log N) force-calculation algorithm", Nature 324, 1986).
func (w *walker) tree(t *Tree) {
	for i := int32(0); i < int32(len(t.Cells)); {
		c := &t.Cells[i]
		d := Vec{c.Center[0] - w.at[0], c.Center[1] - w.at[1], c.Center[2] - w.at[2]}
		d2 := float64(d[0]*d[0]) + float64(d[1]*d[1]) + float64(d[2]*d[2])
		switch {
		case w.theta2*d2 > c.Size*c.Size && (w.self < c.Bodies || w.self >= c.Bodies+c.Count):
			w.pull(d, d2, c.Mass)
			i = c.Next
		case c.Next == i+1:
			w.bodies(t, c.Bodies, c.Bodies+c.Count)
			i++
		default:
			i++
		}
	}
}

// bodies adds the bodies from first to last-1, but for the body itself.
func (w *walker) bodies(t *Tree, first, last int32) {
	for i := first; i < last; i++ {
		if i == w.self {
			continue
		}
		p := &t.At[i]
		d := Vec{p[0] - w.at[0], p[1] - w.at[1], p[2] - w.at[2]}
		w.pull(d, float64(d[0]*d[0])+float64(d[1]*d[1])+float64(d[2]*d[2]), t.Mass)
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
