package engine

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// What may be sent
//
// Register takes a type if all its values arrive elsewhere as they left, but for what docs/writing-applications.md
// names. Package wire encodes them by fxamacker/cbor. What is said here of fields, their tags and their methods is that
// library's rule (its getFields and getEncodeFuncInternal); a test of internal/compute tries the one on the other.

var (
	marshaler     = reflect.TypeFor[encoding.BinaryMarshaler]()
	unmarshaler   = reflect.TypeFor[encoding.BinaryUnmarshaler]()
	cborMarshaler = reflect.TypeFor[interface{ MarshalCBOR() ([]byte, error) }]()
	cborReader    = reflect.TypeFor[interface{ UnmarshalCBOR([]byte) error }]()
	zeroer        = reflect.TypeFor[interface{ IsZero() bool }]()
	timeType      = reflect.TypeFor[time.Time]()
)

// handleIn finds a type that stands for shared values in what values of t lead to.
func handleIn(t reflect.Type, seen map[reflect.Type]bool) reflect.Type {
	if t.Implements(carried) || t.Implements(carrier) {
		return t
	}
	if seen[t] {
		return nil
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Map:
		if h := handleIn(t.Key(), seen); h != nil {
			return h
		}
		return handleIn(t.Elem(), seen)
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return handleIn(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if h := handleIn(t.Field(i).Type, seen); h != nil {
				return h
			}
		}
	}
	return nil
}

// notEncodable says why values of t could not be sent to another machine as they are.
func notEncodable(t reflect.Type) string { return types{}.refuse(t) }

// types are those that have been looked at, which breaks the circle of recursive ones.
type types map[reflect.Type]bool

// refuse says why values of t would not arrive as they are.
func (seen types) refuse(t reflect.Type) string {
	if why := swallows(t); why != "" {
		return why
	}
	if seen[t] || t == timeType || t.Implements(carrier) {
		return ""
	}
	seen[t] = true
	if t.Implements(carried) {
		return seen.refuseShared(pointee(t))
	}
	to := reflect.PointerTo(t)
	writes, reads := to.Implements(marshaler), to.Implements(unmarshaler)
	itself := writes && t.Implements(marshaler)
	switch h := handleIn(t, types{}); {
	case to.Implements(cborMarshaler) || to.Implements(cborReader):
		return fmt.Sprintf("%s has MarshalCBOR or UnmarshalCBOR; MarshalBinary and UnmarshalBinary may say how it is sent", t)
	case writes != reads:
		return fmt.Sprintf("%s has one of MarshalBinary and UnmarshalBinary; both or none say how it is sent", t)
	case itself && h != nil:
		return fmt.Sprintf("%s is inside %s, which says itself how it is sent; a handle is a field of what does not", h, t)
	case itself:
		return ""
	case h != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Map):
		return fmt.Sprintf("%s is inside %s, and what a job shares has to be found without a search through lists", h, t)
	}
	return seen.refuseKind(t)
}

// refuseShared is refuse for a handle, of what it leads to.
func (seen types) refuseShared(t reflect.Type) string {
	h, ok := reflect.Zero(t).Interface().(Handle)
	if !ok {
		return ""
	}
	to, ok := h.shared().(interface{ Holds() reflect.Type })
	if !ok {
		return "" // it was registered
	}
	if h := handleIn(to.Holds(), types{}); h != nil {
		return fmt.Sprintf("%s is inside %s, and what is shared cannot name what is shared", h, t)
	}
	return seen.refuse(to.Holds())
}

// refuseKind is refuse for what does not say itself how it is sent.
func (seen types) refuseKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Chan, reflect.Func, reflect.Interface, reflect.UnsafePointer, reflect.Complex64,
		reflect.Complex128, reflect.Uintptr:
		return fmt.Sprintf("%s is of kind %s; numbers, booleans, strings, and what is made of these can be sent", t, t.Kind())
	case reflect.Slice, reflect.Array:
		return seen.refuse(t.Elem())
	case reflect.Pointer:
		switch e := t.Elem(); e.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			if e.Kind() == reflect.Pointer || !saysItself(e) {
				return fmt.Sprintf("%s could lead to a nil, and would arrive as nil itself; %s can be sent", t, e)
			}
		}
		return seen.refuse(t.Elem())
	case reflect.Map:
		if in := pointed(t.Key()); in != nil {
			return fmt.Sprintf("the keys of %s have a %s, and would not be found; what == compares by value can be sent", t, in)
		}
		if why := seen.refuse(t.Key()); why != "" {
			return why
		}
		return seen.refuse(t.Elem())
	case reflect.Struct:
		return (&fields{seen: seen, names: map[string]bool{}}).refuse(t)
	}
	return ""
}

