package statement

import (
	"crypto/sha256"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/job"
)

// A Ticket says that whoever has it may lend a swarm the cores of a browser. The member who signs it answers for that.
type Ticket struct {
	Swarm string `cbor:"1,keyasint"`
	// Run is the one run that the cores are for; zero: any run that the member takes part in.
	Run     job.RunID `cbor:"2,keyasint"`
	Expires int64     `cbor:"3,keyasint"` // seconds since 1970
	// Page is where the page is that the ticket was made for: its visitors may go on at other gateways.
	Page Origin `cbor:"4,keyasint,omitempty"`
}

// MaxTicket bounds an encoded ticket, in bytes.
const MaxTicket = 1 << 10

// SignedTicket is a ticket that was checked, with who signed it.
type SignedTicket struct {
	Ticket
	Issuer peer.ID
	Bytes  []byte // as it travels; not to be changed
}

// Sign makes a member's ticket.
func (t *Ticket) Sign(issuer crypto.PrivKey) (*SignedTicket, error) {
	return sealed(issuer, kindTicket, t, OpenTicket)
}

// OpenTicket checks a ticket from anywhere. Whether its issuer is a member, and the time, are for the caller to see.
func OpenTicket(b []byte) (_ *SignedTicket, err error) {
	s := &SignedTicket{Bytes: b}
	if s.Issuer, err = open(b, MaxTicket, kindTicket, &s.Ticket); err != nil {
		return nil, err
	}
	return s, nil
}

func (t *Ticket) check(c *bounds) {
	c.text("the swarm's name", t.Swarm, maxName)
	c.count("the time of expiry", t.Expires, 0, maxUnix)
	c.origin("the page", t.Page)
}

// A Visit is the first word of a browser's peer to a member: it proves that it has the key of the ID under which
// it is going to be known, and shows its ticket. The challenge makes it good for one connection.
type Visit struct {
	Member    string   `cbor:"1,keyasint"` // the peer ID of the member
	Challenge [32]byte `cbor:"2,keyasint"`
	Ticket    []byte   `cbor:"3,keyasint"`
	Apps      []App    `cbor:"4,keyasint,omitempty"`
}

// MaxVisit bounds an encoded Visit, in bytes.
const MaxVisit = 16 << 10

// SignedVisit is a Visit that was checked, with who signed it.
type SignedVisit struct {
	Visit
	Visitor peer.ID
}

// Sign makes the visitor's word.
func (v *Visit) Sign(visitor crypto.PrivKey) ([]byte, error) { return seal(visitor, kindVisit, v) }

// OpenVisit checks a visitor's word.
func OpenVisit(b []byte) (_ *SignedVisit, err error) {
	s := &SignedVisit{}
	if s.Visitor, err = open(b, MaxVisit, kindVisit, &s.Visit); err != nil {
		return nil, err
	}
	return s, nil
}

func (v *Visit) check(c *bounds) {
	c.text("the member's peer ID", v.Member, maxName)
	c.count("the number of applications", int64(len(v.Apps)), 0, MaxCardApps)
	for _, a := range v.Apps {
		c.text("an application's name", a.Name, maxName)
	}
}

// VersionOf is the version of an application whose code is identified so.
func VersionOf(code, name string) Version { return sha256.Sum256([]byte(code + "\x00" + name)) }

// VersionOfSources is that of one that knows its sources.
func VersionOfSources(sources, name string) Version { return VersionOf("sources "+sources, name) }
