package main

import (
	"testing"
	"testing/fstest"
	"time"

	"github.com/satin-peer/satin/internal/bench/wide/model"
	"github.com/satin-peer/satin/internal/wan"
)

// The cells that are measured are those that were asked for.
func TestChooseCells(t *testing.T) {
	if all, err := chooseCells(""); err != nil || len(all) != 8 {
		t.Errorf("%d cells, %v", len(all), err)
	}
	some, err := chooseCells("tsp/200,integrate/20")
	if err != nil || len(some) != 2 || some[0].app != "integrate" || some[1].trip != 200*time.Millisecond {
		t.Errorf("%d cells, %v", len(some), err)
	}
	for _, bad := range []string{"tsp", "tsp/30", "chess/20", "tsp/20,", ","} {
		if _, err := chooseCells(bad); err == nil {
			t.Errorf("%q chooses cells", bad)
		}
	}
}

// A pair of policies that is clearly the other way round on processes than in the simulator is named, and no other.
func TestSwappedPolicies(t *testing.T) {
	if got := swapped([]float64{60, 90, 88}, []float64{61, 85, 87}); got != nil {
		t.Errorf("policies that are alike in the simulator: %q", got)
	}
	if got := swapped([]float64{60, 90, 80}, []float64{84, 85, 83}); len(got) != 1 || got[0] != "rs before adaptive" {
		t.Errorf("got %q", got)
	}
}

// The processes' network is the simulator's.
func TestScenarioOfTheProcesses(t *testing.T) {
	s, err := wan.Parse(fstest.MapFS{"x": {Data: []byte(scenarioFile(model.Between(200 * time.Millisecond)))}}, "x")
	if err != nil {
		t.Fatal(err)
	}
	m := s.NewModel(1)
	m.Advance(0)
	for from := range model.Clusters {
		for to := range model.Clusters {
			if c, ok := m.Links().Conditions(from, to); from != to &&
				(!ok || c != model.Between(200*time.Millisecond)) {
				t.Errorf("from %d to %d: %v, %v", from, to, c, ok)
			}
		}
	}
	if n := len(m.Sizes()); n != model.Clusters {
		t.Errorf("%d clusters", n)
	}
}
