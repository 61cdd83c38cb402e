package steal

import "slices"

// onRequest answers a thief: at once from the stolen jobs that wait here, after a Take from the engine, or
// later if the thief is patient and there is nothing now.
func (c *Core) onRequest(p *peer, r *StealRequest) {
	if r.ID <= p.askSeq {
		c.stats.DroppedDuplicate++ // repeated, or overtaken by a younger one
		return
	}
	p.askSeq = r.ID
	c.asks = slices.DeleteFunc(c.asks, func(a Ask) bool { return a.peer == p }) // it has given that one up
	c.lastAsk++
	a := Ask{ID: c.lastAsk, Thief: p.id, Cluster: p.cluster, Wide: p.cluster != c.cluster,
		Max:   min(r.Max, c.cfg.MaxBatch),
		Since: c.now, Until: c.now + min(r.Patience, c.cfg.MaxPatience), peer: p, request: r.ID}
	if a.Max == 0 || c.leaving != nil || len(c.asks)+len(c.takes) >= c.cfg.MaxAsks {
		c.reply(&a, nil)
		return
	}
	if !c.tryGive(&a, true) {
		c.keepOrRefuse(a)
	}
}

// keepOrRefuse decides about a request for which there is nothing now.
func (c *Core) keepOrRefuse(a Ask) {
	if a.request == 0 {
		return // a push that found nothing to push
	}
	if a.Until > c.now {
		a.tried = c.reports
		c.asks = append(c.asks, a)
		return
	}
	c.reply(&a, nil)
}

// tryGive starts to serve a request: it is answered, or the engine is looking for jobs for it. False if the
// policy does not want to give or there is certainly nothing.
func (c *Core) tryGive(a *Ask, askEngine bool) bool {
	n := min(c.policy.Give(&c.view, *a), a.Max, c.cfg.MaxLeases-c.leaseN)
	if n <= 0 {
		return false
	}
	if c.giveWaiting(a, n) {
		return true
	}
	if !askEngine || c.load.Queued == 0 && c.idle() >= c.load.Workers {
		return false
	}
	c.takes = append(c.takes, *a)
	c.order(Order{Kind: Take, Ticket: Ticket(a.ID), Max: n})
	return true
}

// giveWaiting passes on stolen jobs that no worker here has begun, oldest first.
func (c *Core) giveWaiting(a *Ask, n int) bool {
	var grants []Grant
	bytes := 0
	c.waiting = slices.DeleteFunc(c.waiting, func(s *segment) bool {
		size := s.job.Size()
		if len(grants) == n || s.comesFrom(a.peer) || (len(grants) > 0 && bytes+size > c.cfg.MaxReplyBytes) {
			return false
		}
		bytes += size
		h := c.lend(a.peer, &lease{parent: s, job: s.job})
		grants = append(grants, Grant{Handle: h, Job: s.job})
		return true
	})
	if len(grants) == 0 {
		return false
	}
	c.reply(a, grants)
	return true
}

// comesFrom says whether it makes no sense to give the segment to that peer. The root stays.
func (s *segment) comesFrom(p *peer) bool {
	return s.root || s.owner == p || s.copyOf != nil && s.copyOf.thief == p
}

// taken gives away what the engine found, or tells the thief that there was nothing. What does not fit into
// one reply, and what was meant for a thief that is gone by now, goes back at once.
func (c *Core) taken(t Ticket, jobs []Taken) {
	i := slices.IndexFunc(c.takes, func(a Ask) bool { return a.ID == AskID(t) })
	if i < 0 {
		c.putBack(jobs, nil)
		return
	}
	a := c.takes[i]
	c.takes = slices.Delete(c.takes, i, i+1)
	asked := len(jobs)
	if jobs = c.takeFound(jobs); len(jobs) == 0 && asked > 0 { // the thief still wants something to do
		c.lastAsk++
		a.ID = c.lastAsk
		c.takes = append(c.takes, a)
		c.order(Order{Kind: Take, Ticket: Ticket(a.ID), Max: asked})
		return
	}
	var grants []Grant
	bytes := 0
	for k := range jobs {
		j := &jobs[k]
		size := j.Job.Size()
		if size > c.cfg.MaxJobBytes {
			c.putBack(jobs[k:k+1], &c.stats.PutBackTooLarge)
			continue
		}
		if len(grants) > 0 && bytes+size > c.cfg.MaxReplyBytes || c.leaseN >= c.cfg.MaxLeases {
			c.putBack(jobs[k:], nil)
			break
		}
		bytes += size
		h := c.lend(a.peer, &lease{ref: j.Ref, job: j.Job, ofSegment: !j.Spawned &&
			c.runsHere(j.Job.Path, j.Job.Identity)})
		grants = append(grants, Grant{Handle: h, Job: j.Job})
	}
	if len(grants) > 0 {
		c.reply(&a, grants)
	} else {
		c.keepOrRefuse(a)
	}
}

