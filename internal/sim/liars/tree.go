package liars

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	"github.com/satin-peer/satin/verify"
)

// The tree of a run is a function of a seed: a node's identity says how many children it has and how long it takes by
// itself, and its outcome is a hash over that and its children's outcomes.
type tree struct {
	deepest int
	heavy   bool // times have a heavy tail
}

// Times are microseconds.
const (
	leastTime = 1000
	longTime  = 10 * leastTime // two in a hundred take longer where times have a heavy tail,
	mostTimes = 1000           // and up to so many times the least
)

// took is how long a node takes by itself: with a heavy tail that longer ones are as rare as t^-1.7, so that a fifth of
// all the time goes into a fiftieth of the nodes.
func (t tree) took(n verify.Node) uint64 {
	if !t.heavy {
		return leastTime
	}
	u := float64(binary.BigEndian.Uint64(n.Identity[8:])>>11+1) / (1 << 53)
	return uint64(leastTime * min(math.Pow(u, -1/1.7), mostTimes))
}

func childOf(n verify.Node, i int) verify.Node {
	h := sha256.Sum256(append(append([]byte("child"), n.Identity[:]...), byte(i)))
	return verify.Node{Path: n.Path + string(rune('a'+i)), Identity: [16]byte(h[:16])}
}

// children is how many a node has: up to most, fewer as it lies deeper.
func (t tree) children(n verify.Node) int {
	if len(n.Path) >= t.deepest {
		return 0
	}
	return 1 + int(n.Identity[0])%3
}

// combine is a node's outcome.
func combine(n verify.Node, of []verify.Claim) verify.Hash {
	b := append(make([]byte, 0, 256), n.Identity[:]...)
	for i := range of {
		b = append(b, of[i].Outcome[:]...)
	}
	return sha256.Sum256(b)
}

// is says how long a node really takes.
func (t tree) is(n verify.Node, _ bool) uint64 { return t.took(n) }

// leaves calls f with each leaf.
func (t tree) leaves(n verify.Node, f func(verify.Node)) {
	of := t.children(n)
	if of == 0 {
		f(n)
	}
	for i := range of {
		t.leaves(childOf(n, i), f)
	}
}

// longest is the leaf that takes longest.
func (t tree) longest(n verify.Node) (longest verify.Node) {
	most := uint64(0)
	t.leaves(n, func(x verify.Node) {
		if took := t.took(x); took > most {
			longest, most = x, took
		}
	})
	return longest
}

// rerun runs one node with outcomes supplied of jobs below it, and says how many it has really run, and for how long.
func (t tree) rerun(n verify.Node, given []verify.Claim) (o *verify.Opening, ran int, took uint64) {
	o = &verify.Opening{Node: n}
	var below func(n verify.Node) verify.Hash
	below = func(n verify.Node) verify.Hash {
		ran, took = ran+1, took+t.took(n)
		var of []verify.Claim
		for i := range t.children(n) {
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
	return o, ran, took
}

// A work is what a peer has made of a node and all below it, opened by commitment.
type work struct {
	claim verify.Claim
	open  map[verify.Hash]*verify.Opening
	ran   int // nodes that were really run, for so long
	took  uint64
}

// compute computes a node and all below; spoil may change the outcome of each, says tells how long each took, given
// whether its outcome was changed, and small which belong to the node above them: how long a job took is different each
// time.
func (t tree) compute(n verify.Node, spoil func(n verify.Node, leaf bool, h *verify.Hash),
	says func(n verify.Node, wrong bool) uint64, small func() bool) *work {
	w := &work{open: map[verify.Hash]*verify.Opening{}}
	whole := n
	// It adds to the nodes above it what they commit to, itself or what is below it.
	var below func(n verify.Node, above []verify.Claim) (verify.Claim, []verify.Claim, uint64)
	below = func(n verify.Node, above []verify.Claim) (c verify.Claim, nodes []verify.Claim, loose uint64) {
		w.ran, w.took = w.ran+1, w.took+t.took(n)
		o, of := &verify.Opening{Node: n}, make([]verify.Claim, t.children(n))
		for i := range of {
			var more uint64
			of[i], o.Children, more = below(childOf(n, i), o.Children)
			loose += more
		}
		o.Outcome = combine(n, of)
		right := o.Outcome
		spoil(n, len(of) == 0, &o.Outcome)
		loose += says(n, o.Outcome != right)
		o.Time = loose
		for i := range o.Children {
			o.Time += o.Children[i].Time
		}
		c = o.Claim()
		if n != whole && small() {
			return c, append(above, o.Children...), loose
		}
		w.open[c.Tree] = o
		return c, append(above, c), 0
	}
	w.claim, _, _ = below(n, nil)
	return w
}

func never() bool { return false }

func honest(verify.Node, bool, *verify.Hash) {}

// bend makes an outcome wrong, in a way that follows from a word.
func bend(word uint64, h *verify.Hash) {
	*h = sha256.Sum256(binary.BigEndian.AppendUint64(h[:], word))
}
