package statement

import (
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/runs"
)

// Receipt says what a peer has given to a run of its author's, as far as the author has verified it: package driver's
// Earned. Whoever reads it knows whose word it is, and nothing more: an owner may thank whom he likes.
type Receipt struct {
	Run     job.RunID `cbor:"1,keyasint"`
	Peer    []byte    `cbor:"2,keyasint"` // peer ID of whoever gave it
	Time    int64     `cbor:"3,keyasint"` // microseconds, of all its cores
	Results int64     `cbor:"4,keyasint"`
	// Took is how long the run took, in microseconds, and Cores how many cores the peer had in it at most: it gave no
	// more than their product.
	Took  int64 `cbor:"5,keyasint"`
	Cores int64 `cbor:"6,keyasint"`
	At    int64 `cbor:"7,keyasint"` // seconds since 1970, by the author's clock
}

// MaxReceipt bounds an encoded Receipt, in bytes.
const MaxReceipt = 512

// SignedReceipt is a Receipt that was checked, with who signed it.
type SignedReceipt struct {
	Receipt
	Author, To peer.ID
	Bytes      []byte // as it travels; not to be changed
}

// Sign makes the author's statement. It refuses one that OpenReceipt would refuse.
func (r *Receipt) Sign(author crypto.PrivKey) (*SignedReceipt, error) {
	return sealed(author, kindReceipt, r, OpenReceipt)
}

// OpenReceipt checks a statement from anywhere and says who signed it. Whether that is the run's owner is for the
// caller to see: OfRun.
func OpenReceipt(b []byte) (_ *SignedReceipt, err error) {
	s := &SignedReceipt{Bytes: b}
	if s.Author, err = open(b, MaxReceipt, kindReceipt, &s.Receipt); err != nil {
		return nil, err
	}
	if s.To, err = peer.IDFromBytes(s.Peer); err != nil {
		return nil, fmt.Errorf("%w: %s: a peer ID: %w", ErrStatement, kindReceipt, err)
	}
	return s, nil
}

func (r *Receipt) check(c *bounds) {
	c.count("the time of the run", r.Took, 1, MaxLife.Microseconds())
	c.count("the number of cores", r.Cores, 1, satin.MaxWorkers)
	c.count("the time", r.Time, 1, r.Took*r.Cores)
	c.count("the number of results", r.Results, 1, 1<<53)
	c.count("the time of the statement", r.At, 0, maxUnix)
}

// OfRun says why a receipt is none for a run: another's run, one that is not verified, more time than there was.
func (s *SignedReceipt) OfRun(m *runs.Manifest) error {
	lasted := time.Duration(s.At-m.Created+1) * time.Second
	switch {
	case s.Run != m.Run || s.Author.String() != string(m.Owner):
		return fmt.Errorf("%w: %s: %s is not the owner of that run", ErrStatement, kindReceipt, s.Author)
	case m.Verify == "":
		return fmt.Errorf("%w: %s: nothing is verified in that run", ErrStatement, kindReceipt)
	case s.Took > lasted.Microseconds():
		return fmt.Errorf("%w: %s: the run has lasted for %v only", ErrStatement, kindReceipt, lasted)
	}
	return nil
}
