package guest

import "unsafe"

// What the host does, and how bytes are passed to it: docs/modules.md.

//go:wasmimport satin1 wanted
func hostWanted() uint32

//go:wasmimport satin1 offer
func hostOffer(fn uint32, arg unsafe.Pointer, n uint32, path unsafe.Pointer, steps uint32, child uint32) int32

//go:wasmimport satin1 join
func hostJoin(handle int32) int64

//go:wasmimport satin1 result
func hostResult(to unsafe.Pointer)

//go:wasmimport satin1 any
func hostAny(handles unsafe.Pointer, n uint32) uint32

//go:wasmimport satin1 drop
func hostDrop(handle int32)

func at(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

// place keeps bytes until the next call and names them for the host.
func place(b []byte, failed bool) int64 {
	kept = b
	p := int64(uintptr(at(b)))<<32 | int64(len(b))
	if failed {
		p |= -1 << 63
	}
	return p
}

var (
	kept []byte // what the host was told of last
	room []byte // what it was given to write into
)

// took gives a copy of what the host has written.
func took(p unsafe.Pointer, n uint32) []byte {
	return append([]byte(nil), unsafe.Slice((*byte)(p), n)...)
}

//go:wasmexport satin1_attention
func attention() unsafe.Pointer { return unsafe.Pointer(inside.Word()) }

//go:wasmexport satin1_alloc
func alloc(n uint32) unsafe.Pointer {
	if int(n) > len(room) {
		room = make([]byte, n)
	}
	return at(room)
}

//go:wasmexport satin1_run
func run(fn uint32, arg unsafe.Pointer, n uint32) int64 { return runJob(fn, took(arg, n)) }

//go:wasmexport satin1_describe
func describe() int64 { return place(description(), false) }

//go:wasmexport satin1_setup
func setup(args unsafe.Pointer, n uint32) int64 { return placed(begin(took(args, n))) }

//go:wasmexport satin1_render
func render(in unsafe.Pointer, n uint32) int64 { return placed(shown(took(in, n))) }

//go:wasmexport satin1_check
func check(in unsafe.Pointer, n uint32) int64 { return placed(checked(took(in, n))) }

func placed(b []byte, err error) int64 {
	if err != nil {
		return place([]byte(err.Error()), true)
	}
	return place(b, false)
}
