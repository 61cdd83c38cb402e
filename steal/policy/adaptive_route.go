package policy

import "time"

// detour is how much slower the straight way must look than the first half of another one before that is
// taken at once.
const detour = 4

// A result that has another way, too, takes it as soon as the first has lasted rush times as long as it should have,
// and rushLeast: the last results of a run keep everybody waiting, and what is known of a link may be of before it got
// bad. In scenario 9 of the CRS paper a result of 618 bytes went by a way that had just got bad, and a run waited for
// it for 19 s at its end.
const (
	rush      = 2
	rushLeast = 500 * time.Millisecond
)

// A result of smallResult bytes at most that goes round goes straight at once as well, and whichever comes first is
// used: it costs a link as much as a request does, and which way is shorter is not known, as half of the detour is
// not. The last results of a run go home over as many links, one after the other, as the largest jobs have crossed,
// while nobody has anything else to do: in scenarios 5 and 8 of the CRS paper, in which links change every second,
// for 1.8 s, and so for 1.3 s (the mean of 24 seeds of integrate and nqueens each).
const smallResult = 256

// atOnce is the shortest time within which a result is sent the other way; 0 leaves that to the core.
const atOnce = time.Nanosecond

// Route sends a result straight unless that looks slow, and the other way the next time if it was not
// acknowledged, whatever the links look like by then: twice the same bad way keeps a run waiting. The second half of a
// detour is not known from here, which is why the two ways alternate: behind a volunteer's slow line all ways are slow.
// Always straight where that is to take less than slowLeast was tried: better there, and far worse over a link that is
// bad every third second (scenario 4).
func (a *Adaptive) Route(v View, to ClusterID, bytes, tries int, round bool) (via ClusterID, within time.Duration) {
	a.follow(v)
	best := time.Duration(0)
	for _, f := range a.others {
		l := v.Link(f.id)
		if t := l.Expected(bytes); f.id != to && t > 0 && (best == 0 || t < best) {
			via, best = f.id, t
		}
	}
	if best == 0 {
		return "", 0
	}
	straight := v.Link(to)
	takes := straight.Expected(bytes)
	slow := takes > detour*best
	if slow {
		takes = 2 * best // the second half as long as the first
	}
	if tries == 0 {
		round, within = !slow, max(rushLeast, rush*takes)
		if slow && bytes <= smallResult {
			within = atOnce
		}
	}
	if round {
		return "", within
	}
	return via, within
}
