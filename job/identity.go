package job

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// An Identity is the hash of what a job computes: function and argument, which also names the versions of the shared
// data that the job reads. A path alone does not identify a job, because an inlet may spawn in another order the
// second time; a result is used only where run, path and identity all match.
type Identity [16]byte

// Identify hashes a function's registered name and its encoded argument.
func Identify(function string, arg []byte) Identity {
	h := sha256.New()
	var head [8]byte
	binary.BigEndian.PutUint64(head[:], uint64(len(function)))
	h.Write(head[:])
	h.Write([]byte(function))
	h.Write(make([]byte, 8)) // where the version of a guard once stood: checkpoints hold such hashes
	h.Write(arg)
	var id Identity
	copy(id[:], h.Sum(nil))
	return id
}

// String is the first eight hex digits, enough to tell jobs apart in a trace.
func (id Identity) String() string { return hex.EncodeToString(id[:4]) }
