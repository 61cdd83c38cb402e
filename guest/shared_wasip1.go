package guest

import (
	"encoding/binary"
	"errors"
	"slices"
	"unsafe"

	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/wire"
)

//go:wasmimport satin1 constant
func hostConstant(at unsafe.Pointer, n uint32, name unsafe.Pointer)

//go:wasmimport satin1 object
func hostObject(at unsafe.Pointer, n uint32, name unsafe.Pointer)

//go:wasmimport satin1 write
func hostWrite(method uint32, old, write unsafe.Pointer, writes uint32, next unsafe.Pointer, n uint32,
	name unsafe.Pointer)

//go:wasmimport satin1 lattice
func hostLattice(method uint32, about unsafe.Pointer, n uint32, name unsafe.Pointer)

//go:wasmimport satin1 read
func hostRead(name unsafe.Pointer) int64

//go:wasmimport satin1 value
func hostValue(name unsafe.Pointer) int64

//go:wasmimport satin1 grow
func hostGrow(name, at unsafe.Pointer, n uint32)

//go:wasmimport satin1 naming
func hostNaming(names unsafe.Pointer, n, guarded uint32)

// What jobs share is the host's: in here a value has its name as soon as it may leave, and is read from the host where
// it is not.

// outside names values, and makes them bytes.
type outside struct{ *wire.Codec }

func (outside) Name(v engine.Version) engine.Named {
	var n named
	to := unsafe.Pointer(&n)
	size := uint32(len(v.State))
	switch {
	case v.Kind == engine.Constant:
		hostConstant(at(v.State), size, to)
	case v.Parent == engine.Name{}:
		hostObject(at(v.State), size, to)
	default:
		hostWrite(method(v.Registered), unsafe.Pointer(&v.Parent), at(v.Write), uint32(len(v.Write)), at(v.State), size,
			to)
	}
	return n
}

// NameLattice names a lattice: see engine.LatticeNamer.
func (outside) NameLattice(v engine.Version) engine.Named {
	var n named
	hostLattice(method(v.Registered), at(v.State), uint32(len(v.State)), unsafe.Pointer(&n))
	return n
}

func (outside) Want(engine.Name) {} // it is read at once

// Offered tells the host of an offer.
func (outside) Offered(name engine.Name) {
	b, err := inside.Pool().Shelf().Lattice(name).(engine.Growing).Collect()
	if err != nil {
		panic(err)
	}
	if b != nil {
		hostGrow(unsafe.Pointer(&name), at(b), uint32(len(b)))
	}
}

// named is a version that the host has.
type named engine.Name

func (n named) Name() engine.Name                           { return engine.Name(n) }
func (named) Tell(bool, func() ([]byte, error)) (err error) { return nil }
func (named) Drop()                                         {}

// around reads what the host has.
type around struct{}

func (around) Read(name engine.Name) ([]byte, error) {
	return fetched(hostRead(unsafe.Pointer(&name))), nil
}

func (around) Value(name engine.Name) []byte {
	n := hostValue(unsafe.Pointer(&name))
	if n <= 0 { // as before, or the least
		return nil
	}
	return fetched(n)
}

func fetched(n int64) []byte {
	b := make([]byte, n)
	hostResult(at(b))
	return b
}

// tellNames says what the next job names. The error says that it cannot leave.
func tellNames(fn string, arg any) (bad error) {
	var names []byte
	engine.Handles(arg, func(h engine.Shared) {
		l, ok, err := h.Leave(inside.Pool().Shelf())
		if err != nil {
			bad = err
		}
		if ok {
			names = append(names, l.Name[:]...)
		}
	})
	if bad != nil {
		return bad
	}
	guarded := uint32(0)
	if engine.Guarded(fn, arg) {
		guarded = 1
	}
	if len(names) > 0 || guarded > 0 {
		hostNaming(at(names), uint32(len(names)/len(engine.Name{})), guarded)
	}
	return nil
}

// methods are the registered names of objects and lattices, in order.
func methods() []string {
	all := engine.MethodNames()
	slices.Sort(all)
	return all
}

func method(name string) uint32 {
	i, _ := slices.BinarySearch(methods(), name)
	return uint32(i)
}

// typed gives a method by its number.
func typed(n uint32) any {
	all := methods()
	if int(n) >= len(all) {
		return nil
	}
	return engine.MethodTyped(all[n])
}

var errMethod = errors.New("there is no such method")

// both takes apart what the host gives of two things.
func both(p unsafe.Pointer, n uint32) (a, b []byte) {
	in := took(p, n)
	k, l := binary.LittleEndian.Uint32(in), binary.LittleEndian.Uint32(in[4:])
	from := 8 + (k+7)&^7
	return in[8 : 8+k], in[from : from+l]
}

//go:wasmexport satin1_move
func move(number uint32, p unsafe.Pointer, n uint32) int64 {
	m, ok := typed(number).(engine.MovesBytes)
	if !ok {
		return placed(nil, errMethod)
	}
	old, write := both(p, n)
	return placed(m.MoveBytes(wire.Shared(), old, write))
}

//go:wasmexport satin1_join
func join(number uint32, p unsafe.Pointer, n uint32) int64 {
	l, ok := typed(number).(engine.JoinsBytes)
	if !ok {
		return placed(nil, errMethod)
	}
	a, b := both(p, n)
	return placed(l.JoinBytes(wire.Shared(), a, b))
}

//go:wasmexport satin1_valid
func valid(number uint32, p unsafe.Pointer, n uint32) int64 {
	l, ok := typed(number).(engine.JoinsBytes)
	if !ok {
		return placed(nil, errMethod)
	}
	about, offer := both(p, n)
	err := l.CheckBytes(wire.Shared(), about, offer)
	if err == engine.ErrUnchecked {
		return placed([]byte{0}, nil)
	}
	return placed(nil, err)
}

//go:wasmexport satin1_guard
func guard(fn uint32, p unsafe.Pointer, n uint32) int64 {
	all := names()
	if fn == 0 || int(fn) > len(all) {
		return placed(nil, errMethod)
	}
	arg, err := argument(all[fn-1], took(p, n))
	if err != nil {
		return placed(nil, err)
	}
	may, err := inside.Pool().Guard(all[fn-1], arg)
	if err != nil || !may {
		return placed(nil, err)
	}
	return place([]byte{1}, false)
}
