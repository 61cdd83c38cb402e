package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
)

// A Name is the hash by which shared values are known.
type Name [sha256.Size]byte

// NameOf names values together, under what they are for: the same values give the same name in every process.
// They must be of types that can travel. Maps are taken in the order of their keys' bytes, nil and empty
// slices are the same, and so are pointers to equal values.
func NameOf(purpose string, values ...any) (Name, error) {
	b := append([]byte(purpose), 0)
	for _, v := range values {
		var err error
		if b, err = canonical(b, reflect.ValueOf(v)); err != nil {
			return Name{}, err
		}
	}
	return sha256.Sum256(b), nil
}

// canonical appends bytes that two values share only if they are equal. What has a length says it first.
func canonical(b []byte, v reflect.Value) ([]byte, error) {
	if !v.IsValid() {
		return append(b, 0), nil
	}
	if t := v.Type(); t.Implements(marshaler) && (t.Kind() != reflect.Pointer || !v.IsNil()) {
		text, err := v.Interface().(encoding.BinaryMarshaler).MarshalBinary()
		return sized(b, text), err
	}
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1), nil
		}
		return append(b, 0), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.BigEndian.AppendUint64(b, uint64(v.Int())), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return binary.BigEndian.AppendUint64(b, v.Uint()), nil
	case reflect.Float32, reflect.Float64:
		return binary.BigEndian.AppendUint64(b, math.Float64bits(v.Float())), nil
	case reflect.String:
		return sized(b, []byte(v.String())), nil
	case reflect.Pointer:
		if v.IsNil() {
			return append(b, 0), nil
		}
		return canonical(append(b, 1), v.Elem())
	case reflect.Slice, reflect.Array:
		return canonicalList(b, v)
	case reflect.Map:
		return canonicalMap(b, v)
	case reflect.Struct:
		var err error
		for i := range v.NumField() {
			if b, err = canonical(b, v.Field(i)); err != nil {
				return nil, err
			}
		}
		return b, nil
	}
	return nil, fmt.Errorf("satin: a value of type %s cannot travel, so it cannot be shared", v.Type())
}

func sized(b, text []byte) []byte {
	return append(binary.BigEndian.AppendUint64(b, uint64(len(text))), text...)
}

func canonicalList(b []byte, v reflect.Value) ([]byte, error) {
	b = binary.BigEndian.AppendUint64(b, uint64(v.Len()))
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
		return append(b, v.Bytes()...), nil
	}
	var err error
	for i := range v.Len() {
		if b, err = canonical(b, v.Index(i)); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func canonicalMap(b []byte, v reflect.Value) ([]byte, error) {
	entries := make([][]byte, 0, v.Len())
	for i := v.MapRange(); i.Next(); { // to look up a NaN finds nothing
		e, err := canonical(nil, i.Key())
		if err == nil {
			e, err = canonical(sized(nil, e), i.Value())
		}
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, bytes.Compare)
	b = binary.BigEndian.AppendUint64(b, uint64(len(entries)))
	for _, e := range entries {
		b = sized(b, e)
	}
	return b, nil
}
