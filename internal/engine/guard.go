package engine

import (
	"fmt"
	"maps"
	"reflect"
	"unsafe"
)

// A guard says whether a job may begin: whether what its peer knows of lattices is enough for it (Satin paper, 4.2).
// It is evaluated where a job was stolen to, before it begins, and never for a job that runs where it was spawned.
type guard struct {
	has func(arg any) bool // whether a call with that argument has it
	is  func(w *Worker, arg any) (ok, fits bool)
}

// EnterGuard adds the guard of a registered function to the table. Has says of which arguments its calls have one; nil:
// of all.
func EnterGuard(key unsafe.Pointer, has func(arg any) bool, is func(w *Worker, arg any) (ok, fits bool)) {
	d := lookupKey(key)
	if d == nil {
		panic(fmt.Sprintf("satin: RegisterGuard: %s is not registered: call satin.Register first", symbolOf(key)))
	}
	registerMu.Lock()
	defer registerMu.Unlock()
	next := registered.Load().clone()
	if next.guards[d.Name] != nil {
		panic(fmt.Sprintf("satin: RegisterGuard: %q has a guard already", d.Name))
	}
	next.guards = maps.Clone(next.guards)
	if next.guards == nil {
		next.guards = map[string]*guard{}
	}
	next.guards[d.Name] = &guard{has, is}
	registered.Store(next)
}

// Guarded says whether a job has a guard: its function has, and for such an argument.
func Guarded(name string, arg any) bool {
	g := guardOf(name)
	return g != nil && (g.has == nil || g.has(arg))
}

func guardOf(name string) *guard {
	if t := registered.Load(); t != nil {
		return t.guards[name]
	}
	return nil
}

// Guard evaluates the guard of a function; true if it has none. It runs on the calling goroutine, one at a time.
func (p *Pool) Guard(name string, arg any) (bool, error) {
	g := guardOf(name)
	if g == nil {
		return true, nil
	}
	if p.judge == nil {
		p.judge = NewWorker(nil, 0) // not one of the pool: what is missing is an error, and not waited for
		p.judge.shelf = &p.shelf
	}
	ok, fits := g.is(p.judge, arg)
	if !fits {
		return false, fmt.Errorf("the guard of %q does not take a %s", name, reflect.TypeOf(arg))
	}
	return ok, nil
}

// Shelf is what the pool's jobs share.
func (p *Pool) Shelf() *Shelf { return &p.shelf }
