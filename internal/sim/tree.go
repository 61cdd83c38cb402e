package sim

import (
	"encoding/binary"
	"math/bits"
	"time"
)

// Node is one job of a modelled computation: all that is needed to make its children, its cost and its
// result. It is what a modelled job's argument encodes, so it must be small and may not refer to anything
// outside.
type Node struct {
	Key  uint64 // identity: everything random about the node is a hash of it
	Work int64  // nanoseconds at speed 1 of the whole subtree, itself included, where the shape knows it; else 0
	Size int32  // of the part of the problem that it stands for (pixels, cities left …), by shape
	Form int32  // by shape
}

// Tree is the shape of a computation. Its methods are pure functions of the node and the tree, so a tree of
// millions of jobs needs no memory, and a job may be run again anywhere.
type Tree interface {
	// Root is the job the run begins with.
	Root() Node
	// Children appends the jobs that a node spawns, oldest first, to buf. None: the node is a leaf.
	Children(n Node, buf []Node) []Node
	// Cost is what the node itself computes, in nanoseconds at speed 1: for a leaf all its work, for an inner
	// node what it does before it spawns.
	Cost(n Node) int64
	// Any says that a node wants the first of its children that finds something and aborts the others. All
	// below it are leaves or Any nodes.
	Any(n Node) bool
	// Found says whether a leaf, below an Any node, finds something.
	Found(n Node) bool
	// ArgBytes and ResultBytes are the sizes of the encoded argument and result when the node is stolen.
	ArgBytes(n Node) int
	ResultBytes(n Node) int
}

// Result is what a modelled job computes: enough to notice a child that was lost, used twice or mistaken for another.
type Result struct {
	Sum    uint64 // of a hash of every leaf below: independent of the order
	Leaves uint64 // how many; for an Any node 1 if something was found, else 0
}

// something is the result of a leaf that finds what is looked for and of the Any nodes above it: which leaf
// was first is left to chance, so it must not show. nothing is the result of an Any node without such a leaf.
var (
	something = Result{Sum: 0x736f6d657468696e, Leaves: 1}
	nothing   = Result{}
)

func (r Result) plus(o Result) Result { return Result{r.Sum + o.Sum, r.Leaves + o.Leaves} }

// Deepening is a tree whose leaves can be divided further, for peers that wait (steal.Job.Depth). What a job
// computes is its Work, which Children must divide without a rest: so it is the same however it is divided.
type Deepening interface {
	Tree
	// Deeper is the same tree with leaves that are divided so many steps further.
	Deeper(steps uint8) Tree
}

// leafResult is what a leaf computes.
func leafResult(t Tree, n Node) Result {
	if _, ok := t.(Deepening); ok {
		return Result{uint64(n.Work), 0}
	}
	if t.Found(n) {
		return something
	}
	if _, ok := t.(Least); ok {
		return Result{uint64(numberOf(n)), 1}
	}
	return Result{mix(n.Key ^ 1), 1}
}

// Totals of a tree, by running it sequentially.
type Totals struct {
	Result Result
	Jobs   uint64        // spawned, the root included
	Work   time.Duration // cost of all jobs at speed 1
	Depth  int
}

// Sequential runs the tree as the sequential program does and is what every simulated run is compared with.
// It takes time proportional to the tree. Any nodes stop at the first child that finds something; jobs not
// reached are not counted.
func Sequential(t Tree) Totals {
	var total Totals
	total.Result, _ = sequential(t, t.Root(), 0, &total, make([][]Node, 0, 64))
	return total
}

func sequential(t Tree, n Node, depth int, total *Totals, buffers [][]Node) (Result, [][]Node) {
	total.Jobs++
	total.Work += time.Duration(t.Cost(n))
	total.Depth = max(total.Depth, depth)
	if depth == len(buffers) {
		buffers = append(buffers, nil)
	}
	children := t.Children(n, buffers[depth][:0])
	buffers[depth] = children
	if len(children) == 0 {
		return leafResult(t, n), buffers
	}
	any := t.Any(n)
	phased, _ := t.(Phased)
	var sum Result
	for phase := 1; len(children) > 0; phase++ {
		for i := len(children) - 1; i >= 0; i-- { // newest first, as the engine runs them
			var r Result
			r, buffers = sequential(t, children[i], depth+1, total, buffers)
			if any && r == something {
				return something, buffers
			}
			sum = combined(t, sum, r)
		}
		if phased == nil {
			break
		}
		children = phased.Next(n, phase, children[:0])
		buffers[depth] = children
	}
	if any {
		return nothing, buffers
	}
	return sum, buffers
}

// nodeBytes is the length of an encoded node without padding.
const nodeBytes = 24

// encode writes a node as a job's argument of the size its tree says: the node, then zeros.
func (n Node) encode(size int) []byte {
	b := make([]byte, max(size, nodeBytes))
	binary.LittleEndian.PutUint64(b, n.Key)
	binary.LittleEndian.PutUint64(b[8:], uint64(n.Work))
	binary.LittleEndian.PutUint32(b[16:], uint32(n.Size))
	binary.LittleEndian.PutUint32(b[20:], uint32(n.Form))
	return b
}

func decodeNode(b []byte) (Node, bool) {
	if len(b) < nodeBytes {
		return Node{}, false
	}
	return Node{
		Key:  binary.LittleEndian.Uint64(b),
		Work: int64(binary.LittleEndian.Uint64(b[8:])),
		Size: int32(binary.LittleEndian.Uint32(b[16:])),
		Form: int32(binary.LittleEndian.Uint32(b[20:])),
	}, true
}

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood, 2014): a good hash of 64 bits in a few instructions.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// childKey is the identity of a node's i-th child.
func childKey(key uint64, i int) uint64 { return mix(key ^ bits.RotateLeft64(uint64(i)+1, 32)) }

// unit maps a hash to [0,1).
func unit(h uint64) float64 { return float64(h>>11) / (1 << 53) }
