package statement

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/runs"
)

// Version identifies the code of an application: peers work together on a run only if they have the same.
type Version [32]byte

// String is the first eight hexadecimal digits.
func (v Version) String() string { return fmt.Sprintf("%x", v[:4]) }

// Manifest describes one run. Its owner signs it; nobody can change it or make another run with the same ID.
type Manifest struct {
	Swarm   string   `cbor:"1,keyasint"`           // the swarm it is for
	App     string   `cbor:"2,keyasint"`           // application, "nqueens"
	Version Version  `cbor:"3,keyasint"`           // of the application
	Entry   string   `cbor:"4,keyasint"`           // registered function of the root job
	Arg     []byte   `cbor:"5,keyasint"`           // its argument in the Value codec
	Nonce   [16]byte `cbor:"6,keyasint"`           // makes runs of the same problem different
	Policy  string   `cbor:"7,keyasint,omitempty"` // steal policy of all peers; "" is the default
	// Deputies are the peers that take over, in this order, when the owner is silent.
	Deputies []string `cbor:"8,keyasint,omitempty"`
	Created  int64    `cbor:"9,keyasint"`  // seconds since 1970, by the owner's clock
	Expires  int64    `cbor:"10,keyasint"` // seconds since 1970; peers drop the run then
	// MaxCores is how many cores of one peer the run may use; 0 leaves it to the peer.
	MaxCores int `cbor:"11,keyasint,omitempty"`
	// Title says for people what is computed, "18 queens".
	Title string `cbor:"12,keyasint,omitempty"`
	// Recovery says what becomes of the work of peers that are lost: a name of package steal; "" is the default.
	Recovery string `cbor:"13,keyasint,omitempty"`
	// Verify says how outcomes are checked before the owner uses them, "quorum=2", "doubt=1e-4"; "": every member
	// is believed.
	Verify string `cbor:"14,keyasint,omitempty"`
	// Adapt says how the run decides who takes part: a mode of package adapt; "": everybody may.
	Adapt string `cbor:"15,keyasint,omitempty"`
	// MinPeers and MaxPeers bound the number of peers that it wants; 0 is no bound.
	MinPeers int `cbor:"16,keyasint,omitempty"`
	MaxPeers int `cbor:"17,keyasint,omitempty"`
	// Rounding says how the owner's machine rounds, "amd64", if outcomes are compared that depend on it.
	Rounding string `cbor:"18,keyasint,omitempty"`
	// Executables are what jobs have run that is no part of the application (package satin, Exec).
	Executables []Executable `cbor:"19,keyasint,omitempty"`
	// Eager is of how many of 100 jobs given away idle peers may get a copy at the end of the run; 0: of none.
	Eager int `cbor:"20,keyasint,omitempty"`
	// Constants are what the argument names that goes beside it.
	Constants []Constant `cbor:"21,keyasint,omitempty"`
	// Proof is the owner's of its membership, as on a card: whoever takes part may never have met it. It travels beside
	// what is signed, for it proves itself, and whoever does not read it yet gets the manifest without: see Unbacked.
	Proof []byte `cbor:"-"`
}

// An Executable is a file that a run needs.
type Executable struct {
	Name string `cbor:"1,keyasint"` // by which jobs call it
	Hash []byte `cbor:"2,keyasint"` // SHA-256 of its bytes
}

// A Constant is a shared value that was handed in with a run: the name of its type, and its bytes as package sharedobj
// names them.
type Constant struct {
	Name string   `cbor:"1,keyasint"`
	Size uint64   `cbor:"2,keyasint"`
	Top  [32]byte `cbor:"3,keyasint"`
}

const (
	// MaxManifest bounds an encoded manifest, in bytes: its argument is nearly all of it.
	MaxManifest = wire.MaxValue - 1<<10
	// MaxArg bounds Manifest.Arg, in bytes.
	MaxArg = MaxManifest - 16<<10
	// MaxDeputies bounds Manifest.Deputies.
	MaxDeputies = 8
	// MaxExecutables bounds Manifest.Executables.
	MaxExecutables = 8
	// MaxConstants, MaxConstant and MaxConstantName bound Manifest.Constants, their bytes and their names.
	MaxConstants    = 16
	MaxConstant     = 1 << 40
	MaxConstantName = 200
	// MaxLife is the longest time between Created and Expires.
	MaxLife = 100 * 24 * time.Hour
)

// SignedManifest is a manifest that was checked, with who signed it.
type SignedManifest struct {
	Manifest
	Owner peer.ID
	Run   job.RunID
	Bytes []byte // as it travels; not to be changed
}

// NewNonce draws a nonce.
func NewNonce() (n [16]byte) {
	_, _ = rand.Read(n[:]) // documented never to fail
	return n
}

// NonceAfter draws a nonce for a run that goes on with what another one has left, and IsAfter tells it.
func NonceAfter(left job.RunID) [16]byte { return after(NewNonce(), left) }

