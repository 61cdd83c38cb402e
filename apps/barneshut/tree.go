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
	Cells []Cell // each before those in it
	At    []Vec  // the bodies
	Mass  float64
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

// grow makes a tree of bodies in order, with at most so many in a leaf.
func grow(at []Vec, mass float64, leaf int) Tree {
	t := Tree{At: at, Mass: mass}
	if len(at) > 0 {
		t.Cells = make([]Cell, 0, 3*len(at)/leaf+1)
		t.add(0, int32(len(at)), int32(leaf), new(box))
	}
	return t
}

// box is around bodies.
type box struct{ low, high Vec }

// add appends the cell of some bodies and all in it, and says where they are.
func (t *Tree) add(first, count, leaf int32, b *box) {
	i := len(t.Cells)
	t.Cells = append(t.Cells, Cell{Mass: float64(count) * t.Mass, Bodies: first, Count: count})
	var sum Vec
	if count <= leaf {
		sum = b.around(t.At[first : first+count])
	} else {
		*b = box{t.At[first], t.At[first]}
		t.divide(&sum, first, count, leaf, generations, b)
	}
	c := &t.Cells[i]
	n := float64(count)
	c.Center = Vec{sum[0] / n, sum[1] / n, sum[2] / n}
	c.Size = max(b.high[0]-b.low[0], b.high[1]-b.low[1], b.high[2]-b.low[2])
	c.Next = int32(len(t.Cells))
}

// around makes b the box of some bodies, and gives the sum of their places. Every machine does it with all bodies in
// each step: so without arrays, which compilers keep in memory.
func (b *box) around(at []Vec) Vec {
	x, y, z := at[0][0], at[0][1], at[0][2]
	lowX, lowY, lowZ, highX, highY, highZ := x, y, z, x, y, z
	var sumX, sumY, sumZ float64
	for i := range at {
		x, y, z := at[i][0], at[i][1], at[i][2]
		lowX, lowY, lowZ = min(lowX, x), min(lowY, y), min(lowZ, z)
		highX, highY, highZ = max(highX, x), max(highY, y), max(highZ, z)
		sumX, sumY, sumZ = sumX+x, sumY+y, sumZ+z
	}
	*b = box{Vec{lowX, lowY, lowZ}, Vec{highX, highY, highZ}}
	return Vec{sumX, sumY, sumZ}
}

// generations of halves are in a cell.
const generations = 3

// divide appends the cells in one, for some of its bodies, whose places it adds to sum and whose box to b.
func (t *Tree) divide(sum *Vec, first, count, leaf int32, times int, b *box) {
	if times > 0 && count > leaf {
		half := count / 2
		t.divide(sum, first, half, leaf, times-1, b)
		t.divide(sum, first+half, count-half, leaf, times-1, b)
		return
	}
	i := len(t.Cells)
	var in box
	t.add(first, count, leaf, &in)
	for k, x := range t.Cells[i].Center {
		b.low[k], b.high[k] = min(b.low[k], in.low[k]), max(b.high[k], in.high[k])
		sum[k] += float64(x * float64(count))
	}
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
func prune(trees []*Tree, own int, cell int32, theta float64) (Tree, int32) {
	p := pruner{theta: theta, target: -1, to: Tree{Mass: trees[own].Mass}}
	p.low, p.high = trees[own].bounds(cell)
	for i, t := range trees {
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
