package adapt

import "testing"

// Two bad periods count in a row only.
func TestLinksMayRecover(t *testing.T) {
	core := newCore(t, Volunteers, nil)
	for i, wide := range []float64{0.3, 0.05, 0.3, 0.05} {
		if d := core.Step(link(wide, 0)); len(d.Changes) > 0 {
			t.Fatalf("period %d: %v", i, d.Changes)
		}
	}
}

// The bandwidth with which a cluster went is remembered, and twice that brings it back.
func TestClustersComeBack(t *testing.T) {
	core := newCore(t, Volunteers, nil)
	d := core.Step(link(0.9, 0))
	for _, c := range []struct {
		rate float64
		back bool
	}{{0, false}, {100e3, false}, {199e3, false}, {200e3, true}} {
		s := swarm([]int{4, 4}, Sample{Overhead: 0.5}, nil)
		s.Roster, s.Links = d.Roster, map[ClusterID]float64{"c": c.rate, "b": 1}
		after := core.Step(s)
		if got := !after.Roster.Excludes(Member{"c1", "c"}); got != c.back || c.back != (len(after.Changes) == 1) {
			t.Errorf("at %v: %+v", c.rate, after)
		}
		if (after.Roster.Number > d.Roster.Number) != c.back {
			t.Errorf("at %v the roster has number %d after %d", c.rate, after.Roster.Number, d.Roster.Number)
		}
	}
}

// A peer that is a cluster by itself goes by its own name, and comes back like a cluster.
func TestClustersOfOneComeBack(t *testing.T) {
	core := newCore(t, Volunteers, nil)
	s := swarm([]int{4, 4, 1}, Sample{Overhead: 0.9}, func(m Member, x *Sample) {
		if m.Cluster == "c" {
			x.Wide, x.Rate = 0.8, 100e3
		}
	})
	d := core.Step(s)
	if !d.Roster.Excludes(Member{"c1", "elsewhere"}) || d.Roster.Excludes(Member{"c2", "c"}) {
		t.Errorf("%+v", d.Roster)
	}
	for _, rate := range []float64{199e3, 200e3} {
		d = core.Step(&Situation{Roster: d.Roster, Links: map[ClusterID]float64{"c": rate}})
		if back := !d.Roster.Excludes(s.Members[8]); back != (rate >= 200e3) || back != (len(d.Changes) == 1) {
			t.Errorf("at %v: %+v", rate, d)
		}
	}
}

// Whose bandwidth nobody has seen does not come back because somebody sees one now, but in time.
func TestClustersComeBackWithABandwidth(t *testing.T) {
	core := newCore(t, Volunteers, nil)
	s := link(0.9, 0)
	for i := range s.Samples {
		s.Samples[i].Rate = 0
	}
	d := core.Step(s)
	for period := range 11 {
		s := swarm([]int{4, 4}, Sample{Overhead: 0.5}, nil)
		s.Roster, s.Links = d.Roster, map[ClusterID]float64{"c": 1e6}
		d = core.Step(s)
		if out := d.Roster.Excludes(Member{"c1", "c"}); out != (period < 9) {
			t.Errorf("after %d periods: out %t, %v", period+1, out, d.Changes)
		}
	}
}

// A cluster that goes and comes needs twice as much each time: a link that looks well only while it is idle does not
// let its cluster in again and again.
func TestClustersComeBackLessEasily(t *testing.T) {
	core := newCore(t, Volunteers, nil)
	var roster Roster
	step := func(s *Situation, rate float64) (out bool) {
		s.Roster, s.Links = roster, map[ClusterID]float64{"c": rate}
		d := core.Step(s)
		roster = d.Roster
		return roster.Excludes(Member{"c1", "c"})
	}
	for need := 200e3; need < 4e6; need *= 2 {
		core.changed, core.trial, core.trust = false, nil, 0
		if !step(link(0.9, 0), 0) {
			t.Fatalf("it does not go: %+v", roster)
		}
		if !step(swarm([]int{4, 4}, Sample{}, nil), need-1) || step(swarm([]int{4, 4}, Sample{}, nil), need) {
			t.Fatalf("%v does not bring it back, or less does: %+v", need, roster)
		}
	}
}
