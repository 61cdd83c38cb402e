package steal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	satin "github.com/satin-peer/satin"
)

// RunID names one computation; Path is a job's place in its tree (DESIGN.md section 6).
type (
	RunID = satin.RunID
	Path  = satin.Path
)

// Identity is the hash of what a job computes: function, argument and guard version. A path alone does not
// identify a job, because an inlet may spawn in another order the second time; a result is used only where
// run, path and identity all match (DESIGN.md section 6).
type Identity [16]byte

// Identify hashes a function's registered name, its encoded argument and the version of the shared objects that its
// guard saw (0 without a guard). The core never calls it: adapters do, once for each job that leaves the process.
func Identify(function string, arg []byte, guard uint64) Identity {
	h := sha256.New()
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(function)))
	h.Write(n[:])
	h.Write([]byte(function))
	binary.BigEndian.PutUint64(n[:], guard)
	h.Write(n[:])
	h.Write(arg)
	var id Identity
	copy(id[:], h.Sum(nil))
	return id
}

// String is the first eight hex digits, enough to tell jobs apart in a trace.
func (id Identity) String() string { return hex.EncodeToString(id[:4]) }

// Job is one spawned invocation on its way between peers. The core moves it and never looks inside: function
// and argument are the application's, encoded by the adapter when the job was taken. A Job is immutable once
// made; messages and tables share its bytes.
type Job struct {
	Path     Path     `cbor:"1,keyasint,omitempty"`
	Identity Identity `cbor:"2,keyasint"`
	Function string   `cbor:"3,keyasint"`           // registered name
	Arg      []byte   `cbor:"4,keyasint,omitempty"` // encoded argument
	// Restarted marks a job that was given away before and came back, and all that is spawned under it: its finished
	// children may exist elsewhere as orphans (fault tolerance paper, 3.1).
	Restarted bool `cbor:"5,keyasint,omitempty"`
}
