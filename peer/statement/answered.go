package statement

import (
	"crypto/sha256"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/verify"
)

// Answered says that its author, who is not the run's owner, held the root job and has the answer, which it
// keeps for the owner. Whether it counts is for those who hear it to decide.
type Answered struct {
	Run  job.RunID `cbor:"1,keyasint"`
	Hash [32]byte  `cbor:"2,keyasint"` // HashOutcome of the root job's outcome
	At   int64     `cbor:"3,keyasint"` // seconds since 1970, by the author's clock
	// Until is when the run's manifest expires: nobody needs the statement afterwards.
	Until int64 `cbor:"4,keyasint"`
	// Of are those whose outcomes it was made of, besides the author's: see Keys.
	Of []byte `cbor:"5,keyasint,omitempty"`
}

// MaxAnswered bounds an encoded Answered, in bytes.
const MaxAnswered = 1<<10 + verify.MaxAuthors*keyBytes

// HashOutcome is what an Answered promises of the root job's outcome.
func HashOutcome(outcome []byte) [32]byte { return sha256.Sum256(outcome) }

// SignedAnswered is an Answered that was checked, with who signed it.
type SignedAnswered struct {
	Answered
	Author peer.ID
	Bytes  []byte // as it travels; not to be changed
}

// Sign makes the author's statement.
func (a *Answered) Sign(author crypto.PrivKey) (*SignedAnswered, error) {
	return sealed(author, kindAnswered, a, OpenAnswered)
}

// OpenAnswered checks a statement from anywhere and says who signed it.
func OpenAnswered(b []byte) (_ *SignedAnswered, err error) {
	s := &SignedAnswered{Bytes: b}
	if s.Author, err = open(b, MaxAnswered, kindAnswered, &s.Answered); err != nil {
		return nil, err
	}
	if err := checkKeys(s.Of); err != nil {
		return nil, err
	}
	return s, nil
}

func (a *Answered) check(c *bounds) {
	c.count("the time", a.At, 0, maxUnix)
	c.count("the time until which it is kept", a.Until, 0, maxUnix)
}
