package gossip

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Kind says what a payload is. Kinds that a peer has no handler for are passed on but not delivered, so that old and
// new peers can share a swarm.
type Kind uint8

// What is told to everybody. Zero is gossip's own.
const (
	kindBeacon     Kind = iota // empty: the author, a gateway, is alive
	KindRun                    // the name of a run in progress
	KindTombstone              // a run has ended or is suspended, signed by its owner
	KindCard                   // a member's signed card
	KindLoad                   // a hint of how much work its author has
	KindNews                   // what the peers of a run tell each other: steal.News
	KindAnswered               // a run has an answer, signed by whoever keeps it for the owner
	KindRevocation             // a peer is out of the swarm, signed by whoever may say so
	KindDeath                  // jobs that ran when a process of its author's died
	KindPublished              // a member stands for a module, signed by it
	KindRoster                 // who may take part in a run, signed by who coordinates it
	KindAccusation             // somebody has lied about a job: what was signed
	kinds                      // how many these are
)

// KindShared are small writes to what jobs share, and offers to lattices: sharedobj.News.
const KindShared Kind = 32

// Rate bounds how often something may happen.
type Rate struct {
	PerSecond float64 // in the long run
	Burst     int     // at once, after a pause
}

// Config is what Open needs. Fields left zero take the defaults that are named.
type Config struct {
	// Swarm is the name of the swarm: messages of another one are not understood.
	Swarm string
	// Incarnation grows with every start of this peer, so that its sequence numbers do: it is kept in the state
	// directory. Zero means the clock's seconds since 1970, which is right as long as the clock is never set back; a
	// peer must not change from the one to the other.
	Incarnation uint64
	// Admitted says whether a peer has passed the handshake of this swarm. Must be set; called often, from any
	// goroutine; must not block.
	Admitted func(peer.ID) bool
	// Shown says whether a card shows that its author, who is not in the list of members, is one. Nil: none does. It is
	// asked when too many strangers speak, from any goroutine; must not block.
	Shown func(author peer.ID, card []byte) bool
	// Connect makes a connection to a member that gossip should have for a neighbour, and may fail. A few calls at a
	// time, with a deadline of 5 s. Nil: the host's own Connect, with the addresses it knows.
	Connect func(context.Context, peer.ID) error

	// CombineFor is how long a message waits for others: default 30 ms. One of KindShared leaves at once, if the
	// last that left is so long ago.
	CombineFor   time.Duration
	CombineBytes int // messages of so many bytes together go at once: default 4 KiB
	MaxPayload   int // of one message in bytes: default 64 KiB, at most 192 KiB
	Queue        int // messages in each queue: default 512

	// FlatPeers is how large a swarm may be before each of its clusters gets its own topic: default 16. It
	// becomes flat again below three quarters of that.
	FlatPeers int
	// StandbyAfter is how long the second gateway of a cluster waits for the first: default 300 ms.
	StandbyAfter time.Duration
	// BeaconEvery is how often a gateway says in its cluster that it is there: default 2 s. One that was not
	// heard for three times that is replaced.
	BeaconEvery time.Duration
	// TurnEvery is for how long a cluster has the same second gateway: default an hour, by each member's clock.
	TurnEvery time.Duration

	// AuthorRate bounds the combined messages of one author: default 40 per second, 80 at once. The author's own
	// Publish keeps to it.
	AuthorRate Rate
	// KindRates bounds the messages of one author and kind. The defaults, for kinds that are not in the map:
	// KindRun, KindTombstone and KindRoster 4 per second and 64 at once, KindAnswered and KindRevocation 1 and 16,
	// KindCard and KindAccusation 1 and 8, KindNews and KindShared 40 and 200, the others 20 and 40.
	KindRates map[Kind]Rate
	// StrangerRate bounds what a neighbour may pass on by authors that are not in the list of members, nor are Shown to
	// be, all of them together: default 20 per second, 200 at once.
	StrangerRate Rate
	// NeighbourRate bounds what is taken from one neighbour, in combined messages, before anything is
	// checked: default 400 per second, 1,000 at once. Four KiB of a message count as one more. Of all that it says four
	// KiB are read for each, and a list of many things counts as if it were longer.
	NeighbourRate Rate
}

const (
	maxPayload    = 192 << 10 // with what surrounds it, a control frame (internal/wire)
	connectWithin = 5 * time.Second
	minCombineFor = time.Millisecond
)

// withDefaults returns the configuration with its defaults filled in.
func (c Config) withDefaults() (Config, error) {
	if c.Admitted == nil {
		return c, errors.New("gossip: Config.Admitted must be set")
	}
	if c.MaxPayload < 0 || c.MaxPayload > maxPayload {
		return c, fmt.Errorf("gossip: Config.MaxPayload is %d bytes, must be at most %d", c.MaxPayload, maxPayload)
	}
	if c.Incarnation >= 1<<32 {
		return c, fmt.Errorf("gossip: Config.Incarnation is %d, must be below 2^32", c.Incarnation)
	}
	c.Incarnation = cmp.Or(c.Incarnation, uint64(time.Now().Unix()))
	c.CombineFor = max(cmp.Or(c.CombineFor, 30*time.Millisecond), minCombineFor)
	c.CombineBytes = cmp.Or(c.CombineBytes, 4<<10)
	c.MaxPayload = cmp.Or(c.MaxPayload, 64<<10)
	c.Queue = cmp.Or(c.Queue, 512)
	c.FlatPeers = cmp.Or(c.FlatPeers, 16)
	c.StandbyAfter = cmp.Or(c.StandbyAfter, 300*time.Millisecond)
	c.BeaconEvery = cmp.Or(c.BeaconEvery, 2*time.Second)
	c.TurnEvery = cmp.Or(c.TurnEvery, time.Hour)
	c.AuthorRate = cmp.Or(c.AuthorRate, Rate{PerSecond: 40, Burst: 80})
	c.StrangerRate = cmp.Or(c.StrangerRate, Rate{PerSecond: 20, Burst: 200})
	c.NeighbourRate = cmp.Or(c.NeighbourRate, Rate{PerSecond: 400, Burst: 1000})
	return c, nil
}

// kindRate is the rate of a kind.
func (c *Config) kindRate(k Kind) Rate {
	if r, ok := c.KindRates[k]; ok {
		return r
	}
	switch k {
	case KindRun, KindTombstone, KindRoster:
		return Rate{PerSecond: 4, Burst: 64}
	case KindCard, KindAccusation:
		return Rate{PerSecond: 1, Burst: 8}
	case KindAnswered, KindRevocation:
		return Rate{PerSecond: 1, Burst: 16}
	case KindNews, KindShared: // of each run every 50 ms while there is some, see steal.Config.TellEvery
		return Rate{PerSecond: 40, Burst: 200}
	}
	return Rate{PerSecond: 20, Burst: 40}
}
