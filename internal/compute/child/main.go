package child

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/port/pipe"
	"github.com/satin-peer/satin/internal/wire"
)

// maxStack is what Go allows by itself on a large machine, in bytes.
const maxStack = 1_000_000_000

// Main is all that a child does, from its standard input to its standard output, and gives the exit code. What
// jobs print goes to standard error, and so to Config.Log.
func Main(in, out *os.File) int { return thisKernel().main(in, out) }

func (k kernel) main(in, out *os.File) int {
	os.Stdin, os.Stdout = nil, os.Stderr
	// A terminal tells all of its processes, and some who end a daemon all of its group. It leaves then, hands over
	// what is done here, and ends this process.
	signal.Notify(make(chan os.Signal, 1), groupSignals()...)
	// What follows the task may be for another program, which reads as usual.
	var t task
	b, err := wire.ReadFrame(in, nil, wire.MaxControlFrame)
	if err == nil {
		err = wire.Control().Decode(b, &t)
	}
	switch {
	case err != nil:
	case t.Become != nil:
		err = become(t.Become, t.Memory, t.Idle)
	default:
		err = k.serve(&t, pollable(in), pollable(out))
	}
	runtime.KeepAlive(in) // these are the same descriptors, which their ends would close
	runtime.KeepAlive(out)
	if err != nil {
		fmt.Fprintf(os.Stderr, ownMark+"%v\n", err)
		return 1
	}
	return 0
}

func groupSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} }

func (k kernel) serve(t *task, in io.Reader, out io.Writer) error {
	bin, err := readModule(in, t.Module)
	if err != nil {
		return err
	}
	settle, err := k.confine(t.Memory, t.Module.Cache)
	if err != nil {
		return err
	}
	if t.Memory > 0 {
		debug.SetMemoryLimit(t.Memory / 8 * 7)
		// A stack grows by being copied into one of twice its size: one that has no end shall not look like
		// memory that ran out.
		debug.SetMaxStack(int(min(t.Memory/4, maxStack)))
	}
	if t.Ask {
		return answer(&t.Module, bin, settle, in, out)
	}
	e, err := compute.New(compute.Config{Run: t.Run, Self: t.Self, Workers: t.Workers, Idle: t.Idle, Naive: t.Naive,
		KeepAfter: t.KeepAfter, Whole: t.Whole, Lattices: t.Lattices, Programs: true})
	if err != nil {
		return err
	}
	if t.Module.Size > 0 {
		if err := provide(&t.Module, bin); err != nil {
			return err
		}
	}
	if err := settle(); err != nil {
		return err
	}
	// The engine is not closed: jobs that do not look at their attention word need not be waited for, the
	// process ends.
	return pipe.Serve(e, in, out)
}
