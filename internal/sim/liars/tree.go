package liars

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/satin-peer/satin/verify"
)

// The tree of a run is a function of a seed: a node's identity says how many children it has, and its outcome is a
// hash over that and its children's outcomes.

func childOf(n verify.Node, i int) verify.Node {
	h := sha256.Sum256(append(append([]byte("child"), n.Identity[:]...), byte(i)))
	return verify.Node{Path: n.Path + string(rune('a'+i)), Identity: [16]byte(h[:16])}
}

// children is how many a node has: up to most, fewer as it lies deeper.
func children(n verify.Node, deepest int) int {
	if len(n.Path) >= deepest {
		return 0
	}
	return 1 + int(n.Identity[0])%3
}

// combine is a node's outcome.
func combine(n verify.Node, of []verify.Claim) verify.Hash {
	h := sha256.New()
	h.Write(n.Identity[:])
	for i := range of {
		h.Write(of[i].Outcome[:])
	}
	return verify.Hash(h.Sum(nil))
}

// rerun runs one node with its children's outcomes supplied; those that it is not given have none.
func rerun(deepest int) func(n verify.Node, given []verify.Claim) *verify.Opening {
	return func(n verify.Node, given []verify.Claim) *verify.Opening {
		o := &verify.Opening{Node: n}
		for i := range children(n, deepest) {
			c := verify.Claim{Node: childOf(n, i)}
			for _, g := range given {
				if g.Node == c.Node {
					c = g
				}
			}
			o.Children = append(o.Children, c)
		}
		o.Outcome = combine(n, o.Children)
		return o
	}
}

// A work is what a peer has made of a node and all below it, opened by commitment.
type work struct {
	claim verify.Claim
	open  map[verify.Hash]*verify.Opening
	ran   int // nodes that were really run
}

// compute computes a node and all below; spoil may change the outcome of each node.
func compute(n verify.Node, deepest int, spoil func(n verify.Node, leaf bool, h *verify.Hash)) *work {
	w := &work{open: map[verify.Hash]*verify.Opening{}}
	var below func(n verify.Node) verify.Claim
	below = func(n verify.Node) verify.Claim {
		w.ran++
		o := &verify.Opening{Node: n}
		for i := range children(n, deepest) {
			o.Children = append(o.Children, below(childOf(n, i)))
		}
		o.Outcome = combine(n, o.Children)
		spoil(n, len(o.Children) == 0, &o.Outcome)
		c := o.Claim()
		w.open[c.Tree] = o
		return c
	}
	w.claim = below(n)
	return w
}

func honest(verify.Node, bool, *verify.Hash) {}

// bend makes an outcome wrong, in a way that follows from a word.
func bend(word uint64, h *verify.Hash) {
	*h = sha256.Sum256(binary.BigEndian.AppendUint64(h[:], word))
}
