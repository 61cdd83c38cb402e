package barneshut

import "math"

// Vec is a place, a velocity or an acceleration.
type Vec [3]float64

// A product that is added to something is rounded first here, by a conversion: otherwise compilers for some
// processors would compute both in one instruction, and the bodies would go other ways there.

// Tree is a tree of boxes around bodies that are in such an order that those of a box are next to each other: a box
// that is divided has the first half of its bodies to one side, and the rest to the other. Of these halves of
// halves only each third generation is a cell, so that one has up to eight in it as in an octree. Several trees in
// a row are a Tree too.
type Tree struct {
	Cells []Cell // each before those in it
	At    []Vec  // the bodies
	Mass  float64
	Leaf  int `cbor:",omitempty"` // most bodies of a leaf, where it is a chunk's
}

// Cell is a box of a tree.
type Cell struct {
	Center Vec // of mass
	Mass   float64
	Size   float64 // of its longest edge
	Bodies int32   // the first of its bodies
	Count  int32   // of bodies; 0: what is in it was pruned
	Next   int32   // the first cell after those in it
}

// divided says whether there are cells in cell i.
func (t *Tree) divided(i int32) bool { return t.Cells[i].Next > i+1 }

// Every machine makes the trees of all bodies anew in each step, so what follows is written to be quick: memory of just
// the size, and no arrays, which compilers keep in memory, where the many small cells are made.

// grow makes a tree of bodies in order, with at most so many in a leaf.
func grow(at []Vec, mass float64, leaf int) Tree {
	t := Tree{At: at, Mass: mass, Cells: make([]Cell, 0, cellsOf(len(at), leaf)), Leaf: leaf}
	t.grow()
	return t
}

// grow makes the cells, for which there is room.
func (t *Tree) grow() {
	if len(t.At) > 0 {
		b := nowhere
		t.add(new(Vec), 0, int32(len(t.At)), int32(t.Leaf), &b)
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

// box is around bodies.
type box struct{ low, high Vec }

// nowhere has nothing in it.
var nowhere = box{Vec{inf, inf, inf}, Vec{-inf, -inf, -inf}}

var inf = math.Inf(1)

// generations of halves are in a cell.
const generations = 3

// add appends the cell of some bodies and all in it. It adds their places to sum, and takes them into b.
func (t *Tree) add(sum *Vec, first, count, leaf int32, b *box) {
	if count <= leaf {
		t.addLeaf(sum, first, count, b)
		return
	}
	i := len(t.Cells)
	t.Cells = append(t.Cells, Cell{Mass: float64(count) * t.Mass, Bodies: first, Count: count})
	in, all := nowhere, Vec{}
	t.divide(&all, first, count, leaf, generations, &in)
	c, n := &t.Cells[i], float64(count)
	c.Next = int32(len(t.Cells))
	for k, x := range all {
		c.Center[k] = x / n
		sum[k] += float64(c.Center[k] * n)
		c.Size = max(c.Size, in.high[k]-in.low[k])
		b.low[k], b.high[k] = min(b.low[k], in.low[k]), max(b.high[k], in.high[k])
	}
}

// divide appends the cells in one, for some of its bodies.
func (t *Tree) divide(sum *Vec, first, count, leaf int32, times int, b *box) {
	if times == 0 || count <= leaf {
		t.add(sum, first, count, leaf, b)
		return
	}
	half := count / 2
	t.divide(sum, first, half, leaf, times-1, b)
	t.divide(sum, first+half, count-half, leaf, times-1, b)
}

// addLeaf is add for a cell that is not divided.
func (t *Tree) addLeaf(sum *Vec, first, count int32, b *box) {
	at := t.At[first : first+count]
	x, y, z := at[0][0], at[0][1], at[0][2]
	lowX, lowY, lowZ, highX, highY, highZ := x, y, z, x, y, z
	sumX, sumY, sumZ := x, y, z
	for i := 1; i < len(at); i++ {
		x, y, z := at[i][0], at[i][1], at[i][2]
		lowX, lowY, lowZ = min(lowX, x), min(lowY, y), min(lowZ, z)
		highX, highY, highZ = max(highX, x), max(highY, y), max(highZ, z)
		sumX, sumY, sumZ = sumX+x, sumY+y, sumZ+z
	}
	n := float64(count)
	x, y, z = sumX/n, sumY/n, sumZ/n
	t.Cells = append(t.Cells, Cell{Center: Vec{x, y, z}, Mass: n * t.Mass,
		Size: max(highX-lowX, highY-lowY, highZ-lowZ), Bodies: first, Count: count, Next: int32(len(t.Cells)) + 1})
	b.low[0], b.low[1], b.low[2] = min(b.low[0], lowX), min(b.low[1], lowY), min(b.low[2], lowZ)
	b.high[0], b.high[1], b.high[2] = max(b.high[0], highX), max(b.high[1], highY), max(b.high[2], highZ)
	sum[0], sum[1], sum[2] = sum[0]+float64(x*n), sum[1]+float64(y*n), sum[2]+float64(z*n)
}

// bounds are of the bodies of a cell.
func (t *Tree) bounds(cell int32) (low, high Vec) {
	c := &t.Cells[cell]
	low, high = t.At[c.Bodies], t.At[c.Bodies]
	for _, at := range t.At[c.Bodies : c.Bodies+c.Count] {
		for k := range at {
			low[k], high[k] = min(low[k], at[k]), max(high[k], at[k])
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
	for k, x := range c.Center {
		if d := max(p.low[k]-x, x-p.high[k], 0); d > 0 {
			d2 += d * d
		}
	}
	return p.theta*p.theta*d2 > c.Size*c.Size*margin
}
