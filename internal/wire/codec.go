package wire

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/fxamacker/cbor/v2"
)

// ErrEncoding is what errors of Codec wrap: the bytes, or the value, are not what they should be. The message
// says where and why.
var ErrEncoding = errors.New("encoding")

// Codec encodes and decodes one family of values.
type Codec struct {
	enc   cbor.UserBufferEncMode
	dec   cbor.DecMode
	limit int
}

// Control is the codec of protocol messages: at most MaxControlFrame bytes, 16 levels deep, 16,384 elements
// in an array.
func Control() *Codec { return control }

// Figures is the codec of what peers tell of themselves for people: as Control, but what a newer build tells besides is
// skipped.
func Figures() *Codec { return figures }

// Value is the codec of applications' values in messages: at most MaxValue bytes, 64 levels deep, as many elements as
// fit.
func Value() *Codec { return value }

// Outcomes is the codec of what came of jobs: as Value, and at most MaxOutcome bytes.
func Outcomes() *Codec { return outcomes }

// Shared is the codec of what jobs share, and of arguments that other jobs get: as Value, and as many bytes as there is
// memory for. Whoever holds such values bounds them.
func Shared() *Codec { return shared }

// Local is the codec of what goes between the processes of one peer: at most MaxLocalFrame bytes, 16 levels
// deep, as many elements as fit.
func Local() *Codec { return local }

var (
	local    = newCodec(MaxLocalFrame, 16, MaxLocalFrame/2, 1<<10, cbor.ExtraDecErrorUnknownField)
	control  = newCodec(MaxControlFrame, 16, 16<<10, 1<<10, cbor.ExtraDecErrorUnknownField)
	figures  = newCodec(MaxControlFrame, 16, 16<<10, 1<<10, cbor.ExtraDecErrorNone)
	value    = newCodec(MaxValue, 64, MaxValue, MaxValue, cbor.ExtraDecErrorUnknownField)
	outcomes = newCodec(MaxOutcome, 64, MaxOutcome, MaxOutcome, cbor.ExtraDecErrorUnknownField)
	shared   = newCodec(math.MaxInt, 64, math.MaxInt32, math.MaxInt32, cbor.ExtraDecErrorUnknownField)
)

func newCodec(limit, depth, elements, pairs int, refused cbor.ExtraDecErrorCond) *Codec {
	encoding := cbor.CoreDetEncOptions()
	encoding.TagsMd = cbor.TagsForbidden
	encoding.NilContainers = cbor.NilContainerAsNull
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
		TagsMd:            cbor.TagsForbidden,
		ExtraReturnErrors: refused,
		FieldNameMatching: cbor.FieldNameMatchingCaseSensitive,
		BigIntDec:         cbor.BigIntDecodePointer,
	}.DecMode()
	if err != nil {
		panic(err)
	}
	return &Codec{enc, dec, limit}
}

// Encode returns the encoding of v, or an error that wraps ErrEncoding if v cannot be encoded or is too long.
func (c *Codec) Encode(v any) ([]byte, error) {
	b, err := c.enc.Marshal(v)
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
	err := c.enc.MarshalToBuffer(v, b)
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

// Decode reads the value that v points to from b, all of it. On an error, which wraps ErrEncoding, the value
// may be partly filled and must not be used.
func (c *Codec) Decode(b []byte, v any) error {
	if len(b) > c.limit {
		return fmt.Errorf("%w: %d bytes, at most %d are accepted", ErrEncoding, len(b), c.limit)
	}
	if err := c.dec.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%w: %w", ErrEncoding, err)
	}
	return nil
}
