package steal

import (
	"slices"
	"time"

	"github.com/satin-peer/satin/steal/policy"
)

// flight is a steal request of this peer that has not been answered.
type flight struct {
	policy.Flight
	request RequestID
}

// thief carries out what the policy plans, and follows this peer's own steal requests.
type thief struct {
	*shared
	*adviser
	partners  *partners
	segments  *segments
	book      *book
	victim    *victim
	flights   []flight
	lastReq   RequestID
	failures  int           // steals in a row that brought nothing
	notBefore time.Duration // no steal is sent before
	returned  int           // jobs in a row that went back because what they name did not come
	resting   time.Duration // until then there are peers that have a rest
	hunger    uint64        // Seq of the last Hunger sent
	wakeAt    time.Duration // when to ask the policy again
	planned   policy.Plan
}

// carryOutPlan asks the policy what to do and does it, within the bounds. While the gap after a failed steal
// runs, the policy is not asked at all: the tick at its end will.
func (t *thief) carryOutPlan() {
	if t.now < t.notBefore {
		t.wakeAt = t.notBefore
		return
	}
	p := &t.planned
	p.Reset()
	t.policy.Plan(t.view, p)
	if t.wakeAt = p.WakeAt; t.now < t.resting {
		t.wakeAt = t.partners.rested(t.wakeAt)
	}
	for _, id := range p.Refusals {
		t.victim.refuseAsk(id)
	}
	for _, to := range p.Tells {
		t.tell(to)
	}
	for _, x := range p.Pushes {
		t.victim.push(x.Thief, x.Max)
	}
	for _, s := range p.Steals {
		t.steal(s)
	}
}

// steal sends one request.
func (t *thief) steal(s policy.Steal) {
	if !t.isOther(s.Victim) || t.flightTo(s.Victim) >= 0 {
		return
	}
	n := max(0, min(s.Max, t.segments.room(), t.cfg.MaxBatch))
	if s.Max > 0 && n <= 0 || len(t.flights) >= t.cfg.MaxFlights {
		return
	}
	p := t.partners.meet(s.Victim)
	if p == nil || !p.mayGive(t.now) {
		return
	}
	if p.onTrial(t.now) {
		n = min(n, 1)
	}
	if p.lost {
		p.heard = t.now // the next request to it is as far away: see partners.forgiven
	}
	t.lastReq++
	f := flight{Flight: policy.Flight{Victim: p.id, Cluster: p.cluster, Wide: p.cluster != t.cluster, Max: n,
		Since: t.now, Patience: s.Patience}, request: t.lastReq}
	wait := max(t.cfg.StealTimeout, 4*t.links.lastSteal(p.cluster))
	f.Deadline = t.now + s.Patience + min(wait, t.cfg.StealTimeoutMax)
	t.flights = append(t.flights, f)
	if f.Wide {
		t.stats.StealsSentWide++
	} else {
		t.stats.StealsSentLocal++
	}
	t.send(p, &Message{Request: &StealRequest{ID: f.request, Max: n, Patience: s.Patience}})
}

// copyForMyself has idle workers here run a copy of a job that others have: one that is overdue, or any once as many
// steals as there are others to steal from have brought nothing. Whoever is to finish waits for its own jobs, too.
func (t *thief) copyForMyself() {
	for t.segments.idle() > len(t.segments.fetching) && t.segments.queued() == 0 &&
		t.victim.eager.copyFor(nil, t.failures >= max(1, t.adviser.view.Members().Len()-1)) {
		t.book.feedWorkers()
	}
}

