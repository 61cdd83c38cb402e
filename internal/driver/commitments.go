package driver

import (
	"slices"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// Commitments are what stands behind the vouchers that a peer has written for others' runs (Config.Commit), for when
// somebody wants to see it (Proving.Open). When there is too much of it the oldest of the owner that has most is
// forgotten: then that owner computes the job itself. They are for one goroutine at a time.
type Commitments struct {
	Most int // bytes

	of    map[string]*committed // by owner
	bytes int
}

// committed is what one owner's runs have.
type committed struct {
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
	if x.of == nil {
		x.of = map[string]*committed{}
	}
	o := x.of[c.Owner]
	if o == nil {
		o = &committed{made: map[verify.Hash]*Commitment{}}
		x.of[c.Owner] = o
	}
	if o.made[c.Claim.Tree] == nil {
		o.order = append(o.order, c.Claim.Tree)
	}
	x.drop(o, c.Claim.Tree)
	o.made[c.Claim.Tree] = c
	o.bytes += c.Made.Size()
	for x.bytes += c.Made.Size(); x.bytes > x.Most; {
		for _, other := range x.of {
			if other.bytes > o.bytes {
				o = other
			}
		}
		x.drop(o, o.order[0])
		o.order = o.order[1:]
	}
}

func (x *Commitments) drop(o *committed, tree verify.Hash) {
	if c := o.made[tree]; c != nil {
		o.bytes -= c.Made.Size()
		x.bytes -= c.Made.Size()
		delete(o.made, tree)
	}
}

// Of is what a claim commits to; nil if that is not known.
func (x *Commitments) Of(run job.RunID, tree verify.Hash) *Commitment {
	for _, o := range x.of {
		if c := o.made[tree]; c != nil && c.Run == run {
			return c
		}
	}
	return nil
}

// Forget forgets a run that has ended here.
func (x *Commitments) Forget(run job.RunID) {
	for owner, o := range x.of {
		o.order = slices.DeleteFunc(o.order, func(tree verify.Hash) bool {
			ended := o.made[tree].Run == run
			if ended {
				x.drop(o, tree)
			}
			return ended
		})
		if len(o.order) == 0 {
			delete(x.of, owner)
		}
	}
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
