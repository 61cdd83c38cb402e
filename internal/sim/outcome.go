package sim

import (
	"encoding/binary"
	"math"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
)

// outcome is what a modelled job's encoded outcome says: the result, whose it is, who computed it, and what
// that took.
type outcome struct {
	claim  uint64 // of run, path and node: what it is used for must match
	result Result
	by     int32 // number of the peer
	took   int64 // nanoseconds of workers' time, to eight bits
	// touched says that the outcast had a hand in it, or in what it was made of.
	touched bool
}

// touchedBit is beside the number of the peer.
const touchedBit = 1 << 15

// claimOf hashes what an outcome is the outcome of, so that one that is delivered to another job is noticed.
func claimOf(run job.RunID, p job.Path, n Node) uint64 {
	h := mix(binary.LittleEndian.Uint64(run[:]) ^ n.Key)
	for _, c := range p {
		h = mix(h ^ uint64(c))
	}
	return mix(h ^ uint64(n.Work) ^ uint64(n.Form)<<32)
}

// outcomeBytes is the length of an encoded outcome without padding.
const outcomeBytes = 24

// encode writes the outcome, then zeros up to the size that the tree says.
func (o *outcome) encode(size int) []byte {
	b := make([]byte, max(size, outcomeBytes))
	binary.LittleEndian.PutUint64(b, o.claim)
	binary.LittleEndian.PutUint64(b[8:], o.result.Sum)
	binary.LittleEndian.PutUint32(b[16:], uint32(o.result.Leaves))
	by := uint16(o.by)
	if o.touched {
		by |= touchedBit
	}
	binary.LittleEndian.PutUint16(b[20:], by)
	binary.LittleEndian.PutUint16(b[22:], uint16(math.Float32bits(float32(o.took))>>16))
	return b
}

func decodeOutcome(b []byte) (o outcome, ok bool) {
	_, b = port.NamedBy(b)
	if len(b) < outcomeBytes {
		return outcome{}, false
	}
	return outcome{
		claim:  binary.LittleEndian.Uint64(b),
		result: Result{binary.LittleEndian.Uint64(b[8:]), uint64(binary.LittleEndian.Uint32(b[16:]))},
		by:     int32(binary.LittleEndian.Uint16(b[20:]) &^ touchedBit),
		took:   int64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b[22:])) << 16)),

		touched: binary.LittleEndian.Uint16(b[20:])&touchedBit != 0,
	}, true
}
