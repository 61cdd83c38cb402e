package module

import (
	"sync"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/sharedobj"
)

// A Shared is what a call of a module may do with shared values. Its methods are called in the call's goroutine, may
// wait, and may panic to unwind it.
type Shared interface {
	Constant(b []byte) Name
	Object(first []byte) Name
	// Write names the version after another: old, with a write by that method, is next.
	Write(method uint32, old Name, write, next []byte) Name
	Lattice(method uint32, about []byte) Name
	// Read gives a constant, a version, or what a lattice is about.
	Read(Name) []byte
	Value(Name) string
	Grow(Name, []byte)
	// File names a file that was given to the run, as a constant.
	File(string) (Name, bool)
}

// A handle is one of package satin's.
type handle interface {
	engine.Handle
	MarshalBinary() ([]byte, error)
}

// A vault has the values that running jobs of one pool have in their hands: their instances know names only.
type vault struct {
	mu     sync.Mutex
	byName map[Name]*inVault
}

type inVault struct {
	handle handle
	by     int // calls
}

func (v *vault) find(name Name) handle {
	if v == nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if x := v.byName[name]; x != nil {
		return x.handle
	}
	return nil
}

// hold keeps a handle for one call more. Of two of one name the first one stays.
func (v *vault) hold(name Name, h handle) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.byName[name] == nil {
		v.byName[name] = &inVault{handle: h}
	}
	v.byName[name].by++
}

func (v *vault) letGo(name Name) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if x := v.byName[name]; x != nil {
		if x.by--; x.by == 0 {
			delete(v.byName, name)
		}
	}
}

// Bounds on what one call has in its hands: values, and bytes of the versions that it has written. Of these the last
// ones stay, and the very last one however large it is.
const (
	maxHeld    = 4096
	maxWritten = 32 << 20
)

// values is Shared for a job, on a worker.
type values struct {
	f       *satin.Frame
	shelf   *engine.Shelf
	m       *Module
	vault   *vault
	names   []byte // that the call has
	held    map[Name]bool
	written []version
	bytes   int // of these
}

// A version is one that this call has made.
type version struct {
	name Name
	size int
}

func newValues(w *engine.Worker, m *Module, names []byte) *values {
	shelf := w.Shelf()
	v := shelf.Beside(loner{shelf}, func() any { return &vault{byName: map[Name]*inVault{}} }).(*vault)
	return &values{f: frameOf(w), shelf: shelf, m: m, vault: v, names: names}
}

// find gives a value that is in the hands of a job here; nil if it is in nobody's. A strict job does not see who else
// is here: it finds what it has made, and what it names, which is there wherever it runs.
func (s *values) find(name Name) handle {
	if s.m.host.cfg.Strict && !s.held[name] && !among(s.names, name) {
		panic(&Error{s.m.Hash, "a job looks for a shared value that it neither has made nor names"})
	}
	return s.vault.find(name)
}

func (s *values) release() {
	for name := range s.held {
		s.vault.letGo(name)
	}
	s.held = nil
}

// keep keeps a handle until the call ends.
func (s *values) keep(h handle) Name {
	b, err := h.MarshalBinary()
	if err != nil {
		panic(err)
	}
	name := Name(b[:nameSize])
	if s.held[name] {
		return name
	}
	if len(s.held) >= maxHeld {
		panic(&Error{s.m.Hash, "a job shares too many values"})
	}
	if s.held == nil {
		s.held = map[Name]bool{}
	}
	s.held[name] = true
	s.vault.hold(name, h)
	return name
}

func (s *values) Constant(b []byte) Name { return s.keep(satin.ShareConstant(s.f, raw(b))) }

func (s *values) Object(first []byte) Name {
	return s.wrote(satin.Share(s.f, moved, raw(first)), len(first))
}

