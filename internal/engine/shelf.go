package engine

import (
	"container/list"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"unsafe"
)

// A Codec turns values into bytes, and back, on their way out of the process and in.
type Codec interface {
	Encode(v any) ([]byte, error)
	Decode(b []byte, v any) error
}

// A Shelf has what the jobs of one pool, or of one sequential run, share by name: the values of lattices. A job that
// came from elsewhere finds there what its like here have found. It may be used by all workers at a time.
type Shelf struct {
	// Partial, in the sequential program alone, has reads see only some of what was offered.
	Partial *rand.Rand

	mu     sync.Mutex
	byName map[Name]*list.Element
	recent list.List // of onShelf, the one asked for longest ago first
}

type onShelf struct {
	name  Name
	value any
}

// maxOnShelf bounds what is kept when no job here has it in its hands; such a value begins anew when a job that names
// it comes, which costs work and nothing else.
const maxOnShelf = 1024

// Find gives what has that name, which the first one who asks makes.
func (s *Shelf) Find(name Name, make func() any) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.byName[name]; e != nil {
		s.recent.MoveToBack(e)
		return e.Value.(onShelf).value
	}
	if s.byName == nil {
		s.byName = map[Name]*list.Element{}
	}
	if len(s.byName) >= maxOnShelf {
		delete(s.byName, s.recent.Remove(s.recent.Front()).(onShelf).name)
	}
	v := make()
	s.byName[name] = s.recent.PushBack(onShelf{name, v})
	return v
}

// Shelf is the shelf of the worker's pool, or its own.
func (w *Worker) Shelf() *Shelf {
	if w.pool != nil {
		return &w.pool.shelf
	}
	return w.shelf
}

// Codec is what encodes values that leave the worker's pool; nil if none does.
func (w *Worker) Codec() Codec {
	if w.pool == nil {
		return nil
	}
	return w.pool.cfg.Codec
}

// Carried is a type whose values stand for shared ones. Package satin's are; they say so with a method that no other
// package can name.
type Carried interface{ Carried(Handle) }

// A Handle marks them.
type Handle struct{}

var carried = reflect.TypeFor[Carried]()

// A Method is what was registered for a kind of shared object, under its function's key.
type Method struct {
	Name   string
	Typed  any // what the types need, as package satin made it
	symbol string
}

// maxMethodName bounds names: a handle that travels says its length in a byte.
const maxMethodName = 255

// EnterMethod adds a method to the table. It panics, as Register does, if it cannot travel or is there already.
func EnterMethod(what, name string, key unsafe.Pointer, typed any, types ...reflect.Type) {
	switch {
	case key == nil:
		panic(fmt.Sprintf("satin: %s(%q): the function is nil", what, name))
	case name == "" || len(name) > maxMethodName:
		panic(fmt.Sprintf("satin: %s of %s: the name is empty, or longer than %d bytes", what, symbolOf(key),
			maxMethodName))
	}
	m := &Method{name, typed, symbolOf(key)}
	if why := notTopLevel(m.symbol); why != "" {
		panic(fmt.Sprintf("satin: %s(%q): %s is %s; only a top-level function can travel", what, name, m.symbol, why))
	}
	for _, t := range types {
		if why := notEncodable(t, map[reflect.Type]bool{}); why != "" {
			panic(fmt.Sprintf("satin: %s(%q): %s cannot be sent to another machine: %s", what, name, t, why))
		}
	}
	registerMu.Lock()
	defer registerMu.Unlock()
	next := registered.Load().clone()
	if o := next.methods[name]; o != nil {
		panic(fmt.Sprintf("satin: %s(%q): the name is taken by %s", what, name, o.symbol))
	}
	if o := next.methodByKey[key]; o != nil {
		panic(fmt.Sprintf("satin: %s(%q): %s is registered already as %q", what, name, m.symbol, o.Name))
	}
	next.methods[name], next.methodByKey[key] = m, m
	registered.Store(next)
}

// MustMethod finds the method with a key.
func MustMethod(key unsafe.Pointer, what string) *Method {
	if t := registered.Load(); t != nil {
		if m := t.methodByKey[key]; m != nil {
			return m
		}
	}
	panic(fmt.Sprintf("satin: %s is not registered: call satin.%s in an init function", symbolOf(key), what))
}

// MethodNamed finds a method by its name; nil if there is none.
func MethodNamed(name string) *Method {
	if t := registered.Load(); t != nil {
		return t.methods[name]
	}
	return nil
}
