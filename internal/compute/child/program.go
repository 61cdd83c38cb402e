package child

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/cputime"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/wire"
)

// Jobs may have executables run that are no part of this program (van Nieuwpoort et al., Satin: A High-Level and
// Efficient Grid Programming Model, section 3.5), if whoever owns the machine allows their very bytes. The process that
// computes can start none itself: it asks its parent, which starts this program once more, in a process that gives up
// what a child gives up, and all writing, and then becomes the executable. It ends when the job is not wanted, when the
// engine does, and with the daemon.

// A Program is an executable that jobs may have run.
type Program struct {
	Name string // by which jobs call it
	Path string
	Hash [sha256.Size]byte // of its bytes
}

// Bounds of one execution, and of a program's file.
const (
	MaxProgram     = 1 << 30 // bytes
	maxProgramArgs = 64 << 10
	MaxProgramIO   = 16 << 20 // bytes that go in, and that come out
	programTime    = 10 * time.Minute
)

// becomes is what a process is to become.
type becomes struct {
	Name string   `cbor:"1,keyasint"`
	Args []string `cbor:"2,keyasint,omitempty"`
}

// HashProgram gives the hash of a file that may be a Program.
func HashProgram(path string) (h [sha256.Size]byte, err error) {
	f, h, err := openProgram(path)
	if err == nil {
		err = f.Close()
	}
	return h, err
}

func openProgram(path string) (f *os.File, h [sha256.Size]byte, err error) {
	if f, err = os.Open(path); err != nil {
		return nil, h, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
		err = fmt.Errorf("%s is no executable file", path)
	case info.Size() > MaxProgram:
		err = fmt.Errorf("%s has %d bytes, at most %d are allowed", path, info.Size(), MaxProgram)
	default:
		sum, start := sha256.New(), &lead{}
		_, err = io.Copy(io.MultiWriter(sum, start), io.LimitReader(f, MaxProgram+1))
		if sum.Sum(h[:0]); err == nil && string(start.b[:]) == "#!" {
			err = fmt.Errorf("%s is a script, which its interpreter could not read where jobs have it run", path)
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, h, err
	}
	return f, h, nil
}

// A lead keeps the first two bytes that are written.
type lead struct {
	b [2]byte
	n int
}

func (l *lead) Write(p []byte) (int, error) {
	l.n += copy(l.b[l.n:], p)
	return len(p), nil
}

// errChanged says that this machine cannot do what it has said: others have to.
var errChanged = errors.New("its file is not what was allowed any more")

// programs are those of an engine, and what runs of them.
type programs struct {
	cfg    Config
	answer func(*port.Order)
	broken func(error) // it is this machine's fault

	mu      sync.Mutex
	running map[uint64]context.CancelFunc
	known   map[string]os.FileInfo // files whose hash was right, by path
	live    map[int]bool           // their processes
	ended   time.Duration          // of processor, that those that have ended had
	closed  bool
	wg      sync.WaitGroup
}

// Executor runs programs for jobs of this process as an engine's are run: for satin.Config.Exec. Command is the program
// and its arguments that end in Main; memory is how many bytes each may have, as in Config.
func Executor(command []string, memory int64, list []Program) func(name string, input []byte, args []string,
	aborted func() bool) ([]byte, error) {
	p := &programs{cfg: Config{Command: command, Memory: memory, Programs: list}, known: map[string]os.FileInfo{},
		live: map[int]bool{}}
	return func(name string, input []byte, args []string, aborted func() bool) ([]byte, error) {
		ctx, cancel := context.WithTimeout(context.Background(), programTime)
		defer cancel()
		var out []byte
		var err error
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			out, err = p.run(ctx, &port.Execution{Name: name, Args: args, Data: input})
		}()
		look := time.NewTicker(compute.AbortedEvery)
		defer look.Stop()
		for {
			select {
			case <-ended:
				return out, err
			case <-look.C:
				if aborted() { // which the job's own goroutine may ask
					cancel()
				}
			}
		}
	}
}

