package satin

import (
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/satin-peer/satin/internal/engine"
)

// What jobs share
//
// A job reads what its argument names, and a version is a value: so a job that reads a Constant or an Object is as
// much a function of its argument as one that does not. Inside a process handles lead to values by reference. They
// travel with their value, so a job that names a large one stays in its process.

// A version is a value that may have come encoded.
type version[T any] struct {
	value   atomic.Pointer[T]
	codec   engine.Codec // of the process that made it
	encoded []byte       // as it came; nil if it was made here
}

func newVersion[T any](f *Frame, v T) *version[T] {
	p := &version[T]{codec: f.worker.Codec()}
	p.value.Store(&v)
	return p
}

// read is the value. What came from elsewhere is decoded the first time; two who do so at once get equal values.
func (v *version[T]) read(f *Frame, what string) T {
	if v == nil {
		panic("satin: " + what + " of a handle that was never shared")
	}
	if p := v.value.Load(); p != nil {
		return *p
	}
	p := new(T)
	if codec := f.worker.Codec(); codec == nil {
		panic("satin: " + what + " of a handle that came from elsewhere into a program without a swarm")
	} else if err := codec.Decode(v.encoded, p); err != nil {
		panic(fmt.Sprintf("satin: %s: %v", what, err))
	}
	v.value.CompareAndSwap(nil, p)
	return *v.value.Load()
}

var errAlone = errors.New("satin: a handle cannot leave a pool that has no swarm")

func (v *version[T]) marshal() ([]byte, error) {
	switch {
	case v == nil:
		return nil, nil
	case v.encoded != nil:
		return v.encoded, nil
	case v.codec == nil:
		return nil, errAlone
	}
	return v.codec.Encode(*v.value.Load())
}

func unmarshalVersion[T any](b []byte) *version[T] {
	if len(b) == 0 {
		return nil
	}
	return &version[T]{encoded: append([]byte(nil), b...)}
}

// A Constant is a handle of a value that many jobs read and none changes: a database, a scene, a formula. It may be
// a job's argument, or a field in it, but not in slices or maps.
type Constant[T any] struct{ v *version[T] }

// ShareConstant makes v a constant, whose memory belongs to the runtime from now on: nobody may change it.
func ShareConstant[T any](f *Frame, v T) Constant[T] { return Constant[T]{newVersion(f, v)} }

// Read gives the value. It is the same memory for all jobs of a process, so nobody may change it.
func (c Constant[T]) Read(f *Frame) T { return c.v.read(f, "Read") }

// MarshalBinary and UnmarshalBinary carry the handle to another process.
func (c Constant[T]) MarshalBinary() ([]byte, error) { return c.v.marshal() }

// UnmarshalBinary is the other half of MarshalBinary.
func (c *Constant[T]) UnmarshalBinary(b []byte) error {
	c.v = unmarshalVersion[T](b)
	return nil
}

// Carried marks the type as a handle.
func (Constant[T]) Carried(engine.Handle) {}

// An Object is a handle of one version of a value that goes from version to version: the bodies of an N-body
// simulation, step by step. S is the type of its state, W of what is written. It may be a job's argument, or a field
// in it, but not in slices or maps.
//
// Jobs read exactly the version that they were given, whatever has been written since: that is Satin's guard
// consistency (programming model, 3.2) with the guard made exact.
type Object[S, W any] struct {
	v    *version[S]
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
	return Object[S, W]{newVersion(f, first), m}
}

// Write gives the version that comes of this one by a write w, and leaves this one as it is. Only the job
// that shared an object writes it; two that do make two objects of it.
func (o Object[S, W]) Write(f *Frame, w W) Object[S, W] {
	old := o.v.read(f, "Write")
	return Object[S, W]{newVersion(f, o.move.fn(old, w)), o.move}
}

// Read gives the state of this version. It is the same memory for all jobs of a process, so nobody may change it.
func (o Object[S, W]) Read(f *Frame) S { return o.v.read(f, "Read") }

// MarshalBinary carries the handle to another process.
func (o Object[S, W]) MarshalBinary() ([]byte, error) {
	if o.v == nil {
		return nil, nil
	}
	state, err := o.v.marshal()
	return append(append([]byte{byte(len(o.move.name))}, o.move.name...), state...), err
}

// UnmarshalBinary is the other half of MarshalBinary.
func (o *Object[S, W]) UnmarshalBinary(b []byte) error {
	*o = Object[S, W]{}
	if len(b) == 0 {
		return nil
	}
	n := 1 + int(b[0])
	if n > len(b) {
		return errors.New("satin: the handle of an object is cut short")
	}
	m, err := methodOf[*move[S, W]](string(b[1:n]))
	o.v, o.move = unmarshalVersion[S](b[n:]), m
	return err
}

// Carried marks the type as a handle.
func (Object[S, W]) Carried(engine.Handle) {}

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
