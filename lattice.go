package satin

import (
	"fmt"
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/satin-peer/satin/internal/engine"
)

// A Lattice is a handle of a value that all jobs see grow: the best solution of a branch-and-bound search
// with its cost, a table of positions and what was found of them. K is what the value is about, V the value.
// It may be a job's argument, or a field in it, but not in slices or maps.
//
// A value grows by a join. A job sees its own offers, never less than it saw before, and what the job that spawned it
// had seen by then, unless the kind is one of Hints; what else, and when, is not defined. So the result of a program
// must be acceptable whatever valid offers a Value has joined: a search prunes what is worse than the bound, not what
// equals it, as the job that offered the bound may be lost; and ties are broken by content. RunPartial tries a program
// on that.
type Lattice[K, V any] struct{ handle[*place[K, V]] }

// place is where a handle leads: at once to a value, or, for one that came from elsewhere, to what it is called.
type place[K, V any] struct {
	head
	cell atomic.Pointer[cell[K, V]]
	kind *lattice[K, V]
	name engine.Name // of one that came
	made int         // in RunPartial, by a job of that depth
}

// head is how Value comes to its value: what is not generic, so that it is inlined, and Value where it is called.
type head struct {
	slot    unsafe.Pointer              // to a pointer to the value, which is a V; nil: resolve
	resolve func(*Frame) unsafe.Pointer // finds the value when there is no slot
}

func (h *head) get(f *Frame) unsafe.Pointer {
	if s := atomic.LoadPointer(&h.slot); s != nil {
		return atomic.LoadPointer((*unsafe.Pointer)(s))
	}
	return call(h.resolve, f)
}

// call calls a parameter, as by does, so that Value is not too long to be inlined.
func call(resolve func(*Frame) unsafe.Pointer, f *Frame) unsafe.Pointer { return resolve(f) }

func newPlace[K, V any](kind *lattice[K, V]) *place[K, V] {
	p := &place[K, V]{kind: kind}
	p.resolve = p.find
	return p
}

// lead makes the handle lead to a value; in RunPartial there is none that all see.
func (p *place[K, V]) lead(c *cell[K, V]) *cell[K, V] {
	p.cell.Store(c)
	if c.oracle == nil {
		atomic.StorePointer(&p.slot, unsafe.Pointer(&c.slot))
	}
	return c
}

// lattice is a registered kind.
type lattice[K, V any] struct {
	name  string
	join  func(V, V) V
	check func(K, V) error

	comparable bool // values are equal if == says so
	hints      bool // see Hints
}

// A LatticeOption is something that RegisterLattice is told of a kind.
type LatticeOption struct{ hints bool }

// Hints says that the values of a kind are hints, which no job has to have, such as a table of positions: a job that
// begins on another machine sees what is known there, and not at least what the job knew that spawned it. So no value
// goes with each job that is stolen. Use it for large values; a search loses by it if they are bounds. A module's
// values go along all the same.
func Hints() LatticeOption { return LatticeOption{hints: true} }

// RegisterLattice makes join the way in which values of a kind grow, under a name that is the same in every
// process of a swarm. Call it in an init function.
//
// join must be a top-level function that is commutative, associative and idempotent, and changes neither of
// its arguments. check, which may be nil (then say what K is: RegisterLattice[K](...)), says whether an offer
// holds: it looks at the offer's witness, such as the tour that has the cost. It is asked of every offer
// before it is joined; what another peer offers may be a lie. The types must be such as Register takes; it
// panics like Register.
func RegisterLattice[K, V any](name string, join func(V, V) V, check func(K, V) error, options ...LatticeOption) {
	l := newLattice(name, join, check)
	for _, o := range options {
		l.hints = l.hints || o.hints
	}
	engine.EnterMethod("RegisterLattice", name, funcKey(join), l, reflect.TypeFor[K](), reflect.TypeFor[V]())
}

// ShareLattice gives the lattice that grows by join, which must be registered, and is about that, beginning
// at bottom. There is one: two jobs that name the same kind, subject and bottom share a value, and so does a
// program that is run again after its master was lost.
func ShareLattice[K, V any](f *Frame, join func(V, V) V, about K, bottom V) Lattice[K, V] {
	kind := engine.MustMethod(funcKey(join), "RegisterLattice").Typed.(*lattice[K, V])
	p := newPlace(kind)
	if c := p.lead(shareCell(f.worker(), kind, about, bottom)); c.oracle != nil {
		p.made = len(f.ID().Path)
	}
	return Lattice[K, V]{engine.LeadTo(p)}
}

