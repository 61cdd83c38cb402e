package steal

import (
	"slices"
	"time"
)

// View is what a policy may know: this peer, its work, the members, and what earlier steals have taught about
// links and peers. It is valid during the call it is passed to, and its slices are not to be changed.
type View struct {
	*shared
	partners *partners
	segments *segments
	leases   *leases
	victim   *victim
	thief    *thief
}

// Link is what this peer has measured about the way to one cluster, its own included.
type Link struct {
	// LastSteal is how long the most recent steal request to the cluster took, successful or not (CRS paper,
	// 3.6: t_c), without the time it waited at the victim. 0 before the first.
	LastSteal time.Duration
	// RTT is the smoothed round-trip time of small messages. 0 before the first.
	RTT time.Duration
	// BytesPerSecond is the smoothed rate at which large replies and results get through, waiting for other traffic
	// included. 0 before the first.
	BytesPerSecond float64
	// OutcomeBytes is the smoothed size of results sent to the cluster. 0 before the first.
	OutcomeBytes float64
	// JobTime is the smoothed time between getting a job from the cluster and finishing it. 0 before the first.
	JobTime time.Duration
	// Wins and Fails count the replies with and without jobs; a request that was given up is a failure.
	Wins, Fails uint64
}

// Acquaintance is what this peer knows of another one from their last messages. It forgets the least useful
// ones when it knows more than Config.MaxPartners.
type Acquaintance struct {
	Queued  int           // jobs it had to give
	Idle    int           // idle workers, if it told its hunger
	Heard   time.Duration // when it said so; 0: never
	Refused time.Duration // when it last had nothing for us; 0: never
}

// Now is the time of the input that the policy is asked about.
func (v *View) Now() time.Duration { return v.shared.now }

// Self is this peer, Cluster its cluster.
func (v *View) Self() PeerID { return v.shared.self.Peer }

// Cluster is the cluster of this peer.
func (v *View) Cluster() ClusterID { return v.shared.cluster }

// Rand is the core's randomness.
func (v *View) Rand() Rand { return v.shared.rand }

// Members is the membership; this peer is usually in it.
func (v *View) Members() *Members { return v.shared.members }

// Config is the core's configuration.
func (v *View) Config() *Config { return &v.shared.cfg }

// Workers is how many jobs this peer can run at once.
func (v *View) Workers() int { return v.shared.load.Workers }

// Idle is how many workers have nothing to run and nothing on the way to them from this peer's own queue.
func (v *View) Idle() int { return v.segments.idle() }

// Queued is how many jobs wait here and could be run or given away: the engine's, as of its last report, and
// stolen ones.
func (v *View) Queued() int { return v.segments.queued() }

// Reports counts the engine's reports, so that a policy can tell a new one from a second look at the same.
func (v *View) Reports() uint64 { return v.shared.reports }

// Lent is how many jobs of this peer others hold.
func (v *View) Lent() int { return v.leases.n }

// Room is how many more stolen jobs this peer may take in.
func (v *View) Room() int { return v.segments.room() }

// Failures is how many steals in a row have brought nothing.
func (v *View) Failures() int { return v.thief.failures }

// Flights are this peer's unanswered steal requests, oldest first.
func (v *View) Flights() []Flight { return v.thief.flights }

// InFlight counts the unanswered steal requests to this cluster and to others.
func (v *View) InFlight() (local, wide int) {
	for i := range v.thief.flights {
		if v.thief.flights[i].Wide {
			wide++
		} else {
			local++
		}
	}
	return local, wide
}

// Asks are the requests that wait here for work, oldest first.
func (v *View) Asks() []Ask { return v.victim.asks }

// Link is what is known of the way to a cluster.
func (v *View) Link(id ClusterID) Link { return v.shared.links.get(id) }

// BestRate is the highest BytesPerSecond of the ways to other clusters, to be taken for links that have not
// shown theirs; 0 if none has.
func (v *View) BestRate() float64 { best, _ := v.shared.links.most(v.shared.cluster); return best }

// OutcomeBytes is the largest size of results of all other clusters, for the same use.
func (v *View) OutcomeBytes() float64 { _, most := v.shared.links.most(v.shared.cluster); return most }

// Peer is what is known of another peer.
func (v *View) Peer(id PeerID) Acquaintance {
	if p := v.partners.find(id); p != nil {
		return p.known
	}
	return Acquaintance{}
}

// Usable says whether it makes sense to steal from a peer: a member other than this one that has not fallen
// silent and has no unanswered request of this peer.
func (v *View) Usable(id PeerID) bool {
	if _, ok := v.shared.members.Find(id); !ok || id == v.shared.self.Peer || v.thief.flightTo(id) >= 0 {
		return false
	}
	p := v.partners.find(id)
	return p == nil || !p.lost
}

// draws is how often a random choice is repeated when it hits a peer that is not usable.
const draws = 4

// RandomLocal draws a usable peer of this cluster, each with the same chance.
func (v *View) RandomLocal() (PeerID, bool) { return v.RandomIn(v.shared.cluster) }

// RandomIn draws a usable peer of one cluster, each with the same chance.
func (v *View) RandomIn(id ClusterID) (PeerID, bool) {
	from, to := v.shared.members.span(id)
	return v.draw(to-from, func(i int) Member { return v.shared.members.At(from + i) })
}

// RandomRemote draws a usable peer outside this cluster, each with the same chance wherever it stands: so a
// machine in a small cluster is stolen from no more often than one in a large cluster (CRS paper, 3.3).
func (v *View) RandomRemote() (PeerID, bool) {
	from, to := v.shared.members.span(v.shared.cluster)
	return v.draw(v.shared.members.Len()-(to-from), func(i int) Member {
		if i >= from {
			i += to - from
		}
		return v.shared.members.At(i)
	})
}

// RandomAny draws a usable peer, each with the same chance.
func (v *View) RandomAny() (PeerID, bool) { return v.draw(v.shared.members.Len(), v.shared.members.At) }

// draw picks one of n members, trying again a few times if it is not usable: in a small cluster of busy or
// silent peers the others are looked through in order then.
func (v *View) draw(n int, at func(int) Member) (PeerID, bool) {
	if n <= 0 {
		return "", false
	}
	i := 0
	for range draws {
		i = v.shared.rand.IntN(n)
		if id := at(i).ID; v.Usable(id) {
			return id, true
		}
	}
	for k := 1; k <= min(n, 64); k++ {
		if id := at((i + k) % n).ID; v.Usable(id) {
			return id, true
		}
	}
	return "", false
}

// OtherClusters lists the clusters but this peer's own, by name.
func (v *View) OtherClusters() []ClusterSpan {
	all := v.shared.members.Clusters()
	i := slices.IndexFunc(all, func(c ClusterSpan) bool { return c.ID == v.shared.cluster })
	if i < 0 {
		return all
	}
	return slices.Concat(all[:i], all[i+1:])
}
