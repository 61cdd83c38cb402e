package satin

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/satin-peer/satin/internal/engine"
)

// A version is a value that others may know by its name. One that was made here has the value, and gets its name
// when it may leave; one that came from elsewhere has the name, and gets the value from the shelf of the pool whose
// job reads it.
type version[T any] struct {
	value atomic.Pointer[T]
	shelf *engine.Shelf  // of the pool that made it; nil if it came from elsewhere
	loose bool           // made outside of all pools: it has the shelf of the one that it leaves
	name  engine.Name    // of one that came
	what  engine.Version // kind and type of one that was made here

	mu    sync.Mutex
	named engine.Named // nil: it has no name yet
	told  bool         // others may have it from here
}

const nameSize = len(engine.Name{})

func newVersion[T any](f *Frame, v T, what engine.Version) *version[T] {
	p := &version[T]{shelf: f.worker().Shelf(), what: what}
	p.value.Store(&v)
	return p
}

// read is the value.
func (v *version[T]) read(f *Frame, what string) T {
	if v == nil {
		panic("satin: " + what + " of a handle that was never shared")
	}
	if p := v.value.Load(); p != nil {
		return *p
	}
	shelf := f.worker().Shelf()
	got, err := shelf.Read(f.worker(), v.name, decodeAs[T](shelf.Outside))
	if err != nil {
		panic(fmt.Sprintf("satin: %s of a shared value: %v", what, err))
	}
	p, ok := got.(*T)
	if !ok {
		panic(fmt.Sprintf("satin: %s of a shared value: %v", what, errType))
	}
	v.value.Store(p)
	return *p
}

var (
	errAlone = errors.New("satin: a handle cannot leave a pool that has no swarm")
	errInner = errors.New("satin: what is shared holds a handle of what is shared, which would not be found there")
	errType  = errors.New("its name is that of a value of another type")
)

func decodeAs[T any](codec engine.Codec) func([]byte) (any, error) {
	return func(b []byte) (any, error) {
		p := new(T)
		return p, codec.Decode(b, p)
	}
}

// call gives the version its name, with the parent and the write that made it. The mutex is held.
func (v *version[T]) call(parent engine.Name, write []byte) (engine.Name, error) {
	switch {
	case v.named != nil:
		return v.named.Name(), nil
	case v.shelf == nil && !v.loose:
		return v.name, nil
	case v.shelf == nil || v.shelf.Outside == nil:
		return v.name, errAlone
	}
	var err error
	engine.Handles(*v.value.Load(), func(engine.Shared) { err = errInner })
	if err != nil {
		return v.name, err
	}
	what := v.what
	what.Parent, what.Write = parent, write
	if what.State, err = v.encode(); err != nil {
		return v.name, err
	}
	v.named = v.shelf.Outside.Name(what)
	return v.named.Name(), nil
}

func (v *version[T]) encode() ([]byte, error) { return v.shelf.Outside.Encode(v.value.Load()) }

// follow makes v the version after old, by a write.
func (v *version[T]) follow(old *version[T], write any) {
	old.mu.Lock()
	parent, err := old.call(engine.Name{}, nil)
	told := old.told || old.shelf == nil
	if old.named != nil {
		old.named.Drop() // most are not wanted any more
	}
	old.mu.Unlock()
	var b []byte
	if err == nil {
		b, err = v.shelf.Outside.Encode(write)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if err == nil {
		_, err = v.call(parent, b)
	}
	if err == nil && told {
		err = v.say(true)
	}
	if err != nil {
		panic(fmt.Sprintf("satin: Write: %v", err))
	}
}

// say tells the others. The mutex is held.
func (v *version[T]) say(withWrite bool) error {
	if v.told || v.shelf == nil {
		return nil
	}
	v.told = true
	v.shelf.Put(v.named.Name(), v.what.Registered, v.value.Load(), v.forgotten)
	return v.named.Tell(withWrite, v.encode)
}

// forgotten says that others have it from here no more.
func (v *version[T]) forgotten() {
	v.mu.Lock()
	v.told = false
	v.mu.Unlock()
}

func (v *version[T]) marshal() ([]byte, error) {
	if v == nil {
		return nil, nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	name, err := v.call(engine.Name{}, nil)
	return append([]byte(nil), name[:]...), err
}

// Holds is the type of the value, which Register looks at.
func (*version[T]) Holds() reflect.Type { return reflect.TypeFor[T]() }

// Leave is engine.Shared's.
func (v *version[T]) Leave(s *engine.Shelf) (l engine.Leaving, ok bool, err error) {
	if v == nil {
		return l, false, nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.loose && v.shelf != s {
		v.shelf, v.named, v.told = s, nil, false
	}
	if l.Name, err = v.call(engine.Name{}, nil); err == nil {
		err = v.say(false)
	}
	return l, true, err
}

func unmarshalVersion[T any](b []byte) (*version[T], error) {
	switch len(b) {
	case 0:
		return nil, nil
	case nameSize:
		return &version[T]{name: engine.Name(b)}, nil
	}
	return nil, fmt.Errorf("satin: the handle of a shared value has %d bytes, and not %d", len(b), nameSize)
}
