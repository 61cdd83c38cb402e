package uts

import (
	"crypto/sha1"
	"encoding/binary"
	"math"
)

// The kinds of trees, numbered as the reference program numbers them.
const (
	Binomial  uint8 = iota // below the root, a node has M children with probability Q, or none
	Geometric              // the number of children is geometrically distributed, its mean a function of the depth
	Hybrid                 // geometric down to Shift*Depth, binomial below
)

// The shapes of geometric trees: how the mean number of children depends on the depth d.
const (
	Linear uint8 = iota // Root * (1 - d/Depth)
	ExpDec              // Root * d^(-log Root / log Depth): the size of a tree is polynomial in its depth
	Cyclic              // Root ^ sin(2 pi d/Depth), and none below 5*Depth
	Fixed               // Root above Depth, and none from there on
)

// Tree is the description of a tree: everything below follows from it.
type Tree struct {
	Kind  uint8
	Shape uint8   // of a geometric or hybrid tree
	Seed  int32   // what makes one tree different from another with the same parameters
	Root  float64 // number of children of a binomial root, mean number for a geometric one (b_0 in the paper)
	Depth int     // of a geometric or hybrid tree
	Shift float64 // of a hybrid tree, 0 to 1
	Q     float64 // of a binomial or hybrid tree
	M     int     // likewise

	// Divisor[d] is the logarithm of 1-p, where p is the parameter of the geometric distribution at depth d. It is
	// filled in by prepare, as a power and a sine in every node would take as long as its hash.
	Divisor []float64
}

// maxChildren is what the reference program cuts a node's children to; a binomial root may have more.
const maxChildren = 100

// maxDivisors bounds the table in Tree; deeper nodes compute what they need.
const maxDivisors = 128

// prepare returns a copy of t with its table.
func (t Tree) prepare() *Tree {
	t.Divisor = nil
	if t.Kind != Binomial {
		table := make([]float64, 0, maxDivisors)
		for d := range min(5*t.Depth+2, maxDivisors) {
			table = append(table, t.divisor(d))
		}
		t.Divisor = table
	}
	return &t
}

// divisor is the logarithm of 1-p at a depth.
func (t *Tree) divisor(depth int) float64 {
	if depth < len(t.Divisor) {
		return t.Divisor[depth]
	}
	mean, d, whole := t.Root, float64(depth), float64(t.Depth)
	switch {
	case depth == 0:
	case t.Shape == Linear && depth < t.Depth:
		mean *= 1 - d/whole
	case t.Shape == ExpDec:
		mean *= math.Pow(d, -math.Log(t.Root)/math.Log(whole))
	case t.Shape == Cyclic && depth <= 5*t.Depth:
		mean = math.Pow(t.Root, math.Sin(2*math.Pi*d/whole))
	case t.Shape == Fixed && depth < t.Depth:
	default:
		mean = 0
	}
	return math.Log(1 - 1/(1+mean))
}

// Node is a node of a tree. Its state is a node's place in the random stream: it decides how many children
// there are and is hashed with a child's number to give the child's state, so that a tree can be entered
// anywhere.
type Node struct {
	Tree *Tree
	Place
}

// A Place is a node of a tree that is said elsewhere.
type Place struct {
	State [sha1.Size]byte
	Depth int32 // 0 at the root
}

// root is the root of t: its state is the hash of the seed, big-endian and preceded by 16 zeros.
func (t *Tree) root() Node {
	var block [sha1.Size]byte
	binary.BigEndian.PutUint32(block[16:], uint32(t.Seed))
	return Node{Tree: t, Place: Place{State: sha1.Sum(block[:])}}
}

// child is the child of n with a number, from 0. Its state is the hash of n's state and that number. With
// crypto/sha1 it takes 0.1 us where the processor has instructions for SHA-1; a loop for this length alone
// takes half as long again.
func (n *Node) child(number int) Node {
	var block [sha1.Size + 4]byte
	copy(block[:], n.State[:])
	binary.BigEndian.PutUint32(block[sha1.Size:], uint32(number))
	return Node{Tree: n.Tree, Place: Place{State: sha1.Sum(block[:]), Depth: n.Depth + 1}}
}

// uniform is n's random number, from 0 to below 1.
func (n *Node) uniform() float64 {
	const bits = 31
	return float64(binary.BigEndian.Uint32(n.State[sha1.Size-4:])&(1<<bits-1)) / (1 << bits)
}

// children is the number of n's children.
func (n *Node) children() int {
	t := n.Tree
	switch {
	case t.Kind == Geometric, t.Kind == Hybrid && float64(n.Depth) < t.Shift*float64(t.Depth):
		return min(int(math.Log(1-n.uniform())/t.divisor(int(n.Depth))), maxChildren)
	case t.Kind == Binomial && n.Depth == 0:
		return int(t.Root)
	case n.uniform() < t.Q:
		return t.M
	}
	return 0
}

// Tally is what a search finds in a part of a tree.
type Tally struct {
	Nodes  uint64
	Leaves uint64 // nodes without children
	Depth  int    // of the deepest node
}

// add adds what was found in another part.
func (t *Tally) add(u Tally) {
	t.Nodes += u.Nodes
	t.Leaves += u.Leaves
	t.Depth = max(t.Depth, u.Depth)
}

// visit adds a node with a number of children.
func (t *Tally) visit(n *Node, children int) {
	t.Nodes++
	t.Depth = max(t.Depth, int(n.Depth))
	if children == 0 {
		t.Leaves++
	}
}
