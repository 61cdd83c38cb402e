package steal

import (
	"cmp"
	"slices"
	"sort"
)

// named is a thing that belongs to a job.
type named interface{ name() (Path, Identity) }

// byPath lists things in the order of paths, and of identities at one path. A job's descendants come straight
// after it.
type byPath[E named] []E

func compareNames(p Path, id Identity, q Path, jd Identity) int {
	return cmp.Or(slices.Compare(p, q), slices.Compare(id[:], jd[:]))
}

// find gives the place of a job, or where it would be.
func (b byPath[E]) find(p Path, id Identity) (int, bool) {
	return slices.BinarySearchFunc(b, p, func(e E, p Path) int {
		q, jd := e.name()
		return compareNames(q, jd, p, id)
	})
}

// after is the first place behind everything at a path.
func (b byPath[E]) after(p Path) int {
	return sort.Search(len(b), func(i int) bool {
		q, _ := b[i].name()
		return slices.Compare(q, p) > 0
	})
}

// at is the span of what is at a path.
func (b byPath[E]) at(p Path) []E {
	i, _ := b.find(p, Identity{})
	return b[i:b.after(p)]
}

// below is the span of what is strictly below a path.
func (b byPath[E]) below(p Path) []E {
	rest := b[b.after(p):]
	return rest[:sort.Search(len(rest), func(i int) bool {
		q, _ := rest[i].name()
		return !isAbove(p, q)
	})]
}

// above calls f for what is strictly above a path, from the longest path to the shortest, until f says true;
// it says whether f did. All that stands between an ancestor of p and p shares that ancestor: so the search
// goes back from p, each time to the longest path that can still be one.
func (b byPath[E]) above(p Path, f func(E) bool) bool {
	if len(p) == 0 {
		return false
	}
	for q := p[:len(p)-1]; ; {
		i := b.after(q) - 1
		if i < 0 {
			return false
		}
		last, _ := b[i].name()
		n := commonLength(last, q)
		if n < len(last) {
			q = q[:n]
			continue
		}
		for ; i >= 0; i-- {
			if r, _ := b[i].name(); !slices.Equal(r, last) {
				break
			}
			if f(b[i]) {
				return true
			}
		}
		if n == 0 {
			return false
		}
		q = q[:n-1]
	}
}

func commonLength(p, q Path) int {
	n := 0
	for n < len(p) && n < len(q) && p[n] == q[n] {
		n++
	}
	return n
}
