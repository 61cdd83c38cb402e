package barneshut

// Vec is a place, a velocity or an acceleration.
type Vec [3]float64

// A product that is added to something is rounded first here, by a conversion: otherwise compilers for some
// processors would compute both in one instruction, and the bodies would go other ways there.

// Tree is a tree of boxes around bodies that are in such an order that those of a box are next to each other: a box
// that is divided has the first half of its bodies to one side, and the rest to the other. Of these halves of
// halves only each third generation is a cell, so that one has up to eight in it as in an octree. Several trees in
// a row are a Tree too.
type Tree struct {
	Cells []Cell  // each before those in it
	At    []Place // the bodies
	Mass  float64
	Leaf  int `cbor:",omitempty"` // most bodies of a leaf, where it is a chunk's
}

// Cell is a box of a tree. It is half a line of a cache: whoever computes forces goes through those of all trees.
type Cell struct {
	Center Place // of mass
	Mass   float32
	Spread float32 // the square of its size: see ofBall
	Bodies int32   // the first of its bodies
	Count  int32   // of bodies; 0: what is in it was pruned
	Next   int32   // the first cell after those in it
}

// ofBall is by what the mean square of bodies' distances from their centre is multiplied for the square of their size:
// of a ball that is full of them the size is its diameter. How far the force of a cell is from that of its bodies
// depends on this second moment, and not on its farthest body (Salmon and Warren, Skeletons from the treecode closet,
// Journal of Computational Physics 111, 1994).
const ofBall = 20.0 / 3

// divided says whether there are cells in cell i.
func (t *Tree) divided(i int32) bool { return t.Cells[i].Next > i+1 }

// Every machine makes the trees of all bodies anew in each step, so what follows is written to be quick: memory of just
// the size, sums that need no comparisons, and no arrays, which compilers keep in memory.

// grow makes a tree of bodies in order, with at most so many in a leaf.
func grow(at []Place, mass float64, leaf int) Tree {
	t := Tree{At: at, Mass: mass, Cells: make([]Cell, 0, cellsOf(len(at), leaf)), Leaf: leaf}
	t.grow()
	return t
}

// grow makes the cells, for which there is room.
func (t *Tree) grow() {
	if len(t.At) > 0 {
		t.add(0, int32(len(t.At)), int32(t.Leaf))
	}
}

// cellsOf says how many cells a tree of so many bodies has. After some generations each half has one of two sizes.
func cellsOf(bodies, leaf int) int {
	if bodies == 0 {
		return 0
	}
	cells, small, few, more := 1, bodies, 1, 0 // few halves have small bodies, and more have one more
	for generation := 1; few+more > 0; generation++ {
		if small <= leaf {
			few = 0 // leaves are not divided
		}
		if small < leaf {
			more = 0
		}
		if small%2 == 0 {
			few = 2*few + more
		} else {
			more = few + 2*more
		}
		small /= 2
		if generation%generations == 0 {
			cells += few + more
			continue
		}
		if small <= leaf {
			cells += few
		}
		if small < leaf {
			cells += more
		}
	}
	return cells
}

// generations of halves are in a cell.
const generations = 3

// moments are what a cell is made of: the sums of its bodies' places, and of the squares of how far they are from the
// origin.
type moments struct{ x, y, z, squares float64 }

// cell is that of so many bodies.
func (m moments) cell(mass float64, first, count int32) Cell {
	n := float64(count)
	x, y, z := m.x/n, m.y/n, m.z/n
	spread := m.squares/n - (float64(x*x) + float64(y*y) + float64(z*z))
	return Cell{Vec{x, y, z}.place(), float32(n * mass), max(0, float32(ofBall*spread)), first, count, 0}
}

// add appends the cell of some bodies and all in it.
func (t *Tree) add(first, count, leaf int32) (m moments) {
	i := len(t.Cells)
	t.Cells = t.Cells[:i+1]
	if count > leaf {
		m = t.divide(first, count, leaf, generations)
	} else {
		for _, at := range t.At[first : first+count] {
			x, y, z := float64(at[0]), float64(at[1]), float64(at[2])
			m.x, m.y, m.z = m.x+x, m.y+y, m.z+z
			m.squares += float64(x*x) + float64(y*y) + float64(z*z)
		}
	}
	c := &t.Cells[i]
	*c = m.cell(t.Mass, first, count)
	c.Next = int32(len(t.Cells))
	return m
}

// divide appends the cells in one, for some of its bodies.
func (t *Tree) divide(first, count, leaf int32, times int) moments {
	if times == 0 || count <= leaf {
		return t.add(first, count, leaf)
	}
	half := count / 2
	a := t.divide(first, half, leaf, times-1)
	b := t.divide(first+half, count-half, leaf, times-1)
	return moments{a.x + b.x, a.y + b.y, a.z + b.z, a.squares + b.squares}
}

// bounds are of the bodies of a cell.
func (t *Tree) bounds(cell int32) (low, high Vec) {
	c := &t.Cells[cell]
	low, high = t.At[c.Bodies].exact(), t.At[c.Bodies].exact()
	for _, at := range t.At[c.Bodies : c.Bodies+c.Count] {
		for k, x := range at.exact() {
			low[k], high[k] = min(low[k], x), max(high[k], x)
		}
	}
	return low, high
}

// prune returns what the forces on the bodies of a cell of one of the trees need of them all, and where the cell is
// in that: cells that are so far from all of these bodies that nobody would look into them come without what is in
// them.
func prune(all []Chunk, own int, cell int32, theta float64) (Tree, int32) {
	p := pruner{theta: theta, target: -1, to: Tree{Mass: all[own].tree.Mass}}
	p.low, p.high = all[own].tree.bounds(cell)
	for i := range all {
		t := all[i].tree
		p.from, p.own = t, Cell{}
		if i == own {
			p.target, p.own = cell, t.Cells[cell]
		}
		for c := int32(0); c < int32(len(t.Cells)); c = t.Cells[c].Next {
			p.copy(c)
		}
		p.target = -1
	}
	return p.to, p.found
}

type pruner struct {
	from      *Tree
	to        Tree
	theta     float64
	target    int32 // in from
	own       Cell  // the target, if it is in from
	found     int32 // the same in to
	low, high Vec   // where the bodies of the target are
}

// copy appends a cell and what is needed of what is in it.
func (p *pruner) copy(i int32) {
	c, d := p.from.Cells[i], int32(len(p.to.Cells))
	if i == p.target {
		p.found = d
	}
	p.to.Cells = append(p.to.Cells, c)
	first := int32(len(p.to.At))
	switch {
	case p.far(&c):
	case !p.from.divided(i):
		p.to.At = append(p.to.At, p.from.At[c.Bodies:c.Bodies+c.Count]...)
	default:
		for k := i + 1; k < c.Next; k = p.from.Cells[k].Next {
			p.copy(k)
		}
	}
	c.Bodies, c.Count = first, int32(len(p.to.At))-first // those of the target are all there
	c.Next = int32(len(p.to.Cells))
	p.to.Cells[d] = c
}

// far says that no body of the target looks into a cell. The margin is far more than what rounding does.
func (p *pruner) far(c *Cell) bool {
	const margin = 1 + 1e-9
	if c.Bodies < p.own.Bodies+p.own.Count && p.own.Bodies < c.Bodies+c.Count {
		return false // it holds some of them
	}
	var d2 float64
	for k, x := range c.Center.exact() {
		if d := max(p.low[k]-x, x-p.high[k], 0); d > 0 {
			d2 += d * d
		}
	}
	return p.theta*p.theta*d2 > float64(c.Spread)*margin
}
