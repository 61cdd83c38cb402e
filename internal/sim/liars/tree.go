package liars

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

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

// rerun runs one node with outcomes supplied of jobs below it, and says how many it has really run.
func rerun(n verify.Node, given []verify.Claim, deepest int) (o *verify.Opening, ran int) {
	o = &verify.Opening{Node: n}
	var below func(n verify.Node) verify.Hash
	below = func(n verify.Node) verify.Hash {
		ran++
		var of []verify.Claim
		for i := range children(n, deepest) {
			c := verify.Claim{Node: childOf(n, i)}
			if g := slices.IndexFunc(given, func(g verify.Claim) bool { return g.Node == c.Node }); g >= 0 {
				c = given[g]
				o.Children = append(o.Children, c)
			} else {
				c.Outcome = below(c.Node)
			}
			of = append(of, c)
		}
		return combine(n, of)
	}
	o.Outcome = below(n)
	return o, ran
}

// A work is what a peer has made of a node and all below it, opened by commitment.
type work struct {
	claim verify.Claim
	open  map[verify.Hash]*verify.Opening
	ran   int // nodes that were really run
}

// compute computes a node and all below; spoil may change the outcome of each, and small says which belong to the
// node above them: how long a job took is different each time.
func compute(n verify.Node, deepest int, spoil func(n verify.Node, leaf bool, h *verify.Hash),
	small func() bool) *work {
	w := &work{open: map[verify.Hash]*verify.Opening{}}
	whole := n
	var below func(n verify.Node) (verify.Claim, []verify.Claim)
	below = func(n verify.Node) (verify.Claim, []verify.Claim) {
		w.ran++
		o, of := &verify.Opening{Node: n}, []verify.Claim(nil)
		for i := range children(n, deepest) {
			child, nodes := below(childOf(n, i))
			of, o.Children = append(of, child), append(o.Children, nodes...)
		}
		o.Outcome = combine(n, of)
		spoil(n, len(of) == 0, &o.Outcome)
		c := o.Claim()
		if n != whole && small() {
			return c, o.Children
		}
		w.open[c.Tree] = o
		return c, []verify.Claim{c}
	}
	w.claim, _ = below(n)
	return w
}

func never() bool { return false }

func honest(verify.Node, bool, *verify.Hash) {}

// bend makes an outcome wrong, in a way that follows from a word.
func bend(word uint64, h *verify.Hash) {
	*h = sha256.Sum256(binary.BigEndian.AppendUint64(h[:], word))
}
