package uts

import (
	"crypto/sha1"
	"encoding"
	"encoding/binary"
	"hash"
)

// A hasher makes children. A child's state is the hash of its parent's state and of its number, 24 bytes that the
// hasher pads to a block itself: then the hash is in what crypto/sha1 says of its own state.
//
// [sha1.Sum] takes a third longer. It pads on the stack, and where that is was worth 4 %: so much the same walk could
// differ between a job and the twin. A loop for this length alone takes longer still, since the processor's
// instructions for SHA-1 are not to be had in Go.
type hasher struct {
	block [sha1.BlockSize]byte // first, so that no 16 bytes of it are in two lines of the cache
	sum   digest
	state [128]byte // what sum says of itself, 96 bytes
}

// digest is what [sha1.New] gives.
type digest interface {
	hash.Hash
	encoding.BinaryAppender
}

const (
	hashed   = sha1.Size + 4 // bytes of a block before the padding
	stateTag = 4             // bytes before the hash in what sum says
)

func newHasher() *hasher {
	h := &hasher{sum: sha1.New().(digest)}
	h.block[hashed] = 1 << 7
	binary.BigEndian.PutUint64(h.block[sha1.BlockSize-8:], 8*hashed)
	return h
}

// children appends those of p, so many.
func (h *hasher) children(list []Place, p *Place, count int) []Place {
	copy(h.block[:], p.State[:])
	for number := range count {
		binary.BigEndian.PutUint32(h.block[sha1.Size:], uint32(number))
		h.sum.Reset()
		_, _ = h.sum.Write(h.block[:])             // a hash takes all there is
		said, _ := h.sum.AppendBinary(h.state[:0]) // and has no reason to fail
		list = append(list, Place{State: [sha1.Size]byte(said[stateTag:]), Depth: p.Depth + 1})
	}
	return list
}