// wrote keeps a version, and lets go of old ones if there are too many.
func (s *values) wrote(h handle, size int) Name {
	for len(s.written) > 0 && (s.bytes+size > maxWritten || len(s.written) >= maxHeld/2) {
		old := s.written[0]
		s.written, s.bytes = s.written[1:], s.bytes-old.size
		if s.held[old.name] {
			delete(s.held, old.name)
			s.vault.letGo(old.name)
		}
	}
	before := len(s.held)
	name := s.keep(h)
	if len(s.held) > before {
		s.written, s.bytes = append(s.written, version{name, size}), s.bytes+size
	}
	return name
}

func (s *values) Write(method uint32, old Name, write, next []byte) Name {
	c := change{Module: s.m.Hash, Method: method, Write: octets(write), next: raw(next)}
	if c.next == nil {
		c.next = raw{}
	}
	return s.wrote(s.object(old).Write(s.f, c), len(next))
}

func (s *values) object(name Name) (o satin.Object[raw, change]) {
	h := s.find(name)
	o, ok := h.(satin.Object[raw, change])
	if kind := s.shelf.Registered(name); !ok && (h != nil || kind != "" && kind != objectName) {
		panic(&Error{s.m.Hash, "it writes to what is no object"})
	}
	if ok {
		return o
	}
	if err := o.UnmarshalBinary(append(name[:], objectName...)); err != nil {
		panic(err)
	}
	return o
}

func (s *values) Lattice(method uint32, about []byte) Name {
	bottom := grown{Module: s.m.Hash, Method: method}
	return s.keep(satin.ShareLattice(s.f, joined, topic{s.m.Hash, method, octets(about)}, bottom))
}

func (s *values) lattice(name Name) (l satin.Lattice[topic, grown]) {
	h := s.find(name)
	if h == nil {
		if err := l.UnmarshalBinary(append(name[:], latticeName...)); err != nil {
			panic(err)
		}
		l.About(s.f) // from here on it is found
		s.keep(l)
		return l
	}
	l, ok := h.(satin.Lattice[topic, grown])
	if !ok {
		panic(&Error{s.m.Hash, "it looks for a lattice where there is none"})
	}
	s.keep(l)
	return l
}

func (s *values) Read(name Name) []byte {
	switch h := s.find(name).(type) {
	case satin.Constant[raw]:
		return h.Read(s.f)
	case satin.Object[raw, change]:
		return h.Read(s.f)
	case satin.Lattice[topic, grown]:
		return []byte(h.About(s.f).About)
	}
	if s.shelf.Registered(name) == latticeName {
		return []byte(s.lattice(name).About(s.f).About)
	}
	var c satin.Constant[raw]
	if err := c.UnmarshalBinary(name[:]); err != nil {
		panic(err)
	}
	return c.Read(s.f)
}

func (s *values) Value(name Name) string { return string(s.lattice(name).Value(s.f).Value) }

func (s *values) Grow(name Name, b []byte) {
	l := s.lattice(name)
	l.Offer(s.f, grown{s.m.Hash, l.About(s.f).Method, octets(b)})
}

func (s *values) File(string) (Name, bool) {
	panic(&Error{s.m.Hash, "a job asks for a file; its argument is to name what it reads"})
}

// loner names values where nothing leaves: as they are called in a swarm.
type loner struct{ shelf *engine.Shelf }

func (loner) codec() *wire.Codec { return wire.Shared() }

func (l loner) Encode(v any) ([]byte, error) { return l.codec().Encode(v) }

func (l loner) Decode(b []byte, v any) error { return l.codec().Decode(b, v) }

func (l loner) Name(v engine.Version) engine.Named {
	r := sharedobj.Recipe{Kind: sharedobj.Kind(v.Kind), Name: v.Registered, Parent: sharedobj.Digest(v.Parent),
		State: sharedobj.Build(v.State).Blob}
	if !r.First() {
		r.Write = sharedobj.Build(v.Write).Blob
	}
	return lonely(r.Digest())
}

func (l loner) Want(name Name) { l.shelf.Failed(name, "nobody here has it any more") }

func (loner) Offered(Name) {}

// lonely is a name of a version that stays.
type lonely Name

func (n lonely) Name() Name { return Name(n) }

func (lonely) Tell(bool, func() ([]byte, error)) error { return nil }

func (lonely) Drop() {}
