package engine

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A Desc is what the engine knows of a registered function.
type Desc struct {
	Func
	Key    unsafe.Pointer // the function's identity in this process
	Ops    Ops
	symbol string // the linker's name, as it appears in stack traces
	index  int    // in order of registration
}

// registry is the table of registered functions and errors: replaced as a whole by each Register, read without a
// lock.
type registry struct {
	byKey     map[unsafe.Pointer]*Desc
	byName    map[string]*Desc
	bySymbol  map[string]*Desc
	sentinels []sentinel

	methods     map[string]*Method // of shared objects and lattices
	methodByKey map[unsafe.Pointer]*Method
	guards      map[string]*guard // by name of the function; replaced, never changed
}

// clone copies the table; that of nil is empty.
func (t *registry) clone() *registry {
	if t == nil {
		return &registry{map[unsafe.Pointer]*Desc{}, map[string]*Desc{}, map[string]*Desc{}, nil,
			map[string]*Method{}, map[unsafe.Pointer]*Method{}, nil}
	}
	return &registry{maps.Clone(t.byKey), maps.Clone(t.byName), maps.Clone(t.bySymbol), slices.Clone(t.sentinels),
		maps.Clone(t.methods), maps.Clone(t.methodByKey), t.guards}
}

var (
	registered atomic.Pointer[registry]
	registerMu sync.Mutex
)

// Func describes a registered function.
type Func struct {
	Name    string       // as registered
	Arg     reflect.Type // type of its argument
	Result  reflect.Type // type of its result, without the error
	MayFail bool         // registered by RegisterErr
	// Check says what is wrong with an argument from outside, of type Arg; nil if nobody has said how to tell.
	Check func(arg any) error
	Alike Likeness
	// Unlike says why what comes of a root job with such an argument cannot be compared; nil: it can, as Alike says.
	Unlike func(arg any) string
	// Proves says whether a result proves itself, or what is wrong with it; Essence, what all right ones have in
	// common. Either may be nil.
	Proves  func(arg, result any) (bool, error)
	Essence func(arg, result any) (any, error)
	// Small is an argument that one core needs some 20 ms for, to tell how fast it is; nil: nobody has named one.
	Small any
}

// Likeness says how the results of equal jobs of a function compare.
type Likeness uint8

// The ways to compare results.
const (
	Unknown Likeness = iota // nobody has said that they do
	Rounded                 // to the bit, between machines that round alike
	Exact                   // to the bit
)

// Judged says whether Judge has anything to say.
func (f *Func) Judged() bool { return f.Proves != nil || f.Essence != nil }

// ErrNothing is what Proves or Essence says of a result that says nothing.
var ErrNothing = errors.New("satin: the result says nothing")

// Judge says of a single result from outside what all right ones have in common, whether it proves itself, or why it is
// wrong. The application's code may panic.
func (f *Func) Judge(arg, result any) (essence any, proven bool, err error) {
	if f.Proves != nil {
		proven, err = f.Proves(arg, result)
	}
	if f.Essence == nil || proven || err != nil {
		return result, proven, err
	}
	essence, err = f.Essence(arg, result)
	return essence, false, err
}

// Refuses says what is wrong with an argument from outside; nil if nothing is, or nobody knows. A check that panics
// refuses.
func (f *Func) Refuses(arg any) (err error) {
	if f.Check == nil {
		return nil
	}
	if p := panicOf(func() { err = f.Check(arg) }); p != nil {
		return fmt.Errorf("it cannot be checked: %v", p)
	}
	return err
}

// Differs is Unlike of a function that may not have it. One that panics says so.
func (f *Func) Differs(arg any) (why string) {
	if f.Unlike == nil {
		return ""
	}
	if p := panicOf(func() { why = f.Unlike(arg) }); p != nil {
		return fmt.Sprintf("it cannot be told: %v", p)
	}
	return why
}

// panicOf runs code of an application that is no job's, and says what it panics with; nil: it does not.
func panicOf(code func()) (p any) {
	defer func() { p = recover() }()
	code()
	return nil
}

// Lookup finds a registered function by its name.
func Lookup(name string) (Func, bool) {
	d := lookupName(name)
	if d == nil {
		return Func{}, false
	}
	return d.Func, true
}

// Describe checks what is to be registered, and panics if it cannot be a job's function.
func Describe(name string, key unsafe.Pointer, arg, res reflect.Type, mayFail bool) *Desc {
	if key == nil {
		panic(fmt.Sprintf("satin: Register(%q): the function is nil", name))
	}
	d := &Desc{Func: Func{Name: name, Arg: arg, Result: res, MayFail: mayFail}, Key: key, symbol: symbolOf(key)}
	if name == "" {
		panic(fmt.Sprintf("satin: Register of %s: the name is empty", d.symbol))
	}
	if why := notTopLevel(d.symbol); why != "" {
		panic(fmt.Sprintf("satin: Register(%q): %s is %s; only a top-level function can travel", name, d.symbol, why))
	}
	for what, t := range map[string]reflect.Type{"argument": arg, "result": res} {
		if why := notEncodable(t); why != "" {
			panic(fmt.Sprintf("satin: Register(%q): the %s of %s cannot be sent to another machine: %s", name, what,
				d.symbol, why))
		}
	}
	return d
}

// Enter adds d, whose records ops handles, to the table of registered functions.
func (d *Desc) Enter(ops Ops) {
	d.Ops = ops
	registerMu.Lock()
	defer registerMu.Unlock()
	next := registered.Load().clone()
	if o := next.byName[d.Name]; o != nil {
		panic(fmt.Sprintf("satin: Register(%q): the name is taken by %s", d.Name, o.symbol))
	}
	if o := next.byKey[d.Key]; o != nil {
		panic(fmt.Sprintf("satin: Register(%q): %s is registered already as %q", d.Name, d.symbol, o.Name))
	}
	d.index = len(next.byKey)
	next.add(d)
	registered.Store(next)
}

func (t *registry) add(d *Desc) { t.byKey[d.Key], t.byName[d.Name], t.bySymbol[d.symbol] = d, d, d }

func lookupKey(key unsafe.Pointer) *Desc {
	if t := registered.Load(); t != nil {
		return t.byKey[key]
	}
	return nil
}

func lookupName(name string) *Desc {
	if t := registered.Load(); t != nil {
		return t.byName[name]
	}
	return nil
}

// MustLookup finds the description of a function that is being spawned.
func MustLookup(key unsafe.Pointer) *Desc {
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

// notTopLevel says what kind of function a symbol names if it is not a top-level one. The name of its package may have
// a hyphen, no name in a program has one.
func notTopLevel(symbol string) string {
	_, local, _ := strings.Cut(symbol[strings.LastIndexByte(symbol, '/')+1:], ".")
	switch {
	case strings.HasSuffix(local, "-fm"):
		return "a method value"
	case strings.Contains(local, "["):
		return "an instance of a generic function"
	case strings.Contains(local, ".func") || strings.Contains(local, ".gowrap") || strings.Contains(local, "-range"):
		return "a closure"
	case strings.Contains(local, "."):
		return "a method"
	}
	return ""
}

// Names gives the names of all registered functions, in no order.
func Names() []string {
	var all []string
	if t := registered.Load(); t != nil {
		for name := range t.byName {
			all = append(all, name)
		}
	}
	return all
}
