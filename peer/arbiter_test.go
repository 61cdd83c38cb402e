package peer

import (
	"testing"

	"pgregory.net/rapid"
)

// Nothing is left over, nobody gets more than it wants, none of an owner's runs has two cores while another one has
// none, runs that are as efficient as each other get the same, and so do owners whose runs want more.
func TestShareOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cores := rapid.IntRange(0, 16).Draw(t, "cores")
		turn := rapid.IntRange(0, 100).Draw(t, "turn")
		runs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) contender {
			return contender{rapid.IntRange(0, 16).Draw(t, "want"),
				rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "owner"),
				rapid.SampledFrom([]float64{0, 0.01, 0.3, 1}).Draw(t, "worth")}
		}), 1, 8).Draw(t, "runs")
		got := shareOut(cores, runs, turn)
		sum, wanted, of, short := 0, 0, map[string]int{}, map[string]bool{}
		for i, r := range runs {
			sum, wanted = sum+got[i], wanted+r.want
			of[r.owner] += got[i]
			short[r.owner] = short[r.owner] || got[i] < r.want
			if got[i] > r.want {
				t.Fatalf("%d gets %d, wants %d", i, got[i], r.want)
			}
			for j, s := range runs {
				if got[i] < r.want && r.owner == s.owner && r.worth == s.worth && got[j] > got[i]+1 {
					t.Fatalf("%v: %d gets less than %d though it wants more, and is worth as much", got, i, j)
				}
				if got[i] < r.want && r.owner == s.owner && got[i] == 0 && got[j] > 1 {
					t.Fatalf("%v: %d starves beside %d", got, i, j)
				}
			}
		}
		if sum != min(cores, wanted) {
			t.Fatalf("%v: %d of %d cores, %d wanted", got, sum, cores, wanted)
		}
		for a := range of {
			for b := range of {
				if short[a] && of[b] > of[a]+1 {
					t.Fatalf("%v of %v: %s gets less than %s though it wants more", got, runs, a, b)
				}
			}
		}
	})
}

// Of one owner's runs that want all cores the more efficient one gets more; of two owners' each gets half, whatever
// they say of their runs; and a run of which nothing is known counts for half.
func TestCoresGoWhereTheyAreUsed(t *testing.T) {
	for _, c := range []struct {
		a, b  contender
		first int
	}{
		{contender{8, "x", 0.9}, contender{8, "x", 0.3}, 6},
		{contender{8, "x", 1}, contender{8, "x", 0.01}, 7},
		{contender{8, "x", 0.5}, contender{8, "x", 0}, 4},
		{contender{8, "x", 1}, contender{8, "y", 0.1}, 4},
		{contender{8, "x", 1}, contender{1, "y", 0.1}, 7},
	} {
		if got := shareOut(8, []contender{c.a, c.b}, 0); got[0] != c.first || got[0]+got[1] != 8 {
			t.Errorf("%+v: %v", c, got)
		}
	}
	counts := map[string]int{}
	for i, n := range shareOut(8, []contender{{8, "x", 1}, {8, "x", 1}, {8, "x", 1}, {8, "y", 0.3}}, 2) {
		counts[[]string{"x", "x", "x", "y"}[i]] += n
	}
	if counts["y"] != 4 {
		t.Errorf("three runs of one owner get more than one of another: %v", counts)
	}
}

// With fewer cores than runs each has its turn.
func TestTurns(t *testing.T) {
	served := make([]int, 3)
	a := &arbiter{cores: 1}
	current := make([]int, 3)
	for i := range served {
		a.join(&allotment{most: 4, finish: func(bool) {}, dry: func() bool { return false },
			set: func(c int, _ bool) { current[i] = c }})
	}
	for range 300 {
		if d := a.next(); d != turnEvery {
			t.Fatalf("a turn of %v", d)
		}
		for i, c := range current {
			served[i] += c
		}
	}
	for i, n := range served {
		if n != 100 {
			t.Errorf("run %d had a core in %d of 300 turns", i, n)
		}
	}
}

// With fewer cores than owners, or some that cannot be divided among them, each owner has its turn, and each of its
// runs: a batch of many takes nothing from whoever has one run.
func TestTurnsOfOwners(t *testing.T) {
	runs := make([]contender, 6)
	for i := range runs {
		runs[i] = contender{want: 8, owner: "many"}
	}
	runs[3].owner = "one"
	for _, cores := range []int{1, 2, 3} {
		var served [6]int
		for turn := range 300 {
			for i, n := range shareOut(cores, runs, turn) {
				served[i] += n
			}
		}
		for i, n := range served {
			if want := 150 * cores; i == 3 && n != want || i != 3 && n != want/5 {
				t.Errorf("of %d cores in 300 turns run %d of the owner %q had %d", cores, i, runs[i].owner, n)
			}
		}
	}
}

// A run that has no jobs for its cores lends them to the others, and keeps one to hear of jobs by.
func TestDryRunLendsItsCores(t *testing.T) {
	var busy, dry int
	a := &arbiter{cores: 8}
	a.join(&allotment{most: 8, finish: func(bool) {}, dry: func() bool { return false },
		set: func(c int, _ bool) { busy = c }})
	a.join(&allotment{most: 8, finish: func(bool) {}, dry: func() bool { return true },
		set: func(c int, _ bool) { dry = c }})
	if busy != 7 || dry != 1 {
		t.Errorf("busy %d, dry %d", busy, dry)
	}
	a.pause(true)
	if busy != 0 || dry != 0 {
		t.Errorf("paused: busy %d, dry %d", busy, dry)
	}
	a.allow(2, 0)
	a.pause(false)
	if busy != 1 || dry != 1 {
		t.Errorf("two cores: busy %d, dry %d", busy, dry)
	}
}