// saysItself says whether values of t are asked how they are sent, or what they share.
func saysItself(t reflect.Type) bool {
	if t == timeType {
		return true
	}
	to := reflect.PointerTo(t)
	for _, i := range []reflect.Type{marshaler, unmarshaler, carried, carrier} {
		if to.Implements(i) || t.Implements(i) {
			return true
		}
	}
	return false
}

// swallows refuses what a struct embeds besides others whose methods are the struct's, too: it alone would be asked, or
// none if there are two of them. Handles embed a Lead.
func swallows(t reflect.Type) string {
	if t.Kind() != reflect.Struct {
		return ""
	}
	for i := range t.NumField() {
		f := t.Field(i)
		bare := pointee(f.Type)
		if !f.Anonymous || bare.PkgPath() == reflect.TypeFor[Desc]().PkgPath() || !saysItself(bare) {
			continue
		}
		if t.NumField() > 1 || f.Type != bare || bare.Kind() == reflect.Interface { // which may be nil
			return fmt.Sprintf("%s embeds %s, which says itself how it is sent and would be all that is sent; "+
				"a field with a name can be sent", t, f.Type)
		}
	}
	return ""
}

func pointee(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// pointed finds in the type of a key what == compares by where it is.
func pointed(t reflect.Type) reflect.Type {
	switch {
	case t == timeType || t.Kind() == reflect.Pointer:
		return t
	case t.Kind() == reflect.Array:
		return pointed(t.Elem())
	case saysItself(t) && (t.Kind() != reflect.Struct || t.NumField() != 1 || !t.Field(0).Anonymous):
		return nil // it is not sent as what is in it
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			if in := pointed(t.Field(i).Type); in != nil {
				return in
			}
		}
	}
	return nil
}

// fields are those of one struct, with those of the structs that it embeds, which are sent as its own.
type fields struct {
	seen   types
	names  map[string]bool
	around []reflect.Type // the structs that embed the one that is looked at
	always int            // are sent whatever is in them
}

func (s *fields) refuse(t reflect.Type) string {
	s.around = append(s.around, t)
	defer func() { s.around = s.around[:len(s.around)-1] }()
	for i := range t.NumField() {
		f := t.Field(i)
		why := s.refuseField(f)
		switch {
		case why == "":
		case strings.HasPrefix(why, "field "): // of a struct inside
			return why
		case strings.HasPrefix(why, " "):
			return fmt.Sprintf("field %s of %s%s", f.Name, t, why)
		default: // of its type
			return fmt.Sprintf("field %s of %s: %s", f.Name, t, why)
		}
	}
	return ""
}

func (s *fields) refuseField(f reflect.StructField) string {
	tag := f.Tag.Get("cbor")
	if tag == "" {
		tag = f.Tag.Get("json")
	}
	name, rest, _ := strings.Cut(tag, ",")
	options := strings.Split(rest, ",")
	bare := pointee(f.Type)
	switch {
	case !f.IsExported():
		return " is unexported and would be lost"
	case tag == "-":
		return " has the tag \"-\" and would be lost; a field that is sent has another"
	case f.Anonymous && name == "" && bare.Kind() == reflect.Struct:
		return s.refuseEmbedded(f, bare)
	case name == "":
		name = f.Name
	}
	if slices.Contains(options, "keyasint") {
		n, err := strconv.Atoi(name)
		if err != nil {
			return " has the option keyasint, which wants a number before it"
		}
		name = fmt.Sprint("number ", n) // a space of its own
	}
	empty, zero := slices.Contains(options, "omitempty"), slices.Contains(options, "omitzero")
	switch {
	case s.names[name]:
		return fmt.Sprintf(" is called %q as another one is, and one would be lost; each has a name of its own", name)
	case (empty || zero) && !nothing(f.Type) || zero && reflect.PointerTo(bare).Implements(zeroer):
		return fmt.Sprintf(" has the option omitempty or omitzero, and would arrive changed; it is for integers, booleans, "+
			"strings and pointers, not for %s", f.Type)
	case !empty && !zero:
		s.always++
	}
	s.names[name] = true
	return s.seen.refuse(f.Type)
}

// refuseEmbedded is for a field whose fields are sent as those of what embeds it.
func (s *fields) refuseEmbedded(f reflect.StructField, bare reflect.Type) string {
	if slices.Contains(s.around, bare) {
		return " embeds the struct in itself, and would be lost; with a name or a tag it can be sent"
	}
	before, why := s.always, swallows(bare)
	if why == "" {
		why = s.refuse(bare)
	}
	if why == "" && f.Type != bare && s.always == before {
		return " is an embedded pointer to a struct all of which may be left out; with a name or a tag it can be sent"
	}
	return why
}

// nothing says whether all that is empty of a type is the same value.
func nothing(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer:
		return true
	case reflect.Bool, reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return !saysItself(t)
	}
	return false
}
