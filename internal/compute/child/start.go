package child

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/port/pipe"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
)

// Config says what process to start, and for what.
type Config struct {
	// Command is the program and its arguments that end in Main.
	Command []string
	Compute compute.Config
	// Memory is how many bytes the process may have, DefaultMemory if 0.
	Memory int64
	// Shared is how many bytes a value may have that its jobs share.
	Shared int
	// Log is given the lines that jobs print, one after the other, and as many as a reader can bear; nil: nobody
	// reads them.
	Log func(line string)
	// Module is whose jobs the process runs besides those that are built in; nil: nobody's.
	Module *Module
	// Programs are the executables that its jobs may have run.
	Programs []Program
}

// MemoryLimit is how many bytes of memory a child has if its Config asks for that many, 0: as many as it likes; and
// whether the system sees to it.
func MemoryLimit(asked int64) (most int64, bySystem bool) {
	if asked == 0 {
		asked = DefaultMemory()
	}
	return asked, enforced
}

// task is the first frame that a child reads.
type task struct {
	Run       job.RunID     `cbor:"1,keyasint"`
	Self      string        `cbor:"2,keyasint,omitempty"`
	Workers   int           `cbor:"3,keyasint"`
	Idle      bool          `cbor:"4,keyasint,omitempty"`
	Naive     bool          `cbor:"5,keyasint,omitempty"`
	KeepAfter time.Duration `cbor:"6,keyasint,omitempty"`
	Memory    int64         `cbor:"7,keyasint,omitempty"`
	Module    sentModule    `cbor:"8,keyasint"`
	Ask       bool          `cbor:"9,keyasint,omitempty"`  // no jobs: it is asked about its module
	Become    *becomes      `cbor:"10,keyasint,omitempty"` // no engine: it is another program
	Whole     bool          `cbor:"11,keyasint,omitempty"`
	Lattices  bool          `cbor:"12,keyasint,omitempty"`
}

// An Engine is one in a process of its own.
type Engine struct {
	*pipe.Engine
	process *os.Process
	ended   chan struct{} // closed when the process has been waited for
	result  error
	words   lastWords

	programs programs
}

// Start starts a child. It does not wait until it works: orders wait for it.
func Start(cfg Config) (*Engine, error) {
	e, in, orders, err := launch(cfg, false)
	if err != nil {
		return nil, err
	}
	e.Engine = pipe.New(in, orders, cfg.Shared, e.why)
	e.programs = programs{cfg: cfg, answer: e.Engine.Answer, running: map[uint64]context.CancelFunc{},
		known: map[string]os.FileInfo{}, live: map[int]bool{},
		broken: func(err error) {
			_, _ = fmt.Fprintf(&e.words, ownMark+"%v\n", err)
			_ = e.process.Kill()
		}}
	return e, nil
}

// Poll gives what has come: see port.Live.
func (e *Engine) Poll() ([]port.Event, time.Duration) {
	events, again := e.Engine.Poll()
	return slices.DeleteFunc(events, e.programs.took), again
}

// launch starts the process and sends it its task.
func launch(cfg Config, ask bool) (_ *Engine, in *os.File, orders io.WriteCloser, err error) {
	cfg.Memory, _ = MemoryLimit(cfg.Memory)
	thereIn, hereOut, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	hereIn, thereOut, err := os.Pipe()
	if err != nil {
		_, _ = thereIn.Close(), hereOut.Close()
		return nil, nil, nil, err
	}
	e := &Engine{ended: make(chan struct{}), words: lastWords{log: cfg.Log}}
	cmd := exec.Command(cfg.Command[0], cfg.Command[1:]...)
	cmd.Env, cmd.Dir = environment(), string(os.PathSeparator)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = thereIn, thereOut, &e.words
	err = startTied(cmd, cfg.Compute.Idle, func(err error) {
		e.result = err
		close(e.ended)
	})
	e.process = cmd.Process
	_, _ = thereIn.Close(), thereOut.Close()
	c := &cfg.Compute
	orders = hereOut
	if err == nil {
		err = writeTask(hereOut, &task{c.Run, c.Self, c.Workers, c.Idle, c.Naive, c.KeepAfter, cfg.Memory,
			cfg.Module.sent(), ask, nil, c.Whole, c.Lattices})
		if broken := (*fs.PathError)(nil); errors.As(err, &broken) {
			err = nil // it has ended already, and that is told like any end
		}
		if err != nil {
			_ = e.process.Kill()
		}
	}
	if err != nil {
		_, _ = hereIn.Close(), hereOut.Close()
		return nil, nil, nil, fmt.Errorf("the process that computes cannot be started: %w", err)
	}
	if cfg.Module != nil {
		orders = after(hereOut, cfg.Module.Bytes)
	}
	return e, hereIn, orders, nil
}

