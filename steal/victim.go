package steal

import (
	"slices"
	"time"

	"github.com/satin-peer/satin/steal/policy"
)

// ask is a steal request that waits here.
type ask struct {
	policy.Ask
	peer    *peer
	request RequestID // 0 for a push
	tried   uint64    // the engine's report at which it was last tried
	vain    int       // jobs that were taken for it and were too large
}

// victim answers the steal requests of others.
type victim struct {
	*shared
	*adviser
	partners *partners
	segments *segments
	leases   *leases
	lost     *lostWork
	adoption *adoption
	eager    *eager
	asks     []ask // waiting, oldest first
	takes    []ask // the engine is looking for jobs for these
	last     policy.AskID
}

// onRequest answers a thief: at once from the stolen jobs that wait here, after a Take from the engine, or
// later if the thief is patient and there is nothing now.
func (v *victim) onRequest(p *peer, r *StealRequest) {
	if r.ID <= p.askSeq {
		v.stats.DroppedDuplicate++ // repeated, or overtaken by a younger one
		return
	}
	p.askSeq = r.ID
	v.asks = slices.DeleteFunc(v.asks, func(a ask) bool { return a.peer == p }) // it has given that one up
	v.last++
	a := ask{Ask: policy.Ask{ID: v.last, Thief: p.id, Cluster: p.cluster, Wide: p.cluster != v.cluster,
		Max:   min(r.Max, v.cfg.MaxBatch),
		Since: v.now, Until: v.now + min(r.Patience, v.cfg.MaxPatience)}, peer: p, request: r.ID}
	if a.Max == 0 || v.leaving || v.run.Hoard || v.members.Barred(p.id) || !v.mayTake(p) {
		v.reply(&a, nil)
		return
	}
	if !v.tryGive(&a, true) {
		v.keepOrRefuse(a)
	}
}

// takesPart is what one thief may have of MaxAsks: its earlier requests, for which the engine still looks.
const takesPart = 8

// mayTake says whether there is room for one more request of a thief.
func (v *victim) mayTake(p *peer) bool {
	its := 0
	for i := range v.takes {
		if v.takes[i].peer == p {
			its++
		}
	}
	return len(v.asks)+len(v.takes) < v.cfg.MaxAsks && its < max(1, v.cfg.MaxAsks/takesPart)
}

// keepOrRefuse decides about a request for which there is nothing now.
func (v *victim) keepOrRefuse(a ask) {
	if a.request == 0 {
		return // a push that found nothing to push
	}
	if v.giveCopy(&a) {
		return
	}
	if a.Until > v.now {
		a.tried = v.reports
		v.asks = append(v.asks, a)
		return
	}
	v.reply(&a, nil)
}

// tryGive starts to serve a request: it is answered, or the engine is looking for jobs for it. False if the
// policy does not want to give or there is certainly nothing.
func (v *victim) tryGive(a *ask, askEngine bool) bool {
	n := min(v.policy.Give(v.view, a.Ask), a.Max, v.mayHave(a.peer))
	if n <= 0 {
		return false
	}
	if v.giveWaiting(a, n) {
		return true
	}
	if !askEngine || v.load.Queued == 0 && v.segments.idle() >= v.load.Workers {
		return false
	}
	v.takes = append(v.takes, *a)
	v.order(Order{Kind: Take, Ticket: Ticket(a.ID), Max: n})
	return true
}

// mayHave is how many more of this peer's jobs a thief may have.
func (v *victim) mayHave(p *peer) int {
	return min(v.cfg.MaxLeases-v.leases.n, p.credit.left(v.now)-len(p.leases))
}

