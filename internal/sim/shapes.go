package sim

import (
	"fmt"
	"math/bits"
	"time"
)

// Split is a synthetic tree: a known amount of work, divided unevenly from node to node until the pieces are
// small. Since the parts of a node add up to exactly its own work, the sequential time is known without
// running it.
type Split struct {
	Name  string
	Seed  uint64
	Total time.Duration // sequential time at speed 1
	Grain time.Duration // a piece of at most this much work is a leaf

	FanLow, FanHigh int // children of an inner node, drawn evenly from this range

	// The part of a child is proportional to Even + u^Skew with u drawn from [0,1): a large Even makes all
	// alike, a large Skew makes a few children inherit nearly all. This is what decides how often a thief
	// must steal.
	Even float64
	Skew int
	// Peel, if not 0, replaces Even and Skew: one of two children, drawn at random, gets a share of only
	// Peel/2 to 3*Peel/2, as where a search strips one alternative after the other. The smaller, the longer
	// the tree's spine and the oftener a thief must steal.
	Peel float64

	Arg     int     // bytes of an encoded argument
	Result  int     // bytes of an encoded result …
	PerUnit float64 // … and this many more for every unit of Size
	Size    int32   // of the root; divided as the work is (pixels of a picture); 0 if there is no such thing
}

// Root of the tree.
func (s *Split) Root() Node {
	return Node{Key: mix(s.Seed ^ 0x73706c6974), Work: int64(s.Total), Size: s.Size}
}

// Children divides the node's work.
func (s *Split) Children(n Node, buf []Node) []Node {
	if n.Work <= int64(s.Grain) {
		return buf
	}
	fan := s.FanLow + int(mix(n.Key)%uint64(s.FanHigh-s.FanLow+1))
	sum := 0.0
	for i := range fan {
		key := childKey(n.Key, i)
		sum += s.weight(key)
		buf = append(buf, Node{Key: key, Form: n.Form + 1})
	}
	children := buf[len(buf)-fan:]
	work, size := n.Work, n.Size
	for i := range children {
		c := &children[i]
		share := s.share(n, c.Key, i, sum)
		c.Work, c.Size = int64(float64(n.Work)*share), int32(float64(n.Size)*share)
		if i == fan-1 {
			c.Work, c.Size = work, size // the rest, so that nothing is lost to rounding
		}
		work -= c.Work
		size -= c.Size
	}
	return buf
}

// share is the part of a node's work that its i-th child gets, sum being the weight of all children.
func (s *Split) share(n Node, child uint64, i int, sum float64) float64 {
	if s.Peel == 0 {
		return s.weight(child) / sum
	}
	h := mix(n.Key ^ 0x7065656c)
	u := unit(h)
	peel := s.Peel
	for range s.Skew {
		peel *= u
	}
	peel += s.Even
	if int(h&1) == i {
		return peel
	}
	return 1 - peel
}

func (s *Split) weight(key uint64) float64 {
	u := unit(mix(key ^ 0x776569676874))
	w := u
	for range s.Skew - 1 {
		w *= u
	}
	return s.Even + float64(w) // the conversion keeps other machines from fusing product and sum
}

// Cost is all the work of a leaf; inner nodes are free.
func (s *Split) Cost(n Node) int64 {
	if n.Work <= int64(s.Grain) {
		return n.Work
	}
	return 0
}

// Any is false: every result is wanted.
func (s *Split) Any(Node) bool { return false }

// Found is false.
func (s *Split) Found(Node) bool { return false }

// ArgBytes is the same for all jobs.
func (s *Split) ArgBytes(Node) int { return s.Arg }

// ResultBytes grows with the part of the picture.
func (s *Split) ResultBytes(n Node) int { return s.Result + int(float64(n.Size)*s.PerUnit) }

// Search is a synthetic tree with speculative parts: above, every result is wanted; from level Spec down, the
// first success ends the search of a subtree and the rest of it is aborted.
type Search struct {
	Seed    uint64
	Depth   int           // levels of inner nodes; at most 20
	FanHigh int           // children of an inner node: 1 to FanHigh; one in eight nodes is a leaf before its time
	Leaf    time.Duration // longest cost of a leaf at speed 1
	Spec    int           // levels from the root without speculation; Depth or more: none at all
	Rare    int           // one leaf in so many is a success, below Spec
}

