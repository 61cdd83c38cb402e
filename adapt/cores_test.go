package adapt

import (
	"testing"

	"pgregory.net/rapid"
)

// Nothing is left over, nobody gets more than it wants, none of an owner's runs has two cores while another one has
// none, runs that are as efficient as each other get the same, and so do owners whose runs want more. A run without
// work has one core at most, which nobody else wants.
func TestDivide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cores := rapid.IntRange(0, 16).Draw(t, "cores")
		turn := rapid.IntRange(0, 100).Draw(t, "turn")
		runs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Contender {
			return Contender{Owner: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "owner"),
				Most:  rapid.IntRange(0, 16).Draw(t, "most"),
				Dry:   rapid.Bool().Draw(t, "dry"),
				Worth: rapid.SampledFrom([]float64{0, 0.01, 0.3, 1}).Draw(t, "worth")}
		}), 1, 8).Draw(t, "runs")
		got := Divide(cores, runs, turn)
		sum, wanted, of, short := 0, 0, map[string]int{}, map[string]bool{}
		for i, r := range runs {
			if r.Dry {
				r.Most = min(r.Most, 1)
			}
			sum, wanted = sum+got[i], wanted+r.Most
			of[r.Owner] += got[i]
			short[r.Owner] = short[r.Owner] || got[i] < r.Most && !r.Dry
			if got[i] > r.Most {
				t.Fatalf("%d gets %d, wants %d", i, got[i], r.Most)
			}
			for j, s := range runs {
				if got[i] < r.Most && !r.Dry && s.Dry && got[j] > 0 {
					t.Fatalf("%v: %d gets less than it wants beside %d, which has no work", got, i, j)
				}
				if r.Dry || s.Dry {
					continue
				}
				if got[i] < r.Most && r.Owner == s.Owner && r.Worth == s.Worth && got[j] > got[i]+1 {
					t.Fatalf("%v: %d gets less than %d though it wants more, and is worth as much", got, i, j)
				}
				if got[i] < r.Most && r.Owner == s.Owner && got[i] == 0 && got[j] > 1 {
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
	run := func(most int, owner string, worth float64) Contender {
		return Contender{Owner: owner, Most: most, Worth: worth}
	}
	for _, c := range []struct {
		a, b  Contender
		first int
	}{
		{run(8, "x", 0.9), run(8, "x", 0.3), 6},
		{run(8, "x", 1), run(8, "x", 0.01), 7},
		{run(8, "x", 0.5), run(8, "x", 0), 4},
		{run(8, "x", 1), run(8, "y", 0.1), 4},
		{run(8, "x", 1), run(1, "y", 0.1), 7},
	} {
		if got := Divide(8, []Contender{c.a, c.b}, 0); got[0] != c.first || got[0]+got[1] != 8 {
			t.Errorf("%+v: %v", c, got)
		}
	}
	counts := map[string]int{}
	for i, n := range Divide(8, []Contender{run(8, "x", 1), run(8, "x", 1), run(8, "x", 1), run(8, "y", 0.3)}, 2) {
		counts[[]string{"x", "x", "x", "y"}[i]] += n
	}
	if counts["y"] != 4 {
		t.Errorf("three runs of one owner get more than one of another: %v", counts)
	}
}

// With fewer cores than owners, or some that cannot be divided among them, each owner has its turn, and each of its
// runs: a batch of many takes nothing from whoever has one run.
func TestTurnsOfOwners(t *testing.T) {
	runs := make([]Contender, 6)
	for i := range runs {
		runs[i] = Contender{Most: 8, Owner: "many"}
	}
	runs[3].Owner = "one"
	for _, cores := range []int{1, 2, 3} {
		var served [6]int
		for turn := range 300 {
			for i, n := range Divide(cores, runs, turn) {
				served[i] += n
			}
		}
		for i, n := range served {
			if want := 150 * cores; i == 3 && n != want || i != 3 && n != want/5 {
				t.Errorf("of %d cores in 300 turns run %d of the owner %q had %d", cores, i, runs[i].Owner, n)
			}
		}
	}
}

// No run that has work starves: it has a core within as many turns as there are owners times the runs of the one who
// has most, however few cores there are, and whoever else is there.
func TestNobodyStarves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Contender {
			return Contender{Owner: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "owner"), Most: 8,
				Dry: rapid.Bool().Draw(t, "dry"), Worth: rapid.Float64Range(0, 1).Draw(t, "worth")}
		}), 1, 8).Draw(t, "runs")
		cores, from := rapid.IntRange(1, 8).Draw(t, "cores"), rapid.IntRange(0, 1000).Draw(t, "turn")
		of, most, had := map[string]int{}, 0, make([]int, len(runs))
		for _, r := range runs {
			if !r.Dry {
				of[r.Owner]++
				most = max(most, of[r.Owner])
			}
		}
		for turn := range len(of) * most {
			for i, n := range Divide(cores, runs, from+turn) {
				had[i] += n
			}
		}
		for i, r := range runs {
			if !r.Dry && had[i] == 0 {
				t.Fatalf("%d of %+v has no core in %d turns", i, runs, len(of)*most)
			}
		}
	})
}
