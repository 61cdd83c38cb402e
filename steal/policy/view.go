package policy

import "time"

// View is what a policy may know: this peer, its work, the members, and what earlier steals have taught about
// links and peers. It is valid during the call it is passed to, and what it returns is not to be changed.
type View interface {
	// Now is the time of the input that the policy is asked about.
	Now() time.Duration
	// Self is this peer.
	Self() PeerID
	// Cluster is the cluster of this peer.
	Cluster() ClusterID
	// Rand is the core's randomness.
	Rand() Rand
	// Members is the membership; this peer is usually in it. It is the same value until it changes.
	Members() *Members
	// MaxPatience is the longest that a victim keeps a request waiting.
	MaxPatience() time.Duration

	// Workers is how many jobs this peer can run at once.
	Workers() int
	// Idle is how many workers have nothing to run and nothing on the way to them from this peer's own queue.
	Idle() int
	// Queued is how many jobs wait here and could be run or given away: the engine's, as of its last report, and
	// stolen ones. Of the engine's it is exact only whether there are none, as many as workers at most, or more.
	Queued() int
	// Lent is how many jobs of this peer others hold.
	Lent() int

	// Failures is how many steals in a row have brought nothing.
	Failures() int
	// Flights are this peer's unanswered steal requests, oldest first.
	Flights() []Flight
	// InFlight counts the unanswered steal requests to this cluster and to others.
	InFlight() (local, wide int)
	// Asks are the requests that wait here for work, oldest first.
	Asks() []Ask

	// Link is what is known of the way to a cluster.
	Link(ClusterID) Link
	// BestRate is the highest BytesPerSecond of the ways to other clusters, to be taken for links that have not
	// shown theirs; 0 if none has.
	BestRate() float64
	// OutcomeBytes is the largest size of results of all other clusters, for the same use.
	OutcomeBytes() float64
	// Peer is what is known of another peer.
	Peer(PeerID) Acquaintance
	// Usable says whether it makes sense to steal from a peer: a member other than this one that has not fallen
	// silent and has no unanswered request of this peer.
	Usable(PeerID) bool
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
	Queued int           // jobs it had to give
	Heard  time.Duration // when it said so; 0: never
}

// Expected is how long bytes take on this link and a short answer back, by what has been measured: 0 if nothing has.
func (l *Link) Expected(bytes int) time.Duration {
	d := max(l.RTT, l.LastSteal)
	if d == 0 {
		return 0
	}
	return d + time.Duration(float64(bytes)/l.Rate()*float64(time.Second))
}

// Rate is what the link carries, in bytes per second. One of which no large message has been timed is taken for one of
// the papers' slower wide-area links, or for as slow a one as small messages show by what they take beyond the distance
// between continents.
func (l *Link) Rate() float64 {
	switch over := l.RTT - slowLeast; {
	case l.BytesPerSecond > 0:
		return l.BytesPerSecond
	case over > 0:
		return min(assumedRate, smallExchange/over.Seconds())
	}
	return assumedRate
}

const (
	assumedRate   = 100e3
	smallExchange = 400 // bytes of a small message and its answer
)
