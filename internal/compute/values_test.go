package compute

import (
	"errors"
	"math"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
)

type (
	Inner struct {
		A int
		P *int
	}
	Outer struct {
		*Inner
		B []Tree `json:"b"`
	}
	Tree struct {
		At   *time.Time `json:"at,omitempty"`
		Kids map[string]*Tree
		More []Tree
	}
	Optional struct {
		S string `cbor:"1,keyasint,omitempty"`
		U uint8  `cbor:"2,keyasint,omitzero"`
	}
	Only   struct{ time.Time }
	Text   string
	Half   []byte
	Colour uint8
)

func (h Half) MarshalBinary() ([]byte, error)    { return h, nil }
func (c Colour) MarshalBinary() ([]byte, error)  { return []byte{byte(c) ^ 1, 7}, nil }
func (c *Colour) UnmarshalBinary(b []byte) error { *c = Colour(b[0] ^ 1); return nil }
func (o Optional) IsZero() bool                  { return o.S == "" }
func registrable(t reflect.Type) (refused string) {
	defer func() {
		if p := recover(); p != nil {
			refused = p.(string)
		}
	}()
	f := topLevel
	engine.Describe("test", *(*unsafe.Pointer)(unsafe.Pointer(&f)), t, t, true)
	return ""
}

func topLevel() {}

var (
	timeType = reflect.TypeFor[time.Time]()
	addrType = reflect.TypeFor[netip.Addr]()
	inner    = reflect.TypeFor[Inner]()
	outer    = reflect.TypeFor[Outer]()
)

var leaves = []reflect.Type{
	reflect.TypeFor[bool](), reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[uint64](),
	reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[string](), reflect.TypeFor[Text](),
	reflect.TypeFor[[]byte](), reflect.TypeFor[[3]byte](), timeType, reflect.TypeFor[time.Duration](),
	inner, outer, reflect.TypeFor[Tree](), reflect.TypeFor[Optional](),
	reflect.TypeFor[Only](), reflect.TypeFor[Half](), reflect.TypeFor[Colour](), addrType,
	reflect.TypeFor[struct{}](), reflect.TypeFor[any](), reflect.TypeFor[complex64](), reflect.TypeFor[chan int](),
}

// drawType makes types that Register may take, or not.
func drawType(t *rapid.T, deep int) reflect.Type {
	kind := rapid.IntRange(0, 7).Draw(t, "kind")
	if deep == 0 || kind < 2 {
		return rapid.SampledFrom(leaves).Draw(t, "leaf")
	}
	in := func() reflect.Type { return drawType(t, deep-1) }
	switch kind {
	case 2:
		return reflect.SliceOf(in())
	case 3:
		return reflect.ArrayOf(rapid.IntRange(0, 3).Draw(t, "length"), in())
	case 4:
		return reflect.PointerTo(in())
	case 5:
		if key := in(); key.Comparable() {
			return reflect.MapOf(key, in())
		}
	}
	var fields []reflect.StructField
	for i := range rapid.IntRange(0, 4).Draw(t, "fields") {
		f := reflect.StructField{Name: string(rune('A' + i)), Type: in()}
		f.Tag = rapid.SampledFrom([]reflect.StructTag{"", "", "", "", `json:"-"`, `json:"n"`, `json:"C"`,
			`json:",omitempty"`, `cbor:",omitzero"`, `cbor:"1,keyasint"`, `json:"1"`, `cbor:"-," json:"-"`}).Draw(t, "tag")
		e := f.Type
		if rapid.Bool().Draw(t, "embedded") && (e == inner || e == outer || e == reflect.PointerTo(inner)) {
			f.Anonymous, f.Name = true, strings.TrimPrefix(e.String(), "*compute.")
			f.Name = strings.TrimPrefix(f.Name, "compute.")
		}
		if !slices.ContainsFunc(fields, func(o reflect.StructField) bool { return o.Name == f.Name }) {
			fields = append(fields, f)
		}
	}
	return reflect.StructOf(fields)
}

