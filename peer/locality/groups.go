package locality

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A tie is why a member is near.
type tie struct {
	rank int // evidence that counts more has a smaller rank
	rtt  time.Duration
}

const (
	tieLAN = iota
	tieRTT
	tieMap
	noTie
)

// String is the reason in words.
func (t tie) String() string {
	switch t.rank {
	case tieLAN:
		return "same LAN"
	case tieRTT:
		return "round trip " + inMilliseconds(t.rtt)
	case tieMap:
		return "distance by coordinates " + inMilliseconds(t.rtt)
	}
	return "far"
}

func inMilliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// tie says how a member is tied to this peer.
func (m *Map) tie(x *member) tie {
	switch {
	case x.rtt.near && m.sharesNetwork(x):
		return tie{tieLAN, x.rtt.min()}
	case x.rtt.near:
		return tie{tieRTT, x.rtt.min()}
	case x.rtt.n == 0 && x.byMap:
		return tie{tieMap, x.estimate}
	}
	return tie{rank: noTie}
}

func (m *Map) sharesNetwork(x *member) bool {
	return intersect(m.networks, x.Networks) || intersect(m.public, x.Public)
}

func intersect(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return s != "" && slices.Contains(b, s) })
}

// estimateAll looks at the distances by coordinates: near under NearRTT, until over twice that, since they are rough.
// Probe has those measured soon who look near, and what was measured counts from then on.
func (m *Map) estimateAll() {
	many := len(m.members) > m.cfg.CoordinatesAbove
	for _, id := range m.ids {
		x := m.members[id]
		if !many || x.rtt.n > 0 {
			x.byMap, x.estimate = false, 0
			continue
		}
		x.estimate = m.position.distance(x.Position)
		switch {
		case x.estimate == 0 || x.estimate > 2*m.cfg.NearRTT:
			x.byMap = false
		case x.estimate < m.cfg.NearRTT:
			x.byMap = true
		}
	}
}

// Mine is this peer's own place.
func (m *Map) Mine() Place {
	if !m.fresh {
		m.mine, m.fresh = m.find(), true
	}
	return m.mine
}

// find finds the leader to follow, if there is one: of those near and before this peer, the one with the best
// evidence, labeled ones and smaller IDs first.
func (m *Map) find() Place {
	if m.cfg.Label != "" {
		return Place{m.cfg.Label, "label", ""}
	}
	var best *member
	var why tie
	following := tie{rank: noTie} // the best evidence for those who follow this peer
	for _, id := range m.ids {
		x := m.members[id]
		t := m.tie(x)
		if t.rank == noTie {
			continue
		}
		if x.label() == "" && x.Cluster == nameOf(m.cfg.Self) && t.rank < following.rank {
			following = t
		}
		if !m.leads(x) {
			continue
		}
		if best == nil || t.rank < why.rank || t.rank == why.rank && before(x, best) {
			best, why = x, t
		}
	}
	switch {
	case best != nil && best.label() != "":
		return Place{best.label(), why.String(), ""}
	case best != nil:
		return Place{nameOf(best.ID), why.String(), best.ID}
	case following.rank != noTie:
		return Place{nameOf(m.cfg.Self), following.String(), m.cfg.Self}
	}
	return Place{nameOf(m.cfg.Self), "no other peer is near", m.cfg.Self}
}

// leads says whether a member may be followed: it has a label, or says that it is a leader and is before this peer.
func (m *Map) leads(x *member) bool {
	return x.label() != "" || x.ID < m.cfg.Self && x.Cluster == nameOf(x.ID)
}

// before orders leaders: by label, those without last, and by ID.
func before(a, b *member) bool {
	la, lb := a.label(), b.label()
	switch {
	case la == lb:
		return a.ID < b.ID
	case la == "" || lb == "":
		return lb == ""
	}
	return strings.Compare(la, lb) < 0
}

// Probe names up to n members to measure next. Half of them are those of whom most depends, who may be
// followed, or else are near; the other half is anybody. Of each, those who were named longest ago come
// first, so everybody has his turn.
func (m *Map) Probe(n int) []string {
	weight := func(x *member) int {
		switch {
		case m.leads(x):
			return 0
		case x.byMap, x.rtt.near:
			return 1
		}
		return 2
	}
	anybody := make([]*member, 0, len(m.ids))
	for _, id := range m.ids {
		anybody = append(anybody, m.members[id])
	}
	longest := func(a, b *member) int { return cmp.Compare(a.asked, b.asked) }
	slices.SortStableFunc(anybody, longest)
	weighty := slices.Clone(anybody)
	slices.SortStableFunc(weighty, func(a, b *member) int { return cmp.Or(weight(a)-weight(b), longest(a, b)) })

	m.turn++
	var chosen []string
	for i := 0; len(chosen) < min(n, len(m.ids)); i++ {
		from := &weighty
		if i%2 == 1 {
			from = &anybody
		}
		for len(*from) > 0 {
			x := (*from)[0]
			*from = (*from)[1:]
			if x.asked != m.turn {
				x.asked = m.turn
				chosen = append(chosen, x.ID)
				break
			}
		}
	}
	return chosen
}