// putBack returns jobs to the engine that have not left.
func (c *Core) putBack(jobs []Taken, why *uint64) {
	for k := range jobs {
		c.order(Order{Kind: PutBack, Ref: jobs[k].Ref})
		if why != nil {
			*why++
			c.stats.JobsPutBack++
		}
	}
}

// reply answers a request. Leases for the grants stand already: write before send.
func (c *Core) reply(a *Ask, grants []Grant) {
	switch n := uint64(len(grants)); {
	case a.Max == 0:
	case n == 0:
		c.stats.RequestsRefused++
	case a.Wide:
		c.stats.JobsGivenWide += n
	default:
		c.stats.JobsGivenLocal += n
	}
	if c.salvaging() {
		room := maxNewsBytes
		for i := range grants {
			if grants[i].Job.Restarted {
				grants[i].Orphans = c.orphansUnder(grants[i].Job.Path, c.cfg.MaxTuplesPerNews, &room)
			}
		}
	}
	c.send(a.peer, &Message{Reply: &StealReply{ID: a.request, Jobs: grants, Waited: c.now - a.Since,
		Queued: c.queued()}})
}

// answerWaiting serves the requests that wait here when there may be something new to give, oldest first.
func (c *Core) answerWaiting() {
	for i := 0; i < len(c.asks); {
		a := c.asks[i]
		fresh := a.tried < c.reports && c.load.Queued > 0
		if !fresh && len(c.waiting) == 0 {
			i++
			continue
		}
		c.asks[i].tried = c.reports
		if c.tryGive(&a, fresh) {
			c.asks = slices.Delete(c.asks, i, i+1)
		} else {
			i++
		}
	}
}

// expireAsks refuses requests whose patience is over.
func (c *Core) expireAsks() {
	c.asks = slices.DeleteFunc(c.asks, func(a Ask) bool {
		if c.now < a.Until {
			return false
		}
		c.reply(&a, nil)
		return true
	})
}

// refuseAsk answers one waiting request with nothing, at the policy's wish.
func (c *Core) refuseAsk(id AskID) {
	c.asks = slices.DeleteFunc(c.asks, func(a Ask) bool {
		if a.ID == id {
			c.reply(&a, nil)
		}
		return a.ID == id
	})
}

// dropAsks forgets the requests of a peer that is gone.
func (c *Core) dropAsks(p *peer) {
	gone := func(a Ask) bool { return a.peer == p }
	c.asks = slices.DeleteFunc(c.asks, gone)
	c.takes = slices.DeleteFunc(c.takes, gone)
}

// push gives jobs to a peer that has not asked: a Take whose reply has no request.
func (c *Core) push(thief PeerID, n int) {
	if _, ok := c.members.Find(thief); !ok || thief == c.self.Peer || len(c.asks)+len(c.takes) >= c.cfg.MaxAsks {
		return
	}
	p := c.meet(thief)
	n = min(n, c.cfg.MaxBatch, c.cfg.MaxLeases-c.leaseN)
	if p == nil || n <= 0 || p.lost {
		return
	}
	c.lastAsk++
	a := Ask{ID: c.lastAsk, Thief: thief, Cluster: p.cluster, Wide: p.cluster != c.cluster, Max: n, Since: c.now,
		Until: c.now, peer: p}
	if !c.giveWaiting(&a, n) && c.load.Queued > 0 {
		c.takes = append(c.takes, a)
		c.order(Order{Kind: Take, Ticket: Ticket(a.ID), Max: n})
	}
}
