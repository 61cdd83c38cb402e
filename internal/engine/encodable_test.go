package engine_test

import (
	"encoding"
	"fmt"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
)

type (
	base  struct{ X int }
	Base  struct{ X int }
	Other struct{ X int }
	Empty struct{}
	Loop  struct {
		*Loop
		N int
	}
	List struct {
		V    int
		Next *List
	}
	Maybe struct {
		A int `json:",omitempty"`
	}
	// Stamp is a time as soon as it is sent.
	Stamp struct{ time.Time }
	// Sealed says itself how it is sent.
	Sealed struct{ c satin.Constant[int] }
	// Written can be written and not read.
	Written struct{ N int }
	// Foreign knows how it looks in CBOR.
	Foreign struct{ N int }
	// Zero is zero when it says so.
	Zero  int
	Bytes []byte
)

func (s Sealed) MarshalBinary() ([]byte, error)     { return s.c.MarshalBinary() }
func (s *Sealed) UnmarshalBinary(b []byte) error    { return s.c.UnmarshalBinary(b) }
func (Written) MarshalBinary() ([]byte, error)      { return nil, nil }
func (Foreign) MarshalCBOR() ([]byte, error)        { return []byte{0}, nil }
func (Zero) IsZero() bool                           { return true }
func (b Bytes) MarshalBinary() ([]byte, error)      { return b, nil }
func (b *Bytes) UnmarshalBinary(given []byte) error { *b = given; return nil }

type codec interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// register says what Register says of a function of such an argument.
func register[A any]() string { return registerFor(reflect.TypeFor[A]()) }

func registerFor(t reflect.Type) (text string) {
	defer func() {
		if p := recover(); p != nil {
			text = fmt.Sprint(p)
		}
	}()
	f := top
	engine.Describe("test", *(*unsafe.Pointer)(unsafe.Pointer(&f)), t, reflect.TypeFor[int](), false)
	return ""
}

func top() {}

// pair has two fields, which go vet would not have in a program.
func pair(a, b reflect.StructTag) reflect.Type {
	i := reflect.TypeFor[int]()
	return reflect.StructOf([]reflect.StructField{{Name: "A", Type: i, Tag: a}, {Name: "B", Type: i, Tag: b}})
}

// What would not arrive as it left is refused, in one line that says which field of which type, and what can be sent.
func TestRegisterRefuses(t *testing.T) {
	const before = `satin: Register("test"): the argument of github.com/satin-peer/satin/internal/engine_test.top ` +
		`cannot be sent to another machine: `
	for _, c := range []struct{ got, want string }{
		{register[struct{ a int }](), "field a of struct { a int } is unexported"},
		{register[struct{ base }](), "field base of struct { engine_test.base } is unexported"},
		{register[struct{ F func() }](), "field F of struct { F func() }: func() is of kind func; numbers"},
		{register[[]map[string]any](), "interface {} is of kind interface; numbers"},
		{register[struct {
			N int `json:"-"`
		}](), `has the tag "-" and would be lost`},
		{register[struct {
			N int `cbor:"-" json:"n"`
		}](), `has the tag "-" and would be lost`},
		{register[struct {
			//lint:ignore SA5008 a field that is called "-" is what this one is about
			N int `json:"-,"`
		}](), ""},
		{registerFor(pair(`json:"n"`, `json:"n"`)), `is called "n" as another one is`},
		{registerFor(pair(`json:"B"`, "")), `is called "B" as another one is`},
		{registerFor(pair(`json:"n" cbor:"m"`, `json:"n"`)), ""},
		{registerFor(pair(`cbor:"1,keyasint"`, `json:"1"`)), ""},
		{registerFor(pair(`cbor:"1,keyasint"`, `cbor:"01,keyasint"`)), `is called "number 1" as another one is`},
		{register[struct {
			A int `cbor:"a,keyasint"`
		}](), "wants a number before it"},
		{register[struct {
			A []int `json:",omitempty"`
		}](), "is for integers, booleans, strings and pointers, not for []int"},
		{register[struct {
			A Zero `json:",omitzero"`
		}](), "would arrive changed"},
		{register[struct {
			A *time.Time `json:",omitempty"`
			B Zero       `json:",omitempty"`
		}](), ""},
		{register[struct {
			A *time.Time `json:",omitzero"`
		}](), "would arrive changed"},
		{register[struct {
			Maybe
			S string `json:"s,omitempty"`
		}](), ""},
		{register[struct {
			Base
			Other
		}](), `field X of engine_test.Other is called "X" as another one is`},
		{register[struct {
			Base
			X int
		}](), `is called "X" as another one is`},
		{register[struct {
			Base `json:"base"`
			X    int
		}](), ""},
		{register[Loop](), "field Loop of engine_test.Loop embeds the struct in itself"},
		{register[struct{ *Empty }](), "embedded pointer to a struct all of which may be left out"},
		{register[struct{ *Maybe }](), "embedded pointer to a struct all of which may be left out"},
		{register[struct{ *Base }](), ""},
		{register[struct {
			satin.Constant[[]int]
			N int
		}](), "embeds satin.Constant[[]int], which says itself how it is sent and would be all that is sent"},
		{register[struct {
			Stamp
			N int
		}](), "embeds engine_test.Stamp, which says itself"},
		{register[struct {
			A struct {
				time.Time
				Bytes
			}
		}](), "embeds time.Time, which says itself"},
		{register[struct{ *Stamp }](), "embeds *engine_test.Stamp, which says itself"},
		{register[struct{ codec }](), "embeds engine_test.codec, which says itself"},
		{register[struct{ satin.Constant[[]int] }](), ""},
		{register[Stamp](), ""},
		{register[Sealed](), "satin.Constant[int] is inside engine_test.Sealed, which says itself how it is sent"},
		{register[[]Written](), "engine_test.Written has one of MarshalBinary and UnmarshalBinary"},
		{register[Foreign](), "engine_test.Foreign has MarshalCBOR"},
		{register[*[]int](), "*[]int could lead to a nil, and would arrive as nil itself; []int can be sent"},
		{register[map[string]**int](), "**int could lead to a nil"},
		{register[**satin.Constant[int]](), "could lead to a nil"},
		{register[*Bytes](), ""},
		{register[map[*int]int](), "the keys of map[*int]int have a *int, and would not be found"},
		{register[map[[2]struct{ T time.Time }]int](), "have a time.Time, and would not be found"},
		{register[map[netip.Addr]big.Int](), "field neg of big.Int is unexported"},
		{register[satin.Constant[struct{ n int }]](), "field n of struct { n int } is unexported"},
		{register[*satin.Constant[List]](), ""},
		{register[satin.Constant[struct{ In satin.Constant[int] }]](), "what is shared cannot name what is shared"},
		{register[struct {
			A map[netip.Addr]*time.Time
			B map[[2]int]struct{}
			C *List
		}](), ""},
	} {
		rest, prefixed := strings.CutPrefix(c.got, before)
		if (c.want == "") != (c.got == "") || c.got != "" && !prefixed || !strings.Contains(rest, c.want) ||
			strings.Contains(rest, "\n") {
			t.Errorf("%q, want %q in it", c.got, c.want)
		}
	}
}
