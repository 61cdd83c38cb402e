package statement

import (
	"bytes"
	"cmp"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin"
)

// Card is how a peer introduces itself to those who have never met it. The one with the highest incarnation,
// and in it the highest number, counts.
type Card struct {
	Swarm       string   `cbor:"1,keyasint"`
	Incarnation uint64   `cbor:"2,keyasint"`
	Seq         uint64   `cbor:"3,keyasint"`           // grows with every card of one incarnation
	At          int64    `cbor:"4,keyasint"`           // seconds since 1970, by the peer's clock
	Addrs       []string `cbor:"5,keyasint,omitempty"` // multiaddrs without the peer ID
	// Label is the cluster that the peer was told to be in; "" lets the others see for themselves.
	Label string `cbor:"6,keyasint,omitempty"`
	// Cluster is the cluster the peer believes to be in, and Why says how it came to that.
	Cluster string `cbor:"7,keyasint"`
	Why     string `cbor:"8,keyasint,omitempty"`
	// Networks are the prefixes of the peer's private networks, evidence for being on one LAN.
	Networks  []string  `cbor:"9,keyasint,omitempty"`
	Cores     int       `cbor:"10,keyasint,omitempty"` // that may be used; 0 when paused
	Apps      []App     `cbor:"11,keyasint,omitempty"`
	Software  string    `cbor:"12,keyasint,omitempty"` // version of the program, for people
	Reachable string    `cbor:"13,keyasint,omitempty"` // from outside, in the peer's own opinion
	Leaving   bool      `cbor:"14,keyasint,omitempty"`
	Position  []float64 `cbor:"15,keyasint,omitempty"` // in the coordinate system of package locality
	Proof     []byte    `cbor:"16,keyasint,omitempty"` // of membership, as package host makes and checks it
	// Name is what the peer calls itself, for people: not unique, and anybody may take any.
	Name string `cbor:"17,keyasint,omitempty"`
	// Gateway is where browsers can help it, if anywhere.
	Gateway Origin `cbor:"18,keyasint,omitempty"`
}

// App names an application a peer has.
type App struct {
	Name    string  `cbor:"1,keyasint"`
	Version Version `cbor:"2,keyasint"`
}

// Bounds of a card.
const (
	MaxCard         = 16 << 10 // bytes, encoded
	MaxCardAddrs    = 24
	MaxCardApps     = 128
	MaxCardNetworks = 16
	MaxCardPosition = 16
	MaxCardProof    = 2 << 10 // bytes
	MaxCardName     = 64      // bytes
)

// SignedCard is a card that was checked, with whose it is.
type SignedCard struct {
	Card
	Peer  peer.ID
	Bytes []byte // as it travels; not to be changed
}

// Sign makes a peer's card. It refuses one that OpenCard would refuse.
func (c *Card) Sign(key crypto.PrivKey) (*SignedCard, error) {
	return sealed(key, kindCard, c, OpenCard)
}

// OpenCard checks a card from anywhere.
func OpenCard(b []byte) (_ *SignedCard, err error) {
	s := &SignedCard{Bytes: b}
	if s.Peer, err = open(b, MaxCard, kindCard, &s.Card); err != nil {
		return nil, err
	}
	return s, nil
}

func (c *Card) check(b *bounds) {
	b.text("the swarm's name", c.Swarm, maxName)
	b.text("the label", c.Label, maxName)
	b.text("the peer's name", c.Name, MaxCardName)
	b.text("the cluster's name", c.Cluster, maxName)
	b.text("the reason for the cluster", c.Why, maxName)
	b.text("the version of the program", c.Software, maxName)
	b.text("the reachability", c.Reachable, maxName)
	b.origin("the gateway", c.Gateway)
	b.count("the time", c.At, 0, maxUnix)
	b.count("the number of cores", int64(c.Cores), 0, satin.MaxWorkers)
	if c.Incarnation == 0 || c.Seq == 0 {
		b.count("the incarnation or number", 0, 1, maxUnix)
	}
	b.count("the number of addresses", int64(len(c.Addrs)), 0, MaxCardAddrs)
	b.count("the number of applications", int64(len(c.Apps)), 0, MaxCardApps)
	b.count("the number of networks", int64(len(c.Networks)), 0, MaxCardNetworks)
	b.count("the number of coordinates", int64(len(c.Position)), 0, MaxCardPosition)
	b.count("the length of the proof in bytes", int64(len(c.Proof)), 0, MaxCardProof)
	for _, list := range [][]string{c.Addrs, c.Networks} {
		for _, s := range list {
			b.text("an address", s, maxName)
		}
	}
	for _, a := range c.Apps {
		b.text("an application's name", a.Name, maxName)
	}
}

// Newer says whether this card replaces another one of the same peer. Of two with the same number, which only a peer
// signs that shows one to some and another to others, everybody who hears both has the same.
func (s *SignedCard) Newer(than *SignedCard) bool {
	if s.Incarnation != than.Incarnation {
		return s.Incarnation > than.Incarnation
	}
	return cmp.Or(cmp.Compare(s.Seq, than.Seq), bytes.Compare(s.Bytes, than.Bytes)) > 0
}
