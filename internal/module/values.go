package module

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/wasm"
)

// What jobs of modules share is bytes, as constants, objects and lattices of package satin: so it travels, is
// compared, combined and forgotten like that of natives. What an object or a lattice does is the module's: its
// methods have numbers, which go with each write and each value.

// A Name is what a shared value is called, 32 bytes that say what it is.
type Name = engine.Name

// raw is a constant, or the state of an object.
type raw []byte

// octets are bytes that can be compared.
type octets string

// MarshalBinary gives the bytes.
func (o octets) MarshalBinary() ([]byte, error) { return []byte(o), nil }

// UnmarshalBinary is the other half.
func (o *octets) UnmarshalBinary(b []byte) error {
	*o = octets(b)
	return nil
}

// A change is what is written to an object. The state after it is known where it is written, and only there.
type change struct {
	Module Hash
	Method uint32
	Write  octets
	next   raw
}

// plainChange is a change as it travels.
type plainChange struct {
	Module Hash   `cbor:"1,keyasint"`
	Method uint32 `cbor:"2,keyasint"`
	Write  octets `cbor:"3,keyasint"`
}

// MarshalBinary leaves out what is known here only.
func (c change) MarshalBinary() ([]byte, error) {
	return loner{}.codec().Encode(plainChange{c.Module, c.Method, c.Write})
}

// UnmarshalBinary is the other half.
func (c *change) UnmarshalBinary(b []byte) error {
	var p plainChange
	err := loner{}.codec().Decode(b, &p)
	*c = change{Module: p.Module, Method: p.Method, Write: p.Write}
	return err
}

// topic is what a lattice is about.
type topic struct {
	Module Hash
	Method uint32
	About  octets
}

// grown is a lattice's value. No bytes are the least one.
type grown struct {
	Module Hash
	Method uint32
	Value  octets
}

const (
	objectName  = "satin1.object"
	latticeName = "satin1.lattice"
)

func init() {
	satin.RegisterObject(objectName, moved)
	satin.RegisterLattice(latticeName, joined, valid)
}

// moved makes the state after a write.
func moved(old raw, c change) raw {
	if c.next != nil {
		return c.next
	}
	return raw(mustCall(c.Module, exportMove, c.Method, answered(old, []byte(c.Write))))
}

// joined joins two values.
func joined(a, b grown) grown {
	switch {
	case a.Value == "":
		return b
	case b.Value == "":
		return a
	}
	a.Value = octets(mustCall(a.Module, exportJoin, a.Method, answered([]byte(a.Value), []byte(b.Value))))
	return a
}

// valid says whether an offer holds. A module that cannot tell says so by any byte, or has no function that could.
func valid(t topic, v grown) error {
	if v.Module != t.Module || v.Method != t.Method {
		return errors.New("it is a value of another lattice")
	}
	m, err := here(t.Module)
	if err != nil || v.Value == "" {
		return err
	}
	if !m.has(exportValid) {
		return engine.ErrUnchecked
	}
	out, err := m.callMethod(nil, exportValid, t.Method, answered([]byte(t.About), []byte(v.Value)))
	if len(out) > 0 && err == nil {
		return engine.ErrUnchecked
	}
	return err
}

// here finds a module among those that this process runs.
func here(h Hash) (*Module, error) {
	switch x, _ := provided.Load(h); x := x.(type) {
	case *Module:
		return x, nil
	case error:
		return nil, x
	}
	return nil, fmt.Errorf("module %s is not here", h)
}

func mustCall(h Hash, name string, method uint32, b []byte) []byte {
	m, err := here(h)
	if err == nil {
		if b, err = m.callMethod(nil, name, method, b); err == nil {
			return b
		}
	}
	panic(err)
}

// callMethod calls an export that gets a number and bytes, in a fresh instance.
func (m *Module) callMethod(s Shared, name string, method uint32, b []byte) ([]byte, error) {
	if !m.has(name) {
		return nil, &Error{m.Hash, "it exports no function " + name}
	}
	in, err := m.get()
	if err != nil {
		return nil, err
	}
	at, err := in.place(b)
	if err != nil {
		return nil, err
	}
	in.shared = s
	stack := [3]uint64{uint64(method), uint64(at), uint64(len(b))}
	if err := in.raw(name, stack[:], 3, wasm.I64); err != nil {
		return nil, err
	}
	out, err := in.outcome(stack[0], maxValue)
	return m.done(in, out, err)
}

// guarded asks a module whether a job may begin: its guard gives any byte if so.
func guarded(w *engine.Worker, c Call) bool {
	if !c.Guarded {
		return true
	}
	m, err := here(c.Module)
	if err != nil {
		panic(err)
	}
	s := newValues(w, m, c.Names)
	defer s.release()
	out, err := m.callMethod(s, exportGuard, c.Fn, c.Arg)
	if err != nil {
		panic(err)
	}
	return len(out) > 0
}

// frameOf is a worker as package satin's jobs see it: a Frame is the beginning of its worker, which package satin
// sees to.
func frameOf(w *engine.Worker) *satin.Frame { return (*satin.Frame)(unsafe.Pointer(w)) }

// hasGuard says whether a call has a guard: see [engine.EnterGuard].
func hasGuard(arg any) bool {
	c, fits := arg.(Call)
	return fits && c.Guarded
}

// Carried gives the handles that go with a call: it names them, and its argument may have them anywhere.
func (c Call) Carried() (all []engine.Handle) {
	for b := c.Names; len(b) >= nameSize; b = b[nameSize:] {
		name := Name(b[:nameSize])
		if h := c.from.find(name); h != nil {
			all = append(all, h)
		} else {
			all = append(all, engine.LeadTo(bare(name)))
		}
	}
	return all
}

const nameSize = len(Name{})

// among says whether a name is one of some.
func among(names []byte, name Name) bool {
	for ; len(names) >= nameSize; names = names[nameSize:] {
		if Name(names[:nameSize]) == name {
			return true
		}
	}
	return false
}

// A bare name is that of a value that came from elsewhere.
type bare Name

// Leave is engine.Shared's.
func (b bare) Leave(*engine.Shelf) (engine.Leaving, bool, error) {
	return engine.Leaving{Name: Name(b)}, true, nil
}
