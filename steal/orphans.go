package steal

import "slices"

// Orphans is what a core knew of lost work at one moment: the paths of jobs whose outcome somebody has or is working on, this peer
// included. Immutable, so safe for concurrent use; the nil and the zero value know of none.
type Orphans struct {
	paths []Path // sorted, each once
}

// newOrphans takes paths over, in any order.
func newOrphans(paths []Path) *Orphans {
	slices.SortFunc(paths, slices.Compare)
	return &Orphans{slices.CompactFunc(paths, slices.Equal)}
}

// Look says whether there is an orphan at exactly that path, and whether there are any strictly below it. It takes
// O(len(p) log n) steps and allocates nothing.
func (o *Orphans) Look(p Path) (hit, below bool) {
	if o == nil {
		return false, false
	}
	i, hit := slices.BinarySearchFunc(o.paths, p, slices.Compare)
	if hit {
		i++
	}
	return hit, i < len(o.paths) && isAbove(p, o.paths[i])
}

// Len is how many paths there are.
func (o *Orphans) Len() int {
	if o == nil {
		return 0
	}
	return len(o.paths)
}

// isAbove says whether the job at p is an ancestor of the one at q.
func isAbove(p, q Path) bool { return len(p) < len(q) && slices.Equal(p, q[:len(p)]) }
