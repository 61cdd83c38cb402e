package module

import (
	"bytes"
	"fmt"

	"github.com/satin-peer/satin/internal/wasm"
	"github.com/satin-peer/satin/internal/wire"
)

// An Engine is what a job of a module wants of whoever runs it. Its methods are called in the job's goroutine. They
// may panic to unwind it, as an abort does: the panic comes out of [Module.Run].
type Engine interface {
	// Attend is called again and again, every 100 us or so, and says how many jobs are wanted of this one.
	Attend() int
	// Offer makes a child of the running job that anybody may take.
	Offer(Job) Child
	// TakeBack takes a child back that nobody has begun; false if somebody has.
	TakeBack(Child) bool
	// Await waits for a child, runs it if nobody has begun it, and gives its outcome: an error is of the
	// child's own making.
	Await(Child) ([]byte, error)
	// Any waits until one of the children has finished, or can be taken back, and says which: an index.
	Any([]Child) int
	// Drop gives a child up.
	Drop(Child)
	// Shared is what the job can do with shared values; nil: nothing.
	Shared() Shared
}

// A Child is an engine's name for a job that was offered.
type Child any

// A Job is a child of a running job.
type Job struct {
	Fn   uint32 // the module's name for its function
	Arg  []byte
	Path []uint32 // from the running job: which child of it, which child of that, ... ; never empty

	Names   []byte // of shared values that it reads, 32 bytes each
	Guarded bool   // the module says when it may begin
}

// A Failure is an error that a job of a module returned: its spawner may deal with it.
type Failure struct{ Text string }

func (f *Failure) Error() string { return f.Text }

// Run runs a job to its end. An error is a [*Failure], or an [*Error] that ends the run.
func (m *Module) Run(e Engine, fn uint32, arg []byte) ([]byte, error) {
	in, err := m.get()
	if err != nil {
		return nil, err
	}
	at, err := in.place(arg)
	if err != nil {
		return nil, err
	}
	in.engine, in.shared = e, e.Shared()
	in.stack = [3]uint64{uint64(fn), uint64(at), uint64(len(arg))}
	if err := in.raw(exportRun, in.stack[:], 3, wasm.I64); err != nil {
		return nil, err
	}
	out, err := in.outcome(in.stack[0], maxOutcome)
	if in.children.n > 0 {
		err = &Error{m.Hash, fmt.Sprintf("a job returned although %d of its children are at work", in.children.n)}
	}
	return m.done(in, out, err)
}

// done keeps an instance that has answered, and makes a failure fit to be shown.
func (m *Module) done(in *instance, out []byte, err error) ([]byte, error) {
	f, failed := err.(*Failure)
	if err != nil && !failed {
		in.close()
		return nil, err
	}
	m.put(in)
	if failed {
		return nil, &Failure{printable(f.Text, maxText)}
	}
	return out, nil
}

// maxOutcome bounds what a job comes to, and maxValue a shared value, and why a job failed, in bytes. An argument is
// bounded by the memory that it has to be in.
const (
	maxOutcome = wire.MaxOutcome - 1<<10 // and what stands before it
	maxValue   = wire.MaxValue
)

// place puts bytes into the module's memory.
func (in *instance) place(b []byte) (uint32, error) {
	stack := [1]uint64{uint64(len(b))}
	if err := in.raw(exportAlloc, stack[:], 1, wasm.I32); err != nil {
		return 0, err
	}
	at := uint32(stack[0])
	if at == 0 || !in.wasm.write(at, b) {
		in.close()
		return 0, &Error{in.m.Hash, fmt.Sprintf("it has no room for %d bytes", len(b))}
	}
	return at, nil
}

// outcome reads what a place names: an address and a length in 63 bits, the upper one says that it is an error.
func (in *instance) outcome(place uint64, most uint32) ([]byte, error) {
	at, n := uint32(place>>32)&^(1<<31), uint32(place)
	if place>>63 != 0 {
		most = maxValue
	}
	if n > most {
		return nil, &Error{in.m.Hash, fmt.Sprintf("it gives %d bytes, at most %d are allowed", n, most)}
	}
	b, ok := in.wasm.read(at, n)
	if !ok {
		return nil, &Error{in.m.Hash, "it names bytes outside its memory"}
	}
	if place>>63 != 0 {
		return nil, &Failure{string(b)}
	}
	return append([]byte(nil), b...), nil
}

// call calls an export that gets bytes, or nothing if b is nil, and gives a place.
func (in *instance) call(name string, b []byte) ([]byte, error) {
	var stack [2]uint64
	params := 0
	if b != nil {
		at, err := in.place(b)
		if err != nil {
			return nil, err
		}
		stack, params = [2]uint64{uint64(at), uint64(len(b))}, 2
	}
	if err := in.raw(name, stack[:], params, wasm.I64); err != nil {
		return nil, err
	}
	return in.outcome(stack[0], maxValue)
}

// raw calls an export that has so many parameters, i32 all, and these results. After an error the instance is gone;
// what a host function panicked with goes on.
func (in *instance) raw(name string, stack []uint64, params int, results ...byte) error {
	t := wasm.FuncType{Params: bytes.Repeat([]byte{wasm.I32}, params), Results: results}
	if !in.m.exports[name].Equal(t) {
		in.close()
		return &Error{in.m.Hash, fmt.Sprintf("its %s has other parameters than the ABI says", name)}
	}
	err := in.wasm.call(name, t, stack)
	if err == nil {
		return nil
	}
	in.close()
	switch v := in.unwind.(type) {
	case nil:
		return in.m.error(err)
	case *Error:
		return v
	default:
		panic(v)
	}
}
