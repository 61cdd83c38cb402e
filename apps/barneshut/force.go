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
	w := walker{at: all[own].tree.At[body].exact(), theta2: law.Theta * law.Theta, soft2: law.Soft * law.Soft}
	var f sum
	for k, t := range all {
		w.self = -1
		if k == own {
			w.self = body
		}
		if law.Direct {
			f = w.bodies(f, t.tree, 0, int32(len(t.tree.At)))
		} else {
			f = w.tree(f, t.tree)
		}
	}
	return Force{f.x, f.y, f.z, f.potential}
}

// walker looks from a body.
type walker struct {
	self          int32 // its number in the tree, if it is there
	at            Vec
	theta2, soft2 float64
}

// sum is a Force. Programs spend their time here, and compilers keep variables in registers, but no arrays.
type sum struct{ x, y, z, potential float64 }

// tree adds a tree: a cell as one mass if it is far enough and does not hold the body or, if not, by what is in it
// (Barnes and Hut, "A hierarchical O(N log N) force-calculation algorithm", Nature 324, 1986).
func (w *walker) tree(f sum, t *Tree) sum {
	x, y, z, theta2, soft2 := w.at[0], w.at[1], w.at[2], w.theta2, w.soft2
	for i := int32(0); i < int32(len(t.Cells)); {
		c := &t.Cells[i]
		dx, dy, dz := float64(c.Center[0])-x, float64(c.Center[1])-y, float64(c.Center[2])-z
		d2 := float64(dx*dx) + float64(dy*dy) + float64(dz*dz)
		if theta2*d2 > float64(c.Spread) && (w.self < c.Bodies || w.self >= c.Bodies+c.Count) {
			f = f.add(dx, dy, dz, d2+soft2, float64(c.Mass))
			i = c.Next
			continue
		}
		if i++; c.Next == i {
			f = w.bodies(f, t, c.Bodies, c.Bodies+c.Count)
		}
	}
	return f
}

// bodies adds the bodies from first to last-1, but for the body itself.
func (w *walker) bodies(f sum, t *Tree, first, last int32) sum {
	x, y, z, soft2 := w.at[0], w.at[1], w.at[2], w.soft2
	for i := first; i < last; i++ {
		if i == w.self {
			continue
		}
		p := &t.At[i]
		dx, dy, dz := float64(p[0])-x, float64(p[1])-y, float64(p[2])-z
		f = f.add(dx, dy, dz, float64(dx*dx)+float64(dy*dy)+float64(dz*dz)+soft2, t.Mass)
	}
	return f
}

// add adds what a mass in a direction does, d2 being the square of how far away it is.
func (f sum) add(dx, dy, dz, d2, mass float64) sum {
	near := 1 / math.Sqrt(d2)
	potential := mass * near
	strength := potential * (near * near)
	return sum{f.x + float64(strength*dx), f.y + float64(strength*dy), f.z + float64(strength*dz),
		f.potential - potential}
}
