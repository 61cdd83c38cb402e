package steal

import (
	"cmp"
	"slices"
	"sort"

	"github.com/satin-peer/satin/job"
)

// named is a thing that belongs to a job.
type named interface {
	name() (job.Path, job.Identity)
}

// byPath lists things in the order of paths, and of identities at one path. A job's descendants come straight
// after it.
type byPath[E named] []E

func compareNames(p job.Path, id job.Identity, q job.Path, jd job.Identity) int {
	return cmp.Or(p.Compare(q), slices.Compare(id[:], jd[:]))
}

// find gives the place of a job, or where it would be.
func (b byPath[E]) find(p job.Path, id job.Identity) (int, bool) {
	return slices.BinarySearchFunc(b, p, func(e E, p job.Path) int {
		q, jd := e.name()
		return compareNames(q, jd, p, id)
	})
}

// after is the first place behind everything at a path.
func (b byPath[E]) after(p job.Path) int {
	return sort.Search(len(b), func(i int) bool {
		q, _ := b[i].name()
		return q.Compare(p) > 0
	})
}

// at is the span of what is at a path.
func (b byPath[E]) at(p job.Path) []E {
	i, _ := b.find(p, job.Identity{})
	return b[i:b.after(p)]
}

// has says whether something is at a path.
func (b byPath[E]) has(p job.Path) bool {
	i, _ := b.find(p, job.Identity{})
	if i == len(b) {
		return false
	}
	q, _ := b[i].name()
	return slices.Equal(p, q)
}

// below is the span of what is strictly below a path.
func (b byPath[E]) below(p job.Path) []E {
	rest := b[b.after(p):]
	return rest[:sort.Search(len(rest), func(i int) bool {
		q, _ := rest[i].name()
		return !p.Above(q)
	})]
}

// above calls f for what is strictly above a path, from the longest path to the shortest, until f says true;
// it says whether f did. All that stands between an ancestor of p and p shares that ancestor: so the search
// goes back from p, each time to the longest path that can still be one.
func (b byPath[E]) above(p job.Path, f func(E) bool) bool {
	if len(p) == 0 {
		return false
	}
	for q := p[:len(p)-1]; ; {
		i := b.after(q) - 1
		if i < 0 {
			return false
		}
		last, _ := b[i].name()
		n := last.Common(q)
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
