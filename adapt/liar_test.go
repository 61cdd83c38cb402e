package adapt

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// lied is a swarm of three clusters, a of four and the others of eight, busy and on equal links, and of one member
// more, who says what it likes.
func lied(in ClusterID, says Sample, r Roster) *Situation {
	s := swarm([]int{4, 8, 8}, Sample{Overhead: 0.05, Wide: 0.01, Rate: 1e7, Speed: 1}, nil)
	s.Roster, says.Peer, says.For = r, "liar", 30*time.Second
	s.Members, s.Samples = append(s.Members, Member{"liar", in}), append(s.Samples, says)
	return s
}

// waits is what somebody says who would have its cluster go, and stay away.
var waits = Sample{Cores: 1 << 16, Overhead: 1, Wide: 1, Rate: 1e15, Speed: 1}

// Anybody may say that it is in any cluster, has many cores and waits for the network: the others there stay.
func TestOneMemberPutsNobodyOut(t *testing.T) {
	for _, mode := range []Mode{Paper, Volunteers} {
		core, roster := newCore(t, mode, nil), Roster{}
		for _, in := range []ClusterID{"b", "b", "c", "c", "b"} {
			d := core.Step(lied(in, waits, roster))
			for _, c := range d.Changes {
				if c.Kind != AskedForMore {
					t.Errorf("%v, the liar in %s: %v", mode, in, c)
				}
			}
			roster = d.Roster
		}
	}
}

// Nor does whoever comes to a cluster before the others, or has one of its own and says that it never waits and has
// the best link.
func TestNobodySpeaksForThoseThatCome(t *testing.T) {
	core := newCore(t, Volunteers, nil)
	s := lied("d", waits, Roster{})
	s.Members = append(s.Members, Member{"d1", "d"})
	if d := core.Step(s); len(d.Changes) > 0 {
		t.Errorf("d1 has not sampled yet: %v", d.Changes)
	}
	for _, c := range []struct{ wide, others, rate float64 }{{0.19, 0.2, 0}, {0.25, 0.05, 1e6}} {
		core := newCore(t, Volunteers, nil)
		s := swarm([]int{4, 4, 1}, Sample{Overhead: 0.5, Wide: c.others, Rate: 1e6}, func(m Member, x *Sample) {
			switch m.Cluster {
			case "b":
				x.Wide, x.Rate = c.wide, c.rate
			case "c":
				x.Wide, x.Rate = min(c.others, c.rate), 1e15
			}
		})
		for range 2 {
			if d := core.Step(s); len(d.Changes) > 0 {
				t.Errorf("b waits no more than a, or has as fast a link: %v", d.Changes)
			}
		}
	}
}

// Nor does whoever says that it waits most, over the best link, keep a cluster in that has a bad one.
func TestNobodyStandsBeforeTheWorst(t *testing.T) {
	core := newCore(t, Volunteers, nil)
	s := lied("d", Sample{Cores: 1, Overhead: 1, Wide: 0.45, Rate: 1e15}, Roster{})
	for i, m := range s.Members {
		if m.Cluster == "c" {
			s.Samples[i].Overhead, s.Samples[i].Wide, s.Samples[i].Rate = 0.3, 0.3, 1e5
		}
	}
	core.Step(s)
	if d := core.Step(s); len(d.Changes) != 1 || d.Changes[0].Cluster != "c" {
		t.Errorf("%v", d.Changes)
	}
}

// A cluster whose link is bad comes back with twice what it had, whatever one of it has said; and in time, if several
// have said too much.
func TestNobodyKeepsAClusterOut(t *testing.T) {
	for liars, want := range []struct {
		rate    float64
		periods int
	}{{100e3, 1}, {100e3, 1}, {1e15, 80}} {
		s := swarm([]int{4, 4, 4}, Sample{Overhead: 0.9}, func(m Member, x *Sample) {
			if m.Cluster == "c" {
				x.Wide, x.Rate = 0.8, 100e3
			}
			for i := range liars {
				if m.Peer == PeerID(fmt.Sprintf("c%d", i+1)) {
					x.Wide, x.Rate = 0.9, 1e15
				}
			}
		})
		core := newCore(t, Volunteers, nil)
		d := core.Step(s)
		if len(d.Roster.Out) != 1 || d.Roster.Out[0].Rate != want.rate {
			t.Fatalf("%d liars: %+v", liars, d.Roster)
		}
		n := 0
		for ; d.Roster.Excludes(Member{Cluster: "c"}) && n < 100; n++ {
			d = core.Step(&Situation{Roster: d.Roster, Links: map[ClusterID]float64{"c": 200e3}})
		}
		if n > want.periods || 2*n < want.periods {
			t.Errorf("%d liars: it is back after %d periods, want %d", liars, n, want.periods)
		}
	}
}