// draw fills a value.
func draw(t *rapid.T, v reflect.Value, deep int) {
	some := func() int { return min(rapid.IntRange(-1, 3).Draw(t, "some"), deep) }
	switch k := v.Kind(); {
	case v.Type() == timeType:
		zone := rapid.SampledFrom([]int{0, 0, 3600, -5400, 1172}).Draw(t, "zone")
		at := time.Unix(rapid.Int64Range(-1<<36, 1<<38).Draw(t, "s"), rapid.Int64Range(0, 999999999).Draw(t, "ns"))
		if rapid.Bool().Draw(t, "time") {
			v.Set(reflect.ValueOf(at.In(time.FixedZone("", zone))))
		}
	case v.Type() == addrType:
		v.Set(reflect.ValueOf(netip.AddrFrom4([4]byte{10, 0, 0, rapid.Byte().Draw(t, "addr")})))
	case k == reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case v.CanInt():
		v.SetInt(rapid.Int64().Draw(t, "int"))
	case v.CanUint():
		v.SetUint(rapid.Uint64().Draw(t, "uint"))
	case v.CanFloat():
		v.SetFloat(rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{math.Copysign(0, -1), math.NaN(),
			math.Inf(-1)})).Draw(t, "float"))
	case k == reflect.String:
		v.SetString(string(rapid.SliceOfN(rapid.Byte(), 0, 4).Draw(t, "string")))
	case k == reflect.Array:
		for i := range v.Len() {
			draw(t, v.Index(i), deep-1)
		}
	case k == reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				draw(t, v.Field(i), deep-1)
			}
		}
	case k == reflect.Pointer && some() > 0:
		v.Set(reflect.New(v.Type().Elem()))
		draw(t, v.Elem(), deep-1)
	case k == reflect.Slice:
		if n := some(); n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				draw(t, v.Index(i), deep-1)
			}
		}
	case k == reflect.Map:
		if n := some(); n >= 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range n {
				key, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				draw(t, key, deep-1)
				draw(t, e, deep-1)
				v.SetMapIndex(key, e)
			}
		}
	}
}

// equal says whether two values are the same wherever a program looks, but for which NaN one is and what a zone is
// called.
func equal(a, b reflect.Value) bool {
	switch k := a.Kind(); {
	case a.Type() == timeType:
		s, t := a.Interface().(time.Time), b.Interface().(time.Time)
		_, x := s.Zone()
		_, y := t.Zone()
		return s.Equal(t) && x == y
	case a.CanFloat():
		x, y := a.Float(), b.Float()
		return math.Float64bits(x) == math.Float64bits(y) || math.IsNaN(x) && math.IsNaN(y)
	case k == reflect.Pointer, k == reflect.Slice, k == reflect.Map:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() && b.IsNil()
		}
	}
	switch a.Kind() {
	case reflect.Pointer:
		return equal(a.Elem(), b.Elem())
	case reflect.Slice, reflect.Array:
		for i := range min(a.Len(), b.Len()) {
			if !equal(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return a.Len() == b.Len()
	case reflect.Map:
		for i := a.MapRange(); i.Next(); {
			if e := b.MapIndex(i.Key()); i.Key().Equal(i.Key()) && (!e.IsValid() || !equal(i.Value(), e)) {
				return false
			}
		}
		return a.Len() == b.Len()
	case reflect.Struct:
		if a.Type() == addrType {
			return a.Interface() == b.Interface()
		}
		for i := range a.NumField() {
			if !equal(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	}
	return a.Equal(b)
}

// TestValuesArrive: what Register takes arrives elsewhere as it left, or does not leave for a reason that is known.
func TestValuesArrive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := drawType(t, 3)
		if why := registrable(kind); why != "" {
			if strings.Contains(why, "\n") {
				t.Fatal(why)
			}
			return
		}
		for range 5 {
			in, out := reflect.New(kind), reflect.New(kind)
			draw(t, in.Elem(), rapid.SampledFrom([]int{2, 5, 9}).Draw(t, "deep"))
			b, err := wire.Shared().Encode(in.Elem().Interface())
			if err != nil && strings.Contains(err.Error(), "time") {
				return // see TestTimes of package wire
			}
			if err == nil {
				err = wire.Shared().Decode(b, out.Interface())
			}
			if err != nil || !equal(in.Elem(), out.Elem()) {
				t.Fatalf("%v: %+v arrived as %+v: %v", kind, in.Elem(), out.Elem(), err)
			}
		}
	})
}

type node struct{ Next *node }

// TestDeepValuesStay: a job whose argument nobody could read stays, and such a result is its job's panic. A result need
// not be text.
func TestDeepValuesStay(t *testing.T) {
	var n *node
	for range wire.MaxLevels + 1 {
		n = &node{n}
	}
	e := &Engine{sharing: &sharing{}}
	if _, err := e.jobOf(engine.Job{Func: "deep", Arg: n.Next}); err != nil {
		t.Error(err)
	}
	if _, err := e.jobOf(engine.Job{Func: "deep", Arg: n}); !errors.Is(err, wire.ErrEncoding) {
		t.Errorf("it leaves, %v", err)
	}
	b, _ := e.sharing.encodeOutcome("here", job.ID{}, "text", engine.Outcome{Result: "\xff"})
	text, _, _, bad := DecodeOutcome(job.RunID{}, b, engine.Func{Name: "text", Result: reflect.TypeFor[string]()})
	if text != "\xff" || bad != nil {
		t.Errorf("%q, %v", text, bad)
	}
	b, returned := e.sharing.encodeOutcome("here", job.ID{}, "deep", engine.Outcome{Result: n})
	_, _, panicked, bad := DecodeOutcome(job.RunID{}, b, engine.Func{Name: "deep", Result: reflect.TypeFor[*node]()})
	if returned || bad != nil || panicked == nil ||
		!strings.Contains(panicked.Error(), "its result cannot travel: encoding: its lists, maps and structs are in each "+
			"other more than 64 levels deep") {
		t.Errorf("%v, %v", panicked, bad)
	}
}
