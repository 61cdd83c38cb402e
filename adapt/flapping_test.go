package adapt

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// world is a program with some parallelism on peers that come when they are asked and go when they are told: the
// least there is to see whether decisions settle.
type world struct {
	core    *Core
	s       Situation
	pool    []Member // all there are
	work    float64  // peers that the program can keep busy
	grown   []int    // periods of growth and of release
	shrunk  []int
	history []int
}

func (w *world) period(t interface{ Fatalf(string, ...any) }, now int) {
	n := float64(len(w.s.Members))
	w.s.Samples = w.s.Samples[:0]
	for _, m := range w.s.Members {
		w.s.Samples = append(w.s.Samples, Sample{Peer: m.Peer, For: 30 * time.Second, Cores: 1,
			Overhead: 1 - math.Min(1, w.work/n)})
	}
	before := len(w.s.Members)
	d := w.core.Step(&w.s)
	w.s.Roster = d.Roster
	w.s.Members = slices.DeleteFunc(w.s.Members, func(m Member) bool { return d.Roster.Excludes(m) })
	for _, m := range w.pool {
		if len(w.s.Members) < d.Roster.Wanted && !slices.Contains(w.s.Members, m) && !d.Roster.Excludes(m) {
			w.s.Members = append(w.s.Members, m)
		}
	}
	switch after := len(w.s.Members); {
	case after > before:
		w.grown = append(w.grown, now)
	case after < before:
		w.shrunk = append(w.shrunk, now)
	}
	w.history = append(w.history, len(w.s.Members))
	if !slices.Contains(w.s.Members, Member{w.s.Master, "a"}) {
		t.Fatalf("the master is gone")
	}
}

func newWorld(mode Mode, start int, work float64) *world {
	core, err := New(Default(mode))
	if err != nil {
		panic(err)
	}
	w := &world{core: core, work: work, s: Situation{Master: "a1"}}
	w.pool = swarm([]int{30, 30}, Sample{}, nil).Members
	w.s.Members = slices.Clone(w.pool[:start])
	return w
}

// With steady work the number of peers settles between what the two thresholds say, and stays.
func TestSteadyWorkSettles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start, work := rapid.IntRange(1, 60).Draw(t, "start"), rapid.Float64Range(0.5, 30).Draw(t, "work")
		w := newWorld(Paper, start, work)
		for now := range 60 {
			w.period(t, now)
		}
		last := w.history[len(w.history)-1]
		for _, n := range w.history[30:] {
			if n != last {
				t.Fatalf("from %d with work for %.1f: %v", start, work, w.history)
			}
		}
		if work/float64(last+1) > 0.5 && last < len(w.pool) || last > 1 && work/float64(last-1) < 0.3 {
			t.Fatalf("from %d with work for %.1f it stays at %d", start, work, last)
		}
	})
}

// With work that changes as it likes, growth that follows a release gets rarer: it does not flap, nor when others
// become master.
func TestNoFlapping(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		every := rapid.SampledFrom([]int{1, 4, 15, 40, math.MaxInt}).Draw(t, "periods of a master")
		w := newWorld(Paper, 36, 20)
		const periods = 200
		for now := range periods {
			if (now+1)%every == 0 {
				w.core, _ = New(Default(Paper))
			}
			if random.IntN(3) == 0 {
				w.work = math.Exp(random.Float64() * 4)
			}
			w.period(t, now)
		}
		turns, grew := 0, true
		for now := range periods {
			switch {
			case slices.Contains(w.grown, now) && !grew:
				turns, grew = turns+1, true
			case slices.Contains(w.shrunk, now) && grew:
				grew = false
			}
		}
		// after 2, 4, 8, 16, 32 periods, and 32 from then on, unless it was calm for as long
		if most := 5 + periods/32; turns > most {
			t.Fatalf("it turns %d times in %d periods: %v", turns, periods, w.history)
		}
	})
}

