package sharedobj

import (
	"errors"
	"fmt"
)

// PeerID names a peer of the swarm, ClusterID its cluster. The core compares them and nothing else.
type (
	PeerID    string
	ClusterID string
)

// Bounds on what a message may hold.
const (
	maxTold    = 64       // recipes of an answer
	maxInline  = 16 << 10 // bytes of a value that travels with its recipe
	maxAnswer  = 96 << 10 // of all of them in one message
	maxHolders = 3        // peers said to have something
	maxPieces  = 64       // of a Get
	maxSums    = 256      // lattices compared in one message
)

// Message is what one core says to another; exactly one of the bodies is set. What it speaks of is named by content,
// so messages may be lost, delayed, repeated and reordered, and need no number. A Message is immutable once sent.
type Message struct {
	From PeerID `cbor:"1,keyasint"`
	To   PeerID `cbor:"2,keyasint"`

	Ask      *Ask      `cbor:"3,keyasint,omitempty"`
	Answer   *Answer   `cbor:"4,keyasint,omitempty"`
	Get      *Get      `cbor:"5,keyasint,omitempty"`
	Piece    *Piece    `cbor:"6,keyasint,omitempty"`
	Gone     *Gone     `cbor:"7,keyasint,omitempty"`
	Announce *Announce `cbor:"8,keyasint,omitempty"`
	Sums     *Sums     `cbor:"9,keyasint,omitempty"`
}

// Bulk says whether the message is to travel apart from those that others wait for.
func (m *Message) Bulk() bool { return m.Piece != nil }

// Ask asks what a digest names, and for its value.
type Ask struct {
	Digest Digest `cbor:"1,keyasint"`
	// Holders, if there are any, ask the receiver to fetch the value itself if it has not got it: they are said to.
	Holders []PeerID `cbor:"2,keyasint,omitempty"`
}

// Status is what a peer says it has of a version.
type Status uint8

// What a peer may have.
const (
	Lacking Status = 1 + iota
	Coming         // pieces can be had as they come
	Here
	statuses
)

// Answer answers an Ask.
type Answer struct {
	Digest Digest `cbor:"1,keyasint"`
	Status Status `cbor:"2,keyasint"`
	// Told are recipes: that of the digest, then of the versions before it, as far as their writes are a shorter way.
	Told []Told `cbor:"3,keyasint,omitempty"`
}

// Told is a recipe, with the bytes of what is small.
type Told struct {
	Recipe Recipe `cbor:"1,keyasint"`
	Write  []byte `cbor:"2,keyasint,omitempty"`
	State  []byte `cbor:"3,keyasint,omitempty"`
}

// Get requests pieces of a blob.
type Get struct {
	Top    Hash      `cbor:"1,keyasint"`
	Pieces []PieceID `cbor:"2,keyasint"`
}

// Piece brings one.
type Piece struct {
	Top  Hash    `cbor:"1,keyasint"`
	ID   PieceID `cbor:"2,keyasint"`
	Data []byte  `cbor:"3,keyasint,omitempty"`
}

// Gone says that its sender has nothing of a blob.
type Gone struct {
	Top Hash `cbor:"1,keyasint"`
}

// Announce says that a version, or what was offered to a lattice, is to be had from the sender, and is to be
// passed on.
type Announce struct {
	Origin PeerID `cbor:"1,keyasint"` // who wrote it
	Recipe Recipe `cbor:"2,keyasint"`
	// Offer, with the recipe of a lattice, is what was offered to it.
	Offer Blob `cbor:"3,keyasint,omitempty"`
}

// Sums compares lattices: what the sender's values are.
type Sums struct {
	Values []Sum `cbor:"1,keyasint"`
	Reply  bool  `cbor:"2,keyasint,omitempty"` // it answers one, and is not answered
}

// Sum is a lattice's value: small ones themselves, others by name.
type Sum struct {
	Digest Digest `cbor:"1,keyasint"`
	Blob   Blob   `cbor:"2,keyasint"`
	Value  []byte `cbor:"3,keyasint,omitempty"`
}

// News is told to everybody, by gossip: small writes, and small offers to lattices.
type News struct {
	Writes []Told  `cbor:"1,keyasint,omitempty"` // with Write
	Offers []Offer `cbor:"2,keyasint,omitempty"`
}

// Offer is what one peer offered to a lattice since it last told.
type Offer struct {
	Digest Digest `cbor:"1,keyasint"`
	Value  []byte `cbor:"2,keyasint"`
}

// ErrMalformed is what Validate wraps: what no correct core sends.
var ErrMalformed = errors.New("sharedobj: malformed message")

// Validate reports what no correct core would send, in time linear in the message.
func (m *Message) Validate() error {
	bodies, ok := 0, true
	count := func(valid bool) {
		bodies++
		ok = ok && valid
	}
	if a := m.Ask; a != nil {
		count(len(a.Holders) <= maxHolders)
	}
	if a := m.Answer; a != nil {
		count(a.Status > 0 && a.Status < statuses && toldValid(a.Told) && a.chained())
	}
	if g := m.Get; g != nil {
		count(len(g.Pieces) > 0 && len(g.Pieces) <= maxPieces)
	}
	if p := m.Piece; p != nil {
		count(len(p.Data) <= pieceSize)
	}
	if m.Gone != nil {
		count(true)
	}
	if a := m.Announce; a != nil {
		count(a.Recipe.valid() && a.Offer.Size <= maxSize && (a.Offer == Blob{} || a.Recipe.Kind == Lattice))
	}
	if s := m.Sums; s != nil {
		count(len(s.Values) > 0 && len(s.Values) <= maxSums && s.valid())
	}
	if bodies != 1 || !ok || m.From == "" {
		return fmt.Errorf("%w: %d bodies from %q, in range: %v", ErrMalformed, bodies, m.From, ok)
	}
	return nil
}

// chained says whether the recipes are that of the digest and of what came before it, one by one.
func (a *Answer) chained() bool {
	next := a.Digest
	for i := range a.Told {
		if a.Told[i].Recipe.Digest() != next {
			return false
		}
		next = a.Told[i].Recipe.Parent
	}
	return a.Status == Lacking || len(a.Told) > 0
}

func toldValid(told []Told) bool {
	bytes := 0
	for i := range told {
		t := &told[i]
		bytes += len(t.Write) + len(t.State)
		if !t.Recipe.valid() || len(t.Write) > maxInline || len(t.State) > maxInline {
			return false
		}
	}
	return len(told) <= maxTold && bytes <= maxAnswer
}

func (s *Sums) valid() bool {
	bytes := 0
	for i := range s.Values {
		bytes += len(s.Values[i].Value)
		if len(s.Values[i].Value) > maxInline || s.Values[i].Blob.Size > maxSize {
			return false
		}
	}
	return bytes <= maxAnswer
}

// Validate reports news that no correct core tells.
func (n *News) Validate() error {
	ok := len(n.Writes)+len(n.Offers) > 0 && len(n.Offers) <= maxSums && toldValid(n.Writes)
	bytes := 0
	for i := range n.Offers {
		bytes += len(n.Offers[i].Value)
		ok = ok && len(n.Offers[i].Value) <= maxInline
	}
	if !ok || bytes > maxAnswer {
		return fmt.Errorf("%w: news of %d writes and %d offers", ErrMalformed, len(n.Writes), len(n.Offers))
	}
	return nil
}
