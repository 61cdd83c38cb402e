package statement

import (
	"crypto/sha256"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/runs"
)

// Tombstone says that a run is over, for good or until its owner resumes it. It counts only if its author is
// the run's owner: a peer that does not have the manifest yet keeps it together with the author.
type Tombstone struct {
	Run    job.RunID   `cbor:"1,keyasint"`
	Reason runs.Reason `cbor:"2,keyasint"`
	At     int64       `cbor:"3,keyasint"` // seconds since 1970, by the owner's clock
	// Until is when the run's manifest expires: nobody needs the tombstone afterwards.
	Until int64 `cbor:"4,keyasint"`
	// Seq orders what an owner says of a run that is suspended and resumed: the highest counts.
	Seq uint64 `cbor:"5,keyasint,omitempty"`
	// Hash is that of the outcome which the owner has, of a finished run: whoever keeps the same one for the
	// owner need not any more.
	Hash []byte `cbor:"6,keyasint,omitempty"`
	// Took is how long the run took by its owner, in milliseconds, once it has ended.
	Took int64 `cbor:"7,keyasint,omitempty"`
}

// MaxTombstone bounds an encoded tombstone, in bytes.
const MaxTombstone = 1 << 10

// MaxTook bounds how long a run may be said to have taken: ten years, in milliseconds.
const MaxTook = 10 * 365 * 24 * 3600 * 1000

// Sign makes the owner's tombstone.
func (t *Tombstone) Sign(owner crypto.PrivKey) ([]byte, error) { return seal(owner, kindTombstone, t) }

// OpenTombstone checks a tombstone from anywhere and says who signed it.
func OpenTombstone(b []byte) (*Tombstone, peer.ID, error) {
	var t Tombstone
	author, err := open(b, MaxTombstone, kindTombstone, &t)
	if err != nil {
		return nil, "", err
	}
	return &t, author, nil
}

func (t *Tombstone) check(c *bounds) {
	c.count("the reason", int64(t.Reason), int64(runs.Finished), int64(runs.Resumed))
	c.count("the time", t.At, 0, maxUnix)
	c.count("the time until which it is kept", t.Until, 0, maxUnix)
	c.count("the time it took", t.Took, 0, MaxTook)
	if len(t.Hash) > 0 {
		c.count("the length of the outcome's hash", int64(len(t.Hash)), sha256.Size, sha256.Size)
	}
}
