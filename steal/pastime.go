package steal

import (
	"slices"
	"time"
)

// pastime keeps account of what idle workers wait for, in Stats. The engine knows how long its workers are idle; only
// the core knows what this peer has asked for meanwhile. All of it goes into one of these, the first that fits:
//
//   - communicating: something between here and another cluster is late, a steal request's reply or the result of a
//     stolen job, or what a job from there names. Late is what is not there after twice the round trip: then the
//     bytes, or those of others before them, take longer than the way. What the first job waits for does not count:
//     that is what all jobs need, once.
//   - stealing: a request for jobs is out, which is not late.
//   - waiting: no request is out, but others have jobs that were spawned here.
//   - else nothing is to be had: that much more the engine counts.
//
// How long something was late is counted for itself too: a link may be too slow for a program although workers find
// something to do meanwhile, and others wait for it.
//
// An input finds the state as the last one has left it, so time is booked for what was true while it passed.
type pastime struct {
	*shared
	segments *segments
	leases   *leases
	thief    *thief
	since    time.Duration // up to when all is booked; 0: the core has not been told the time
}

// pass books the time up to now. It has to be called before the clock and anything else changes.
func (pt *pastime) pass(now time.Duration) {
	since, idle := pt.since, time.Duration(pt.load.IdleAfter(pt.segments.runs))
	pt.since = max(now, since)
	if since == 0 || now <= since {
		return
	}
	if n := time.Duration(pt.load.Workers); n > 0 {
		spent := min(idle, n) * (now - since) / n
		pt.idled += spent
		if pt.dry += spent; pt.segments.overdue == 0 { // else it works because it had to wait
			pt.dry = max(0, pt.dry-(now-since-spent))
		}
	}
	if late := max(pt.lateAt(), since); late < now {
		pt.stats.Late += now - late
		pt.stats.IdleCommunicating += idle * (now - late)
		now = late
	}
	if idle == 0 {
		return
	}
	switch {
	case pt.asking():
		pt.stats.IdleStealing += idle * (now - since)
	case pt.leases.n > 0:
		pt.stats.IdleWaiting += idle * (now - since)
	}
}

// asking says whether a request for jobs is out.
func (pt *pastime) asking() bool {
	return slices.ContainsFunc(pt.thief.flights, func(f flight) bool { return f.Max > 0 })
}

const never = time.Duration(1<<63 - 1)

// lateAt is since when something between here and another cluster is late, or when it will be.
func (pt *pastime) lateAt() (at time.Duration) {
	at = never
	for i := range pt.thief.flights {
		if f := &pt.thief.flights[i]; f.Wide && f.Max > 0 {
			at = min(at, f.Since+f.Patience+pt.inTime(f.Cluster))
		}
	}
	for _, s := range pt.segments.fetching {
		if pt.segments.supplied && s.asked && s.owner != nil && s.owner.cluster != pt.cluster {
			at = min(at, s.since+pt.inTime(s.owner.cluster))
		}
	}
	for _, s := range pt.segments.unacked {
		if s.owner != nil && s.owner.cluster != pt.cluster {
			at = min(at, s.finished+pt.inTime(s.owner.cluster))
		}
	}
	return at
}

// inTime is how long a message and the answer may take before they count as late.
func (pt *pastime) inTime(to ClusterID) time.Duration {
	if l := pt.links.by[to]; l != nil && l.RTT > 0 {
		return 2 * l.RTT
	}
	return pt.cfg.StealTimeout
}
