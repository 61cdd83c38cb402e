// want package:"registers shared.hiddenMap, shared.hiddenSlice, shared.search, shared.step}?$"

package shared

import (
	"maps"

	"github.com/satin-peer/satin"
)

func init() {
	satin.RegisterObject("shared.good", good)
	satin.RegisterObject("shared.bad", bad)
	satin.RegisterObject("shared.clones", clones)
	satin.RegisterLattice[int]("shared.union", union, nil)
	satin.RegisterLattice[int]("shared.spoil", spoil, nil)
	satin.Register("shared.search", search)
	satin.Register("shared.step", step)
	satin.Register("shared.hiddenSlice", hiddenSlice) // want `this job has a satin.Constant inside a slice or a map`
	satin.Register("shared.hiddenMap", hiddenMap)     // want `this job has a satin.Lattice inside a slice or a map`
}

type state struct {
	places []int
	index  map[string]int
	size   int
	fixed  [4]int
	deep   [][]int
}

// good makes a new state.
func good(old state, w []int) state {
	next := old
	next.places = append([]int(nil), old.places...)
	next.places[0] = w[0]
	old.size = 3 // a copy of its own
	old.fixed[1] = 3
	w[0] = 1 // is the write's, not the state's
	return next
}

// bad changes what others read.
func bad(old state, w []int) state {
	old.places[0] = w[0]   // want `this changes what the caller gave`
	delete(old.index, "a") // want `this changes what the caller gave`
	copy(old.places, w)    // want `this changes what the caller gave`
	old.places[1]++        // want `this changes what the caller gave`
	return old
}

func union(a, b map[int]bool) map[int]bool {
	all := map[int]bool{}
	for k := range a {
		all[k] = true
	}
	for k := range b {
		all[k] = true
	}
	return all
}

func spoil(a, b map[int]bool) map[int]bool {
	for k := range b {
		a[k] = true // want `this changes what the caller gave`
	}
	return a
}

// clones copies what it changes, but for deep.
func clones(old state, w []int) state {
	old.index = maps.Clone(old.index)
	old.index["a"] = w[0]
	old.places = append([]int(nil), w...)
	old.places[0]++
	old.deep[0] = []int{1} // want `this changes what the caller gave`
	old.deep[0][0] = 1     // want `this changes what the caller gave`
	return old
}

type task struct {
	Best  satin.Lattice[int, *int]
	State satin.Object[state, []int]
	Text  satin.Constant[[]string]
	Depth int
}

func step(f *satin.Frame, t task) int {
	s := t.State.Read(f)
	s.places[0] = 1         // want `this changes what Object.Read gave`
	s.size = 2              // a copy of its own
	t.Text.Read(f)[0] = "a" // want `this changes what Constant.Read gave`
	*t.Best.Value(f) = 3    // want `this changes what Lattice.Value gave`
	own := append([]int(nil), s.places...)
	own[0] = 1
	return own[0]
}

func search(f *satin.Frame, t task) (n int) {
	bound := t.Best.Value(f)
	if bound != nil && *bound > t.Depth {
		return 0
	}
	g := satin.Fork(f, search)
	for d := range 10 {
		if d < *bound { // want `bound is the lattice's value before this loop`
			g.Spawn(task{Depth: d})
		}
		if now := t.Best.Value(f); d < *now {
			g.Spawn(task{Depth: d})
		}
	}
	for r := range g.Results() {
		n += r + *bound // no spawn here
	}
	return n
}

func hiddenSlice(f *satin.Frame, c []satin.Constant[int]) int { return 0 }

func hiddenMap(f *satin.Frame, m map[int]struct{ L satin.Lattice[int, int] }) int { return 0 }
