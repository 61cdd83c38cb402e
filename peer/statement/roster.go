package statement

import (
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/runs"
)

// Roster says who may take part in a run. Whether its author may say so is for those who hear it to decide.
type Roster struct {
	Run    job.RunID `cbor:"1,keyasint"`
	Number uint64    `cbor:"2,keyasint"`
	// Wanted is the number of peers that the run can use; 0: any number.
	Wanted int           `cbor:"3,keyasint,omitempty"`
	Out    []Outsider    `cbor:"4,keyasint,omitempty"`
	Log    []RosterEntry `cbor:"5,keyasint,omitempty"`
	Until  int64         `cbor:"6,keyasint"` // seconds since 1970, when the run expires
}

// Outsider is a cluster, or a peer, that is kept out of a run: see package runs.
type Outsider struct {
	Cluster string `cbor:"1,keyasint,omitempty"`
	Peer    string `cbor:"2,keyasint,omitempty"`
	Rate    int64  `cbor:"3,keyasint,omitempty"` // bytes a second
	Left    int    `cbor:"4,keyasint,omitempty"`
	Times   int    `cbor:"5,keyasint,omitempty"`
}

// RosterEntry is something that was decided, and why.
type RosterEntry struct {
	At   int64  `cbor:"1,keyasint"` // seconds since 1970
	Text string `cbor:"2,keyasint"`
}

const (
	// MaxRoster bounds an encoded roster, in bytes.
	MaxRoster = 48 << 10
	// maxRate bounds a bandwidth, in bytes a second, and maxPeriods what is counted in periods of a coordinator.
	maxRate    = 1e15
	maxPeriods = 1 << 20
)

// Sign makes the author's statement.
func (r *Roster) Sign(author crypto.PrivKey) ([]byte, error) { return seal(author, kindRoster, r) }

// OpenRoster checks a roster from anywhere and says who signed it.
func OpenRoster(b []byte) (*Roster, peer.ID, error) {
	var r Roster
	author, err := open(b, MaxRoster, kindRoster, &r)
	if err != nil {
		return nil, "", err
	}
	return &r, author, nil
}

func (r *Roster) check(c *bounds) {
	c.count("the number of peers", int64(r.Wanted), 0, runs.MaxPeers)
	c.count("the number of those that are out", int64(len(r.Out)), 0, runs.MaxOutsiders)
	c.count("the number of entries", int64(len(r.Log)), 0, runs.MaxRosterLog)
	c.count("the time until which it is kept", r.Until, 0, maxUnix)
	for i := range r.Out[:min(len(r.Out), runs.MaxOutsiders)] {
		o := &r.Out[i]
		c.text("a cluster's name", o.Cluster, maxName)
		c.text("a peer ID", o.Peer, maxName)
		c.count("a bandwidth", o.Rate, 0, maxRate)
		c.count("the periods that are left", int64(o.Left), 0, maxPeriods)
		c.count("how often it had to go", int64(o.Times), 0, maxPeriods)
	}
	for i := range r.Log[:min(len(r.Log), runs.MaxRosterLog)] {
		c.count("the time of a decision", r.Log[i].At, 0, maxUnix)
		c.text("the reason of a decision", r.Log[i].Text, runs.MaxRosterText)
	}
}
