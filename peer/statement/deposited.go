package statement

import (
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
)

// Deposited says that its author wants some bytes kept by others, until a time: what they take counts as the author's,
// whoever hands them on.
type Deposited struct {
	Swarm string   `cbor:"1,keyasint"`
	Hash  [32]byte `cbor:"2,keyasint"`           // that of the deposit
	Size  int64    `cbor:"3,keyasint"`           // bytes
	Until int64    `cbor:"4,keyasint"`           // seconds since 1970
	Proof []byte   `cbor:"5,keyasint,omitempty"` // of membership, as on a card
}

// MaxDeposited bounds an encoded Deposited, in bytes.
const MaxDeposited = 4 << 10

// SignedDeposited is a Deposited that was checked, with who signed it. Whether that is a member is for the caller to
// see.
type SignedDeposited struct {
	Deposited
	Author peer.ID
	Bytes  []byte // as it travels; not to be changed
}

// Sign makes the author's statement. It refuses one that OpenDeposited would refuse.
func (d *Deposited) Sign(author crypto.PrivKey) (*SignedDeposited, error) {
	return sealed(author, kindDeposited, d, OpenDeposited)
}

// OpenDeposited checks a statement from anywhere and says who signed it.
func OpenDeposited(b []byte) (_ *SignedDeposited, err error) {
	s := &SignedDeposited{Bytes: b}
	if s.Author, err = open(b, MaxDeposited, kindDeposited, &s.Deposited); err != nil {
		return nil, err
	}
	return s, nil
}

func (d *Deposited) check(c *bounds) {
	c.text("the swarm's name", d.Swarm, maxName)
	c.count("the size", d.Size, 1, 1<<30)
	c.count("the time until which it is kept", d.Until, 0, maxUnix)
	c.count("the length of the proof in bytes", int64(len(d.Proof)), 0, MaxCardProof)
}
