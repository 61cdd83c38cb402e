package statement

import (
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
)

// Published says that its author stands for a module under a name: of one author and name the last one counts.
type Published struct {
	Swarm   string   `cbor:"1,keyasint"`
	Name    string   `cbor:"2,keyasint"`
	Module  [32]byte `cbor:"3,keyasint"` // its hash
	Size    int64    `cbor:"4,keyasint"` // bytes
	Summary string   `cbor:"5,keyasint,omitempty"`
	At      int64    `cbor:"6,keyasint"`           // seconds since 1970, by the author's clock
	Proof   []byte   `cbor:"7,keyasint,omitempty"` // of membership, as on a card
	Args    string   `cbor:"8,keyasint,omitempty"` // usage of its arguments
}

// MaxPublished bounds an encoded Published, in bytes.
const MaxPublished = 4 << 10

// SignedPublished is a Published that was checked, with who signed it. Whether that is a member is for the caller
// to see.
type SignedPublished struct {
	Published
	Author peer.ID
	Bytes  []byte // as it travels; not to be changed
}

// Sign makes the author's statement. It refuses one that OpenPublished would refuse.
func (p *Published) Sign(author crypto.PrivKey) (*SignedPublished, error) {
	return sealed(author, kindPublished, p, OpenPublished)
}

// OpenPublished checks a statement from anywhere and says who signed it.
func OpenPublished(b []byte) (_ *SignedPublished, err error) {
	s := &SignedPublished{Bytes: b}
	if s.Author, err = open(b, MaxPublished, kindPublished, &s.Published); err != nil {
		return nil, err
	}
	return s, nil
}

func (p *Published) check(c *bounds) {
	c.text("the swarm's name", p.Swarm, maxName)
	c.text("the module's name", p.Name, maxModuleName)
	c.count("the length of the module's name", int64(len(p.Name)), 1, maxModuleName)
	c.text("the summary", p.Summary, maxName)
	c.text("the usage of the arguments", p.Args, maxName)
	c.count("the size", p.Size, 1, 1<<30)
	c.count("the time", p.At, 0, maxUnix)
	c.count("the length of the proof in bytes", int64(len(p.Proof)), 0, MaxCardProof)
}

// maxModuleName bounds the name of a published module, in bytes.
const maxModuleName = 40
