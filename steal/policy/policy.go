package policy

import "time"

// Rand is the randomness that policies draw from; *math/rand/v2.Rand is one. The caller seeds it, so the same
// seed and the same inputs give the same outputs.
type Rand interface {
	IntN(n int) int   // in [0,n), n > 0
	Float64() float64 // in [0,1)
}

// Policy decides who is asked for work, and how much is given. It does not send, wait or count: the core
// does. One value serves one core, which calls it from its own inputs only; it may keep state between calls.
//
// A policy sees work as numbers of jobs and links as times; it never learns what a job is.
type Policy interface {
	// Name is what the command line calls the policy, in lower case.
	Name() string
	// Plan adds to p what this peer should do now. The core calls it at the end of every input after which
	// the answer may have changed, and at the time that the last plan asked to be woken; it carries the plan
	// out as far as its bounds and the connections allow. A policy that wants nothing adds nothing.
	Plan(v View, p *Plan)
	// Give says how many jobs the request may have at once, between 0 and a.Max. The core gives as many of
	// them as there are. 0 refuses, or lets the request wait if it is patient.
	Give(v View, a Ask) int
}

// Router is a policy that also chooses the way of results. The others send them straight.
type Router interface {
	// Route names the cluster through which a result of so many bytes should go to another cluster; "" is
	// straight. tries counts how often it was sent before and not acknowledged, and round says that it went through
	// another cluster the last time. It is asked once more if that is not acknowledged within a time, which is the
	// core's if it is 0, and never longer.
	Route(v View, to ClusterID, bytes, tries int, round bool) (via ClusterID, within time.Duration)
}

// Ranker is a policy whose peers have to agree on an order of all members, so that it is shown all of them, however
// many there are.
type Ranker interface{ Ranks() }

// Plan collects a policy's decisions, which the core carries out in the order of the fields. It resets the plan before
// every call of Policy.Plan.
type Plan struct {
	Refusals []AskID
	Tells    []PeerID
	Pushes   []Push
	Steals   []Steal
	WakeAt   time.Duration // 0: never
}

// Steal is a request to send.
type Steal struct {
	Victim   PeerID
	Max      int
	Patience time.Duration
}

// Push is a gift to make.
type Push struct {
	Thief PeerID
	Max   int
}

// Steal asks the victim for at most max jobs. The victim may keep the request for as long as patience.
func (p *Plan) Steal(victim PeerID, max int, patience time.Duration) {
	p.Steals = append(p.Steals, Steal{victim, max, patience})
}

// Probe sends a steal request that asks for nothing, to measure the way to a peer.
func (p *Plan) Probe(victim PeerID) { p.Steal(victim, 0, 0) }

// Push gives at most max jobs to a peer that has not asked.
func (p *Plan) Push(thief PeerID, max int) { p.Pushes = append(p.Pushes, Push{thief, max}) }

// Tell sends this peer's load to another one.
func (p *Plan) Tell(to PeerID) { p.Tells = append(p.Tells, to) }

// Refuse answers a waiting request with no jobs.
func (p *Plan) Refuse(a AskID) { p.Refusals = append(p.Refusals, a) }

// Wake asks for another call of Policy.Plan at the given time at the latest. Several calls keep the earliest.
func (p *Plan) Wake(at time.Duration) {
	if p.WakeAt == 0 || at < p.WakeAt {
		p.WakeAt = at
	}
}

// Reset empties the plan and keeps its room.
func (p *Plan) Reset() {
	*p = Plan{Refusals: p.Refusals[:0], Tells: p.Tells[:0], Pushes: p.Pushes[:0], Steals: p.Steals[:0]}
}

// AskID names a request that waits at this peer. Never used twice in a core's life.
type AskID uint64

// Ask is a steal request that this peer has received and not answered.
type Ask struct {
	ID      AskID
	Thief   PeerID
	Cluster ClusterID
	Wide    bool // the thief is in another cluster
	Max     int
	Since   time.Duration // when it came
	Until   time.Duration // how long it may wait
}

// Flight is a steal request of this peer that has not been answered.
type Flight struct {
	Victim   PeerID
	Cluster  ClusterID
	Wide     bool // the victim is in another cluster
	Max      int
	Since    time.Duration
	Deadline time.Duration // when it is given up; a late reply is still welcome
	Patience time.Duration
}
