package steal

import "time"

// View is what a policy may know: this peer, its work, the members, and what earlier steals have taught about links and
// peers. It is valid during the call it is passed to.
type View struct{ c *Core }

// Link is what this peer has measured about the way to one cluster, its own included.
type Link struct {
	// LastSteal is how long the most recent steal request to the cluster took, successful or not (CRS paper, 3.6: t_c),
	// without the time it waited at the victim. 0 before the first.
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
	// Wins and Fails count the replies with and without jobs.
	Wins, Fails uint64
}

// Acquaintance is what this peer knows of another one from their last messages.
type Acquaintance struct {
	Queued  int           // jobs it had to give
	Idle    int           // idle workers, if it told its hunger
	Heard   time.Duration // when it said so; 0: never
	Refused time.Duration // when it last had nothing for us; 0: never
}