// giveWaiting passes on stolen jobs that no worker here has begun, oldest first. The thief is told at once which of
// them perhaps nobody waits for.
func (v *victim) giveWaiting(a *ask, n int) bool {
	var grants []Grant
	var doubted []Handle
	bytes := 0
	v.segments.waiting = slices.DeleteFunc(v.segments.waiting, func(s *segment) bool {
		size := s.job.Size()
		if len(grants) == n || s.comesFrom(a.peer) || (len(grants) > 0 && bytes+size > v.cfg.MaxReplyBytes) {
			return false
		}
		bytes += size
		l := &lease{parent: s, job: s.job, doubted: v.salvaging() && a.peer.inc != 0 && s.inDoubt()}
		h := v.leases.lend(a.peer, l)
		if grants = append(grants, Grant{Handle: h, Job: s.job}); l.doubted {
			doubted = append(doubted, h)
		}
		return true
	})
	if len(grants) == 0 {
		return false
	}
	v.reply(a, grants)
	if len(doubted) > 0 {
		v.send(a.peer, &Message{Disown: &Disown{Handles: doubted, Perhaps: true}})
	}
	return true
}

// taken gives away what the engine found, or tells the thief that there was nothing. What does not fit into
// one reply, and what was meant for a thief that is gone by now, goes back at once.
func (v *victim) taken(t Ticket, jobs []Taken) {
	i := slices.IndexFunc(v.takes, func(a ask) bool { return a.ID == policy.AskID(t) })
	if i < 0 {
		v.putBack(jobs, false)
		return
	}
	a := v.takes[i]
	v.takes = slices.Delete(v.takes, i, i+1)
	asked := len(jobs)
	if jobs = v.adoption.takeFound(jobs); len(jobs) == 0 && asked > 0 {
		v.takeAgain(a, asked)
		return
	}
	var grants []Grant
	bytes, large := 0, false
	for k := range jobs {
		j := &jobs[k]
		size := j.Job.Size()
		if size > v.cfg.MaxJobBytes || len(j.Job.Path) > MaxPath {
			v.putBack(jobs[k:k+1], true)
			large = true
			continue
		}
		if len(grants) > 0 && bytes+size > v.cfg.MaxReplyBytes || v.mayHave(a.peer) <= 0 {
			v.putBack(jobs[k:], false)
			break
		}
		bytes += size
		h := v.leases.lend(a.peer, &lease{ref: j.Ref, job: j.Job, ofSegment: !j.Spawned &&
			v.segments.runsHere(j.Job.Path, j.Job.Identity)})
		grants = append(grants, Grant{Handle: h, Job: j.Job})
	}
	switch {
	case len(grants) > 0:
		v.reply(&a, grants)
	case large && a.vain < maxVain:
		a.vain++
		v.takeAgain(a, asked)
	default:
		v.keepOrRefuse(a)
	}
}

// maxVain is how often jobs that are too large are taken for one request: each time costs the engine their encoding.
const maxVain = 8

// takeAgain has the engine look once more for a thief that still wants something to do.
func (v *victim) takeAgain(a ask, n int) {
	v.last++
	a.ID = v.last
	v.takes = append(v.takes, a)
	v.order(Order{Kind: Take, Ticket: Ticket(a.ID), Max: n})
}

// giveCopy gives a copy of a job that somebody else has.
func (v *victim) giveCopy(a *ask) bool {
	return a.Max > 0 && v.load.Queued == 0 && v.mayHave(a.peer) > 0 && v.policy.Give(v.view, a.Ask) > 0 &&
		v.eager.copyFor(a.peer, true) && v.giveWaiting(a, 1)
}

// putBack returns jobs to the engine that have not left; those that are too large for good.
func (v *victim) putBack(jobs []Taken, tooLarge bool) {
	for k := range jobs {
		v.order(Order{Kind: PutBack, Ref: jobs[k].Ref, Stays: tooLarge})
		if tooLarge {
			v.stats.PutBackTooLarge++
			v.stats.JobsPutBack++
		}
	}
}