// Nor do mistakes get more frequent: a peer that looks slow, or a cluster that waits, and is missed each time that
// it is gone, goes no more often with several masters than with one.
func TestMistakesStayRare(t *testing.T) {
	for name, slow := range map[string]Sample{"peer": {Overhead: 0.1, Speed: 20},
		"cluster": {Overhead: 0.7, Wide: 0.6, Rate: 1e5, Speed: 100}} {
		mistakes := func(every int) (n int) {
			var roster Roster
			core := newCore(t, Volunteers, nil)
			for now := range 200 {
				if (now+1)%every == 0 {
					core = newCore(t, Volunteers, nil)
				}
				s := swarm([]int{4, 4, 4}, Sample{Overhead: 0.8, Speed: 100}, func(m Member, x *Sample) {
					if m.Peer == "b2" || name == "cluster" && m.Cluster == "b" {
						x.Overhead, x.Wide, x.Rate, x.Speed = slow.Overhead, slow.Wide, slow.Rate, slow.Speed
					}
					if roster.Excludes(Member{"b2", "b"}) {
						x.Overhead = 0.9
					}
				})
				s.Roster = roster
				s.Members = slices.DeleteFunc(s.Members, func(m Member) bool { return roster.Excludes(m) })
				d := core.Step(s)
				roster = d.Roster
				n += counts(&d)[PeerReleased] + counts(&d)[ClusterExcluded]
			}
			return n
		}
		one := mistakes(math.MaxInt)
		for every := 1; every < 60; every += 4 {
			if n := mistakes(every); n > one {
				t.Errorf("a %s goes %d times with a new master every %d periods, %d times with one", name, n, every, one)
			}
		}
		if one < 3 {
			t.Errorf("a %s goes %d times", name, one)
		}
	}
}

// Decisions keep to their bounds whatever comes, and do not depend on the order in which it comes.
func TestDecisionsAreBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		cfg := Default(Mode(rapid.IntRange(0, 2).Draw(t, "mode")))
		cfg.Min, cfg.Max = 1+random.IntN(5), 5+random.IntN(40)
		one, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		other, _ := New(cfg)
		var roster Roster
		for range 20 {
			sizes := []int{1 + random.IntN(8), random.IntN(8), random.IntN(8)}
			s := swarm(sizes, Sample{}, func(_ Member, x *Sample) {
				x.Overhead, x.Speed = random.Float64(), random.Float64()*9
				x.Wide, x.Rate = x.Overhead*random.Float64(), random.Float64()*1e6
			})
			s.Roster, s.Links = roster, map[ClusterID]float64{"b": random.Float64() * 2e6}
			s.Members = slices.DeleteFunc(s.Members, func(m Member) bool { return roster.Excludes(m) })
			d := one.Step(s)
			random.Shuffle(len(s.Members), func(i, j int) { s.Members[i], s.Members[j] = s.Members[j], s.Members[i] })
			random.Shuffle(len(s.Samples), func(i, j int) { s.Samples[i], s.Samples[j] = s.Samples[j], s.Samples[i] })
			if again := other.Step(s); !slices.Equal(again.Changes, d.Changes) ||
				!slices.Equal(again.Roster.Out, d.Roster.Out) {
				t.Fatalf("in another order: %v, %v", d.Changes, again.Changes)
			}
			check(t, &cfg, s, &d)
			roster = d.Roster
		}
	})
}

func check(t *rapid.T, cfg *Config, s *Situation, d *Decision) {
	left, gone := 0, map[ClusterID]int{}
	for _, m := range s.Members {
		if !d.Roster.Excludes(m) {
			left++
		} else if m.Peer == s.Master {
			t.Fatalf("the master goes: %v", d.Changes)
		} else {
			gone[m.Cluster]++
		}
	}
	n := counts(d)
	switch {
	case cfg.Mode == Off && len(d.Changes) > 0:
		t.Fatalf("%v", d.Changes)
	case len(d.Changes) > 0 && d.Roster.Number != s.Roster.Number+1,
		len(d.Changes) == 0 && d.Roster.Number != s.Roster.Number:
		t.Fatalf("roster %d after %d: %v", d.Roster.Number, s.Roster.Number, d.Changes)
	case len(s.Members) >= cfg.Min && left < cfg.Min:
		t.Fatalf("%d of %d are left: %v", left, len(s.Members), d.Changes)
	case n[ClusterExcluded] > 1 || n[ClusterExcluded] > 0 && n[PeerReleased] > 0:
		t.Fatalf("all at once: %v", d.Changes)
	case n[ClusterExcluded] == 0 && 2*left < len(s.Members):
		t.Fatalf("%d of %d are left: %v", left, len(s.Members), d.Changes)
	case n[AskedForMore] > 0 && (d.Roster.Wanted > cfg.Max || d.Roster.Wanted <= max(s.Roster.Wanted, cfg.Min-1)):
		t.Fatalf("%d wanted, %d to %d of them may be, after %d", d.Roster.Wanted, cfg.Min, cfg.Max, s.Roster.Wanted)
	case len(d.Roster.Out) > MaxOut:
		t.Fatalf("%d are out", len(d.Roster.Out))
	}
}
