package port

import "github.com/satin-peer/satin/steal"

// Differs says whether a core wants to know of a load, having been told another one. It must know exactly how
// many workers are idle, and of what is queued whether it is nothing, as much as there are workers, or more.
//
// A core takes a worker for busy as soon as it has ordered a segment to be run, so it need not be told of the one that
// begins it; of a worker that has run a segment to its end since, it must be, or it would give that nothing more.
func Differs(now, told *steal.Load) bool {
	return now.Idle != told.IdleAfter(now.Runs) || now.Workers != told.Workers || class(now) != class(told)
}

// Less says that all a load differs in is that there is less to give away. Nobody has to know that at once: whoever
// asks for a job is told that there is none.
func Less(now, told *steal.Load) bool {
	same := *told
	same.Queued = now.Queued
	return !Differs(now, &same) && class(now) < class(told)
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
