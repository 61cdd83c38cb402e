package checkpoint

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// A frame is how a record lies in a file:
//
//	0  4 bytes  marker
//	4  4 bytes  length of the payload
//	8  4 bytes  CRC32C of the payload
//	12 4 bytes  CRC32C of the run ID, the frame's place in the file (8 bytes) and the 12 bytes before
//	16          payload, CBOR
//
// Numbers are big-endian. The sum of the head makes the length trustworthy, so that a damaged payload costs
// one record and a damaged head is found again by its marker; with the run and the place in it, neither the
// bytes of another log nor a log inside an outcome are taken for a frame of this one. It does not protect
// against whoever makes an outcome for the very place where it will lie, and a crash that tears it there:
// those who compute are trusted.
const (
	headSize = 16
	marker   = "\xb5SCP"
)

// A file begins with a prefix, which all versions of the format share, and the frame of its Header, whose run
// ID counts as zero:
//
//	0  8 bytes  magic
//	8  4 bytes  version of the format
//	12 4 bytes  CRC32C of the 12 bytes before
const (
	prefixSize    = 16
	magic         = "SATINCPT"
	formatVersion = 1
)

var castagnoli = newTable()

func newTable() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// noRun is what stands for the run in the frame of a header, which is read to learn the run.
var noRun = [16]byte{}

// appendFrame writes the frame of payload, which will lie at place at, to the end of b.
func appendFrame(b []byte, run [16]byte, at int64, payload []byte) []byte {
	start := len(b)
	b = append(b, marker...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(payload)))
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(payload, castagnoli))
	b = binary.BigEndian.AppendUint32(b, headSum(run, at, b[start:]))
	return append(b, payload...)
}

func headSum(run [16]byte, at int64, head []byte) uint32 {
	sum := crc32.Update(0, castagnoli, run[:])
	var place [8]byte
	binary.BigEndian.PutUint64(place[:], uint64(at))
	sum = crc32.Update(sum, castagnoli, place[:])
	return crc32.Update(sum, castagnoli, head[:12])
}

// headOf gives length and sum of the payload of the frame whose head lies at place at; ok is false if there is none.
func headOf(head []byte, run [16]byte, at int64) (length int, sum uint32, ok bool) {
	if len(head) < headSize || string(head[:4]) != marker ||
		binary.BigEndian.Uint32(head[12:]) != headSum(run, at, head) {
		return 0, 0, false
	}
	n := binary.BigEndian.Uint32(head[4:])
	return int(n), binary.BigEndian.Uint32(head[8:]), n <= maxPayload
}

// intact says whether a payload is the one that the head was written for.
func intact(payload []byte, sum uint32) bool {
	return crc32.Checksum(payload, castagnoli) == sum
}

// appendOpening writes what a file begins with.
func appendOpening(b []byte, h Header) ([]byte, error) {
	payload, err := encoding.Marshal(h)
	if err != nil {
		return b, err
	}
	start := len(b)
	b = append(b, magic...)
	b = binary.BigEndian.AppendUint32(b, formatVersion)
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli))
	return appendFrame(b, noRun, prefixSize, payload), nil
}

// An opening is what the first bytes of a file tell.
type opening struct {
	ours    bool   // a file of this program, of whatever version
	version uint32 // of the format
	header  Header
	headed  bool  // header was intact
	size    int64 // where the records begin
}

// openingOf reads what a file begins with; b is the first maxOpening bytes, or all there are.
func openingOf(b []byte) (o opening) {
	if len(b) < prefixSize || string(b[:8]) != magic ||
		crc32.Checksum(b[:12], castagnoli) != binary.BigEndian.Uint32(b[12:]) {
		return o
	}
	o.ours, o.version = true, binary.BigEndian.Uint32(b[8:])
	n, sum, ok := headOf(b[prefixSize:], noRun, prefixSize)
	if !ok || o.version != formatVersion || n > len(b)-prefixSize-headSize {
		return o
	}
	payload := b[prefixSize+headSize:][:n]
	if !intact(payload, sum) || decoding.Unmarshal(payload, &o.header) != nil {
		return o
	}
	o.headed, o.size = true, int64(prefixSize+headSize+n)
	return o
}

// maxOpening is more than the opening of a file takes.
const maxOpening = 256

// nextMarker gives the place in b of the next marker, or as much of b as cannot be the beginning of one.
func nextMarker(b []byte) (at int, found bool) {
	if i := bytes.Index(b, []byte(marker)); i >= 0 {
		return i, true
	}
	return max(0, len(b)-len(marker)+1), false
}