// reply answers a request. Leases for the grants stand already: write before send.
func (v *victim) reply(a *ask, grants []Grant) {
	switch n := uint64(len(grants)); {
	case a.Max == 0:
	case n == 0:
		v.stats.RequestsRefused++
	case a.Wide:
		v.stats.JobsGivenWide += n
	default:
		v.stats.JobsGivenLocal += n
	}
	if v.salvaging() {
		room, most := v.roomForOrphans(a.peer), v.cfg.MaxTuplesPerNews // of all grants together
		for i := range grants {
			if grants[i].Job.Restarted {
				grants[i].Orphans = v.lost.orphansUnder(grants[i].Job.Path, most, &room)
				most -= len(grants[i].Orphans)
			}
		}
	}
	v.send(a.peer, &Message{Reply: &StealReply{ID: a.request, Jobs: grants, Waited: v.now - a.Since,
		Queued: v.segments.queued()}})
}

// roomForOrphans bounds what a reply says of lost work, in bytes: it is to take no longer than orphansWithin. What is
// not said may be done twice; a thief at the end of a slow link would else wait for a list for longer than for the job.
func (v *victim) roomForOrphans(p *peer) int {
	if p.cluster == v.cluster {
		return maxNewsBytes
	}
	l := v.links.get(p.cluster)
	return int(min(maxNewsBytes, l.Rate()*orphansWithin.Seconds()))
}

const orphansWithin = time.Second

// answerWaiting serves the requests that wait here when there may be something new to give, oldest first.
func (v *victim) answerWaiting() {
	for i := 0; i < len(v.asks); {
		a := v.asks[i]
		fresh := a.tried < v.reports && v.load.Queued > 0
		if !fresh && len(v.segments.waiting) == 0 {
			i++
			continue
		}
		v.asks[i].tried = v.reports
		if v.tryGive(&a, fresh) {
			v.asks = slices.Delete(v.asks, i, i+1)
		} else {
			i++
		}
	}
}

// expireAsks refuses requests whose patience is over.
func (v *victim) expireAsks() {
	v.asks = slices.DeleteFunc(v.asks, func(a ask) bool {
		if v.now < a.Until {
			return false
		}
		if !v.giveCopy(&a) {
			v.reply(&a, nil)
		}
		return true
	})
}

// refuseAsk answers one waiting request with nothing, at the policy's wish.
func (v *victim) refuseAsk(id policy.AskID) {
	v.asks = slices.DeleteFunc(v.asks, func(a ask) bool {
		if a.ID == id {
			v.reply(&a, nil)
		}
		return a.ID == id
	})
}

// dropAsks forgets the requests of a peer that is gone.
func (v *victim) dropAsks(p *peer) {
	gone := func(a ask) bool { return a.peer == p }
	v.asks = slices.DeleteFunc(v.asks, gone)
	v.takes = slices.DeleteFunc(v.takes, gone)
}

// push gives jobs to a peer that has not asked: a Take whose reply has no request.
func (v *victim) push(thief PeerID, n int) {
	if !v.isOther(thief) || v.run.Hoard || len(v.asks)+len(v.takes) >= v.cfg.MaxAsks {
		return
	}
	p := v.partners.meet(thief)
	if p == nil || p.lost {
		return
	}
	if n = min(n, v.cfg.MaxBatch, v.mayHave(p)); n <= 0 {
		return
	}
	v.last++
	a := ask{Ask: policy.Ask{ID: v.last, Thief: thief, Cluster: p.cluster, Wide: p.cluster != v.cluster, Max: n,
		Since: v.now, Until: v.now}, peer: p}
	if !v.giveWaiting(&a, n) && v.load.Queued > 0 {
		v.takes = append(v.takes, a)
		v.order(Order{Kind: Take, Ticket: Ticket(a.ID), Max: n})
	}
}

// asking says whether a request of the peer is being dealt with.
func (v *victim) asking(p *peer) bool {
	has := func(a ask) bool { return a.peer == p }
	return slices.ContainsFunc(v.asks, has) || slices.ContainsFunc(v.takes, has)
}
