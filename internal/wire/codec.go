package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/fxamacker/cbor/v2"
)

// ErrEncoding is what errors of Codec wrap: the bytes, or the value, are not what they should be, or the value's own
// code panicked. The message says where and why.
var ErrEncoding = errors.New("encoding")

// Codec encodes and decodes one family of values.
type Codec struct {
	enc   cbor.UserBufferEncMode
	dec   cbor.DecMode
	limit int
	types *shapes // nil: what is encoded is the protocol's
}

// MaxLevels is how deep applications' values may nest: lists, maps and structs in each other.
const MaxLevels = 64

// MaxElements is how many elements an array may have whose sender may lie.
const MaxElements = 16 << 10

// maxItems is how many items an event may have, in all: a path has one for each step.
const maxItems = 8 << 20

// Control is the codec of protocol messages: at most MaxControlFrame bytes, 16 levels deep, MaxElements in an array.
func Control() *Codec { return control }

// Figures is the codec of what peers tell of themselves for people: as Control, but what a newer build tells besides is
// skipped.
func Figures() *Codec { return figures }

// Value is the codec of applications' values in messages: at most MaxValue bytes, MaxLevels deep, as many elements as
// fit.
func Value() *Codec { return value }

// Outcomes is the codec of what came of jobs: as Value, and at most MaxOutcome bytes.
func Outcomes() *Codec { return outcomes }

// Shared is the codec of what jobs share, of arguments that other jobs get, and of results: as Value, and as many bytes
// as there is memory for, and strings that need not be UTF-8. Whoever holds such values bounds them.
func Shared() *Codec { return shared }

// Local is the codec of what goes between the processes of one peer: at most MaxLocalFrame bytes, 16 levels
// deep, as many elements as fit.
func Local() *Codec { return local }

// Told decodes what a process of jobs tells, which may have left its sandbox: as many bytes as its reader takes, 16
// levels deep, MaxElements in an array and maxItems in all. So what is not in strings takes some 70 MB, though an
// element of one byte may become a struct of 232.
func Told() *Codec { return told }

var (
	local    = newCodec(utf8, MaxLocalFrame, 16, MaxLocalFrame/2, 1<<10, cbor.ExtraDecErrorUnknownField)
	told     = newCodec(utf8, math.MaxInt, 16, MaxElements, 1<<10, cbor.ExtraDecErrorUnknownField)
	control  = newCodec(utf8, MaxControlFrame, 16, MaxElements, 1<<10, cbor.ExtraDecErrorUnknownField)
	figures  = newCodec(utf8, MaxControlFrame, 16, MaxElements, 1<<10, cbor.ExtraDecErrorNone)
	value    = newCodec(utf8, MaxValue, MaxLevels, MaxValue, MaxValue, cbor.ExtraDecErrorUnknownField)
	outcomes = newCodec(utf8, MaxOutcome, MaxLevels, MaxOutcome, MaxOutcome, cbor.ExtraDecErrorUnknownField)
	shared   = newCodec(anyText, math.MaxInt, MaxLevels, math.MaxInt32, math.MaxInt32, cbor.ExtraDecErrorUnknownField)
)

const (
	utf8    = cbor.UTF8RejectInvalid
	anyText = cbor.UTF8DecodeInvalid
)

func newCodec(text cbor.UTF8Mode, limit, depth, elements, pairs int, refused cbor.ExtraDecErrorCond) *Codec {
	encoding := cbor.CoreDetEncOptions()
	encoding.TagsMd = cbor.TagsForbidden
	encoding.NilContainers = cbor.NilContainerAsNull
	encoding.Time = cbor.TimeRFC3339Nano
	enc, err := encoding.UserBufferEncMode()
	if err != nil {
		panic(err) // the options are constants
	}
	dec, err := cbor.DecOptions{
		DupMapKey:         cbor.DupMapKeyEnforcedAPF,
		MaxNestedLevels:   depth,
		MaxArrayElements:  elements,
		MaxMapPairs:       pairs,
		IndefLength:       cbor.IndefLengthForbidden,
		UTF8:              text,
		TagsMd:            cbor.TagsForbidden,
		ExtraReturnErrors: refused,
		FieldNameMatching: cbor.FieldNameMatchingCaseSensitive,
		BigIntDec:         cbor.BigIntDecodePointer,
	}.DecMode()
	if err != nil {
		panic(err)
	}
	c := &Codec{enc: enc, dec: dec, limit: limit}
	if depth == MaxLevels {
		c.types = &shapes{}
	}
	return c
}

// An Unwinding is a panic that is on its way to whoever began it: it comes out of a Codec as it came in.
type Unwinding interface{ Unwinding() }

// keepPanic makes an error of a panic of the code that a value has for its encoding, which is an application's.
func keepPanic(err *error) {
	switch p := recover().(type) {
	case nil: // or the goroutine ends
	case Unwinding:
		panic(p)
	default:
		*err = fmt.Errorf("%w: it panicked: %v", ErrEncoding, p)
	}
}

// Encode returns the encoding of v, or an error that wraps ErrEncoding if v cannot be encoded or is too long.
func (c *Codec) Encode(v any) (b []byte, err error) {
	defer keepPanic(&err)
	if err = c.types.refuse(v); err == nil {
		b, err = c.enc.Marshal(v)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEncoding, err)
	}
	if len(b) > c.limit {
		return nil, fmt.Errorf("%w: %T takes %d bytes, at most %d may leave a peer", ErrEncoding, v, len(b), c.limit)
	}
	return b, nil
}

// Append writes the encoding of v to the end of b. On an error, as those of Encode, b is as it was.
func (c *Codec) Append(b *bytes.Buffer, v any) error {
	before := b.Len()
	err := c.write(b, v)
	if err == nil {
		if n := b.Len() - before; n > c.limit {
			err = fmt.Errorf("%T takes %d bytes, at most %d may leave a peer", v, n, c.limit)
		}
	}
	if err != nil {
		b.Truncate(before)
		return fmt.Errorf("%w: %w", ErrEncoding, err)
	}
	return nil
}

func (c *Codec) write(b *bytes.Buffer, v any) (err error) {
	defer keepPanic(&err)
	if err = c.types.refuse(v); err == nil {
		err = c.enc.MarshalToBuffer(v, b)
	}
	return err
}

// Decode reads the value that v points to from b, all of it. On an error, which wraps ErrEncoding, the value
// may be partly filled and must not be used.
func (c *Codec) Decode(b []byte, v any) (err error) {
	defer keepPanic(&err)
	if len(b) > c.limit {
		return fmt.Errorf("%w: %d bytes, at most %d are accepted", ErrEncoding, len(b), c.limit)
	}
	if c == told && items(b) > maxItems {
		return fmt.Errorf("%w: more than %d items", ErrEncoding, maxItems)
	}
	if err := c.dec.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%w: %w", ErrEncoding, err)
	}
	return nil
}

// items counts what has a head of its own in an encoding: numbers, strings, arrays and maps, however they are nested.
func items(b []byte) (n int) {
	for ; len(b) > 0; n++ {
		kind, arg := b[0]>>5, uint64(b[0]&31)
		b = b[1:]
		if arg >= 24 { // it follows, in 1, 2, 4 or 8 bytes
			var full [8]byte
			size := min(1<<(arg&3), len(b))
			copy(full[8-size:], b[:size])
			arg, b = binary.BigEndian.Uint64(full[:]), b[size:]
		}
		if kind == 2 || kind == 3 {
			b = b[min(arg, uint64(len(b))):]
		}
	}
	return n
}
