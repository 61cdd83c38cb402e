package steal

// Eager scheduling (Javelin 3, "Advanced eager scheduling"; Baratloo and others, "Charlotte", 1996): a peer for which
// there is nothing else to do gets a copy of the job that others have had for the longest. The first result wins, and
// the others are told to stop. So no run waits for one slow peer at its end, whether that is slow, overloaded or about
// to be found lost.
//
// A copy is one as for a silent thief (book.replace), but for one thing: the thief's sign of life does not end it. What
// is done twice is bounded by the number of copies, a share of the jobs that were given away.

// A copy is to be divided further than the job was, one step each time (Javelin 3, "Dynamic Depth Expansion"): what
// takes others that long is too large for one peer at the end of a run. So the peers that have nothing to do share it.

// eager decides which job is copied when there is nothing else to give.
type eager struct {
	*shared
	partners *partners
	segments *segments
	leases   *leases
}

// copyFor queues a copy of the oldest job that others have for peer p, which asks for work, or, if p is nil, for this
// peer's own workers. NoWork says that they have asked others for work. False if there is none, or no more may be done
// twice.
func (e *eager) copyFor(p *peer, noWork bool) bool {
	room := e.segments.room() > 0 && e.leases.n < e.cfg.MaxLeases
	if e.leaving || p != nil && !room {
		return false // what is overdue runs here in any case: there is no more of it than leases
	}
	given := e.stats.JobsGivenLocal + e.stats.JobsGivenWide
	may := noWork && room && e.cfg.EagerAfter > 0 &&
		100*(e.stats.EagerCopies+1) <= uint64(e.cfg.EagerPercent)*given
	if !may && !e.anyOverdue() {
		return false // each request that is refused asks: the leases of all partners are not gone through in vain
	}
	var oldest *lease
	late := false
	for _, q := range e.partners.list {
		for _, l := range q.leases {
			overdue := e.overdue(l, p)
			if !overdue && !(may && e.copyable(l, p)) {
				continue
			}
			if oldest == nil || l.since < oldest.since || l.since == oldest.since && l.handle < oldest.handle {
				oldest, late = l, overdue
			}
		}
	}
	if oldest == nil {
		return false
	}
	if late {
		e.stats.OverdueCopies++
		if oldest.listed { // else the link may be to blame
			oldest.thief.credit.failed(e.now, &e.cfg)
		}
	} else {
		e.stats.EagerCopies++
	}
	s := &segment{copyOf: oldest, eager: true, overdue: late, job: oldest.job, since: e.now}
	s.job.Restarted = true
	s.job.Depth = min(s.job.Depth+1, MaxDepth)
	oldest.copy = s
	e.segments.enter(s)
	e.segments.putFirst(s)
	return true
}

// copyable says whether a job may be run by p as well. A copy is not copied, nor what may be an orphan that was given
// a new owner, whose result is perhaps on its way.
func (e *eager) copyable(l *lease, p *peer) bool {
	if l.copy != nil || l.adopted || l.witnessOf != nil || e.now-l.since < e.cfg.EagerAfter {
		return false
	}
	if s := l.parent; s != nil && (s.copyOf != nil || p != nil && s.owner == p) {
		return false
	}
	return l.thief != p
}
