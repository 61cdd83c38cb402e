package policy

import "time"

// LoadBased is random stealing inside the cluster and, between clusters, prefetching by load (programming
// model, 4.1.2: "a grid-aware load-based mechanism"; CLS in the PPoPP 2001 paper): every peer tells its load
// to its cluster's coordinator, the member with the smallest ID, and when the cluster's jobs in sight are
// fewer than its members, the coordinator alone steals from a random peer of another cluster. Wide-area traffic is
// small, and latency hidden if the threshold is right; jobs differ in size, so no threshold is right for
// every application.
type LoadBased struct {
	told   int // the load last told, plus one; 0: never
	tellAt time.Duration
}

// tellEvery is the least time between two messages of a peer to its coordinator.
const tellEvery = 10 * time.Millisecond

// Name is "load".
func (*LoadBased) Name() string { return "load" }

// Ranks says that all members of a cluster have the same coordinator.
func (*LoadBased) Ranks() {}

// Plan steals locally, tells the coordinator, and, being it, prefetches for the cluster.
func (l *LoadBased) Plan(v View, p *Plan) {
	stealLocally(v, p)
	mine := v.Members().Cluster(v.Cluster())
	if len(mine.Members) == 0 {
		return
	}
	if coordinator := mine.Members[0].ID; coordinator != v.Self() {
		l.tell(v, p, coordinator)
		return
	}
	if _, wide := v.InFlight(); wide > 0 {
		return
	}
	jobs := v.Queued()
	for _, m := range mine.Members[1:] {
		jobs += v.Peer(m.ID).Queued
	}
	if jobs < len(mine.Members) {
		if victim, ok := RandomRemote(v); ok {
			p.Steal(victim, 1, 0)
		}
	}
}

// tell sends the load when it has changed, but not too often.
func (l *LoadBased) tell(v View, p *Plan, coordinator PeerID) {
	if load := v.Queued() + 1; load != l.told {
		if v.Now() < l.tellAt {
			p.Wake(l.tellAt)
			return
		}
		l.told, l.tellAt = load, v.Now()+tellEvery
		p.Tell(coordinator)
	}
}

// Give gives one job to whoever asks.
func (*LoadBased) Give(View, Ask) int { return 1 }
