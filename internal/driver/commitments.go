package driver

import (
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// Commitments are what stands behind the vouchers that a peer has written for others' runs (Config.Commit), for when
// somebody wants to see it (Proving.Open). When there is too much of it the oldest is forgotten: then its owner
// computes that job itself. They are for one goroutine at a time.
type Commitments struct {
	Most int // bytes

	made  map[verify.Hash]*Commitment // by tree
	order []verify.Hash               // the oldest first
	bytes int
}

// Commitment is one of them.
type Commitment struct {
	Claim verify.Claim
	Made  *Made
	Run   job.RunID
	Owner string // of the run
}

// Note remembers one.
func (x *Commitments) Note(c *Commitment) {
	if x.made == nil {
		x.made = map[verify.Hash]*Commitment{}
	}
	if x.made[c.Claim.Tree] == nil {
		x.order = append(x.order, c.Claim.Tree)
	}
	x.drop(c.Claim.Tree)
	x.made[c.Claim.Tree] = c
	for x.bytes += c.Made.Size(); x.bytes > x.Most; x.order = x.order[1:] {
		x.drop(x.order[0])
	}
}

func (x *Commitments) drop(tree verify.Hash) {
	if c := x.made[tree]; c != nil {
		x.bytes -= c.Made.Size()
		delete(x.made, tree)
	}
}

// Of is what a claim commits to; nil if that is not known.
func (x *Commitments) Of(run job.RunID, tree verify.Hash) *Commitment {
	if c := x.made[tree]; c != nil && c.Run == run {
		return c
	}
	return nil
}

// Forget forgets a run that has ended here.
func (x *Commitments) Forget(run job.RunID) {
	var left []verify.Hash
	for _, tree := range x.order {
		if c := x.made[tree]; c != nil && c.Run == run {
			x.drop(tree)
		} else if c != nil {
			left = append(left, tree)
		}
	}
	x.order = left
}

// OpenedNode is what a peer shows of a node, as it travels.
type OpenedNode struct {
	Function string        `cbor:"1,keyasint"`
	Argument []byte        `cbor:"2,keyasint,omitempty"`
	Children []OpenedChild `cbor:"3,keyasint,omitempty"`
	Voucher  []byte        `cbor:"4,keyasint"` // for the node
}

// OpenedChild is a child of a node as it travels.
type OpenedChild struct {
	Path     job.Path     `cbor:"1,keyasint"`
	Identity job.Identity `cbor:"2,keyasint"`
	Tree     verify.Hash  `cbor:"3,keyasint"`
	Nodes    uint64       `cbor:"4,keyasint"`
	Digest   verify.Hash  `cbor:"5,keyasint"`
	Outcome  []byte       `cbor:"6,keyasint,omitempty"`
	Time     uint64       `cbor:"7,keyasint,omitempty"`
}

// Open is a commitment as it travels, with its author's signature for that very node.
func (c *Commitment) Open(voucher []byte) *OpenedNode {
	return &OpenedNode{Function: c.Made.Job.Function, Argument: c.Made.Job.Arg, Children: ChildrenOf(c.Made.Children),
		Voucher: voucher}
}

// Shown is what has come.
func (a *OpenedNode) Shown() *Shown {
	return &Shown{Voucher: a.Voucher, Made: Made{Children: GivenOf(a.Children),
		Job: steal.Job{Function: a.Function, Arg: a.Argument}}}
}

// ChildrenOf are outcomes as they travel.
func ChildrenOf(list []Given) (out []OpenedChild) {
	for i := range list {
		g := &list[i]
		out = append(out, OpenedChild{PathOf(g.Node), g.Node.Identity, g.Tree, g.Nodes, g.Outcome, g.Bytes, g.Time})
	}
	return out
}

// GivenOf are outcomes that have come.
func GivenOf(list []OpenedChild) (out []Given) {
	for i := range list {
		c := &list[i]
		out = append(out, Given{Bytes: c.Outcome, Claim: verify.Claim{Node: NodeOf(c.Path, c.Identity),
			Outcome: c.Digest, Tree: c.Tree, Nodes: c.Nodes, Time: c.Time}})
	}
	return out
}
