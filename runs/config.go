package runs

import (
	"time"

	"github.com/satin-peer/satin/internal/calendar"
)

// Config has the bounds of the tables and the periods of what is repeated.
type Config struct {
	// Life is the number of this start of the peer, which grows with each: what it numbers in one life comes after what
	// it has numbered before, whatever the clock says.
	Life uint64
	// Seen is what earlier lives have seen of the calendar.
	Seen calendar.Seen
	// Doubt is for how long the clock must have shown a date before anything is over by it.
	Doubt time.Duration
	// Active bounds the runs that a peer takes part in or has refused, PerOwner those of one owner among them.
	Active, PerOwner int
	// ManifestBytes bounds the bytes of the manifests of runs in progress. An owner that has more than one run may
	// have half of it.
	ManifestBytes int
	// Ended is how many of others' ended runs are remembered, and of own ones that are cancelled, Answers how many
	// other own ones.
	Ended, Answers int
	// Own bounds the own runs without an answer, suspended ones included.
	Own int
	// Refused bounds the runs and owners that the user refuses. LongestLife is how long another peer's run is taken
	// part in at most; 0 leaves it to its owner.
	Refused     int
	LongestLife time.Duration
	// RefusedFor is how long a run that cannot be computed here is kept in mind after it was heard of last.
	RefusedFor time.Duration
	// Graves bounds the tombstones, GravesOf those of one author.
	Graves, GravesOf int
	// Claims bounds the claims about one run that are not believed.
	Claims int
	// Fetches bounds the manifests that are being fetched, FetchesFrom those from one peer, and
	// AnswerFetches the answers.
	Fetches, FetchesFrom, AnswerFetches int
	// SecondAfter is when a second announcer is asked for a manifest, because the first may be slow on purpose.
	SecondAfter time.Duration
	// Held bounds the runs of others that answers are kept for, HeldOf those of one owner, HeldBytes their
	// size, and HeldFor their age.
	Held, HeldOf int
	HeldBytes    int64
	HeldFor      time.Duration
	// Copies is how many other peers keep an answer besides the one that made it, Keepers how many are asked.
	Copies, Keepers int
	// Told bounds each list that is told at a meeting.
	Told int
	// AnnounceEvery is how often an own run is announced once it is some time old, AskEvery how often others
	// are asked after one, ClaimEvery how often a claim is repeated in the end, and WeighEvery how often those who
	// stand in the way of a claim are asked, and an answer that could not be fetched is tried again.
	AnnounceEvery, AskEvery, ClaimEvery, WeighEvery time.Duration
	// LeadsFor is how long one that was heard to hold a run's root is believed to: two beacons. Vacant is how long
	// nobody else must have been heard to, before a claim counts whose author was not heard at all: more than it
	// takes anybody who takes part to become master.
	LeadsFor, Vacant time.Duration
	// RosterLife is how long a roster counts after its author was heard to repeat it, which it does every
	// AnnounceEvery.
	RosterLife time.Duration
	// Provision is how many machines are asked for at most for one own run that has too few peers, 0 for none, and
	// ProvisionAfter how long they must have been missing, each time.
	Provision      int
	ProvisionAfter time.Duration
	// DormantFor is how long nobody must have known a run before it is taken up without a word, and DormantEvery
	// how often others are asked about it until then.
	DormantFor, DormantEvery time.Duration
}

// first is a number that is higher than all that this peer has given in earlier lives.
func (c *Config) first() uint64 { return max(1, c.Life<<32) }

// DefaultConfig is for a swarm of desktops.
func DefaultConfig() Config {
	return Config{
		Doubt:  calendar.Doubt,
		Active: 64, PerOwner: 16, ManifestBytes: 256 << 20, Ended: 64, Answers: 256, Own: 256, Refused: 1024,
		RefusedFor: time.Minute,
		Graves:     4096, GravesOf: 512, Claims: 4, Fetches: 16, FetchesFrom: 2, AnswerFetches: 4,
		SecondAfter: 3 * time.Second,
		Held:        64, HeldOf: 16, HeldBytes: 1 << 30, HeldFor: 7 * 24 * time.Hour, Copies: 2, Keepers: 8,
		Told:          16,
		AnnounceEvery: 10 * time.Second, AskEvery: 10 * time.Second, ClaimEvery: 10 * time.Minute,
		WeighEvery: 2 * time.Second, LeadsFor: 4 * time.Second, Vacant: 20 * time.Second,
		RosterLife: 2 * time.Minute, ProvisionAfter: 2 * time.Minute,
		DormantFor: 30 * time.Second, DormantEvery: 3 * time.Second,
	}
}
