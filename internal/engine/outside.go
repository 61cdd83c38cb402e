package engine

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
)

// A Codec turns values into bytes, and back, on their way out of the process and in.
type Codec interface {
	Encode(v any) ([]byte, error)
	Decode(b []byte, v any) error
}

// An Outside is what shared values go to and come from. Its methods are called by workers and must not block.
type Outside interface {
	Codec
	// Name names a version, and tells nobody.
	Name(v Version) Named
	// Want asks for what a job reads: Shelf.Here or Shelf.Failed follows.
	Want(Name)
	// Offered says that something was offered to a lattice of which others were told, since it was last collected.
	Offered(Name)
}

// A LatticeNamer is an Outside that names lattices apart from the rest. In a module that is what calls the host for it:
// one whose program has no lattices does so nowhere, and its results can be compared (module.Unlike).
type LatticeNamer interface{ NameLattice(Version) Named }

// Deposits is where bytes are left that are to outlive the run. Its methods are called by workers and must not block.
type Deposits interface {
	// Deposit has this machine keep some, if it has room for them, and says what they are called in any case. They are
	// not changed afterwards.
	Deposit(b []byte) Name
	// WantDeposit asks for some, whoever has them: Shelf.Here or Shelf.Failed follows.
	WantDeposit(Name)
}

// A Kind says how a shared value may change.
type Kind uint8

// The kinds of shared values; package sharedobj has the same.
const (
	Constant Kind = 1 + iota
	Phased
	Lattice
)

// A Version is a shared value, encoded.
type Version struct {
	Kind         Kind
	Registered   string // name of its type
	Parent       Name   // of an object's version after the first
	Write, State []byte
	By           uint64 // of a lattice: the root under which a job has shared it, see Job.Root
}

// Named is a version that has its name. It may hold the encoded value, until Drop or Tell.
type Named interface {
	Name() Name
	// Tell tells the others of it, with the write that made it if they know its parent. The function encodes the
	// value again if that was dropped.
	Tell(withWrite bool, encode func() ([]byte, error)) error
	Drop()
}

// Shared is a value that jobs share, or what is known of one here.
type Shared interface {
	// Leave tells the others of it, unless they know it, and says what it is called. It is called when a handle of it
	// leaves the process, or may have to, from that shelf. The zero handle leads to nothing: false.
	Leave(*Shelf) (Leaving, bool, error)
}

// A Handle leads to what is shared. Package satin's are such; they embed a Lead, for nothing else has the method.
type Handle interface{ shared() Shared }

// A Lead makes a handle of what embeds it. An application writer sees nothing of it there.
type Lead[S Shared] struct{ to S }

// LeadTo makes one.
func LeadTo[S Shared](to S) Lead[S] { return Lead[S]{to} }

// Led gives what one leads to.
func Led[S Shared](l Lead[S]) S { return l.to }

func (l Lead[S]) shared() Shared { return l.to }

// Leaving is what goes with a job whose argument has a handle.
type Leaving struct {
	Name  Name
	Floor []byte // of a lattice: its value, encoded; nil if that is the least there is
}

// A Carrier is a value that stands for several: the call of a module's job, whose argument nobody else can read.
type Carrier interface {
	Carried() []Handle
}

var (
	carried = reflect.TypeFor[Handle]()
	carrier = reflect.TypeFor[Carrier]()
)

// handles remembers which types have some.
var handles sync.Map // of reflect.Type: bool

// Handles calls f for what each handle in a value leads to. They are not inside slices and maps: see notEncodable.
func Handles(v any, f func(Shared)) {
	if v == nil {
		return
	}
	t := reflect.TypeOf(v)
	has, known := handles.Load(t)
	if !known {
		has = handleIn(t, map[reflect.Type]bool{}) != nil
		handles.Store(t, has)
	}
	if has.(bool) {
		handlesIn(reflect.ValueOf(v), f)
	}
}

// hidden stands for what a handle in an unexported field leads to, which nobody can reach.
type hidden struct{ handle reflect.Type }

func (h hidden) Leave(*Shelf) (Leaving, bool, error) {
	return Leaving{}, false, fmt.Errorf("satin: a %s in an unexported field cannot leave", h.handle)
}

func handlesIn(v reflect.Value, f func(Shared)) {
	if t := v.Type(); !v.CanInterface() && (t.Implements(carrier) || t.Implements(carried)) {
		f(hidden{t})
		return
	}
	if v.Type().Implements(carrier) {
		for _, h := range v.Interface().(Carrier).Carried() {
			f(h.shared())
		}
		return
	}
	if v.Type().Implements(carried) {
		if v.Kind() != reflect.Pointer || !v.IsNil() {
			f(v.Interface().(Handle).shared())
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			handlesIn(v.Elem(), f)
		}
	case reflect.Array:
		for i := range v.Len() {
			handlesIn(v.Index(i), f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			handlesIn(v.Field(i), f)
		}
	}
}

// A Mover is a registered kind of objects.
type Mover interface {
	// Apply makes the state after a write, as a value (for Here) and encoded. The old one is the version of that name,
	// which must be on the shelf.
	Apply(s *Shelf, old Name, write []byte) (value any, state []byte, err error)
}

// A Grower is a registered kind of lattices.
type Grower interface {
	// Open gives the lattice of that name, whose seed is on the shelf.
	Open(s *Shelf, name Name) (Growing, error)
}

// ErrUnchecked says of an offer that nobody can tell whether it holds. What a stranger offers is not taken then.
var ErrUnchecked = errors.New("it cannot be checked, and comes from a stranger")

// Growing is a lattice's value in this process.
type Growing interface {
	// Join takes in what came from elsewhere, if it is valid, and says whether it was news.
	Join(value []byte) (changed bool, err error)
	// Own is Join for a guest's offer, which counts as one that was made here: it is collected, too. Only what can
	// be checked is taken: see ErrUnchecked.
	Own(value []byte) (changed bool, err error)
	// Collect gives what was offered here since the last time; nil if nothing was.
	Collect() ([]byte, error)
	// Encode gives the value.
	Encode() ([]byte, error)
}

// MovesBytes is a registered kind of objects whose states are elsewhere: it makes the one after a write.
type MovesBytes interface {
	MoveBytes(c Codec, old, write []byte) ([]byte, error)
}

// JoinsBytes is a registered kind of lattices whose values are elsewhere.
type JoinsBytes interface {
	JoinBytes(c Codec, a, b []byte) ([]byte, error)
	CheckBytes(c Codec, about, offer []byte) error // ErrUnchecked, if there is no check
}

// waitUntil lends the worker's core to others until something is so. Whoever makes it so says called afterwards.
//
// No wake-up is lost: what is waited for is made so before came is set, and came is set before parked is looked
// at (called); the worker clears came before it looks whether it is so, and looks at came after it has set
// parked (park). So either it sees that it is so, or came keeps it from sleeping, or it is woken.
func (w *Worker) waitUntil(so func() bool) {
	for {
		w.came.Store(false)
		if so() {
			return
		}
		w.drain()
		w.roots.unwind()
		w.pool.sched.park(w, false)
	}
}

// called wakes a worker in waitUntil.
func (w *Worker) called() {
	w.came.Store(true)
	w.pool.sched.wake(w)
}
