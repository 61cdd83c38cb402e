package adapt

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// swarm makes a situation: clusters of so many peers, named a, b, …, each peer with the same sample but for what
// change says. The first peer of a is the master.
func swarm(sizes []int, sample Sample, change func(m Member, s *Sample)) *Situation {
	s := &Situation{Master: "a1"}
	for k, n := range sizes {
		for i := range n {
			m := Member{Cluster: ClusterID(rune('a' + k))}
			m.Peer = PeerID(fmt.Sprintf("%s%d", m.Cluster, i+1))
			x := sample
			x.Peer, x.Cores, x.For = m.Peer, 1, 30*time.Second
			if change != nil {
				change(m, &x)
			}
			s.Members, s.Samples = append(s.Members, m), append(s.Samples, x)
		}
	}
	return s
}

func newCore(t *testing.T, mode Mode, change func(*Config)) *Core {
	t.Helper()
	cfg := Default(mode)
	if change != nil {
		change(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// counts says how many changes of each kind there are.
func counts(d *Decision) map[Kind]int {
	n := map[Kind]int{}
	for _, c := range d.Changes {
		n[c.Kind]++
	}
	return n
}

// Programming model, 4.5: wa_efficiency = (1/n) sum speed_i (1 - overhead_i), where "the useful work done by a
// processor (1 - overhead_i) is weighted by multiplying it by the speed of this processor relative to the fastest
// processor".
func TestEfficiencyIsWeighted(t *testing.T) {
	cfg := Default(Paper)
	s := swarm([]int{4}, Sample{}, func(m Member, x *Sample) {
		x.Overhead = map[PeerID]float64{"a1": 0.2, "a2": 0.4, "a3": 0, "a4": 1}[m.Peer]
		x.Speed = map[PeerID]float64{"a1": 200, "a2": 100, "a3": 50, "a4": 200}[m.Peer]
	})
	want := (1*0.8 + 0.5*0.6 + 0.25*1 + 1*0) / 4
	if got := efficiency(measure(&cfg, s.Members, s.Samples)); math.Abs(got-want) > 1e-9 {
		t.Errorf("%v, want %v", got, want)
	}
	s.Samples[2].Cores = 3 // each core is a processor
	want = (1*0.8 + 0.5*0.6 + 3*0.25*1 + 1*0) / 6
	if got := efficiency(measure(&cfg, s.Members, s.Samples)); math.Abs(got-want) > 1e-9 {
		t.Errorf("with three cores of one: %v, want %v", got, want)
	}
	if efficiency(nil) != 0 {
		t.Error("nobody is efficient")
	}
}

// Speeds are relative to the fastest, and one that nobody has measured speaks for nobody.
func TestSpeedsAreRelative(t *testing.T) {
	cfg := Default(Paper)
	s := swarm([]int{3}, Sample{Speed: 100}, func(m Member, x *Sample) {
		switch m.Peer {
		case "a2":
			x.Speed = 25
		case "a3":
			x.Speed = 0
		}
	})
	all := measure(&cfg, s.Members, s.Samples)
	for i, want := range []float64{1, 0.25, 1} {
		if all[i].speed != want || all[i].known != (i < 2) {
			t.Errorf("%s is %v as fast as the fastest, want %v", all[i].Peer, all[i].speed, want)
		}
	}
}

// "When it exceeds Emax, the coordinator requests new processors from the scheduler. The higher the weighted
// average efficiency, the more processors are requested." Emax = 50 %.
func TestMoreAreRequestedTheHigherTheEfficiency(t *testing.T) {
	for _, c := range []struct {
		overhead float64
		max      int
		want     int // 0: no request
	}{
		{0.5, 0, 0}, {0.51, 0, 0}, {0.45, 0, 11}, {0.3, 0, 14}, {0.1, 0, 18}, {0, 0, 20}, {0, 15, 15}, {0, 10, 0},
	} {
		core := newCore(t, Paper, func(cfg *Config) { cfg.Max = c.max })
		d := core.Step(swarm([]int{10}, Sample{Overhead: c.overhead}, nil))
		if d.Roster.Wanted != c.want || (len(d.Changes) > 0) != (c.want > 0) {
			t.Errorf("%v overhead, at most %d: %+v", c.overhead, c.max, d)
		}
	}
	for wanted, want := range map[int]int{0: 8, 8: 8, 30: 30} { // of one peer, as the others have not come yet
		core := newCore(t, Paper, func(cfg *Config) { cfg.Min, cfg.Max = 8, 40 })
		s := swarm([]int{1}, Sample{}, nil)
		s.Roster.Wanted = wanted
		if d := core.Step(s); d.Roster.Wanted != want || (len(d.Changes) > 0) != (want > wanted) {
			t.Errorf("at least 8, and %d were wanted: %+v", wanted, d)
		}
	}
	core := newCore(t, Volunteers, nil)
	if d := core.Step(swarm([]int{10}, Sample{}, nil)); len(d.Changes) > 0 {
		t.Errorf("volunteers are not counted: %+v", d)
	}
}

// "The coordinator starts removing processors when the weighted average efficiency drops below Emin. The lower the
// efficiency, the more nodes are removed." Emin = 30 %.
func TestMoreAreReleasedTheLowerTheEfficiency(t *testing.T) {
	for _, c := range []struct {
		overhead float64
		min      int
		want     int
	}{
		{0.69, 1, 0}, {0.70, 1, 0}, {0.76, 1, 2}, {0.82, 1, 4}, {0.99, 1, 5}, {1, 8, 2}, {1, 10, 0},
	} {
		core := newCore(t, Paper, func(cfg *Config) { cfg.Min = c.min })
		d := core.Step(swarm([]int{10}, Sample{Overhead: c.overhead}, nil))
		if got := counts(&d)[PeerReleased]; got != c.want || c.want > 0 && d.Roster.Wanted != 10-c.want {
			t.Errorf("%v overhead, at least %d: %d released, %d wanted", c.overhead, c.min, got, d.Roster.Wanted)
		}
	}
}

// "The coordinator always tries to remove the worst processors, taking their overheads and speeds into account":
// the slow ones, those behind a bad link, and in between those of the cluster with the worst.
func TestTheWorstGoFirst(t *testing.T) {
	slow := swarm([]int{5, 5}, Sample{Overhead: 0.77, Speed: 10}, func(m Member, x *Sample) {
		if m.Peer == "a1" || m.Peer == "b3" || m.Peer == "b4" {
			x.Speed = 2
		}
	})
	core := newCore(t, Paper, nil)
	d := core.Step(slow)
	for i, c := range d.Changes {
		if i < 2 && c.Peer != "b3" && c.Peer != "b4" || c.Peer == "a1" {
			t.Errorf("%d: %v", i, c)
		}
	}
	if len(d.Changes) != 4 { // 0.23 * 0.76 of 0.3
		t.Errorf("%d changes", len(d.Changes))
	}
	linked := swarm([]int{5, 5}, Sample{Overhead: 0.77}, func(m Member, x *Sample) {
		if m.Cluster == "b" {
			x.Wide = 0.08
		}
	})
	d = newCore(t, Paper, nil).Step(linked)
	for _, c := range d.Changes {
		if c.Cluster != "b" {
			t.Errorf("%v", c)
		}
	}
	if len(d.Changes) != 2 {
		t.Errorf("%d changes", len(d.Changes))
	}
}

// slowOne is a swarm of ten in which a7 has that speed and everybody else 100; 0 is not known.
func slowOne(speed, overhead float64) *Situation {
	return swarm([]int{10}, Sample{Overhead: overhead, Speed: 100}, func(m Member, x *Sample) {
		if m.Peer == "a7" {
			x.Speed = speed
		}
	})
}

// A volunteer goes only if it does harm, twice in a row: far slower than the others, as was measured, or waiting for
// a bad link.
func TestVolunteersStayWhoDoNoHarm(t *testing.T) {
	core := newCore(t, Volunteers, nil)
	for range 3 {
		if d := core.Step(swarm([]int{10}, Sample{Overhead: 0.95}, nil)); len(d.Changes) > 0 {
			t.Errorf("too many volunteers are none too many: %v", d.Changes)
		}
	}
	for _, c := range []struct {
		name   string
		speeds []float64
		goes   bool // after the last
	}{
		{"slow", []float64{20, 20}, true}, {"slow once", []float64{20}, false},
		{"slow again", []float64{20, 100, 20}, false},
		{"not so slow", []float64{26, 26}, false}, {"unknown", []float64{0, 0}, false},
	} {
		core := newCore(t, Volunteers, nil)
		for i, speed := range c.speeds {
			d := core.Step(slowOne(speed, 0.9))
			goes := c.goes && i == len(c.speeds)-1
			if goes != (len(d.Changes) == 1) || goes && (d.Changes[0].Peer != "a7" || d.Roster.Wanted != 0) {
				t.Errorf("%s, period %d: %+v", c.name, i+1, d)
			}
		}
	}
}

// link is a swarm of three clusters of four in which c waits for the network, and the others some.
func link(c, others float64) *Situation {
	return swarm([]int{4, 4, 4}, Sample{Overhead: 0.6}, func(m Member, x *Sample) {
		if x.Wide = others; m.Cluster == "c" {
			x.Wide, x.Rate = c, 100e3
		}
		x.Overhead = max(x.Overhead, x.Wide)
	})
}

// "Additionally, the coordinator computes inter-cluster overhead and removes entire clusters if their overhead
// exceeds a certain threshold". 5.6, scenario 3: "it removed the badly connected cluster after the first monitoring
// period".
func TestClustersBehindBadLinksGo(t *testing.T) {
	for _, c := range []struct {
		name      string
		c, others float64
		first     bool // it goes at once
		second    bool // or after another period of the same
	}{
		{"no overhead", 0, 0, false, false},
		{"a high one", 0.3, 0, false, true},
		{"as high as any", 0.3, 0.2, false, false},
		{"just twice the others'", 0.45, 0.2, false, true},
		{"extreme", 0.55, 0.4, true, true},
		{"just bad", 0.07, 0, false, true},
		{"low", 0.05, 0, false, false},
	} {
		for _, mode := range []Mode{Off, Paper, Volunteers} {
			core := newCore(t, mode, nil)
			for period, want := range []bool{c.first, c.second} {
				s := link(c.c, c.others)
				d := core.Step(s)
				if got := counts(&d)[ClusterExcluded] == 1; got != (want && mode != Off) {
					t.Errorf("%s, %v, period %d: %v", c.name, mode, period+1, d.Changes)
				}
				if counts(&d)[ClusterExcluded] == 0 {
					continue
				}
				if x := d.Roster.Out[0]; len(d.Roster.Out) != 1 || x.Cluster != "c" || x.Rate != 100e3 ||
					!d.Roster.Excludes(Member{"c3", "c"}) || d.Roster.Excludes(Member{"b3", "b"}) {
					t.Errorf("%s: %+v", c.name, d.Roster)
				}
				break
			}
		}
	}
}

// A cluster that waits for others and has as fast a link as they have is not behind a bad one.
func TestClustersBehindGoodLinksStay(t *testing.T) {
	for others, goes := range map[float64]bool{50e3: false, 100e3: false, 190e3: false, 210e3: true, 10e6: true} {
		core := newCore(t, Volunteers, nil)
		var d Decision
		for range 2 {
			s := link(0.3, 0.05)
			for i := range s.Samples {
				if x := &s.Samples[i]; x.Rate == 0 {
					x.Rate = others
				}
			}
			d = core.Step(s)
		}
		if got := counts(&d)[ClusterExcluded] == 1; got != goes {
			t.Errorf("its link has 100 KB/s, the others' %v: %v", others, d.Changes)
		}
	}
}

// Nor is a single peer of it, where everybody waits.
func TestVolunteersBehindGoodLinksStay(t *testing.T) {
	for others, goes := range map[float64]bool{0: false, 100e3: false, 190e3: false, 210e3: true} {
		core := newCore(t, Volunteers, nil)
		var d Decision
		for range 2 {
			s := link(0.3, 0.2)
			for i := range s.Samples {
				x := &s.Samples[i]
				if x.Overhead = 0.95; x.Rate == 0 {
					x.Rate = others
				}
			}
			d = core.Step(s)
		}
		if got := counts(&d)[PeerReleased] > 0; got != goes {
			t.Errorf("its link has 100 KB/s, the others' %v: %v", others, d.Changes)
		}
		for _, x := range d.Changes {
			if x.Cluster != "c" {
				t.Errorf("the others' links have %v, and %s of %s goes", others, x.Peer, x.Cluster)
			}
		}
	}
}

// The master is never excluded nor released, nor is its cluster, whatever they measure.
func TestTheMasterStays(t *testing.T) {
	s := swarm([]int{2, 2}, Sample{Overhead: 0.99}, func(m Member, x *Sample) {
		if m.Cluster == "a" {
			x.Wide, x.Speed, x.Overhead = 0.99, 1, 1
		} else {
			x.Speed = 100
		}
	})
	for _, mode := range []Mode{Paper, Volunteers} {
		core := newCore(t, mode, nil)
		for range 5 {
			d := core.Step(s)
			if s.Roster = d.Roster; d.Roster.Excludes(Member{"a1", "a"}) {
				t.Fatalf("%v: %+v", mode, d.Roster)
			}
		}
	}
}

// Nor does its cluster stay out to which it moves: a laptop that is taken to where the others are computes with them.
func TestTheMastersNewClusterComesBack(t *testing.T) {
	core := newCore(t, Volunteers, nil)
	d := core.Step(link(0.9, 0))
	s := swarm([]int{1, 4}, Sample{Overhead: 0.5}, nil)
	if s.Roster = d.Roster; !s.Roster.Excludes(Member{"c1", "c"}) {
		t.Fatalf("%+v", d)
	}
	s.Members[0].Cluster = "c"
	if d = core.Step(s); d.Roster.Excludes(Member{"c1", "c"}) || counts(&d)[ClusterReadmitted] != 1 {
		t.Errorf("%+v", d)
	}
	if d = core.Step(&Situation{Roster: d.Roster, Master: "a1", Members: s.Members}); len(d.Changes) > 0 {
		t.Errorf("it is said again: %v", d.Changes)
	}
}

// Those whom nobody has heard of, who came in the middle, or who say what cannot be, do not count; without half of the
// members nothing is decided.
func TestOnlySoundSamplesCount(t *testing.T) {
	good := Sample{Peer: "a1", For: 30 * time.Second, Cores: 1, Overhead: 0.5, Speed: 1}
	for name, spoil := range map[string]func(*Sample){
		"a stranger":         func(s *Sample) { s.Peer = "x" },
		"short":              func(s *Sample) { s.For = 20 * time.Second },
		"no cores":           func(s *Sample) { s.Cores = 0 },
		"too many cores":     func(s *Sample) { s.Cores = 1e9 },
		"overhead":           func(s *Sample) { s.Overhead = 1.1 },
		"overhead below 0":   func(s *Sample) { s.Overhead = -0.1 },
		"no number":          func(s *Sample) { s.Overhead = math.NaN() },
		"wide beyond it":     func(s *Sample) { s.Wide = 0.6 },
		"speed":              func(s *Sample) { s.Speed = math.Inf(1) },
		"speed not a number": func(s *Sample) { s.Speed = math.NaN() },
		"rate":               func(s *Sample) { s.Rate = -1 },
	} {
		cfg, s := Default(Paper), good
		members := []Member{{"a1", "a"}}
		if len(measure(&cfg, members, []Sample{s})) != 1 {
			t.Fatal("a good one does not count")
		}
		if spoil(&s); len(measure(&cfg, members, []Sample{s})) != 0 {
			t.Errorf("%s: %+v counts", name, s)
		}
	}
	s := swarm([]int{10}, Sample{}, nil)
	s.Samples = s.Samples[:4]
	if d := newCore(t, Paper, nil).Step(s); len(d.Changes) > 0 || d.Sampled != 4 || d.Efficiency != 0 {
		t.Errorf("of four of ten: %+v", d)
	}
}

// Whoever was released stays away for a while, and twice as long each time: "no flapping" of one peer.
func TestAbsenceDoubles(t *testing.T) {
	core, roster := newCore(t, Paper, nil), Roster{}
	for _, away := range []int{10, 20, 40} {
		s := swarm([]int{4}, Sample{Overhead: 0.8, Speed: 10}, func(m Member, x *Sample) {
			if m.Peer == "a3" {
				x.Speed = 1
			}
		})
		for core.changed {
			core.Step(&Situation{Roster: roster, Members: s.Members, Samples: s.Samples})
		}
		s.Roster = roster
		d := core.Step(s)
		if roster = d.Roster; !roster.Excludes(Member{"a3", "a"}) {
			t.Fatalf("%v", d.Changes)
		}
		for range away {
			if !roster.Excludes(Member{"a3", "a"}) {
				t.Fatalf("it is back before %d periods", away)
			}
			roster = core.Step(&Situation{Roster: roster}).Roster
		}
		if roster.Excludes(Member{"a3", "a"}) {
			t.Fatalf("it is not back after %d periods", away)
		}
	}
}

// Where nobody can say what bandwidth an excluded cluster has, it may try again after a while, a longer one each time.
func TestClustersTryAgain(t *testing.T) {
	cfg := Default(Volunteers)
	core, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	bad := Member{Cluster: "b"}
	var roster Roster
	for _, away := range []int{cfg.Absence, 2 * cfg.Absence, 4 * cfg.Absence} {
		d := Decision{Roster: roster}
		core.exclude(&Situation{}, "b", nil, &d)
		roster = core.close(&d).Roster
		for n := range away + 1 {
			if out := roster.Excludes(bad); out != (n < away) {
				t.Fatalf("after %d of %d periods it is out: %t", n, away, out)
			}
			roster = core.Step(&Situation{Roster: roster}).Roster
		}
		if len(roster.Out) != 1 {
			t.Fatalf("%v are remembered", roster.Out)
		}
	}
}

// A roster has a bound; beyond it those come back who would come back first, and clusters stay.
func TestRostersAreBounded(t *testing.T) {
	r := Roster{Out: []Exclusion{{Cluster: "z", Left: 1}}}
	for i := range MaxOut + 10 {
		r.Out = append(r.Out, Exclusion{Peer: PeerID(fmt.Sprint(i)), Left: i + 1})
	}
	r.order()
	if len(r.Out) != MaxOut || !r.Excludes(Member{"x", "z"}) || r.Excludes(Member{"5", ""}) ||
		!r.Excludes(Member{"200", ""}) {
		t.Errorf("%d are out", len(r.Out))
	}
}

// What is out of range is refused, and named.
func TestConfigs(t *testing.T) {
	for _, spoil := range []func(*Config){
		func(c *Config) { c.Mode = 7 }, func(c *Config) { c.Min = 0 }, func(c *Config) { c.Min, c.Max = 5, 4 },
		func(c *Config) { c.Period = time.Millisecond }, func(c *Config) { c.EMin = 0.6 },
		func(c *Config) { c.MostGrowth = 1 }, func(c *Config) { c.MostRelease = 0.9 },
		func(c *Config) { c.BadLink = 0.7 }, func(c *Config) { c.ReadmitFactor = 1 },
		func(c *Config) { c.SlowWeight = math.NaN() }, func(c *Config) { c.Patience = 0 },
		func(c *Config) { c.FullShare = 0 }, func(c *Config) { c.SlowerBack = 0 },
	} {
		cfg := Default(Paper)
		if cfg.Validate() != nil {
			t.Fatal("the default is refused")
		}
		if spoil(&cfg); cfg.Validate() == nil {
			t.Errorf("%+v is taken", cfg)
		}
	}
	for _, m := range []Mode{Off, Paper, Volunteers} {
		if got, err := ParseMode(m.String()); got != m || err != nil {
			t.Errorf("%v: %v, %v", m, got, err)
		}
	}
	if _, err := ParseMode("on"); err == nil {
		t.Error("on is a mode")
	}
}

// Each change is told apart by its text, whatever a cluster is called.
func TestWords(t *testing.T) {
	const called = "a excluded: b may try again is taken back: released: 3 more peers wanted: c"
	for _, c := range []struct {
		Change
		want string
	}{
		{Change{Kind: AskedForMore, Number: 3}, "wanted"},
		{Change{Kind: PeerReleased, Peer: "p"}, "released"},
		{Change{Kind: ClusterExcluded, Cluster: called}, "excluded"},
		{Change{Kind: ClusterReadmitted, Cluster: called}, "readmitted"},
		{Change{Kind: ClusterReadmitted, Cluster: called, Share: 0.5}, "readmitted"},
		{Change{Kind: ClusterReadmitted, Cluster: called, Rate: 5}, "readmitted"},
		{Change{Kind: PeerReadmitted, Peer: "p"}, "readmitted"},
		{Change{Kind: PeerReadmitted, Peer: "p", Share: 0.5}, "readmitted"},
		{Change{Kind: PeerReadmitted + 1}, ""},
	} {
		if got := Word(c.String()); got != c.want {
			t.Errorf("%q is %q, want %q", c.String(), got, c.want)
		}
	}
}
