package volunteers

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

// small is a campaign of a hundred hours of processor time among 40 hosts.
func small() Config {
	recorded := []float64{1, 1, 1, 2, 3, 10, 40}
	return Config{Seed: 1, Hosts: 40, Up: WithMean(0.45, 5), Down: WithMean(0.51, 2), Abrupt: 0.2,
		Parts: Spread(recorded, 400, 3.6e5/27e-6, 1), AtOnce: 8, Solving: 27e-6, Checking: 7e-6, Bytes: 62,
		Grain: 1, Steal: 0.1, Link: 1e6, OwnerLink: 1e8, OwnerCores: 8, Most: 1000 * time.Hour}
}

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

// Guards that all work is done once, whoever comes and goes and however pieces are checked: what is proved is what
// there was, what was solved is that and what was lost, and each piece went where it should.
func TestNothingIsLostOrDoubled(t *testing.T) {
	for seed := range uint64(6) {
		for _, mode := range []struct {
			verdicts int
			direct   bool
		}{{0, false}, {2, false}, {2, true}} {
			c := small()
			c.Seed, c.Verdicts, c.Direct = seed, mode.verdicts, mode.direct
			r, all := Run(c), sum(c.Parts)
			near := func(what string, got, want float64) {
				if math.Abs(got-want) > 1e-6*want {
					t.Errorf("seed %d, %+v: %s: %g, want %g", seed, mode, what, got, want)
				}
			}
			if !r.Ended || r.Deaths == 0 || r.Goodbyes == 0 || r.Lost == 0 {
				t.Fatalf("seed %d, %+v: %+v", seed, mode, r)
			}
			near("proved", r.Proved, all)
			near("solved", r.Solved, all*c.Solving+r.Lost)
			near("checked", r.Checked, max(1, float64(c.Verdicts))*all*c.Checking+r.LostChecks)
			if c.Direct {
				near("sent home", 1+r.Home+r.Out, 1)
			} else {
				near("sent home", r.Home, all*c.Bytes)
			}
			if r.Solved+r.LostChecks > r.There {
				t.Errorf("seed %d: more was done than hosts can", seed)
			}
		}
	}
}

// steady is a campaign of hosts that are always there, with links and checks that cost next to nothing.
func steady() Config {
	c := small()
	c.Up, c.Down, c.Abrupt = WithMean(1, 1e5), WithMean(1, 1e-3), 0
	c.Link, c.OwnerLink, c.Checking = 1e12, 1e12, c.Solving/1000
	return c
}

func within(t *testing.T, what string, got, least, most float64) {
	t.Helper()
	if got < least || got > most {
		t.Errorf("%s: %g, want %g to %g", what, got, least, most)
	}
}

// Guards that a run is a function of its seed.
func TestSameSeedSameRun(t *testing.T) {
	c := small()
	a, b := Run(c), Run(c)
	c.Seed++
	if other := Run(c); !reflect.DeepEqual(a, b) || reflect.DeepEqual(a, other) {
		t.Errorf("%+v, again %+v, with another seed %+v", a, b, other)
	}
}

// Guards what bounds a campaign: all hosts together, the parts that are begun at once, the owner's link, its cores.
func TestWhatBoundsACampaign(t *testing.T) {
	c := steady()
	all := sum(c.Parts)
	ideal := all * c.Solving / float64(c.Hosts)
	within(t, "shared", Run(c).Took.Seconds(), ideal, 1.05*ideal)
	c.AtOnce, c.Grain = 1, 1e9
	within(t, "one at once, undivided", Run(c).Took.Seconds(), all*c.Solving, all*(c.Solving+c.Checking)*1.01)
	c = steady()
	c.OwnerLink = all * c.Bytes / (3 * ideal)
	within(t, "the owner's link", Run(c).Took.Seconds(), 3*ideal, 3.2*ideal)
	c = steady()
	c.OwnerCores, c.Checking = 2, 6*c.Solving/float64(c.Hosts)
	within(t, "the owner's cores", Run(c).Took.Seconds(), 3*ideal, 3.2*ideal)
}

// Guards that whoever says goodbye loses nothing.
func TestGoodbyesLoseNothing(t *testing.T) {
	c := small()
	c.Abrupt = 0
	if r := Run(c); r.Goodbyes < 100 || r.Deaths > 0 || r.Lost > 0 {
		t.Errorf("%d goodbyes: %+v", r.Goodbyes, r)
	}
}

// Guards that whoever has made a piece does not check it, and nobody does twice.
func TestVerdictsAreOfOthers(t *testing.T) {
	for hosts, ends := range map[int]bool{2: false, 3: true} {
		c := steady()
		c.Hosts, c.Verdicts, c.Direct, c.Grain = hosts, 2, true, 1e9
		if r := Run(c); r.Ended != ends {
			t.Errorf("%d hosts, one of which makes a piece that two check: ended %v", hosts, r.Ended)
		}
	}
}

// Guards that pieces are sent one after the other over a host's link, and by each host on the way of a share.
func TestPiecesTakeTheirTime(t *testing.T) {
	c := steady()
	c.Hosts, c.AtOnce, c.Grain = 1, 1, 1e9
	c.Link = sum(c.Parts) * c.Bytes / 1e6
	within(t, "one host", Run(c).Took.Seconds(), 1e6, 1e6+sum(c.Parts)*(c.Solving+c.Checking)*1.01)
	c.Hosts, c.AtOnce, c.Grain, c.Link = 2, 1, 1, 1e12
	r := Run(c)
	within(t, "between two", r.Between, sum(c.Parts)*c.Bytes*0.4, sum(c.Parts)*c.Bytes*1.2)
}

// Guards that the campaign's estimate is asked, and says about what is true.
func TestEstimates(t *testing.T) {
	r := Run(small())
	if len(r.Estimates) != 2 { // at a hundredth too few parts are done
		t.Fatalf("%+v", r.Estimates)
	}
	for _, e := range r.Estimates {
		within(t, "said", e.Said, e.Left-3*e.Error, e.Left+3*e.Error)
	}
}

// Guards the distributions: Weibull's by its mean, and the recorded parts by their sum.
func TestDistributions(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	w, drawn := WithMean(0.5, 10), 0.0
	const n = 200_000
	for range n {
		drawn += w.draw(chance).Hours() / n
	}
	within(t, "mean drawn", drawn, 9.7, 10.3)
	within(t, "mean", w.Mean(), 10-1e-9, 10+1e-9)
	within(t, "exponential", Weibull{1, 7}.Mean(), 7-1e-9, 7+1e-9)
	parts := Recorded()
	if len(parts) != 2000 || sum(parts) != 11_422_595 {
		t.Errorf("%d parts, %.0f conflicts", len(parts), sum(parts))
	}
	within(t, "spread", sum(Spread(parts, 5000, 1e9, 1)), 1e9-1, 1e9+1)
}
