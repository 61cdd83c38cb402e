package wire

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"
)

// What cannot be read where it arrives
//
// The encoder writes values that no decoder takes as they were: what nests too deep, a circle of pointers for ever, and
// times for which RFC 3339 has no text. Most types have no such values. The others are looked through before, as far
// as they may have some.

// A shape is what the values of a type may be at worst.
type shape struct {
	levels int   // they nest so deep; endless: there is no bound
	times  bool  // there are times in them
	parts  []int // of a struct, for each field, see higher
}

const (
	endless = 1 << 30
	hidden  = -1 // a field that is not sent
)

// shapes remembers those of types.
type shapes struct{ known sync.Map } // by reflect.Type

var (
	timeType  = reflect.TypeFor[time.Time]()
	marshaler = reflect.TypeFor[encoding.BinaryMarshaler]()
)

// refuse says why a value could not be read where it arrives.
func (s *shapes) refuse(v any) error {
	if s == nil || v == nil {
		return nil
	}
	return s.walk(reflect.ValueOf(v), MaxLevels)
}

func (s *shapes) of(t reflect.Type) shape {
	if known, ok := s.known.Load(t); ok {
		return known.(shape)
	}
	made := shapeOf(t, map[reflect.Type]shape{})
	s.known.Store(t, made)
	return made
}

// shapeOf makes the shape of a type. What is on the way to it has no bound if it leads there again; then it does not
// matter whether there are times in it.
func shapeOf(t reflect.Type, made map[reflect.Type]shape) (s shape) {
	if s, ok := made[t]; ok {
		return s
	}
	made[t] = shape{levels: endless}
	defer func() { made[t] = s }()
	if t == timeType {
		return shape{times: true}
	}
	if reflect.PointerTo(t).Implements(marshaler) {
		return shape{}
	}
	in := func(t reflect.Type, deeper int) {
		e := shapeOf(t, made)
		s.levels, s.times = max(s.levels, deeper, min(e.levels+deeper, endless)), s.times || e.times
	}
	switch t.Kind() {
	case reflect.Pointer:
		in(t.Elem(), 0)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() != reflect.Uint8 { // bytes are a string
			in(t.Elem(), 1)
		}
	case reflect.Map:
		in(t.Key(), 1)
		in(t.Elem(), 1)
	case reflect.Struct:
		s.levels = 1
		for i := range t.NumField() {
			f := t.Field(i)
			s.parts = append(s.parts, higher(f))
			if s.parts[i] != hidden {
				in(f.Type, 1-s.parts[i])
			}
		}
	}
	return s
}

// higher says by how many levels a field is higher than others: by 1 if its fields are sent as those of the struct
// around it, see getFields of fxamacker/cbor.
func higher(f reflect.StructField) int {
	tag, t := f.Tag.Get("cbor"), f.Type
	if tag == "" {
		tag = f.Tag.Get("json")
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	embedded := f.Anonymous && t.Kind() == reflect.Struct
	switch {
	case !f.IsExported() && !embedded:
		return hidden
	case embedded && (tag == "" || strings.HasPrefix(tag, ",")):
		return 1
	}
	return 0
}

var errDeep = fmt.Errorf("its lists, maps and structs are in each other more than %d levels deep", MaxLevels)

// walk is refuse for a part of a value, which may have so many levels.
func (s *shapes) walk(v reflect.Value, left int) (err error) {
	shape := s.of(v.Type())
	if shape.levels <= left && !shape.times {
		return nil
	}
	switch k := v.Kind(); {
	case (k == reflect.Pointer || k == reflect.Slice || k == reflect.Map) && v.IsNil():
		return nil
	case k == reflect.Pointer && v.Type().Elem() == timeType && v.Elem().Interface().(time.Time).IsZero():
		return errors.New("a pointer to the zero time would arrive as nil")
	case k == reflect.Pointer:
		return s.walk(v.Elem(), left)
	case v.Type() == timeType:
		return refuseTime(v.Interface().(time.Time))
	case left == 0:
		return errDeep
	case k == reflect.Map:
		for i := v.MapRange(); i.Next() && err == nil; {
			if err = s.walk(i.Key(), left-1); err == nil {
				err = s.walk(i.Value(), left-1)
			}
		}
	case k == reflect.Struct:
		for i := 0; i < v.NumField() && err == nil; i++ {
			if higher := shape.parts[i]; higher != hidden {
				err = s.walk(v.Field(i), left-1+higher)
			}
		}
	default:
		for i := 0; i < v.Len() && err == nil; i++ {
			err = s.walk(v.Index(i), left-1)
		}
	}
	return err
}

// refuseTime says why a time would arrive as another one.
func refuseTime(t time.Time) error {
	const day = 24 * 60 * 60
	_, offset := t.Zone()
	switch {
	case t.Year() < 0 || t.Year() > 9999:
		return fmt.Errorf("a time in the year %d, and not from 0 to 9999", t.Year())
	case offset%60 != 0 || offset <= -day || offset >= day || t.IsZero() && offset != 0:
		return fmt.Errorf("the time %v is %d s from UTC, and not whole minutes, less than a day", t, offset)
	}
	return nil
}
