package sharedobj

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Hash is a SHA-256.
type Hash [32]byte

// Digest names one version of an object, a constant, or a lattice: the hash of its Recipe.
type Digest [32]byte

// String is the first eight hex digits, enough to tell versions apart in a trace.
func (d Digest) String() string { return hex.EncodeToString(d[:4]) }

// Compare orders digests.
func (d Digest) Compare(e Digest) int { return bytes.Compare(d[:], e[:]) }

// Kind says how a value may change.
type Kind uint8

// The kinds of shared values.
const (
	Constant Kind = 1 + iota
	Phased
	Lattice
	// Argument is what a job gets that is too large to go with it. It is fetched as a constant is; nobody reads it by
	// its name, and when nobody needs it for a job any more it is forgotten.
	Argument
	// Outcome is what came of a job and is too large for a message. It is fetched as a constant is; nobody reads it by
	// its name.
	Outcome
	kinds
)

// private says whether only jobs' beginnings and ends are made of it, and no job reads it: the engine hears nothing of
// it.
func (k Kind) private() bool { return k == Argument || k == Outcome }

// Blob names bytes: how many they are, and the top of the tree of their hashes. It commits to both.
type Blob struct {
	Size uint64 `cbor:"1,keyasint"`
	Top  Hash   `cbor:"2,keyasint"`
}

// Recipe says what a digest names, and proves it, being what the digest is a hash of.
type Recipe struct {
	Kind   Kind   `cbor:"1,keyasint"`
	Name   string `cbor:"2,keyasint"`           // under which its type is registered
	Parent Digest `cbor:"3,keyasint"`           // the version before; zero for the first
	Write  Blob   `cbor:"4,keyasint,omitempty"` // what makes this version of its parent
	State  Blob   `cbor:"5,keyasint"`           // the encoded value, as its writer has it; of a lattice: its seed
}

// OutcomeOf says what an outcome is as a value. It has nobody's name: whoever computes the same gets the same.
func OutcomeOf(b *Body) *Recipe { return &Recipe{Kind: Outcome, Name: "outcome", State: b.Blob} }

// maxName bounds registered names, in bytes.
const maxName = 256

// First says whether there is no version before.
func (r *Recipe) First() bool { return r.Parent == Digest{} }

// Digest is the name of the version.
func (r *Recipe) Digest() (d Digest) {
	b := make([]byte, 0, 256)
	b = append(b, "satin version\n"...)
	b = append(b, byte(r.Kind))
	b = binary.BigEndian.AppendUint32(b, uint32(len(r.Name)))
	b = append(b, r.Name...)
	b = append(b, r.Parent[:]...)
	b = r.Write.append(b)
	b = r.State.append(b)
	return sha256.Sum256(b)
}

func (b Blob) append(to []byte) []byte {
	return append(binary.BigEndian.AppendUint64(to, b.Size), b.Top[:]...)
}

// valid reports what no correct peer tells: only phased objects have versions after the first.
func (r *Recipe) valid() bool {
	if r.Kind == 0 || r.Kind >= kinds || r.Name == "" || len(r.Name) > maxName || r.State.Size > maxSize {
		return false
	}
	if r.First() {
		return r.Write == Blob{}
	}
	return r.Kind == Phased && r.Write.Size <= maxSize
}
