package module

import "github.com/satin-peer/satin/internal/wasm"

// What is below: an engine for WebAssembly, which knows nothing of jobs. In a process it is wazero (wazero.go); in a
// browser's tab it can be the browser's own. All that decides anything is above: what is let through, the
// metering, the functions of the host, snapshots, bounds. So a module does the same on both.

// A machine compiles what package wasm has prepared. Its methods may be called from any goroutine.
type machine interface {
	compile(*wasm.Prepared) (code, error)
	close() error
}

// Code is a compiled module.
type code interface {
	// instantiate makes an instance as the module describes it: not initialized. The host's functions that it calls
	// are called for in, in the goroutine that has called it, and may panic: see running.call.
	instantiate(in *instance) (running, error)
	close()
}

// A running instance is for one goroutine.
type running interface {
	// call calls an exported function; its parameters, all i32, are in stack, and its result, if it has one, is there
	// afterwards. After an error it is of no use any more. What a function of the host panicked with ends the call
	// with an error, too: whoever panics keeps it.
	call(name string, t wasm.FuncType, stack []uint64) error

	size() uint32 // of its memory, in bytes
	// read gives bytes of its memory, to be looked at until it runs again or is written to; false: some are outside.
	read(at, n uint32) ([]byte, bool)
	write(at uint32, b []byte) bool

	// image gives what its memory and globals are, and restore makes them that again, in any instance of its code
	// with no more memory; that fails if there is no room.
	image() image
	restore(image) error

	close()
}

// An image is what an instance was at a time.
type image interface{ size() uint32 } // of its memory, in bytes
