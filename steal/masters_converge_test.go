package steal

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever has happened, masters per group of peers that hear each other converge to one within two leases of
// the end of faults, and there is none only for as long as it takes the next to begin.
func TestMastersConverge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawElectorate(t)
		if err := newElectorate(w, func(m *mastership) elector { return m }).check(); err != nil {
			t.Fatalf("%v: %+v", err, w)
		}
	})
}

// The broken twins: mastership with one rule left out each.
type (
	staysMaster struct{ *mastership } // does not step down
	wrongWay    struct{ *mastership } // steps down for the worse
	believesAll struct{ *mastership } // does not look at the numbers of beacons
	neverBegins struct{ *mastership } // leaves restarting to others
	byPosition  struct{ *mastership } // ranks by position among the members that it knows
	letsWait    struct{ *mastership } // does not take the root from a master that waits
)

func (m staysMaster) hear(from Address, b *Beacon) (decision, verdict) {
	if m.master {
		return decision{}, repeated
	}
	return m.mastership.hear(from, b)
}

func (m wrongWay) hear(from Address, b *Beacon) (decision, verdict) {
	worse := m.master && m.ranks.compare(from.Peer, m.self) > 0
	d, v := m.mastership.hear(from, b)
	if v == counts {
		m.master, d.StepDown = m.master && !worse || d.StepDown, worse
	}
	return d, v
}

func (m believesAll) hear(from Address, b *Beacon) (decision, verdict) {
	m.heralds = nil
	return m.mastership.hear(from, b)
}

func (m letsWait) look(alive func(PeerID) bool) decision {
	m.claims.waiting = false
	return m.mastership.look(alive)
}

func (m neverBegins) look(alive func(PeerID) bool) decision {
	if !m.fresh && !m.master {
		return decision{}
	}
	return m.mastership.look(alive)
}

// hear lets the rival that has more better-ranked members in its own view stay.
func (m byPosition) hear(from Address, b *Beacon) (decision, verdict) {
	was := m.master
	d, v := m.mastership.hear(from, b)
	if was && v == counts && b.Answered == nil && m.answered == nil {
		first := slices.Contains(m.rivals, from.Peer) // of those it knows; an unknown one is taken for the last
		m.master, d.StepDown = !first, first
	}
	return d, v
}

// The property notices each of them.
func TestBrokenMastersAreNoticed(t *testing.T) {
	for name, twin := range map[string]func(*mastership) elector{
		"stays master":             func(m *mastership) elector { return staysMaster{m} },
		"steps down for the worse": func(m *mastership) elector { return wrongWay{m} },
		"believes all beacons":     func(m *mastership) elector { return believesAll{m} },
		"never begins":             func(m *mastership) elector { return neverBegins{m} },
		"ranks by known members":   func(m *mastership) elector { return byPosition{m} },
		"lets the root wait":       func(m *mastership) elector { return letsWait{m} },
	} {
		noticed := false
		for seed := uint64(1); seed <= 300 && !noticed; seed++ {
			w := electorateConfig{seed: seed, peers: 6, deputies: 2, loss: 0.3, delay: time.Second, crashes: 3,
				restarts: 2, stalls: 3, partitions: 3, partial: true}
			noticed = newElectorate(w, twin).check() != nil
		}
		if !noticed {
			t.Errorf("%s: 300 worlds and none was wrong", name)
		}
	}
}