// Nor does it stay out because another peer becomes master again and again.
func TestNobodyKeepsAClusterOutForALaterMaster(t *testing.T) {
	for every := 1; every <= 16; every++ {
		r := Roster{Out: []Exclusion{{Cluster: "c", Rate: 1e15, Left: 10, Times: 1}}}
		var core *Core
		n := 0
		for ; r.Excludes(Member{Cluster: "c"}) && n < 100; n++ {
			if n%every == 0 {
				core = newCore(t, Volunteers, nil)
			}
			r = core.Step(&Situation{Roster: r, Links: map[ClusterID]float64{"c": 200e3}}).Roster
		}
		if n > 80 {
			t.Errorf("with a new master every %d periods it is out after %d", every, n)
		}
	}
}

// What went by mistake is taken back, though somebody says that it has done much since: with cores that it did not
// have, elsewhere, or as somebody new.
func TestNobodyHidesAMistake(t *testing.T) {
	much := Sample{Cores: 1 << 16, Speed: 1}
	for name, say := range map[string]struct {
		in     ClusterID
		before Sample
	}{
		"more cores": {"b", Sample{Cores: 1, Overhead: 0, Speed: 1}},
		"elsewhere":  {"c", Sample{Cores: 1 << 16, Overhead: 1, Wide: 0.6, Speed: 1}},
		"new":        {"b", Sample{}},
	} {
		core := newCore(t, Volunteers, nil)
		s := lied(say.in, say.before, Roster{})
		for i, m := range s.Members {
			if x := &s.Samples[i]; m.Cluster == "c" && m.Peer != "liar" {
				x.Overhead, x.Wide = 0.6, 0.6
			}
		}
		d := core.Step(s)
		if counts(&d)[ClusterExcluded] != 1 {
			t.Fatalf("%s: c does not go: %v", name, d.Changes)
		}
		for range 2 {
			s = lied("b", much, d.Roster)
			s.Members, s.Samples = append(s.Members[:12:12], s.Members[20]), append(s.Samples[:12:12], s.Samples[20])
			d = core.Step(s)
		}
		if counts(&d)[ClusterReadmitted] != 1 {
			t.Errorf("%s: c is not taken back", name)
		}
	}
}

// Who says that it is a million times as fast as the others, or has thousands of cores, makes nobody slow, and counts
// for as much as a few.
func TestNobodyOutdoesAll(t *testing.T) {
	cfg := Default(Paper)
	says := Sample{Cores: 1 << 16, Overhead: 1, Speed: 1e12}
	s := lied("a", says, Roster{})
	all := measure(&cfg, s.Members, s.Samples)
	if got, want := efficiency(all), 20*0.95/(20+mostCores); got < want-1e-9 || got > want+1e-9 {
		t.Errorf("the efficiency is %v, want %v", got, want)
	}
	for _, m := range all {
		if m.speed != 1 {
			t.Errorf("%s is %v as fast as the fastest", m.Peer, m.speed)
		}
	}
	s = swarm([]int{3}, Sample{}, func(m Member, x *Sample) {
		x.Speed = map[PeerID]float64{"a2": 1, "a3": 1e12}[m.Peer]
	})
	if all = measure(&cfg, s.Members, s.Samples); all[1].speed < slowest(&cfg, all) {
		t.Error("of two whose speed is known one makes the other slow")
	}
}

// Nor does whoever is always in another cluster, alone there, and waits: others that have to go do, and more are asked
// for where that helps.
func TestNobodyIsAlwaysNew(t *testing.T) {
	for _, mode := range []Mode{Paper, Volunteers} {
		core, roster, n := newCore(t, mode, nil), Roster{}, map[Kind]int{}
		for hops := range 20 {
			in := ClusterID(fmt.Sprint("hop", hops/2))
			s := lied(in, Sample{Cores: 1, Overhead: 1, Wide: 1, Rate: 1e5}, roster)
			for i, m := range s.Members {
				if m.Cluster == "c" && mode == Volunteers {
					s.Samples[i].Overhead, s.Samples[i].Wide, s.Samples[i].Rate = 0.3, 0.3, 1e5
				}
			}
			s.Members = slices.DeleteFunc(s.Members, func(m Member) bool { return roster.Excludes(m) })
			d := core.Step(s)
			roster = d.Roster
			for _, c := range d.Changes {
				if c.Cluster == "c" || c.Kind == AskedForMore {
					n[c.Kind]++
				}
			}
		}
		if mode == Paper && n[AskedForMore] == 0 || mode == Volunteers && n[ClusterExcluded] == 0 {
			t.Errorf("%v: %v", mode, n)
		}
	}
}
