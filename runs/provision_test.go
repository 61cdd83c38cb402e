package runs

import (
	"slices"
	"testing"
	"time"
)

// provisioned is how many machines are asked for in each of some minutes for a run that wants so many peers, of which
// so many are there besides the owner, and so many of them paused.
func provisioned(m *Manifest, wanted int, there []int, paused int, change func(*Config)) (asked []int) {
	cfg := DefaultConfig()
	cfg.Provision, cfg.ProvisionAfter = 8, 2*time.Minute
	if change != nil {
		change(&cfg)
	}
	c, v := coreOf(cfg)
	v.partners = nil
	c.Submit(noon, 1, m, nil)
	c.Written(noon, OwnFile, m.Run, "")
	c.RootHeld(noon, m.Run, true)
	c.Musters.Muster(noon, m.Run, &Muster{Wanted: wanted})
	for i, n := range there {
		v.partners = nil
		for k := range n {
			v.partners = append(v.partners, PeerID("p"+string(rune('a'+k))))
		}
		v.paused = v.partners[:min(paused, n)]
		sum := 0
		for _, o := range of[Provision](c.Tick(noon.Add(time.Duration(i+1) * time.Minute))) {
			sum += o.Machines
		}
		asked = append(asked, sum)
	}
	return asked
}

// Machines are asked for when they have been missing for as long as it takes, no more than the owner lets, and only
// by the owner of a run that wants them.
func TestProvision(t *testing.T) {
	none := []int{0, 0, 0, 0, 0, 0}
	alone := []int{0, 0, 0, 0, 0, 0}
	for _, c := range []struct {
		name   string
		adapt  string
		least  int
		wanted int
		there  []int
		paused int
		change func(*Config)
		want   []int
	}{
		{name: "measured", adapt: "paper", wanted: 4, there: alone, want: []int{0, 0, 3, 0, 3, 0}},
		{name: "bounded", adapt: "paper", wanted: 100, there: alone, want: []int{0, 0, 8, 0, 0, 0}},
		{name: "they come", adapt: "paper", wanted: 4, there: []int{0, 0, 0, 3, 3, 3}, want: []int{0, 0, 3, 0, 0, 0}},
		{name: "some come", adapt: "paper", wanted: 4, there: []int{0, 0, 0, 2, 2, 2}, want: []int{0, 0, 3, 0, 1, 0}},
		{name: "they come, and are paused", adapt: "paper", wanted: 4, there: []int{0, 0, 0, 3, 3, 3}, paused: 1,
			want: []int{0, 0, 3, 0, 1, 0}},
		{name: "gone for a moment", adapt: "paper", wanted: 4, there: []int{3, 0, 3, 0, 3, 0}, want: none},
		{name: "any number", adapt: "paper", there: alone, want: none},
		{name: "the owner's least", adapt: "volunteers", least: 3, there: alone, want: []int{0, 2, 0, 2, 0, 2}},
		{name: "volunteers", adapt: "volunteers", wanted: 4, there: alone, want: none},
		{name: "no command", adapt: "paper", wanted: 4, there: alone, want: none,
			change: func(c *Config) { c.Provision = 0 }},
	} {
		m := adaptive(1, "self")
		m.Adapt, m.MinPeers = c.adapt, c.least
		if got := provisioned(m, c.wanted, c.there, c.paused, c.change); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v are asked for, want %v", c.name, got, c.want)
		}
	}
}

// A deputy that goes on with a run asks for nobody: it is not its money.
func TestProvisionOnlyByTheOwner(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Provision = 8
	c, v := coreOf(cfg)
	m := adaptive(1, "o", "self")
	m.Adapt, m.MinPeers = "paper", 5
	take(c, m)
	v.silent = []PeerID{"o"}
	c.RootHeld(noon, m.Run, true)
	for i := range 10 {
		if got := of[Provision](c.Tick(noon.Add(time.Duration(i) * time.Minute))); len(got) > 0 {
			t.Fatalf("%+v", got)
		}
	}
	if !c.Musters.Coordinates(m.Run) {
		t.Error("the deputy does not coordinate the run: nothing was tried")
	}
}

// What was asked for is in the roster's log, for people.
func TestProvisionIsSaid(t *testing.T) {
	m := adaptive(1, "self")
	m.Adapt, m.MinPeers = "volunteers", 3
	cfg := DefaultConfig()
	cfg.Provision = 8
	c, _ := coreOf(cfg)
	c.Submit(noon, 1, m, nil)
	c.Written(noon, OwnFile, m.Run, "")
	c.RootHeld(noon, m.Run, true)
	c.Tick(noon.Add(time.Minute))
	c.Tick(noon.Add(time.Minute + cfg.ProvisionAfter))
	log := c.Musters.Roster(m.Run).Log
	const want = "2 machines asked for by the setting provision: 1 peers are there, 3 wanted"
	if len(log) != 1 || log[0].Text != want {
		t.Errorf("%+v, want %q", log, want)
	}
}
