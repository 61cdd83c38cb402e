package satin

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/satin-peer/satin/internal/engine"
)

// What jobs share
//
// A job reads what its argument names, and a version is a value: so a job that reads a Constant or an Object is as
// much a function of its argument as one that does not. Inside a process handles lead to values by reference. They
// travel as names, which are hashes of what they name: the value is fetched by the peers whose jobs read it.

// handle makes a handle of a type, which the engine finds in arguments and results.
type handle[S engine.Shared] = engine.Lead[S]

// A Constant is a handle of a value that many jobs read and none changes: a database, a scene, a formula. It may be
// a job's argument, or a field in it, but not in slices or maps. Its type is such as Register takes.
type Constant[T any] struct{ handle[*version[T]] }

// ShareConstant makes v a constant, whose memory belongs to the runtime from now on: nobody may change it. Equal values
// of one type are one constant, wherever they are shared. It is encoded when a job that names it leaves.
func ShareConstant[T any](f *Frame, v T) Constant[T] {
	return Constant[T]{engine.LeadTo(newVersion(f, v, constantOf[T]()))}
}

// NewConstant is ShareConstant outside of all jobs, for the argument of a root job: a database that is read from a
// file, say. An argument travels with its run, and to all who take part in it, so it may have 16 MiB at most; what is a
// constant in it goes to whoever reads it, and may have as much as peers hold (the setting objects_memory).
func NewConstant[T any](v T) Constant[T] {
	c := &version[T]{loose: true, what: constantOf[T]()}
	c.value.Store(&v)
	return Constant[T]{engine.LeadTo(c)}
}

func constantOf[T any]() engine.Version {
	name := "constant " + reflect.TypeFor[T]().String() // for people
	return engine.Version{Kind: engine.Constant, Registered: name[:min(len(name), 200)]}
}

// Read gives the value. It is the same memory for all jobs of a process, so nobody may change it. It waits, and lends
// its core to other jobs, if the value is not here; for a job's own argument it is. It panics if nobody has it.
func (c Constant[T]) Read(f *Frame) T { return engine.Led(c.handle).read(f, "Read") }

// MarshalBinary and UnmarshalBinary carry the handle to another process.
func (c Constant[T]) MarshalBinary() ([]byte, error) { return engine.Led(c.handle).marshal() }

// UnmarshalBinary is the other half of MarshalBinary.
func (c *Constant[T]) UnmarshalBinary(b []byte) error {
	v, err := unmarshalVersion[T](b)
	c.handle = engine.LeadTo(v)
	return err
}

// An Object is a handle of one version of a value that goes from version to version: the bodies of an N-body
// simulation, step by step. S is the type of its state, W of what is written. It may be a job's argument, or a field
// in it, but not in slices or maps.
//
// Jobs read exactly the version that they were given, whatever has been written since: that is Satin's guard
// consistency (programming model, 3.2) with the guard made exact.
type Object[S, W any] struct {
	handle[*version[S]]
	move *move[S, W]
}

// move is a registered global method.
type move[S, W any] struct {
	name string
	fn   func(S, W) S
}

// RegisterObject makes move the way in which objects of a kind change, under a name that is the same in every process
// of a swarm. Call it in an init function.
//
// move must be a top-level function that makes the new state of the old one and what is written. It must be a
// pure function and must not change the old state, which jobs may be reading: what stays the same may be
// shared by both. Its types must be such as Register takes; it panics like Register.
func RegisterObject[S, W any](name string, fn func(S, W) S) {
	engine.EnterMethod("RegisterObject", name, funcKey(fn), &move[S, W]{name, fn}, reflect.TypeFor[S](),
		reflect.TypeFor[W]())
}

// Share makes first the first version of an object that changes by move, which must be registered. The memory
// of first belongs to the runtime from now on.
func Share[S, W any](f *Frame, fn func(S, W) S, first S) Object[S, W] {
	m := engine.MustMethod(funcKey(fn), "RegisterObject").Typed.(*move[S, W])
	v := newVersion(f, first, engine.Version{Kind: engine.Phased, Registered: m.name})
	return Object[S, W]{engine.LeadTo(v), m}
}

// Write gives the version that comes of this one by a write w, and leaves this one as it is. One
// job at a time writes an object: the one that shared it, or whoever it gives the newest version to. Two that
// write the same version make two objects of it.
//
// In a swarm the new state is encoded and hashed at once, and if others have the old one they are told of the write:
// each peer that has the old state applies it for itself.
func (o Object[S, W]) Write(f *Frame, w W) Object[S, W] {
	v := engine.Led(o.handle)
	old := v.read(f, "Write")
	next := newVersion(f, o.move.fn(old, w), engine.Version{Kind: engine.Phased, Registered: o.move.name})
	if next.shelf.Outside != nil {
		next.follow(v, w)
	}
	return Object[S, W]{engine.LeadTo(next), o.move}
}

// Read gives the state of this version. It is the same memory for all jobs of a process, so nobody may change it. It
// waits like the Read of a Constant.
func (o Object[S, W]) Read(f *Frame) S { return engine.Led(o.handle).read(f, "Read") }

// MarshalBinary carries the handle to another process.
func (o Object[S, W]) MarshalBinary() ([]byte, error) {
	v := engine.Led(o.handle)
	if v == nil {
		return nil, nil
	}
	name, err := v.marshal()
	return append(name, o.move.name...), err
}

// UnmarshalBinary is the other half of MarshalBinary.
func (o *Object[S, W]) UnmarshalBinary(b []byte) error {
	*o = Object[S, W]{}
	if len(b) == 0 {
		return nil
	}
	n := min(len(b), nameSize)
	v, err := unmarshalVersion[S](b[:n])
	if err == nil {
		o.handle = engine.LeadTo(v)
		o.move, err = methodOf[*move[S, W]](string(b[n:]))
	}
	return err
}

// Apply is engine.Mover's: it makes the state after a write that was made elsewhere.
func (m *move[S, W]) Apply(s *engine.Shelf, old engine.Name, write []byte) (value any, state []byte, err error) {
	v, err := s.Look(old, decodeAs[S](s.Outside))
	if err == nil && v == nil {
		err = errors.New("the state before it is not here")
	}
	if err != nil {
		return nil, nil, err
	}
	before, ok := v.(*S)
	if !ok {
		return nil, nil, errType
	}
	var w W
	if err := s.Outside.Decode(write, &w); err != nil {
		return nil, nil, err
	}
	next := m.fn(*before, w)
	state, err = s.Outside.Encode(&next)
	return &next, state, err
}

// methodOf finds what is registered under a name that came from elsewhere.
func methodOf[M any](name string) (m M, err error) {
	found := engine.MethodNamed(name)
	if found == nil {
		return m, fmt.Errorf("satin: no object or lattice is registered as %q", name)
	}
	m, ok := found.Typed.(M)
	if !ok {
		return m, fmt.Errorf("satin: %q is registered with other types", name)
	}
	return m, nil
}