// startTied starts a process that ends with this one, and that steps back behind all others if it is idle. Ended is
// called when it has ended, if it was started.
func startTied(cmd *exec.Cmd, idle bool, ended func(error)) error {
	dieWithParent(cmd, idle)
	started := make(chan error)
	go func() {
		// The kernel ends the child with the thread that started it, so that thread stays.
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			if idle {
				stepBack(cmd.Process.Pid)
			}
			ended(cmd.Wait())
		}
	}()
	return <-started
}

func writeTask(w *os.File, t *task) error {
	b, err := wire.Control().Encode(t)
	if err != nil {
		return err
	}
	return wire.WriteFrame(w, b, wire.MaxControlFrame)
}

// environment is all that a child inherits of it: what Windows cannot do without.
func environment() []string {
	env := []string{"GOTRACEBACK=none"}
	if root, ok := os.LookupEnv("SYSTEMROOT"); ok {
		env = append(env, "SYSTEMROOT="+root)
	}
	return env
}

// Close ends the process, and waits for it.
func (e *Engine) Close() {
	_ = e.process.Kill() // it may have ended already
	<-e.ended
	e.programs.close()
	e.Engine.Close()
}

// deathPatience is how long a process may live on without its pipe.
const deathPatience = time.Second

// why says in one line why the process ended. It is asked when its pipe has.
func (e *Engine) why(end error) error {
	timer := time.NewTimer(deathPatience)
	defer timer.Stop()
	select {
	case <-e.ended:
	case <-timer.C:
		_ = e.process.Kill()
		<-e.ended
		if words, _ := e.words.fatal(); words == "" { // else it was dying, on a busy machine
			return fmt.Errorf("the process that computes went wrong: %w", end)
		}
	}
	switch words, own := e.words.fatal(); {
	case own:
		return fmt.Errorf("the process that computes died: %s", words)
	case words != "":
		return byJobs("the process that computes died: " + words)
	}
	if e.result == nil {
		return errors.New("the process that computes ended by itself")
	}
	return fmt.Errorf("the process that computes died: %w%s", e.result, e.words.last())
}

// lastWords keeps what a process wrote first and last before it died.
type lastWords struct {
	log   func(string)
	lines lines

	mu   sync.Mutex
	text []byte
}

// ownMark begins a line in which the child says itself what is wrong.
const ownMark = "satin: "

// maxWords is how much of it, twice.
const maxWords = 8 << 10

// Write is called by one goroutine.
func (w *lastWords) Write(b []byte) (int, error) {
	if w.log != nil {
		for _, line := range w.lines.take(b, time.Now()) {
			w.log(line)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.text = append(w.text, b...); len(w.text) > 2*maxWords {
		w.text = append(w.text[:maxWords], w.text[len(w.text)-maxWords:]...)
		w.text[maxWords-1] = ' ' // what comes next may be the middle of a line
	}
	return len(b), nil
}

// byJobs is a death that jobs have brought about.
type byJobs string

func (b byJobs) Error() string        { return string(b) }
func (b byJobs) Is(target error) bool { return target == port.ErrByJobs }

// fatal finds the line that says why Go's runtime gave up, or why the child itself did. The runtime does not look
// whether it got all the memory that it asked for: beyond a limit it may also fall over address 0, and where it is
// linked with C there may be none for the stack of a thread.
func (w *lastWords) fatal() (words string, own bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for line := range bytes.Lines(w.text) {
		for _, mark := range []string{"fatal error: ", "panic: ", "SIGSEGV: ", "runtime/cgo: ", ownMark} {
			if text, ok := strings.CutPrefix(string(line), mark); ok {
				text = strings.ToValidUTF8(strings.TrimSpace(text), "?")
				return text[:min(len(text), 200)], mark == ownMark
			}
		}
	}
	return "", false
}
