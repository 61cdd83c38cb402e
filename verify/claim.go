package verify

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
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
	// Time is how long these took, in microseconds of one core, as their author says: no two authors say the same, and
	// nobody can check it. 0: it does not say.
	Time uint64
}

// An Opening is what stands behind a claim: the children, in the order of their paths. Which of the jobs below a node
// are nodes too is for its author to say; the rest belongs to the node.
type Opening struct {
	Node     Node
	Outcome  Hash
	Time     uint64 // as in the claim: what no child has of it the node took by itself
	Children []Claim
	// Of are those whose outcomes the node's was made of. No claim commits to them: they are signed beside it.
	Of Authors
}

// MaxChildren bounds the children of an opening, MaxNodes the nodes of a tree, and MaxTime its time: some 200 days.
const (
	MaxChildren = 1 << 12
	MaxNodes    = 1 << 20
	MaxTime     = 1 << 44
)

// An opening of few children, and no long path, is hashed in one piece, of at most roomForClaim bytes: one is made of
// every node of a run that is verified, and without garbage.
const (
	fewChildren  = 3
	roomForClaim = 640
)

// Claim commits to an opening. Without times it is what it was before there were any.
func (o *Opening) Claim() Claim {
	c := Claim{Node: o.Node, Outcome: o.Outcome, Nodes: 1, Time: o.Time}
	for i := range o.Children {
		c.Nodes += o.Children[i].Nodes
	}
	var room [roomForClaim]byte
	b := o.appendHead(room[:0])
	if len(o.Children) <= fewChildren {
		for i := range o.Children {
			b = o.Children[i].appendTo(b, o.Time > 0)
		}
		c.Tree = sha256.Sum256(b)
		return c
	}
	h, one := sha256.New(), append(make([]byte, 0, roomForClaim), b...)
	for i := range o.Children {
		h.Write(one)
		one = o.Children[i].appendTo(one[:0], o.Time > 0)
	}
	h.Write(one)
	c.Tree = Hash(h.Sum(nil))
	return c
}

// appendHead appends what is hashed of a node itself.
func (o *Opening) appendHead(b []byte) []byte {
	if o.Time > 0 {
		b = append(b, "satin tree 2\n"...)
		b = binary.BigEndian.AppendUint64(b, o.Time)
	} else {
		b = append(b, "satin tree 1\n"...)
	}
	b = binary.BigEndian.AppendUint64(b, uint64(len(o.Node.Path)))
	b = append(b, o.Node.Path...)
	b = append(b, o.Node.Identity[:]...)
	b = append(b, o.Outcome[:]...)
	return binary.BigEndian.AppendUint64(b, uint64(len(o.Children)))
}

// appendTo appends what is hashed of it where it is a child, timed or not.
func (c *Claim) appendTo(b []byte, timed bool) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(len(c.Node.Path)))
	b = append(b, c.Node.Path...)
	b = append(b, c.Node.Identity[:]...)
	b = append(b, c.Outcome[:]...)
	b = append(b, c.Tree[:]...)
	b = binary.BigEndian.AppendUint64(b, c.Nodes)
	if timed {
		b = binary.BigEndian.AppendUint64(b, c.Time)
	}
	return b
}

// Opens says whether an opening is what a claim was made of: no child is in another one, all are below the node, and
// have no more nodes or time than it.
func (o *Opening) Opens(c *Claim) bool {
	if len(o.Children) > MaxChildren || c.Nodes > MaxNodes || c.Time > MaxTime {
		return false
	}
	sum, took, last := uint64(1), uint64(0), ""
	for i := range o.Children {
		child := &o.Children[i]
		path := child.Node.Path
		switch {
		case len(path) <= len(o.Node.Path), !strings.HasPrefix(path, o.Node.Path), path <= last,
			last != "" && strings.HasPrefix(path, last), child.Nodes == 0, child.Nodes > c.Nodes-sum,
			child.Time > c.Time-took:
			return false
		}
		sum, took, last = sum+child.Nodes, took+child.Time, path
	}
	return o.Claim() == *c
}

// Find gives the place of a node among an opening's children, or some of them.
func Find(children []Claim, n Node) (i int, is bool) {
	i, is = slices.BinarySearchFunc(children, n.Path, func(c Claim, path string) int {
		return strings.Compare(c.Node.Path, path)
	})
	return i, is && children[i].Node == n
}

// A Proof shows that a peer has lied: it claimed this of a node, and the node, run again with some of the outcomes that
// it claimed of the children, comes to something else. Anybody can check that who can run the node; that the peer said
// so is for its signature, which is not this package's.
type Proof struct {
	Said  Claim   // of the node that was handed in
	Wrong Opening // the node that is wrong; without children if none is needed to see it
	Given []Claim // of its children, those whose outcomes are supplied
}

// Holds says whether a proof is one, by running the node again.
func (p *Proof) Holds(rerun func(n Node, given []Claim) *Opening) bool {
	return p.Wrong.Outcome != rerun(p.Wrong.Node, p.Given).Outcome
}
