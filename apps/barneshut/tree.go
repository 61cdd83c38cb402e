package barneshut

// Vec is a place, a velocity or an acceleration.
type Vec [3]float64

// A product that is added to something is rounded first here, by a conversion: otherwise compilers for some processors
// would compute both in one instruction, and the bodies would go other ways there.

// Tree is an octree of bodies: a cell is a cube, and its children are those of its eight octants that are not empty.
// The bodies of a cell are next to each other, and so are its children.
type Tree struct {
	Cells []Cell // the first is the root
	At    []Vec  // the bodies
	Mass  float64
}

// Cell is a cube of a tree.
type Cell struct {
	Center   Vec // of mass
	Mass     float64
	Size     float64 // of an edge
	Bodies   int32   // the first of its bodies
	Count    int32   // of bodies
	Child    int32   // the first of its children
	Children int32   // 0: a leaf, or one that was pruned
}

// maxDepth ends the division of bodies that are in one place.
const maxDepth = 60

// builder builds a tree over bodies, which it sorts.
type builder struct {
	tree  *Tree
	order []int32 // of the bodies in the tree, their numbers
	leaf  int
	spare Tree
}

// build makes a tree of bodies in these places, each of that mass, with at most so many in a leaf. It returns the
// numbers of the bodies in the order in which they are in the tree.
func build(at []Vec, mass float64, leaf int) (Tree, []int32) {
	t := &Tree{Cells: make([]Cell, 1, 2*len(at)/leaf+16), At: make([]Vec, len(at)), Mass: mass}
	b := &builder{tree: t, order: make([]int32, len(at)), leaf: leaf}
	copy(t.At, at)
	low, high := at[0], at[0]
	for i, p := range at {
		b.order[i] = int32(i)
		for k := range p {
			low[k], high[k] = min(low[k], p[k]), max(high[k], p[k])
		}
	}
	size := max(high[0]-low[0], high[1]-low[1], high[2]-low[2])
	b.spare = Tree{At: make([]Vec, len(at))}
	b.fill(0, 0, int32(len(at)), low, size, 0)
	return *t, b.order
}

// fill makes cell c of the bodies from first on, in the cube at low.
func (b *builder) fill(c int, first, count int32, low Vec, size float64, depth int) {
	cell := Cell{Size: size, Bodies: first, Count: count}
	if int(count) <= b.leaf || depth == maxDepth {
		cell.Mass = float64(count) * b.tree.Mass
		for _, p := range b.tree.At[first : first+count] {
			for k := range p {
				cell.Center[k] += p[k]
			}
		}
		for k := range cell.Center {
			cell.Center[k] /= float64(count)
		}
		b.tree.Cells[c] = cell
		return
	}
	half := size / 2
	middle := Vec{low[0] + half, low[1] + half, low[2] + half}
	counts := b.sort(first, count, middle)
	cell.Child = int32(len(b.tree.Cells))
	for _, n := range counts {
		if n > 0 {
			cell.Children++
		}
	}
	b.tree.Cells = append(b.tree.Cells, make([]Cell, cell.Children)...)
	next := int(cell.Child)
	for octant, n := range counts {
		if n == 0 {
			continue
		}
		corner := low
		for k := range corner {
			if octant>>k&1 == 1 {
				corner[k] = middle[k]
			}
		}
		b.fill(next, first, n, corner, half, depth+1)
		child := &b.tree.Cells[next]
		cell.Mass += child.Mass
		for k := range cell.Center {
			cell.Center[k] += float64(child.Mass * child.Center[k])
		}
		first += n
		next++
	}
	for k := range cell.Center {
		cell.Center[k] /= cell.Mass
	}
	b.tree.Cells[c] = cell
}

// sort puts bodies into the order of their octants, and keeps it otherwise. It returns how many are in each.
func (b *builder) sort(first, count int32, middle Vec) (counts [8]int32) {
	at, order := b.tree.At[first:first+count], b.order[first:first+count]
	octant := func(p Vec) (o int) {
		for k := range p {
			if p[k] >= middle[k] {
				o |= 1 << k
			}
		}
		return o
	}
	for _, p := range at {
		counts[octant(p)]++
	}
	var place [8]int32
	for o := 1; o < len(place); o++ {
		place[o] = place[o-1] + counts[o-1]
	}
	spare, numbers := b.spare.At[:count], make([]int32, count)
	for i, p := range at {
		o := octant(p)
		spare[place[o]], numbers[place[o]] = p, order[i]
		place[o]++
	}
	copy(at, spare)
	copy(order, numbers)
	return counts
}

// prune returns the part of the tree that the forces on a cell's bodies need, and where the cell is in it: cells that
// are so far from all of them that nobody would look into them come without what is in them.
func (t *Tree) prune(target int32, theta float64) (Tree, int32) {
	cell := t.Cells[target]
	p := pruner{from: t, theta: theta, target: target, own: cell, to: Tree{Cells: make([]Cell, 1), Mass: t.Mass}}
	p.low, p.high = t.At[cell.Bodies], t.At[cell.Bodies]
	for _, at := range t.At[cell.Bodies : cell.Bodies+cell.Count] {
		for k := range at {
			p.low[k], p.high[k] = min(p.low[k], at[k]), max(p.high[k], at[k])
		}
	}
	p.copy(0, 0)
	return p.to, p.found
}

type pruner struct {
	from      *Tree
	to        Tree
	theta     float64
	target    int32 // in from
	own       Cell  // the target
	found     int32 // the same in to
	low, high Vec   // where the bodies of the target are
}

// copy copies cell c of from to cell d.
func (p *pruner) copy(c, d int32) {
	cell := p.from.Cells[c]
	if c == p.target {
		p.found = d
	}
	if p.far(&cell) {
		cell.Bodies, cell.Count, cell.Child, cell.Children = 0, 0, 0, 0
		p.to.Cells[d] = cell
		return
	}
	bodies := p.from.At[cell.Bodies : cell.Bodies+cell.Count]
	cell.Bodies = int32(len(p.to.At))
	if cell.Children == 0 {
		p.to.At = append(p.to.At, bodies...)
		p.to.Cells[d] = cell
		return
	}
	from := cell.Child
	cell.Child = int32(len(p.to.Cells))
	p.to.Cells = append(p.to.Cells, make([]Cell, cell.Children)...)
	for i := range cell.Children {
		p.copy(from+i, cell.Child+i)
	}
	cell.Count = int32(len(p.to.At)) - cell.Bodies // those of the target are all there
	p.to.Cells[d] = cell
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
