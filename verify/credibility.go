package verify

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// Credibility, after L. F. G. Sarmenta, Sabotage-Tolerance Mechanisms for Volunteer Computing Systems, Future
// Generation Computer Systems 18(4), 2002. At most a share f of strangers lie, each in a share s of its
// outcomes that does not change; whoever is caught once is out. Then
//
//   - the next outcome of a peer is wrong with at most P = f if nothing is known of it, and P = f/((1-f) k e) if k of
//     its outcomes were compared and right: f/(1-f) s (1-s)^k is greatest for s = 1/(k+1);
//   - an outcome to which several have come independently is wrong with ΠP / (ΠP + Π(1-P)). They are taken to agree on
//     what is wrong whenever all of them lie, so a party of liars gains nothing by agreeing.
//
// With f = 1/5 seven strangers must agree to get below 1e-4, two with 10 comparisons each, one with 920. Peers that one
// member has let in count once, by the best record among them.
//
// The share that does not change is an assumption that a patient liar breaks: it is honest until it is believed alone.
// So some outcomes that one record is enough for are compared all the same (Config.Again), drawn after they have come:
// of its lies such a peer gets (1-a)/a through, on the average, before it is out. InDoubt tells afterwards how many
// outcomes rest on the word of those alone who were caught.

// A scale weighs what peers say by their records.
type scale struct {
	liars, doubt float64 // of Config
	view         View
}

// oddsOf are those against what a peer says: P/(1-P).
func (c *scale) oddsOf(id PeerID) float64 {
	if ours(c.view, id) {
		return 0
	}
	p := c.liars
	if k := c.view.Passed(id); k > 0 {
		p = min(p, p/((1-p)*float64(k)*math.E))
	}
	return p / (1 - p)
}

// against are the odds against an outcome that some have come to, or will; each introducer counts once.
func (c *scale) against(by []PeerID) float64 {
	best := map[PeerID]float64{}
	var hands []PeerID // in an order that is always the same: so is the product
	for _, id := range by {
		hand := c.view.Introducer(id)
		x, seen := best[hand]
		if !seen {
			hands = append(hands, hand)
			x = math.Inf(1)
		}
		best[hand] = min(x, c.oddsOf(id))
	}
	odds := 1.0
	for _, hand := range hands {
		odds *= best[hand]
	}
	return odds
}

// credible says whether that is enough.
func (c *scale) credible(by []PeerID) bool { return wrong(c.against(by)) <= c.doubt }

// wrong is the probability that has such odds.
func wrong(odds float64) float64 { return odds / (1 + odds) }

// drawn says whether a node is one of those for which one record is not enough.
func (c *Core) drawn() bool {
	return c.cfg.Doubt > 0 && c.cfg.Again > 0 && float64(c.rand.Below(1<<32)) < c.cfg.Again*(1<<32)
}

// maxFurther is how many others are asked at most for further copies of a node while this machine has time for it:
// one copy of its own ends all doubt.
const maxFurther = 2

// askDoubted asks as many others for a copy as it takes, by their records, or has this machine make one.
func (c *Core) askDoubted(q *question) {
	if q.here {
		return // that ends it
	}
	seen := map[PeerID]bool{}
	by := slices.AppendSeq(q.authors(), maps.Keys(q.asked))
	var more []PeerID
	slices.Sort(by[len(q.claims):])
	for _, id := range by {
		seen[c.view.Introducer(id)] = true
	}
	enough := func() bool { return len(seen) > 0 && c.scale.credible(by) && (!q.again || len(seen) > 1) }
	list := c.candidates(q, seen)
	veteran := func(x Candidate) bool { return c.scale.credible(append(slices.Clip(by), x.ID)) }
	if i := slices.IndexFunc(list, veteran); i > 0 {
		list[0], list[i] = list[i], list[0] // one copy by whoever's record is enough, rather than two by others
	}
	for _, x := range list {
		if enough() {
			break
		}
		if !seen[x.Introducer] {
			seen[x.Introducer] = true
			by, more = append(by, x.ID), append(more, x.ID)
		}
	}
	short := !enough()
	switch {
	case c.cfg.Own && (short || len(more) > maxFurther && c.open.atIt() < c.cfg.AtOnce):
		q.here = true
		c.order(RunHere{q.node})
		return
	case short:
		c.order(q.lack(max(1, c.cfg.strangers(c.scale.against(by))))...)
	default:
		q.lacks = 0
	}
	for _, id := range more {
		c.copyTo(q, id)
	}
}

// strangers is how many without a record have to say the same, where there are such odds against it, for Doubt.
func (c *Config) strangers(odds float64) int {
	limit := c.Doubt / (1 - c.Doubt)
	return int(math.Ceil(math.Log(limit/odds) / math.Log(c.Liars/(1-c.Liars))))
}

// Hands is in how many hands strangers have to be whose word is believed, two at least.
func (c *Config) Hands() int {
	if c.Doubt > 0 {
		return max(2, c.strangers(1))
	}
	return max(2, c.Quorum)
}

// atIt counts the nodes that this machine computes.
func (l questions) atIt() (n int) {
	for _, q := range l {
		if q.here && q.accepted == nil {
			n++
		}
	}
	return n
}

// beliefs are the outcomes that were accepted, by whoever had come to them.
type beliefs struct {
	sets map[string]*belief
	rest uint64 // beyond maxBeliefs
}

type belief struct {
	by []PeerID
	n  uint64
}

// maxBeliefs bounds the sets of peers that are remembered.
const maxBeliefs = 4096

// note remembers on whose word an outcome is believed. If others, or this machine, have come to it too, that is a
// comparison that they have passed.
func (c *Core) note(q *question, by []PeerID) {
	sure := q.sure(c.view)
	if sure || c.introducers(q) > 1 {
		var passed []PeerID
		for _, id := range by {
			if !ours(c.view, id) {
				passed = append(passed, id)
			}
		}
		if len(passed) > 0 {
			c.order(Passed{passed})
		}
	}
	if sure {
		return
	}
	by = slices.Sorted(slices.Values(by))
	var key strings.Builder
	for _, id := range by {
		key.WriteString(string(id))
		key.WriteByte(0)
	}
	b := c.used.sets[key.String()]
	switch {
	case b != nil:
	case len(c.used.sets) >= maxBeliefs:
		c.used.rest++
		return
	default:
		b = &belief{by: by}
		c.used.sets[key.String()] = b
	}
	b.n++
	q.rests = b
}

// InDoubt says, of all outcomes that were accepted, with which probability at most one of them is wrong, by the records
// as they are now, and how many rest on the word of nobody but those who were caught since.
func (c *Core) InDoubt() (probability float64, onLiars uint64) {
	for _, key := range slices.Sorted(maps.Keys(c.used.sets)) {
		b := c.used.sets[key]
		left := slices.DeleteFunc(slices.Clone(b.by), func(id PeerID) bool { return c.blamed[id] })
		if len(left) == 0 {
			onLiars += b.n
			continue
		}
		probability += float64(b.n) * wrong(c.scale.against(left))
	}
	return min(1, probability+float64(c.used.rest)*c.cfg.Doubt), onLiars
}
