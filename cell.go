package satin

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/satin-peer/satin/internal/engine"
)

// cell is a lattice's value in this process, which is not changed but replaced. What was offered here since others
// were told last is joined in untold: one value, however many offers there were (Satin paper, 4.2: combining).
type cell[K, V any] struct {
	slot   unsafe.Pointer // to the value, a V
	kind   *lattice[K, V]
	about  K
	bottom *V
	oracle *oracle[V] // nil but in RunPartial
	shelf  *engine.Shelf
	name   engine.Name // what it is called in a swarm, or in this process if there is none

	untold   unsafe.Pointer // to a V, or nil
	open     atomic.Bool    // others know of it: offers are for them too
	offering atomic.Bool    // somebody was told that there is something in untold

	mu      sync.Mutex
	named   engine.Named   // nil: it came from elsewhere
	told    bool           // others may have its seed from here
	encoded []byte         // the value,
	of      unsafe.Pointer // as of when slot was this
}

// seed is what a lattice is called by: what it is about, and its least value.
type seed[K, V any] struct {
	About  K `cbor:"1,keyasint"`
	Bottom V `cbor:"2,keyasint"`
}

// newLattice makes a registered kind.
func newLattice[K, V any](name string, join func(V, V) V, check func(K, V) error) *lattice[K, V] {
	return &lattice[K, V]{name: name, join: join, check: check, comparable: reflect.TypeFor[V]().Comparable()}
}

// shareCell gives the one value of that name.
func shareCell[K, V any](w *engine.Worker, kind *lattice[K, V], about K, bottom V) *cell[K, V] {
	s, shelf := &seed[K, V]{about, bottom}, w.Shelf()
	if shelf.Outside == nil {
		name, err := engine.NameOf("lattice "+kind.name, about, bottom)
		if err != nil {
			panic(err.Error())
		}
		return kind.find(shelf, name, nil, s)
	}
	b, err := shelf.Outside.Encode(s)
	if err != nil {
		panic(fmt.Sprintf("satin: ShareLattice: %v", err))
	}
	call := shelf.Outside.Name
	if to, ok := shelf.Outside.(engine.LatticeNamer); ok {
		call = to.NameLattice
	}
	named := call(engine.Version{Kind: engine.Lattice, Registered: kind.name, State: b, By: engine.RootName(w)})
	c := kind.find(shelf, named.Name(), named, s)
	if shelf.Around != nil && !c.open.Load() {
		c.share() // inside a job: others that share it are around
	}
	return c
}

// came gives the one value whose seed came from elsewhere.
func (l *lattice[K, V]) came(shelf *engine.Shelf, name engine.Name, s *seed[K, V]) *cell[K, V] {
	c := l.find(shelf, name, nil, s)
	c.share()
	return c
}

// share has what is offered told to others. What was offered before is: who offers looks at open after it has put that
// into untold, and here open is set before the look at untold.
func (c *cell[K, V]) share() {
	if c.open.Store(true); atomic.LoadPointer(&c.untold) != nil {
		c.collectLater()
	}
	if c.shelf.Around != nil {
		if b := c.shelf.Around.Value(c.name); b != nil {
			_, _ = c.Join(b) // it was checked when it was offered
		}
	}
}

func (l *lattice[K, V]) find(shelf *engine.Shelf, name engine.Name, named engine.Named, s *seed[K, V]) *cell[K, V] {
	return shelf.Find(name, func() any {
		c := &cell[K, V]{kind: l, about: s.About, bottom: &s.Bottom, shelf: shelf, name: name, named: named}
		c.slot = unsafe.Pointer(c.bottom)
		if p, ok := shelf.Partial.(*partial); ok {
			c.oracle = newOracle(p, l, s.Bottom)
		}
		return c
	}).(*cell[K, V])
}

// same says whether two values are equal, where that is cheap to say.
func (l *lattice[K, V]) same(a, b *V) bool { return a == b || l.comparable && any(*a) == any(*b) }

