package satin

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"strings"
)

// A RunID names one computation. A swarm derives it from the run's manifest; a Pool of its own draws one at random.
type RunID [16]byte

// String gives the first eight of the ID's 32 hexadecimal digits: enough for people.
func (r RunID) String() string { return hex.EncodeToString(r[:4]) }

// NewRunID draws a RunID at random.
func NewRunID() (r RunID) {
	_, _ = rand.Read(r[:]) // documented never to fail
	return r
}

// A Path names a job within its run, from the root down: element i is the index, from 1, of the child taken at level
// i. It is the paper's level stamp (programming model, 4.1.1), the same when a job is spawned again. The root's
// path is empty.
type Path []uint32

// String gives the path as "1.3.2", the root's as "root".
func (p Path) String() string {
	if len(p) == 0 {
		return "root"
	}
	var b strings.Builder
	for i, c := range p {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(strconv.FormatUint(uint64(c), 10))
	}
	return b.String()
}

// A JobID names a job in all the swarm.
type JobID struct {
	Run  RunID
	Path Path
}

// String gives run and path as "6fd1c2a0/1.3.2".
func (id JobID) String() string { return id.Run.String() + "/" + id.Path.String() }