// took carries out what the engine wants done, and says whether it was that. To what the engine has counted it adds
// the processor time of executables: a worker that waits for one has its core, and none of that.
func (p *programs) took(e port.Event) bool {
	if e.Figures != nil && e.Figures.Times.CPU > 0 {
		e.Figures.Times.CPU += p.used()
	}
	if e.Kind != port.Execute && e.Kind != port.Withdraw {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	x := e.Exec
	stop, is := p.running[x.Ticket]
	switch {
	case e.Kind == port.Withdraw:
		if is {
			stop()
		}
	case is || p.closed:
	case len(p.running) >= 2*p.cfg.Compute.Workers: // an honest one has one for each worker, and as many that end
		p.say(x.Ticket, nil, errors.New("too many executables run at once"))
	default:
		ctx, cancel := context.WithTimeout(context.Background(), programTime)
		p.running[x.Ticket] = cancel
		p.wg.Go(func() {
			out, err := p.run(ctx, x)
			cancel()
			p.mu.Lock()
			delete(p.running, x.Ticket)
			p.mu.Unlock()
			if errors.Is(err, errChanged) {
				p.broken(err)
				return
			}
			p.say(x.Ticket, out, err)
		})
	}
	return true
}

func (p *programs) say(ticket uint64, out []byte, err error) {
	x := &port.Execution{Ticket: ticket, Data: out}
	if err != nil {
		x.Failure = err.Error()
	}
	p.answer(&port.Order{Kind: port.Executed, Exec: x})
}

// close ends all of them.
func (p *programs) close() {
	p.mu.Lock()
	p.closed = true
	for _, stop := range p.running {
		stop()
	}
	p.mu.Unlock()
	p.wg.Wait()
}

// run runs one to its end.
func (p *programs) run(ctx context.Context, x *port.Execution) ([]byte, error) {
	for i := range p.cfg.Programs {
		if p.cfg.Programs[i].Name == x.Name {
			return p.execute(ctx, &p.cfg.Programs[i], x.Args, x.Data)
		}
	}
	return nil, fmt.Errorf("executable %q is none of this run: its application names those that its jobs need", x.Name)
}

// open opens a program's file, if its bytes are those that were allowed. They are not hashed again while the system
// says that nobody has written to it.
func (p *programs) open(x *Program) (*os.File, error) {
	p.mu.Lock()
	was := p.known[x.Path]
	p.mu.Unlock()
	if was != nil {
		if f, err := os.Open(x.Path); err == nil {
			is, err := f.Stat()
			if err == nil && os.SameFile(was, is) && was.ModTime().Equal(is.ModTime()) && was.Size() == is.Size() {
				return f, nil
			}
			_ = f.Close()
		}
	}
	f, hash, err := openProgram(x.Path)
	if err != nil {
		return nil, err
	}
	is, err := f.Stat()
	if err != nil || hash != x.Hash {
		_ = f.Close()
		return nil, errChanged
	}
	p.mu.Lock()
	p.known[x.Path] = is
	p.mu.Unlock()
	return f, nil
}

// execute is run of a certain program.
func (p *programs) execute(ctx context.Context, x *Program, args []string, input []byte) ([]byte, error) {
	cfg := &p.cfg
	trouble := func(err error) error { return fmt.Errorf("executable %q: %w", x.Name, err) }
	if len(strings.Join(args, "")) > maxProgramArgs || len(args) > port.MaxArgs || len(input) > MaxProgramIO {
		return nil, trouble(fmt.Errorf("%d arguments and %d bytes of input are more than %d bytes and %d",
			len(args), len(input), maxProgramArgs, MaxProgramIO))
	}
	if _, whole := Protection(); !whole {
		return nil, trouble(errors.New("this machine cannot keep it from files and network"))
	}
	file, err := p.open(x)
	if err != nil {
		return nil, trouble(errChanged)
	}
	defer file.Close()
	memory, _ := MemoryLimit(cfg.Memory)
	head, err := taskFrame(&task{Memory: memory, Idle: cfg.Compute.Idle, Become: &becomes{x.Name, args}})
	if err != nil {
		return nil, trouble(err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(ctx, cfg.Command[0], cfg.Command[1:]...)
	cmd.Env, cmd.Dir = environment(), string(os.PathSeparator)
	out, words := &atMost{most: MaxProgramIO, stop: stop}, &lastWords{}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = io.MultiReader(head, strings.NewReader(string(input))), out, words
	cmd.ExtraFiles = []*os.File{file} // programFile
	ended := make(chan error, 1)
	if err := startTied(cmd, cfg.Compute.Idle, func(err error) { ended <- err }); err != nil {
		return nil, trouble(err)
	}
	p.lives(cmd)
	err = <-ended
	p.ends(cmd)
	switch last, _ := words.fatal(); {
	case out.over:
		return nil, trouble(fmt.Errorf("it wrote more than %d bytes", MaxProgramIO))
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, trouble(fmt.Errorf("it did not end within %v", programTime))
	case ctx.Err() != nil:
		return nil, trouble(errors.New("it was stopped"))
	case err != nil && last != "":
		return nil, trouble(fmt.Errorf("%w: %s", err, last))
	case err != nil:
		return nil, trouble(fmt.Errorf("%w%s", err, words.last()))
	}
	return out.b, nil
}

// lives has the processor time of a process counted from now on, and ends has it stay what it was.
func (p *programs) lives(cmd *exec.Cmd) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live[cmd.Process.Pid] = true
}

func (p *programs) ends(cmd *exec.Cmd) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.live, cmd.Process.Pid)
	p.ended += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// used is the processor time that executables have had so far.
func (p *programs) used() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	sum := p.ended
	for pid := range p.live {
		sum += cputime.Of(pid)
	}
	return sum
}

// taskFrame is a task as it is read.
func taskFrame(t *task) (io.Reader, error) {
	b, err := wire.Control().Encode(t)
	if err != nil {
		return nil, err
	}
	var frame strings.Builder
	if err := wire.WriteFrame(&frame, b, wire.MaxControlFrame); err != nil {
		return nil, err
	}
	return strings.NewReader(frame.String()), nil
}

// atMost keeps so many bytes, and stops whoever writes more.
type atMost struct {
	b    []byte
	most int
	over bool
	stop func()
}

func (w *atMost) Write(b []byte) (int, error) {
	if len(w.b)+len(b) > w.most {
		w.over = true
		w.stop()
		return 0, io.ErrShortWrite
	}
	w.b = append(w.b, b...)
	return len(b), nil
}

// last is the last line that was written, after a colon; "" if there is none.
func (w *lastWords) last() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(w.text)), "\n")
	line := printable([]byte(lines[len(lines)-1]))
	if line == "" {
		return ""
	}
	return ": " + line[:min(len(line), 200)]
}