// Value gives the value as far as it is known here. It costs three loads and no call: ask again rather than
// keep it. It is the same memory for all jobs of a process, so nobody may change it.
func (l Lattice[K, V]) Value(f *Frame) V { return *(*V)(engine.Led(l.handle).get(f)) }

// About gives what the lattice is about.
func (l Lattice[K, V]) About(f *Frame) K { return engine.Led(l.handle).here(f).about }

// find is head.resolve.
func (p *place[K, V]) find(f *Frame) unsafe.Pointer {
	c := p.here(f)
	if c.oracle != nil {
		v := c.oracle.value(f, p.made)
		return unsafe.Pointer(&v)
	}
	return atomic.LoadPointer(&c.slot)
}

// Offer joins v into the value. It panics if v is not valid: that is a mistake of the program. In a job that has been
// aborted it does nothing: what that has come to may rest on a look at Aborted.
func (l Lattice[K, V]) Offer(f *Frame, v V) {
	if f.Aborted() {
		return
	}
	at := engine.Led(l.handle)
	c := at.here(f)
	if c.kind.check != nil {
		if err := c.kind.check(c.about, v); err != nil && err != engine.ErrUnchecked {
			panic(fmt.Sprintf("satin: an offer to lattice %q is not valid: %v", c.kind.name, err))
		}
	}
	if c.oracle != nil {
		c.oracle.offer(f, v, at.made)
		return
	}
	if c.join(v) && c.open.Load() {
		c.collectLater()
	}
}

// here finds the value that the handle means in this process. The seed of one that came from elsewhere is waited for
// if need be; for a job's own argument it is here.
func (p *place[K, V]) here(f *Frame) *cell[K, V] {
	if c := p.cell.Load(); c != nil {
		return c
	}
	shelf := f.worker().Shelf()
	if c, ok := shelf.Lattice(p.name).(*cell[K, V]); ok {
		c.share()
		return p.lead(c)
	}
	v, err := shelf.Read(f.worker(), p.name, decodeAs[seed[K, V]](shelf.Outside))
	if err == nil {
		if s, ok := v.(*seed[K, V]); ok {
			return p.lead(p.kind.came(shelf, p.name, s))
		}
		err = errType
	}
	panic(fmt.Sprintf("satin: lattice %q: %v", p.kind.name, err))
}

// MarshalBinary carries the handle to another process: what the lattice is called, not its value, so that a job that
// names it has the same argument wherever and whenever it is spawned.
func (l Lattice[K, V]) MarshalBinary() ([]byte, error) {
	at := engine.Led(l.handle)
	if at == nil {
		return nil, nil
	}
	name := at.name
	if c := at.cell.Load(); c != nil {
		if c.shelf.Outside == nil {
			return nil, errAlone
		}
		name = c.name
	}
	return append(append([]byte(nil), name[:]...), at.kind.name...), nil
}

// UnmarshalBinary is the other half of MarshalBinary.
func (l *Lattice[K, V]) UnmarshalBinary(b []byte) error {
	if *l = (Lattice[K, V]{}); len(b) == 0 {
		return nil
	}
	n := min(len(b), nameSize)
	kind, err := methodOf[*lattice[K, V]](string(b[n:]))
	if err == nil {
		at := newPlace(kind)
		copy(at.name[:], b[:n])
		l.handle = engine.LeadTo(at)
	}
	return err
}

// Leave is engine.Shared's.
func (p *place[K, V]) Leave(*engine.Shelf) (leaving engine.Leaving, ok bool, err error) {
	if p == nil {
		return leaving, false, nil
	}
	c := p.cell.Load()
	if c == nil { // no job has used this handle: what is known here is joined where it goes all the same
		return engine.Leaving{Name: p.name}, true, nil
	}
	leaving.Name = c.name
	if err = c.say(); err == nil && !c.kind.hints {
		leaving.Floor, err = c.floor()
	}
	return leaving, true, err
}
