package checkpoint

import (
	"encoding/binary"
	"fmt"

	"github.com/fxamacker/cbor/v2"

	"github.com/satin-peer/satin/internal/wire"
)

// A Kind says what a record holds.
type Kind uint8

const (
	// JobResult is a finished job's outcome. It can be computed again, so it may be dropped.
	JobResult Kind = 1
	// RunManifest is the run's manifest, as its owner signed it. Its path is empty.
	RunManifest Kind = 2
	// RootOutcome is the run's answer. Its path is empty; all jobs are its descendants, so that nothing else
	// needs to be kept.
	RootOutcome Kind = 3
)

// A Record is what the log keeps. Path and Identity are those of the job (job.Path, job.Identity); a manifest's
// identity tells manifests apart: KeepManifest takes the beginning of its hash.
type Record struct {
	Kind     Kind     `cbor:"1,keyasint"`
	Path     []uint32 `cbor:"2,keyasint,omitempty"` // from the root, 1-based; at most MaxPath elements
	Identity [16]byte `cbor:"3,keyasint"`
	Outcome  []byte   `cbor:"4,keyasint,omitempty"` // at most MaxOutcome bytes
	Voucher  []byte   `cbor:"5,keyasint,omitempty"` // who says so, at most MaxVoucher bytes
}

// Limits of a record.
const (
	// MaxPath is the longest path of a record.
	MaxPath = 16 << 10
	// MaxOutcome is the longest outcome, in bytes.
	MaxOutcome = wire.MaxValue
	// MaxVoucher is the longest voucher, in bytes.
	MaxVoucher = 4 << 10
	// maxPayload is the longest encoding of a record: five bytes for an element of a path.
	maxPayload = MaxOutcome + MaxVoucher + 5*MaxPath + 64
)

// A Header says what a log belongs to. Every file of the log begins with it.
type Header struct {
	Run      [16]byte `cbor:"1,keyasint"` // job.RunID
	Manifest [32]byte `cbor:"2,keyasint"` // SHA-256 of the run's signed manifest, see HeaderOf
}

// valid says why a record cannot be in a log.
func (r *Record) valid() error {
	switch {
	case r.Kind < JobResult || r.Kind > RootOutcome:
		return fmt.Errorf("unknown kind %d of record", r.Kind)
	case r.Kind == JobResult && len(r.Path) == 0:
		return fmt.Errorf("the result of a job without a path: the root's is a RootOutcome")
	case r.Kind != JobResult && len(r.Path) > 0:
		return fmt.Errorf("a record of kind %d with the path of a job", r.Kind)
	case len(r.Path) > MaxPath:
		return fmt.Errorf("a path of %d elements, at most %d are kept", len(r.Path), MaxPath)
	case len(r.Outcome) > MaxOutcome:
		return fmt.Errorf("an outcome of %d bytes, at most %d are kept", len(r.Outcome), MaxOutcome)
	case len(r.Voucher) > MaxVoucher:
		return fmt.Errorf("a voucher of %d bytes, at most %d are kept", len(r.Voucher), MaxVoucher)
	}
	return nil
}

// key gives the path in the order of bytes. An ancestor's key is a prefix.
func (r *Record) key() string { return keyOf(r.Path) }

// keyOf has one byte for each small element, as nearly all are, and five for others. Long paths are to take no more
// memory than they took on their way here.
func keyOf(path []uint32) string {
	const large = 0xff
	b := make([]byte, 0, len(path))
	for _, c := range path {
		if c < large {
			b = append(b, byte(c))
		} else {
			b = binary.BigEndian.AppendUint32(append(b, large), c)
		}
	}
	return string(b)
}

// IndexBytes is about the memory that a log needs for a stored record with a path.
func IndexBytes(path []uint32) int64 { return int64(len(keyOf(path))) + entryBytes }

// size estimates the memory of a record that waits.
func (r *Record) size() int { return 64 + 4*len(r.Path) + len(r.Outcome) + len(r.Voucher) }

// The codec is as strict as those of package wire, which are for what fits one message.
var (
	encoding = newEncoding()
	decoding = newDecoding()
)

func newEncoding() cbor.UserBufferEncMode {
	options := cbor.CoreDetEncOptions()
	options.TagsMd = cbor.TagsForbidden
	mode, err := options.UserBufferEncMode()
	if err != nil {
		panic(err) // the options are constants
	}
	return mode
}

func newDecoding() cbor.DecMode {
	mode, err := cbor.DecOptions{
		DupMapKey:         cbor.DupMapKeyEnforcedAPF,
		MaxNestedLevels:   4,
		MaxArrayElements:  MaxPath,
		MaxMapPairs:       16,
		IndefLength:       cbor.IndefLengthForbidden,
		TagsMd:            cbor.TagsForbidden,
		ExtraReturnErrors: cbor.ExtraDecErrorUnknownField,
	}.DecMode()
	if err != nil {
		panic(err)
	}
	return mode
}

// decodeRecord reads a record that is valid.
func decodeRecord(payload []byte) (r Record, err error) {
	if err := decoding.Unmarshal(payload, &r); err != nil {
		return Record{}, err
	}
	return r, r.valid()
}
