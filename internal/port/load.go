package port

import "github.com/satin-peer/satin/steal"

// Differs says whether a core wants to know of a load, having been told another one. It must know exactly how
// many workers are idle, and of what is queued whether it is nothing, as much as there are workers, or more.
//
// A worker that has run a segment to its end since the last report is idle again, but not as it was: the core
// counts its order until it is told, and would give it nothing more.
func Differs(now, told *steal.Load) bool {
	return now.Idle != told.Idle || now.Idle > 0 && now.Runs != told.Runs || now.Workers != told.Workers ||
		class(now) != class(told)
}

// class is what a report must be exact about: none queued, at most as many as workers, more.
func class(l *steal.Load) int {
	switch {
	case l.Queued == 0:
		return 0
	case l.Queued <= l.Workers:
		return 1
	}
	return 2
}
