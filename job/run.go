package job

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
)

// A RunID names one computation. A swarm derives it from the run's manifest; a pool of its own draws one at random.
type RunID [16]byte

// NewRunID draws a RunID at random.
func NewRunID() (r RunID) {
	_, _ = rand.Read(r[:]) // documented never to fail
	return r
}

// ParseRunID reads what Hex writes. Digits in upper case are none: a run's name is also the name of its
// files, of which there must be one.
func ParseRunID(s string) (r RunID, ok bool) {
	if len(s) != 2*len(r) || strings.ToLower(s) != s {
		return RunID{}, false
	}
	if _, err := hex.Decode(r[:], []byte(s)); err != nil {
		return RunID{}, false
	}
	return r, true
}

// Hex gives all of the ID's 32 hexadecimal digits.
func (r RunID) Hex() string { return hex.EncodeToString(r[:]) }

// String gives the first eight digits: enough for people.
func (r RunID) String() string { return hex.EncodeToString(r[:4]) }
