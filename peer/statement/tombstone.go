package statement

import (
	"crypto/sha256"
	"fmt"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/job"
)

// Tombstone says that a run is over, for good or until its owner resumes it. It counts only if its author is
// the run's owner: a peer that does not have the manifest yet keeps it together with the author.
type Tombstone struct {
	Run    job.RunID `cbor:"1,keyasint"`
	Reason Reason    `cbor:"2,keyasint"`
	At     int64     `cbor:"3,keyasint"` // seconds since 1970, by the owner's clock
	// Until is when the run's manifest expires: nobody needs the tombstone afterwards.
	Until int64 `cbor:"4,keyasint"`
	// Seq orders what an owner says of a run that is suspended and resumed: the highest counts.
	Seq uint64 `cbor:"5,keyasint,omitempty"`
	// Hash is that of the outcome which the owner has, of a finished run: whoever keeps the same one for the
	// owner need not any more.
	Hash []byte `cbor:"6,keyasint,omitempty"`
}

// Supersedes says whether a tombstone replaces another one of the same run and author: one that is final
// replaces those that are not, and among these the later one the earlier.
func (t *Tombstone) Supersedes(old *Tombstone) bool {
	if t.Reason.Final() != old.Reason.Final() {
		return t.Reason.Final()
	}
	return !t.Reason.Final() && t.Seq > old.Seq
}

// Reason says why a run is over.
type Reason uint8

// Why a run is over.
const (
	Finished  Reason = 1 + iota // the answer, or the failure of the root job, has been kept
	Cancelled                   // by the owner
	Suspended                   // by the owner, who may resume it
	Resumed                     // it is not over any more
)

// Final says whether nothing can follow.
func (r Reason) Final() bool { return r == Finished || r == Cancelled }

// String is the word for people.
func (r Reason) String() string {
	switch r {
	case Finished:
		return "finished"
	case Cancelled:
		return "cancelled"
	case Suspended:
		return "suspended"
	case Resumed:
		return "resumed"
	}
	return fmt.Sprintf("reason %d", uint8(r))
}

// MaxTombstone bounds an encoded tombstone, in bytes.
const MaxTombstone = 1 << 10

// Sign makes the owner's tombstone.
func (t *Tombstone) Sign(owner crypto.PrivKey) ([]byte, error) { return seal(owner, kindTombstone, t) }

// OpenTombstone checks a tombstone from anywhere and says who signed it.
func OpenTombstone(b []byte) (*Tombstone, peer.ID, error) {
	var t Tombstone
	author, err := open(b, MaxTombstone, kindTombstone, &t)
	if err != nil {
		return nil, "", err
	}
	var c bounds
	c.count("the reason", int64(t.Reason), int64(Finished), int64(Resumed))
	c.count("the time", t.At, 0, maxUnix)
	c.count("the time until which it is kept", t.Until, 0, maxUnix)
	if len(t.Hash) > 0 {
		c.count("the length of the outcome's hash", int64(len(t.Hash)), sha256.Size, sha256.Size)
	}
	if err := c.refused("tombstone"); err != nil {
		return nil, "", err
	}
	return &t, author, nil
}