// grow joins v into what p points to, where nil is nothing, and says whether that changed it.
func (c *cell[K, V]) grow(p *unsafe.Pointer, v *V) bool {
	for {
		old, next := atomic.LoadPointer(p), v
		if old != nil {
			joined := c.kind.join(*(*V)(old), *v)
			if next = &joined; c.kind.same((*V)(old), next) {
				return false
			}
		}
		if atomic.CompareAndSwapPointer(p, old, unsafe.Pointer(next)) {
			return true
		}
	}
}

// join takes in an offer that was made here; false if it says nothing new.
func (c *cell[K, V]) join(v V) bool {
	if !c.grow(&c.slot, &v) {
		return false
	}
	if c.shelf.Outside != nil {
		c.grow(&c.untold, &v)
	}
	return true
}

// collectLater has what was offered here collected, once for all offers until then.
func (c *cell[K, V]) collectLater() {
	if !c.offering.Swap(true) {
		c.shelf.Outside.Offered(c.name)
	}
}

// say tells the others what the lattice is called and about, unless they can have that from here.
func (c *cell[K, V]) say() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.told || c.named == nil {
		return nil
	}
	c.told = true
	s := &seed[K, V]{c.about, *c.bottom}
	c.shelf.Put(c.name, c.kind.name, s, func() {
		c.mu.Lock()
		c.told = false
		c.mu.Unlock()
	})
	err := c.named.Tell(false, func() ([]byte, error) { return c.shelf.Outside.Encode(s) })
	c.offering.Store(false) // what was said before, nobody heard
	c.share()
	return err
}

// floor is the value for a job that leaves; nil if it is the least.
func (c *cell[K, V]) floor() ([]byte, error) {
	if c.kind.same((*V)(atomic.LoadPointer(&c.slot)), c.bottom) {
		return nil, nil
	}
	return c.Encode()
}

// Encode is engine.Growing's, as are Join and Collect. A value that has not changed is encoded once.
func (c *cell[K, V]) Encode() ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := atomic.LoadPointer(&c.slot)
	if c.of == v {
		return c.encoded, nil
	}
	b, err := c.shelf.Outside.Encode((*V)(v))
	if err == nil {
		c.encoded, c.of = b, v
	}
	return b, err
}

// Join takes in what another peer offers. It may be a lie: check says.
func (c *cell[K, V]) Join(b []byte) (changed bool, err error) {
	v, err := c.offered(b)
	if err == engine.ErrUnchecked { // a member's counts all the same
		err = nil
	}
	return err == nil && c.grow(&c.slot, v), err
}

// Own takes in what a guest offers, which only this peer hears and has to tell.
func (c *cell[K, V]) Own(b []byte) (changed bool, err error) {
	if c.kind.check == nil {
		return false, engine.ErrUnchecked
	}
	v, err := c.offered(b)
	if err != nil || !c.join(*v) {
		return false, err
	}
	if c.open.Load() {
		c.collectLater()
	}
	return true, nil
}

// offered reads an offer of another peer, which holds.
func (c *cell[K, V]) offered(b []byte) (*V, error) {
	v := new(V)
	err := c.shelf.Outside.Decode(b, v)
	if err == nil && c.kind.check != nil {
		err = c.kind.check(c.about, *v)
	}
	return v, err
}

// Collect gives what was offered here since the last time.
func (c *cell[K, V]) Collect() ([]byte, error) {
	c.offering.Store(false) // before the look: an offer after it says so itself
	v := atomic.SwapPointer(&c.untold, nil)
	if v == nil {
		return nil, nil
	}
	return c.shelf.Outside.Encode((*V)(v))
}

// Open is engine.Grower's.
func (l *lattice[K, V]) Open(s *engine.Shelf, name engine.Name) (engine.Growing, error) {
	if c, ok := s.Lattice(name).(*cell[K, V]); ok {
		c.share()
		return c, nil
	}
	v, err := s.Look(name, decodeAs[seed[K, V]](s.Outside))
	if err != nil {
		return nil, err
	}
	found, ok := v.(*seed[K, V])
	if !ok {
		return nil, errors.New("its seed is not here")
	}
	return l.came(s, name, found), nil
}
