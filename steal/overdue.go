package steal

import "time"

// A lease whose thief lists it for ever, by mistake or on purpose, has an end all the same. Nothing that a thief
// says of its progress could be believed. What this peer knows for itself is how long its workers have had nothing
// to do, and how long leases take. So a thief that withholds costs work, and time in proportion to what the run has
// taken, but never the end of a run. Such copies are bounded by idle workers, not by a share of the jobs, and may
// be copied again: several who withhold could have one job after the other.
//
// A copy of a large job is dear: its children are stolen, and soon many peers do again what others are at work on.
// So idleness counts that is the rule of late and not the exception (shared.dry). Behind slow links workers spend
// half of their time on waiting for replies, and add up half a minute of it before long; they have work again and
// again all the same. A job that is withheld stands out when all others are done, and then nobody has any.

// A thief that says that it has no core is believed: who says so of itself has only its own jobs done by others.
// What it has begun goes on when it has a core again, and the first result counts. Before, a run of five seconds
// took 38 when two of three peers were paused in it.

// leaseTimes is how long leases take here, as a retransmission time-out follows round trips (Jacobson, "Congestion
// avoidance and control", 1988): a smoothed mean, and a smoothed deviation from it.
type leaseTimes struct{ mean, deviation time.Duration }

// took learns from a lease whose thief has brought the result. One that was not waited for any longer says nothing:
// else each job that is withheld would be waited for longer than the last.
func (t *leaseTimes) took(d time.Duration) {
	if t.mean == 0 {
		t.mean, t.deviation = d, d/2
		return
	}
	off := d - t.mean
	t.mean += off / 8
	t.deviation += (max(off, -off) - t.deviation) / 4
}

// end is how long idle workers wait for a lease: for long enough that hardly any honest thief takes longer, within
// bounds that no thief can move.
func (t *leaseTimes) end(c *Config) time.Duration {
	return min(max(t.mean+4*t.deviation, c.LeaseEnd), c.LeaseEndMax)
}

// listedAfter is how long idle workers wait for a job of which its thief has never said that it has it. Where a link
// has just become slow, the reply that brings the job may take longer than all that is left of the run, and so does
// the heartbeat that would show it missing. A thief in another cluster lists a job as soon as it has it.
func (c *Config) listedAfter(wide bool) time.Duration {
	if wide {
		return c.HeartbeatEvery
	}
	return c.HeartbeatEvery + c.WideHeartbeatEvery
}

// listedFor is how long idle workers wait for a job that its thief lists. Where steals take long in the own cluster,
// too, they are idle for that: in a minute in which all messages were a second late a run did so much of its work twice
// that it took two minutes longer. They wait no more than twice as long: a thief that withholds may answer late, too.
func (e *eager) listedFor() time.Duration {
	end := e.leases.times.end(&e.cfg)
	return max(end, min(slowSteals*e.links.lastSteal(e.cluster), 2*end))
}

const slowSteals = 60

// anyOverdue says whether workers have been idle for long enough that some lease may be overdue.
func (e *eager) anyOverdue() bool {
	return e.cfg.LeaseEnd > 0 && e.dry >= min(e.cfg.listedAfter(true), e.leases.times.end(&e.cfg))
}

// overdue says whether idle workers have waited for long enough that p, or they, may run a job which its thief
// lists, or has not listed yet, or has no core for.
func (e *eager) overdue(l *lease, p *peer) bool {
	waited := e.idled - l.idled
	if waited < e.cfg.LeaseEndMax {
		waited = e.idled - max(l.idled, l.below)
	}
	switch of := min(waited, e.dry); {
	case !e.anyOverdue() || l.copy != nil || l.witnessOf != nil || l.thief == p:
		return false
	case l.thief.still && of >= e.cfg.listedAfter(false):
	case !l.listed && !l.adopted && of >= e.cfg.listedAfter(l.thief.cluster != e.cluster):
	case of < e.listedFor() || 4*waited < e.now-l.since:
		return false
	}
	return p == nil || l.parent == nil || !l.parent.comesFrom(p)
}
