package main

import (
	"testing"

	"github.com/satin-peer/satin/internal/bench/wide/model"
	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/internal/wire"
)

// What travels is about as long as the simulator's model says.
func TestSizesAreTheModels(t *testing.T) {
	for _, app := range []string{"integrate", "nqueens", "tsp", "raytracer"} {
		tree, err := model.NewTree(app, 3)
		if err != nil {
			t.Fatal(err)
		}
		s, err := tree.Shape()
		if err != nil {
			t.Fatal(err)
		}
		for n, depth := s.Root(), 0; depth < 20; depth++ {
			arg, err := wire.Value().Encode(newArg(s, tree, n))
			if err != nil {
				t.Fatal(err)
			}
			near(t, app+"'s argument", len(arg), s.ArgBytes(n))
			result, err := wire.Value().Encode(Outcome{Sum: n.Key, Leaves: 1000,
				Pad: padding(s.ResultBytes(n), outcomeBytes)})
			if err != nil {
				t.Fatal(err)
			}
			near(t, app+"'s result", len(result), s.ResultBytes(n))
			children := s.Children(n, nil)
			if len(children) == 0 {
				break
			}
			n = children[0]
			if children[1].Work > n.Work {
				n = children[1]
			}
		}
	}
}

func near(t *testing.T, what string, got, want int) {
	t.Helper()
	if got < want-6 || got > want+6 {
		t.Errorf("%s has %d bytes, want %d", what, got, want)
	}
}

// The trees have the work that they are said to have, and the same leaves as in the simulator.
func TestTreesAreTheSimulators(t *testing.T) {
	for _, app := range []string{"integrate", "nqueens", "tsp", "raytracer"} {
		tree, err := model.NewTree(app, 1)
		if err != nil {
			t.Fatal(err)
		}
		s, err := tree.Shape()
		if err != nil {
			t.Fatal(err)
		}
		_, leaves, err := model.Sequential(tree)
		if total := sim.Sequential(s); err != nil || total.Result.Leaves != leaves ||
			total.Work != model.Work*model.Peers {
			t.Errorf("%s: %d leaves, %v of work in the simulator; here %d and %v, %v", app, total.Result.Leaves,
				total.Work, leaves, model.Work*model.Peers, err)
		}
	}
	for _, bad := range []struct {
		app   string
		input int
	}{{"chess", 1}, {"tsp", -1}, {"tsp", 256}} {
		if tree, err := model.NewTree(bad.app, bad.input); err == nil {
			t.Errorf("%s with input %d is tree %d", bad.app, bad.input, tree)
		}
	}
	if s, err := model.Tree(9 << 8).Shape(); err == nil {
		t.Errorf("an application that is not there: %v", s)
	}
}
