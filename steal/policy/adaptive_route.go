package policy

import "time"

// detour is how much slower the straight way must look than the first half of another one before that is
// taken at once.
const detour = 4

// Route sends a result straight unless that looks slow, and the other way the next time if it was not
// acknowledged. The second half of a detour is not known from here, which is why the two ways alternate: behind a
// volunteer's slow line all ways are slow. Always straight where that is to take less than slowLeast was tried: better
// there, and far worse over a link that is bad every third second (scenario 4).
func (a *Adaptive) Route(v View, to ClusterID, bytes, tries int) (via ClusterID) {
	a.follow(v)
	best := time.Duration(0)
	for _, f := range a.others {
		l := v.Link(f.id)
		if t := l.Expected(bytes); f.id != to && t > 0 && (best == 0 || t < best) {
			via, best = f.id, t
		}
	}
	straight := v.Link(to)
	slow := best > 0 && straight.Expected(bytes) > detour*best
	if slow == (tries%2 == 0) {
		return via
	}
	return ""
}
