package sharedobj

import (
	"bytes"
	"crypto/sha256"
	"errors"
)

// Pieces of a blob. Its bytes are cut into leaves, level 0. A piece of a level above holds the hashes of up to
// fanOut pieces of the level below, and the one piece of the highest level is the top, whose hash names the blob
// together with its size. So every piece can be verified as it comes, whoever it is from, by a hash in one that
// was verified before.
const (
	pieceSize = 16 << 10                // bytes of a leaf, as much as a steal should have to wait for
	fanOut    = pieceSize / sha256.Size // 512
	maxSize   = 1 << 50                 // of a blob; a bound on arithmetic, memory is bounded by Config.MaxBytes
)

// PieceID is the place of a piece in its blob.
type PieceID struct {
	Level uint8  `cbor:"1,keyasint,omitempty"`
	Index uint64 `cbor:"2,keyasint,omitempty"`
}

// levelsOf counts the pieces of each level.
func levelsOf(size uint64) []uint64 {
	n := max(1, (size+pieceSize-1)/pieceSize)
	counts := []uint64{n}
	for n > 1 {
		n = (n + fanOut - 1) / fanOut
		counts = append(counts, n)
	}
	return counts
}

// hashPiece tells levels apart, so that nothing is a leaf and a list of hashes at once.
func hashPiece(level int, b []byte) (h Hash) {
	s := sha256.New()
	s.Write([]byte{byte(level)})
	s.Write(b)
	s.Sum(h[:0])
	return h
}

// Body is a blob with its bytes, which nobody may change.
type Body struct {
	Blob
	data  []byte
	nodes [][]byte // of level 1 and above: the pieces one after the other
}

// Build names bytes. It hashes them all, so large ones are best built away from the goroutine of the core.
func Build(data []byte) *Body {
	b := &Body{data: data}
	b.Size = uint64(len(data))
	counts := levelsOf(b.Size)
	for level := range len(counts) - 1 {
		hashes := make([]byte, 0, counts[level]*sha256.Size)
		for i := range counts[level] {
			p, _ := b.Piece(PieceID{uint8(level), i})
			h := hashPiece(level, p)
			hashes = append(hashes, h[:]...)
		}
		b.nodes = append(b.nodes, hashes)
	}
	top, _ := b.Piece(PieceID{uint8(len(counts) - 1), 0})
	b.Top = hashPiece(len(counts)-1, top)
	return b
}

// MarshalBinary carries a blob between the processes of one peer. Whoever reads one hashes it.
func (b *Body) MarshalBinary() ([]byte, error) { return b.data, nil }

// UnmarshalBinary is the other half of MarshalBinary.
func (b *Body) UnmarshalBinary(data []byte) error {
	*b = *Build(bytes.Clone(data))
	return nil
}

// Bytes is all of it.
func (b *Body) Bytes() []byte { return b.data }

// Piece is one piece; false if there is none of that name.
func (b *Body) Piece(id PieceID) ([]byte, bool) {
	all := b.data
	if id.Level > 0 {
		if int(id.Level) > len(b.nodes) {
			return nil, false
		}
		all = b.nodes[id.Level-1]
	}
	from := id.Index * pieceSize
	if id.Index > maxSize/pieceSize || from >= uint64(len(all)) && (id.Index > 0 || id.Level > 0) {
		return nil, false
	}
	return all[from:min(from+pieceSize, uint64(len(all)))], true
}

// errPiece says that a piece does not belong to its blob.
var errPiece = errors.New("a piece that is not of this blob")

// piecesOf is how many pieces a blob has, at all levels.
func piecesOf(size uint64) (n uint64) {
	for _, m := range levelsOf(size) {
		n += m
	}
	return n
}

// assembly is a blob that comes piece by piece.
type assembly struct {
	blob   Blob
	counts []uint64
	body   Body
	have   [][]uint64 // a bit for each piece, by level
	left   uint64     // pieces to come
	want   []PieceID  // known by their hash, not yet requested; in the order in which they are best requested
}

func newAssembly(blob Blob) *assembly {
	a := &assembly{blob: blob, counts: levelsOf(blob.Size), body: Body{Blob: blob}}
	for level, n := range a.counts {
		a.have = append(a.have, make([]uint64, (n+63)/64))
		a.left += n
		if level > 0 {
			a.body.nodes = append(a.body.nodes, make([]byte, a.counts[level-1]*sha256.Size))
		}
	}
	a.want = []PieceID{{uint8(len(a.counts) - 1), 0}}
	return a
}

// has says whether a piece is there.
func (a *assembly) has(id PieceID) bool {
	return int(id.Level) < len(a.counts) && id.Index < a.counts[id.Level] &&
		a.have[id.Level][id.Index/64]>>(id.Index%64)&1 == 1
}

// piece is one that is there.
func (a *assembly) piece(id PieceID) ([]byte, bool) {
	if !a.has(id) {
		return nil, false
	}
	return a.body.Piece(id)
}

// hashOf is what a piece must hash to; false as long as the piece above it is missing.
func (a *assembly) hashOf(id PieceID) (h Hash, ok bool) {
	if int(id.Level) == len(a.counts)-1 {
		return a.blob.Top, id.Index == 0
	}
	if !a.has(PieceID{id.Level + 1, id.Index / fanOut}) || id.Index >= a.counts[id.Level] {
		return h, false
	}
	copy(h[:], a.body.nodes[id.Level][id.Index*sha256.Size:])
	return h, true
}

// put takes a piece in that may be from anybody. What was there already changes nothing.
func (a *assembly) put(id PieceID, data []byte) error {
	if int(id.Level) >= len(a.counts) || id.Index >= a.counts[id.Level] {
		return errPiece
	}
	if a.has(id) {
		return nil
	}
	h, ok := a.hashOf(id)
	if !ok || hashPiece(int(id.Level), data) != h {
		return errPiece
	}
	all := a.body.data
	if id.Level > 0 {
		all = a.body.nodes[id.Level-1]
	} else if all == nil {
		all = make([]byte, a.blob.Size) // its room was reserved
		a.body.data = all
	}
	if from := id.Index * pieceSize; from+uint64(len(data)) > uint64(len(all)) ||
		from+pieceSize <= uint64(len(all)) && len(data) != pieceSize ||
		from+pieceSize > uint64(len(all)) && from+uint64(len(data)) != uint64(len(all)) {
		return errPiece // the hash is right, so the size that the blob claims is not
	}
	copy(all[id.Index*pieceSize:], data)
	a.have[id.Level][id.Index/64] |= 1 << (id.Index % 64)
	a.left--
	if id.Level > 0 {
		below := make([]PieceID, 0, fanOut)
		for i := id.Index * fanOut; i < min((id.Index+1)*fanOut, a.counts[id.Level-1]); i++ {
			below = append(below, PieceID{id.Level - 1, i})
		}
		a.want = append(below, a.want...)
	}
	return nil
}

// whole is the blob, once all of it is there.
func (a *assembly) whole() (*Body, bool) {
	if a.left > 0 {
		return nil, false
	}
	return &a.body, true
}
