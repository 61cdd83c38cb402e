package satin

import (
	"encoding"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A funcDesc is what the engine knows of a registered function.
type funcDesc struct {
	name     string         // as registered
	symbol   string         // the linker's name, as it appears in stack traces
	key      unsafe.Pointer // the function's identity in this process
	index    int            // in order of registration
	arg, res reflect.Type
	mayFail  bool // it has an error result
	ops      typedOps
}

// registry is the table of registered functions: replaced as a whole by each Register, read without a lock.
type registry struct {
	byKey    map[unsafe.Pointer]*funcDesc
	byName   map[string]*funcDesc
	bySymbol map[string]*funcDesc
}

var (
	registered atomic.Pointer[registry]
	registerMu sync.Mutex
)

// Register makes fn a job function under a name that is the same in every process of a swarm, by custom
// "application.function". Call it in an init function.
//
// fn must be a top-level function: closures, method values and instances of generic functions cannot travel. Its
// argument and result must be types that can be encoded for another machine: numbers, booleans, strings, and
// arrays, slices, maps, pointers and structs of these. A struct must not have unexported fields (they would be
// lost on the way) unless it is an encoding.BinaryMarshaler and encoding.BinaryUnmarshaler. Interfaces,
// functions, channels, complex numbers and unsafe pointers are refused.
//
// Register panics, with a message that names the function and what is wrong, if fn breaks these rules or if the name
// or the function is registered already: a program that starts has only jobs that can leave.
func Register[A, R any](name string, fn func(*Frame, A) R) {
	d := describe(name, funcKey(fn), reflect.TypeFor[A](), reflect.TypeFor[R]())
	d.ops = &typed[A, R]{d, fn}
	d.enter()
}

// RegisterErr is Register for a function that may return an error, for SpawnErr and ForkErr.
func RegisterErr[A, R any](name string, fn func(*Frame, A) (R, error)) {
	d := describe(name, funcKey(fn), reflect.TypeFor[A](), reflect.TypeFor[R]())
	d.mayFail = true
	d.ops = &typedErr[A, R]{typed[A, outcome[R]]{d, func(f *Frame, a A) outcome[R] {
		res, err := fn(f, a)
		if err != nil {
			err = f.name(d, err)
		}
		return outcome[R]{res, err}
	}}}
	d.enter()
}

// Func describes a registered function.
type Func struct {
	Name    string       // as registered
	Arg     reflect.Type // type of its argument
	Result  reflect.Type // type of its result, without the error
	MayFail bool         // registered by RegisterErr
}

// Lookup finds a registered function by its name.
func Lookup(name string) (Func, bool) {
	d := lookupName(name)
	if d == nil {
		return Func{}, false
	}
	return Func{d.name, d.arg, d.res, d.mayFail}, true
}

// funcKey is the identity of a function value: for a top-level function the same in every use.
func funcKey[F any](fn F) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&fn)) }

func describe(name string, key unsafe.Pointer, arg, res reflect.Type) *funcDesc {
	if key == nil {
		panic(fmt.Sprintf("satin: Register(%q): the function is nil", name))
	}
	d := &funcDesc{name: name, key: key, symbol: symbolOf(key), arg: arg, res: res}
	if name == "" {
		panic(fmt.Sprintf("satin: Register of %s: the name is empty", d.symbol))
	}
	if why := notTopLevel(d.symbol); why != "" {
		panic(fmt.Sprintf("satin: Register(%q): %s is %s; only a top-level function can travel", name, d.symbol, why))
	}
	for what, t := range map[string]reflect.Type{"argument": arg, "result": res} {
		if why := notEncodable(t, map[reflect.Type]bool{}); why != "" {
			panic(fmt.Sprintf("satin: Register(%q): the %s of %s cannot be sent to another machine: %s", name, what,
				d.symbol, why))
		}
	}
	return d
}

// enter adds d to the table of registered functions.
func (d *funcDesc) enter() {
	registerMu.Lock()
	defer registerMu.Unlock()
	next := &registry{map[unsafe.Pointer]*funcDesc{}, map[string]*funcDesc{}, map[string]*funcDesc{}}
	if old := registered.Load(); old != nil {
		if o := old.byName[d.name]; o != nil {
			panic(fmt.Sprintf("satin: Register(%q): the name is taken by %s", d.name, o.symbol))
		}
		if o := old.byKey[d.key]; o != nil {
			panic(fmt.Sprintf("satin: Register(%q): %s is registered already as %q", d.name, d.symbol, o.name))
		}
		for _, o := range old.byKey {
			next.add(o)
		}
		d.index = len(old.byKey)
	}
	next.add(d)
	registered.Store(next)
}

func (t *registry) add(d *funcDesc) { t.byKey[d.key], t.byName[d.name], t.bySymbol[d.symbol] = d, d, d }

func lookupKey(key unsafe.Pointer) *funcDesc {
	if t := registered.Load(); t != nil {
		return t.byKey[key]
	}
	return nil
}

func lookupName(name string) *funcDesc {
	if t := registered.Load(); t != nil {
		return t.byName[name]
	}
	return nil
}

// mustLookup finds the description of a function that is being spawned.
func mustLookup(key unsafe.Pointer) *funcDesc {
	if d := lookupKey(key); d != nil {
		return d
	}
	if key == nil {
		panic("satin: Spawn of a nil function")
	}
	s := symbolOf(key)
	if why := notTopLevel(s); why != "" {
		panic(fmt.Sprintf("satin: %s is %s; only a registered top-level function can be spawned", s, why))
	}
	panic(fmt.Sprintf(
		"satin: %s is not registered: call satin.Register(\"app.name\", f), or RegisterErr, in an init function", s))
}

// symbolOf gives the linker's name of the function behind a key.
func symbolOf(key unsafe.Pointer) string {
	if f := runtime.FuncForPC(*(*uintptr)(key)); f != nil {
		return f.Name()
	}
	return "an unknown function"
}

// notTopLevel says what kind of function a symbol names if it is not a top-level one.
func notTopLevel(symbol string) string {
	local := symbol[strings.LastIndexByte(symbol, '/')+1:]
	switch {
	case strings.HasSuffix(local, "-fm"):
		return "a method value"
	case strings.Contains(local, "["):
		return "an instance of a generic function"
	case strings.Contains(local, ".func") || strings.Contains(local, ".gowrap") || strings.Contains(local, "-range"):
		return "a closure"
	case strings.Contains(local, ").") || strings.Count(local, ".") > 1:
		return "a method"
	}
	return ""
}

var (
	marshaler   = reflect.TypeFor[encoding.BinaryMarshaler]()
	unmarshaler = reflect.TypeFor[encoding.BinaryUnmarshaler]()
)

// notEncodable says why values of t could not be sent to another machine; seen breaks the circle of recursive types.
func notEncodable(t reflect.Type, seen map[reflect.Type]bool) string {
	if seen[t] || t.Implements(marshaler) && reflect.PointerTo(t).Implements(unmarshaler) {
		return ""
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Chan, reflect.Func, reflect.Interface, reflect.UnsafePointer, reflect.Complex64,
		reflect.Complex128, reflect.Uintptr:
		return fmt.Sprintf("%s is of kind %s", t, t.Kind())
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return notEncodable(t.Elem(), seen)
	case reflect.Map:
		if why := notEncodable(t.Key(), seen); why != "" {
			return why
		}
		return notEncodable(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if !f.IsExported() {
				return fmt.Sprintf("field %s of %s is unexported and would be lost", f.Name, t)
			}
			if why := notEncodable(f.Type, seen); why != "" {
				return why
			}
		}
	}
	return ""
}
