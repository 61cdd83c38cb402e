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
		t.add(0, int32(len(at)), int32(leaf))
	}
	return t
}

// add appends the cell of some bodies and all in it, and says where they are.
func (t *Tree) add(first, count, leaf int32) (low, high Vec) {
	i := len(t.Cells)
	t.Cells = append(t.Cells, Cell{})
	c := Cell{Mass: float64(count) * t.Mass, Bodies: first, Count: count}
	if count <= leaf {
		low, high = t.At[first], t.At[first]
		for _, p := range t.At[first : first+count] {
			for k := range p {
				low[k], high[k] = min(low[k], p[k]), max(high[k], p[k])
				c.Center[k] += p[k]
			}
		}
	} else {
		low, high = t.At[first], t.At[first]
		t.divide(&c, first, count, leaf, generations, &low, &high)
	}
	for k := range c.Center {
		c.Center[k] /= float64(count)
		c.Size = max(c.Size, high[k]-low[k])
	}
	c.Next = int32(len(t.Cells))
	t.Cells[i] = c
	return low, high
}

// generations of halves are in a cell.
const generations = 3

// divide appends the cells in c, for some of its bodies.
func (t *Tree) divide(c *Cell, first, count, leaf int32, times int, low, high *Vec) {
	if times > 0 && count > leaf {
		half := count / 2
		t.divide(c, first, half, leaf, times-1, low, high)
		t.divide(c, first+half, count-half, leaf, times-1, low, high)
		return
	}
	i := len(t.Cells)
	low2, high2 := t.add(first, count, leaf)
	for k := range low {
		low[k], high[k] = min(low[k], low2[k]), max(high[k], high2[k])
		c.Center[k] += float64(t.Cells[i].Center[k] * float64(count))
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