// Root of the tree.
func (s *Search) Root() Node { return Node{Key: mix(s.Seed ^ 0x736561726368)} }

func (s *Search) isLeaf(n Node) bool {
	return int(n.Form) >= s.Depth || n.Form > 1 && mix(n.Key^7)%8 == 0
}

// Children of an inner node.
func (s *Search) Children(n Node, buf []Node) []Node {
	if s.isLeaf(n) {
		return buf
	}
	for i := range 1 + int(mix(n.Key)%uint64(s.FanHigh)) {
		buf = append(buf, Node{Key: childKey(n.Key, i), Form: n.Form + 1})
	}
	return buf
}

// Cost of a leaf is anything up to Leaf, of an inner node a hundredth of that.
func (s *Search) Cost(n Node) int64 {
	c := 1 + int64(mix(n.Key^3)%uint64(s.Leaf))
	if s.isLeaf(n) {
		return c
	}
	return c / 100
}

// Any is true from level Spec down.
func (s *Search) Any(n Node) bool { return int(n.Form) >= s.Spec && !s.isLeaf(n) }

// Found is true for one leaf in Rare below Any nodes.
func (s *Search) Found(n Node) bool {
	return int(n.Form) > s.Spec && mix(n.Key^5)%uint64(s.Rare) == 0
}

// ArgBytes is small.
func (s *Search) ArgBytes(Node) int { return 40 }

// ResultBytes is small.
func (s *Search) ResultBytes(Node) int { return 24 }

// Queens is the real tree of the N-queens problem: all placements row by row, the last Leaf rows searched
// sequentially. It is made while it is run; a leaf's cost is the number of positions it visits.
type Queens struct {
	N        int           // board size, 4 to 20
	Leaf     int           // rows left at which a job is a leaf
	Position time.Duration // cost of visiting one position at speed 1
}

// Queens keeps the three attack masks of a position in Node.Key, 21 bits each, and the row in Form.
const maskBits = 21

// Root is the empty board.
func (q *Queens) Root() Node {
	if q.N < 4 || q.N > 20 {
		panic(fmt.Sprintf("sim: %d queens; 4 to 20 are possible", q.N))
	}
	return Node{Size: int32(q.N)}
}

func (q *Queens) masks(n Node) (columns, left, right uint32) {
	const mask = 1<<maskBits - 1
	return uint32(n.Key & mask), uint32(n.Key >> maskBits & mask), uint32(n.Key >> (2 * maskBits))
}

// Children places a queen in the next row.
func (q *Queens) Children(n Node, buf []Node) []Node {
	if int(n.Size) <= q.Leaf {
		return buf
	}
	columns, left, right := q.masks(n)
	board := uint32(1)<<q.N - 1
	for free := board &^ (columns | left | right); free != 0; free &= free - 1 {
		bit := free & -free
		key := uint64(columns|bit) | uint64((left|bit)<<1&board)<<maskBits | uint64((right|bit)>>1)<<(2*maskBits)
		buf = append(buf, Node{Key: key, Size: n.Size - 1, Form: n.Form + 1})
	}
	return buf
}

// Cost of a leaf is the time to search the rows that are left.
func (q *Queens) Cost(n Node) int64 {
	if int(n.Size) > q.Leaf {
		return int64(q.Position)
	}
	columns, left, right := q.masks(n)
	return int64(q.visit(columns, left, right)) * int64(q.Position)
}

func (q *Queens) visit(columns, left, right uint32) int {
	board := uint32(1)<<q.N - 1
	visited := 1
	for free := board &^ (columns | left | right); free != 0; free &= free - 1 {
		bit := free & -free
		visited += q.visit(columns|bit, (left|bit)<<1&board, (right|bit)>>1)
	}
	return visited
}

// Any is false: every solution counts.
func (q *Queens) Any(Node) bool { return false }

// Found is false.
func (q *Queens) Found(Node) bool { return false }

// ArgBytes is a board: a byte a row, and CBOR's heads.
func (q *Queens) ArgBytes(n Node) int { return 8 + bits.Len32(uint32(q.N)) + int(n.Form) }

// ResultBytes is a count.
func (q *Queens) ResultBytes(Node) int { return 24 }
