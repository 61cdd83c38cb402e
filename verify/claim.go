package verify

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
)

// PeerID names a peer; "" is this one, which is trusted.
type PeerID string

// Hash is that of an outcome, or of a tree.
type Hash [32]byte

// A Node is a job: its path in the run's tree, and which function of which argument it is.
type Node struct {
	Path     string
	Identity [16]byte
}

// A Claim is what a peer says came of a node, and its commitment to how.
type Claim struct {
	Node    Node
	Outcome Hash
	Tree    Hash   // of the opening
	Nodes   uint64 // in the tree, this one included
}

// An Opening is what stands behind a claim: the children, in the order in which the node spawned them.
type Opening struct {
	Node     Node
	Outcome  Hash
	Children []Claim
}

// MaxChildren bounds the children of an opening.
const MaxChildren = 1 << 14

// Claim commits to an opening.
func (o *Opening) Claim() Claim {
	c := Claim{Node: o.Node, Outcome: o.Outcome, Nodes: 1}
	h := sha256.New()
	h.Write([]byte("satin tree 1\n"))
	word(h, uint64(len(o.Node.Path)))
	h.Write([]byte(o.Node.Path))
	h.Write(o.Node.Identity[:])
	h.Write(o.Outcome[:])
	word(h, uint64(len(o.Children)))
	for i := range o.Children {
		child := &o.Children[i]
		word(h, uint64(len(child.Node.Path)))
		h.Write([]byte(child.Node.Path))
		h.Write(child.Node.Identity[:])
		h.Write(child.Outcome[:])
		h.Write(child.Tree[:])
		word(h, child.Nodes)
		c.Nodes += child.Nodes
	}
	h.Sum(c.Tree[:0])
	return c
}

func word(h hash.Hash, n uint64) { h.Write(binary.BigEndian.AppendUint64(nil, n)) }

// opens says whether an opening is what a claim was made of.
func (o *Opening) opens(c *Claim) bool {
	if len(o.Children) > MaxChildren {
		return false
	}
	sum := uint64(1)
	for i := range o.Children {
		n := o.Children[i].Nodes
		if n == 0 || n > c.Nodes-sum {
			return false
		}
		sum += n
	}
	return o.Claim() == *c
}

// same says whether running a node again, with the children's outcomes supplied, has come to what was claimed.
func (o *Opening) same(again *Opening) bool {
	if again == nil || o.Node != again.Node || o.Outcome != again.Outcome || len(o.Children) != len(again.Children) {
		return false
	}
	for i := range o.Children {
		if o.Children[i].Node != again.Children[i].Node || o.Children[i].Outcome != again.Children[i].Outcome {
			return false
		}
	}
	return true
}

// A Proof shows that a peer has lied: it claimed this of a node, and the node, run again with the children's outcomes
// that are in it, comes to something else. Anybody can check that who can run the node; that the peer said so is for
// its signature on Said, which is not this package's.
type Proof struct {
	Said  Claim // of the node that was handed in
	Wrong Opening
}

// Holds says whether a proof is one, by running the node again.
func (p *Proof) Holds(rerun func(n Node, children []Claim) *Opening) bool {
	return !p.Wrong.same(rerun(p.Wrong.Node, p.Wrong.Children))
}
