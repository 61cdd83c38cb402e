package engine

import (
	"container/list"
	"errors"
	"sync"
)

// A Shelf has what the jobs of one pool, or of one sequential run, share by name: versions of constants and objects,
// and lattices. A job that came from elsewhere finds there what its like here have found, and what was sent for
// it. It may be used by all workers, and others, at a time.
type Shelf struct {
	// Partial, in the sequential program alone, has reads see only some of what was offered: satin.RunPartial's.
	Partial any
	// Outside is where shared values go to and come from; nil: nothing leaves.
	Outside Outside
	// Deposits is where bytes are left that are to outlive the run; nil: nowhere. It goes with an Outside.
	Deposits Deposits
	// Around is the engine around this one, if there is one: shared values are there.
	Around Around

	once   sync.Once
	beside any

	mu       sync.Mutex
	byName   map[Name]*list.Element // lattices
	recent   list.List              // of onShelf, the one asked for longest ago first
	versions map[Name]*shelved
}

// Around is what an engine inside a job asks about shared values. Its methods are called by the worker, and wait.
type Around interface {
	// Read gives a version, or what a lattice is called by.
	Read(Name) ([]byte, error)
	// Value gives a lattice's value; nil if it has not changed since it was asked last.
	Value(Name) []byte
}

// grow takes in what the lattices in here have grown by around.
func (s *Shelf) grow() {
	if s.Around == nil {
		return
	}
	for e := s.recent.Front(); e != nil; e = e.Next() { // there is one goroutine
		o := e.Value.(onShelf)
		if b := s.Around.Value(o.name); b != nil {
			_, _ = o.value.(Growing).Join(b) // it was checked when it was offered
		}
	}
}

// Beside gives what somebody has beside the shelf, which the first who asks makes. In a pool with nothing outside
// alone names values from then on: all who ask do so before their first use of the shelf.
func (s *Shelf) Beside(alone Outside, make func() any) any {
	s.once.Do(func() {
		if s.Outside == nil {
			s.Outside = alone
		}
		s.beside = make()
	})
	return s.beside
}

type onShelf struct {
	name  Name
	value any
}

// maxOnShelf bounds the lattices that are kept when no job here has them in its hands; such a value begins anew when
// a job that names it comes, which costs work and nothing else.
const maxOnShelf = 1024

// Find gives the lattice of that name, which the first one who asks makes.
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

// Lattice gives a lattice that is here; nil if it is not.
func (s *Shelf) Lattice(name Name) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.byName[name]; e != nil {
		return e.Value.(onShelf).value
	}
	return nil
}

// shelved is a version, or the seed of a lattice. How many there are is bounded by whoever fills the shelf.
type shelved struct {
	here       bool
	registered string // name of its type
	forgotten  func()
	waiting    []*waiter

	mu    sync.Mutex // held while it is decoded: the others want the same
	data  []byte     // as it came, until it was decoded
	value any
}

// waiter is a worker that waits for a version.
type waiter struct {
	w      *Worker
	failed string
}

func (s *Shelf) entry(name Name) *shelved {
	e := s.versions[name]
	if e == nil {
		if s.versions == nil {
			s.versions = map[Name]*shelved{}
		}
		e = &shelved{}
		s.versions[name] = e
	}
	return e
}

// Put enters a version that was made here and told of. Forgotten is called when others have it from here no more.
func (s *Shelf) Put(name Name, registered string, value any, forgotten func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entry(name)
	e.mu.Lock()
	e.value, e.data = value, nil
	e.mu.Unlock()
	e.forgotten = forgotten
	s.arrived(e, registered)
}

// Here enters a version that came from elsewhere: its data or, if it was made here by a write from there, its value,
// which would take its time to be decoded again. Whoever waits for it goes on.
func (s *Shelf) Here(name Name, registered string, data []byte, value any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entry(name)
	e.mu.Lock()
	if e.value == nil {
		e.data, e.value = data, value
	}
	e.mu.Unlock()
	s.arrived(e, registered)
}