// onReply takes stolen jobs in. A reply that comes after its request was given up, and a push, are as welcome
// as one that was waited for: the victim has given the jobs away and entered the lease.
func (t *thief) onReply(p *peer, m *Message) {
	r := m.Reply
	i := slices.IndexFunc(t.flights, func(f flight) bool { return f.request == r.ID && f.Victim == p.id })
	switch {
	case i >= 0:
		f := t.flights[i]
		t.flights = slices.Delete(t.flights, i, i+1)
		t.links.stole(p.cluster, t.now-f.Since-r.Waited, m.Size())
		t.landed(&f, len(r.Jobs) > 0)
	case r.ID != 0:
		t.stats.LateReplies++
	}
	p.known.Queued, p.known.Heard = r.Queued, t.now
	if len(r.Jobs) == 0 {
		return
	}
	var noRoom []Handle
	for k := range r.Jobs {
		g := &r.Jobs[k]
		switch _, held := p.findHeld(g.Handle); {
		case held || slices.Contains(p.done, g.Handle):
			t.stats.DroppedDuplicate++
		case t.segments.room() <= 0 || len(g.Job.Names) > 0 && !p.mayGive(t.now) ||
			t.run.Proving || // nobody who is compared has anything to give
			len(g.Job.Path) > MaxPath || !g.Job.isGiven() || !t.book.hold(p, g):
			noRoom = append(noRoom, g.Handle)
		default:
			if p.cluster == t.cluster {
				t.stats.JobsTakenLocal++
			} else {
				t.stats.JobsTakenWide++
				t.partners.beatNow(p) // it lists the job
			}
		}
	}
	if len(noRoom) > 0 {
		slices.Sort(noRoom)
		t.send(p, &Message{Return: &Return{Handles: slices.Compact(noRoom)}})
	}
}

// landed counts how a request ended; a probe cannot fail.
func (t *thief) landed(f *flight, won bool) {
	if f.Max == 0 {
		t.reports++ // what was learned may let waiting requests through
		return
	}
	t.links.ended(f.Cluster, won)
	if !won {
		t.failed()
		return
	}
	t.failures = 0
	if f.Wide {
		t.stats.StealsWonWide++
	} else {
		t.stats.StealsWonLocal++
	}
}

// failed notes a steal that brought nothing: the next one has to wait for the gap.
func (t *thief) failed() {
	t.failures++
	t.notBefore = t.now + t.cfg.StealGap
}

// flightTo finds the request to a victim, or -1.
func (t *thief) flightTo(victim PeerID) int {
	return slices.IndexFunc(t.flights, func(f flight) bool { return f.Victim == victim })
}

// expireFlights gives up requests that were not answered in time. A neighbour that was never heard may be gone, which
// who joins cannot know: it is not asked for a while, and nothing is learned of the way to the others, for whom it
// would wait longer.
func (t *thief) expireFlights() {
	t.flights = slices.DeleteFunc(t.flights, func(f flight) bool {
		if t.now < f.Deadline {
			return false
		}
		t.stats.StealsTimedOut++
		if p := t.partners.find(f.Victim); p != nil && p.inc == 0 && !f.Wide {
			p.mute, p.heard = true, t.now
		} else {
			t.links.timedOut(f.Cluster, t.now-f.Since-f.Patience)
		}
		t.landed(&f, false)
		return true
	})
}

// flightFailed ends the request that could not be written.
func (t *thief) flightFailed(victim PeerID, id RequestID) {
	if i := t.flightTo(victim); i >= 0 && t.flights[i].request == id {
		t.dropFlight(victim)
	}
}

// dropFlight ends the request to a victim that is gone.
func (t *thief) dropFlight(victim PeerID) {
	if i := t.flightTo(victim); i >= 0 {
		f := t.flights[i]
		t.flights = slices.Delete(t.flights, i, i+1)
		t.landed(&f, false)
	}
}

// tell sends this peer's load to another one.
func (t *thief) tell(to PeerID) {
	if !t.isOther(to) {
		return
	}
	if p := t.partners.meet(to); p != nil {
		t.hunger++
		t.send(p, &Message{Hunger: &Hunger{Seq: t.hunger, Queued: t.segments.queued(), Idle: t.segments.idle()}})
	}
}

// The rest that a peer has after its job went back, which doubles: what was missing for one is probably missing for the
// next. What it sends unasked, and names something, goes back meanwhile. Then it gives one such job at a time, and what
// that waits for keeps nobody else from being asked, for as long as its jobs were waited for in vain: else one whose
// jobs name what nobody has, but now and then, could keep this peer idle. A trial ends, as networks are cut, too.
const (
	returnRest    = 100 * time.Millisecond
	maxReturnRest = 10 * time.Second
	mostWait      = 5 * time.Minute // for a job, by the patience of package sharedobj
	mostTrial     = time.Hour
)

func (t *thief) restAfterReturn(p *peer) {
	p.rests = max(p.rests, t.now+min(returnRest<<min(t.returned, 10), maxReturnRest))
	t.resting = max(t.resting, p.rests)
	t.returned++
}