// IsAfter says whether NonceAfter drew a nonce for a run that goes on with this one.
func IsAfter(n [16]byte, left job.RunID) bool { return n == after(n, left) }

// after puts into the second half of a nonce what its first half and the run come to.
func after(n [16]byte, left job.RunID) [16]byte {
	sum := sha256.Sum256(append(n[:8:8], left[:]...))
	copy(n[8:], sum[:])
	return n
}

// Sign makes the owner's manifest. It refuses one that Open would refuse.
func (m *Manifest) Sign(owner crypto.PrivKey) (*SignedManifest, error) {
	b, err := seal(owner, kindManifest, m)
	if err == nil {
		b, err = Backed(b, m.Proof)
	}
	if err != nil {
		return nil, err
	}
	return OpenManifest(b)
}

// Backed is a manifest, as it travels, with another proof of its owner's membership.
func Backed(manifest, proof []byte) ([]byte, error) {
	var e envelope
	if err := wire.Value().Decode(manifest, &e); err != nil {
		return nil, err
	}
	e.Proof = proof
	return wire.Value().Encode(&e)
}

// Unbacked is a manifest without the proof, as all read it who know manifests. None stays none.
func Unbacked(manifest []byte) []byte {
	b, err := Backed(manifest, nil)
	if err != nil {
		return nil
	}
	return b
}

// OpenManifest checks a manifest from anywhere. Whether its owner may run here, the swarm is ours and the
// application known are for the caller to see.
func OpenManifest(b []byte) (*SignedManifest, error) {
	s := &SignedManifest{Bytes: b}
	var e envelope
	owner, err := e.open(b, MaxManifest, kindManifest, &s.Manifest)
	if s.Proof = e.Proof; err != nil {
		return nil, err
	}
	s.Owner, s.Run = owner, s.runID(owner)
	return s, nil
}

func (m *Manifest) check(b *bounds) {
	b.text("the swarm's name", m.Swarm, maxName)
	b.text("the application's name", m.App, maxName)
	b.count("the length of the entry function's name", int64(len(m.Entry)), 1, maxName)
	b.text("the policy's name", m.Policy, maxName)
	b.text("the title", m.Title, maxName)
	b.text("the recovery's name", m.Recovery, maxName)
	b.text("the way to verify", m.Verify, maxName)
	b.text("the way to adapt", m.Adapt, maxName)
	b.count("the least number of peers", int64(m.MinPeers), 0, runs.MaxPeers)
	b.count("the greatest number of peers", int64(m.MaxPeers), 0, runs.MaxPeers)
	b.text("the way to round", m.Rounding, maxName)
	b.count("the argument's length in bytes", int64(len(m.Arg)), 0, MaxArg)
	b.count("the number of deputies", int64(len(m.Deputies)), 0, MaxDeputies)
	for i, d := range m.Deputies {
		b.text("a deputy's peer ID", d, maxName)
		b.count("the length of a deputy's peer ID", int64(len(d)), 1, maxName)
		if slices.Contains(m.Deputies[:i], d) {
			b.count("the number of times that a deputy is named", 2, 1, 1)
		}
	}
	b.count("the number of executables", int64(len(m.Executables)), 0, MaxExecutables)
	for _, x := range m.Executables {
		b.text("an executable's name", x.Name, maxName)
		b.count("the length of an executable's hash", int64(len(x.Hash)), sha256.Size, sha256.Size)
	}
	b.count("the number of constants", int64(len(m.Constants)), 0, MaxConstants)
	for _, c := range m.Constants {
		b.text("a constant's name", c.Name, MaxConstantName)
		b.count("the length of a constant's name", int64(len(c.Name)), 1, MaxConstantName)
		b.count("a constant's size in bytes", int64(min(c.Size, MaxConstant+1)), 0, MaxConstant)
	}
	b.count("the time of creation", m.Created, 0, maxUnix)
	b.count("the time of expiry", m.Expires, m.Created, min(m.Created+int64(MaxLife/time.Second), maxUnix))
	b.count("the number of cores", int64(m.MaxCores), 0, satin.MaxWorkers)
	b.count("the share of eager copies in percent", int64(m.Eager), 0, 100)
}

// runID is the hash of owner, application, entry, argument and nonce, and, if it is verified, of the ways to verify and
// to round: a name that its owner alone can give. What a member has signed in a run that is not verified, or does not
// say how machines round, says nothing of a job that might as well have had another outcome; by another manifest of the
// same run, which is and does, it would be a lie.
func (m *Manifest) runID(owner peer.ID) (id job.RunID) {
	h := sha256.New()
	parts := [][]byte{[]byte(owner), []byte(m.App), m.Version[:], []byte(m.Entry), m.Arg, m.Nonce[:]}
	if m.Verify != "" {
		parts = append(parts, []byte(m.Verify), []byte(m.Rounding))
	}
	for _, part := range parts {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write(part)
	}
	copy(id[:], h.Sum(nil))
	return id
}