// arrived is called with the mutex held.
func (s *Shelf) arrived(e *shelved, registered string) {
	e.here, e.registered = true, registered
	for _, x := range e.waiting {
		x.w.called()
	}
	e.waiting = nil
}

// Failed says that a version cannot be had, or that one which was made here cannot be held for others. True if a job
// waits for it.
func (s *Shelf) Failed(name Name, why string) (waited bool) {
	s.mu.Lock()
	e := s.versions[name]
	delete(s.versions, name)
	if e != nil {
		waited = len(e.waiting) > 0
		for _, x := range e.waiting {
			x.failed = why
			x.w.called()
		}
	}
	s.mu.Unlock()
	if e != nil && e.forgotten != nil {
		e.forgotten()
	}
	return waited
}

// Forget drops a version.
func (s *Shelf) Forget(name Name) {
	s.mu.Lock()
	e := s.versions[name]
	if e != nil && len(e.waiting) == 0 {
		delete(s.versions, name)
	}
	s.mu.Unlock()
	if e != nil && e.forgotten != nil {
		e.forgotten()
	}
}

// Look gives a version that is here, decoded, and the registered name of its type; nil if it is not here.
func (s *Shelf) Look(name Name, decode func([]byte) (any, error)) (value any, err error) {
	s.mu.Lock()
	e := s.versions[name]
	here := e != nil && e.here
	s.mu.Unlock()
	if !here {
		return nil, nil
	}
	return e.decoded(decode)
}

// Registered gives the registered name of a version's type, if it is here.
func (s *Shelf) Registered(name Name) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.versions[name]; e != nil {
		return e.registered
	}
	return ""
}

func (e *shelved) decoded(decode func([]byte) (any, error)) (any, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.value == nil {
		v, err := decode(e.data)
		if err != nil {
			return nil, err
		}
		e.value, e.data = v, nil
	}
	return e.value, nil
}

// Read gives a version, which it waits for if need be: other jobs use the core meanwhile.
func (s *Shelf) Read(w *Worker, name Name, decode func([]byte) (any, error)) (any, error) {
	return s.read(w, name, decode, func() { s.Outside.Want(name) })
}

// ReadDeposit gives bytes that outlive runs, and waits for them as Read does. They do not stay here.
func (s *Shelf) ReadDeposit(w *Worker, name Name) ([]byte, error) {
	if s.Deposits == nil {
		return nil, errNowhere
	}
	v, err := s.read(w, name, func(b []byte) (any, error) { return b, nil }, func() { s.Deposits.WantDeposit(name) })
	s.Forget(name)
	b, _ := v.([]byte)
	return b, err
}

func (s *Shelf) read(w *Worker, name Name, decode func([]byte) (any, error), want func()) (any, error) {
	if v, err := s.Look(name, decode); v != nil || err != nil {
		return v, err
	}
	if s.Around != nil {
		b, err := s.Around.Read(name)
		if err != nil {
			return nil, err
		}
		s.Here(name, "", b, nil)
		return s.Look(name, decode)
	}
	if w.pool == nil || w.pool.inside != nil || s.Outside == nil {
		return nil, errNowhere
	}
	x := &waiter{w: w}
	s.mu.Lock()
	e := s.entry(name)
	if first := len(e.waiting) == 0; !e.here {
		e.waiting = append(e.waiting, x)
		s.mu.Unlock()
		if first {
			want()
		}
		w.waitUntil(func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return e.here || x.failed != ""
		})
	} else {
		s.mu.Unlock()
	}
	if x.failed != "" {
		return nil, errors.New(x.failed)
	}
	return e.decoded(decode)
}

var errNowhere = errors.New("it is not here, and there is nobody to ask for it")

// Shelf is the shelf of the worker's pool, or its own.
func (w *Worker) Shelf() *Shelf {
	if w.pool != nil {
		return &w.pool.shelf
	}
	return w.shelf
}
