package verify_test

import (
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/satin-peer/satin/verify"
)

// In whatever order authors are gathered, and through however many hands, the same are named, no more than there is
// room for, and that there are more is said if and only if it is so. What one set has others do not change.
func TestAuthors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var names []string
		for i := range rapid.IntRange(0, 3*verify.MaxAuthors/2).Draw(t, "names") {
			names = append(names, strconv.Itoa(i))
		}
		names = append(names, names[:rapid.IntRange(0, len(names)).Draw(t, "twice")]...)
		names = rapid.Permutation(names).Draw(t, "order")
		sets := make([]verify.Authors, rapid.IntRange(1, 5).Draw(t, "sets"))
		for _, name := range names {
			sets[rapid.IntRange(0, len(sets)-1).Draw(t, "set")].Add(name)
		}
		var all verify.Authors
		for i := range sets {
			before := slices.Clone(sets[i].Names)
			all.Join(&sets[i])
			other := sets[i]
			other.Add("x")
			other.Drop(other.Names[rapid.IntRange(0, len(other.Names)-1).Draw(t, "dropped")])
			if !slices.Equal(before, sets[i].Names) {
				t.Fatal("a set was changed by another")
			}
		}
		slices.Sort(names)
		names = slices.Compact(names)
		want := names[:min(len(names), verify.MaxAuthors)]
		if !slices.Equal(all.Names, want) || all.More != (len(names) > len(want)) || all.None() != (len(names) == 0) {
			t.Fatalf("%+v, want %v of %d", all, want, len(names))
		}
	})
}
