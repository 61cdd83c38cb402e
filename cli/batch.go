package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/internal/cause"
	"github.com/satin-peer/satin/internal/durable"
	"github.com/satin-peer/satin/peer/control"
)

// A batch is many runs of one application, one for each line of a file. Line 12 is done when its answer is in
// 0012.json of the directory of results; 0012.run names the run as long as the daemon has it. So a batch that was
// interrupted, or whose machine was switched off, goes on where it was when the same command is given again.
type batch struct {
	console console
	o       *options
	d       control.Daemon // nil: the runs are in this process, one after another
	dir     string
	inputs  []*input
	// isDone says whether an input was done before, and keep keeps its answer; several at a time.
	isDone func(in *input) bool
	keep   func(in *input, s solution) error
	over   func() error // why no more of them is to be done, if so

	mu      sync.Mutex
	done    int
	running map[*input]computation
}

// An input is a line of the file.
type input struct {
	line int
	text string
	read func() (*task, error) // makes task
	task *task                 // as long as it runs, if read makes it
	// instead is nil, or does the input in another way, if it says so.
	instead func(ctx context.Context) (bool, error)
}

func (in *input) file(suffix string) string { return fmt.Sprintf("%04d%s", in.line, suffix) }

const (
	maxInputs = 100_000
	maxLine   = 64 << 10 // bytes
)

// runBatch runs an application for each line of a file.
func runBatch(c console, app apps.App, o *options, flags *pflag.FlagSet, own *flag.FlagSet, args []string) error {
	switch {
	case len(args) > 0:
		return apps.WrongArgs(args, "none beside --each: they are in its lines")
	case o.results == "":
		return errors.New("--each needs --results DIR, the directory that gets the answers")
	}
	b := &batch{console: c, o: o, dir: o.results, running: map[*input]computation{}}
	b.isDone, b.keep, b.over = b.isThere, b.writeAnswer, func() error { return nil }
	if err := b.read(app, given(flags, own)); err != nil {
		return err
	}
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return failed("%w", err)
	}
	if !o.here(flags) {
		stop, err := b.connect(flags)
		if err != nil {
			return err
		}
		defer stop()
	}
	if b.d == nil {
		if _, err := o.staysHere(flags, ""); err != nil {
			return err
		}
	}
	return b.run()
}

// connect finds the daemon, if there is one.
func (b *batch) connect(flags *pflag.FlagSet) (stop func(), err error) {
	l, err := b.console.load(flags)
	if err != nil {
		return nil, err
	}
	d, err := control.Connect(l.RuntimeDir)
	if errors.Is(err, control.ErrNotRunning) {
		b.console.staysAlone(l)
		return func() {}, nil
	}
	if err != nil {
		return nil, daemonError(err)
	}
	b.d = d
	return func() { d.Close() }, nil
}

// How many runs of a batch a daemon has at once, if nobody says otherwise, and may have.
const (
	runsAtOnce = 4
	maxAtOnce  = 64
)

// read makes a task of each line, before anything is run: a mistake in the last line is told at once.
func (b *batch) read(app apps.App, flags map[string]any) error {
	name := b.o.each
	file, err := os.Open(name)
	if err != nil {
		return &apps.InputError{What: "--each", Got: name, Want: "a file that can be read: " + cause.Of(err).Error()}
	}
	defer file.Close()
	common := commandLine(&task{flags: flags})
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if len(b.inputs) == maxInputs {
			return &apps.InputError{What: name, Want: fmt.Sprintf("at most %d inputs", maxInputs)}
		}
		t, err := readTask([]apps.App{app}, control.RunInfo{App: app.Name,
			Args: slices.Concat(common, strings.Fields(text))})
		if err == nil && t.problem.Writes() {
			err = errors.New("an output file would be written by each run: leave it out")
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
		b.inputs = append(b.inputs, &input{line: n, text: text, task: t})
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return &apps.InputError{What: name, Got: "a longer line",
			Want: fmt.Sprintf("lines of less than %d bytes", maxLine)}
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(b.inputs) == 0 {
		return &apps.InputError{What: name, Want: "a line for each run"}
	}
	return nil
}

// run does what is not done yet, as many at once as is allowed.
func (b *batch) run() error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals, release := b.console.signals()
	defer release()
	ticks, stop := b.console.every(plainEvery)
	defer stop()
	todo := slices.DeleteFunc(slices.Clone(b.inputs), b.isDone)
	b.done = len(b.inputs) - len(todo)
	if b.done > 0 {
		fmt.Fprintf(b.console.err, "%d of %d were done before\n", b.done, len(b.inputs))
	}
	type end struct {
		in  *input
		err error
	}
	ended := make(chan end)
	most := b.o.atOnce
	if b.d == nil {
		most = 1
	}
	going, quiet := 0, 0
	var bad []string
	for {
		for ; going < most && len(todo) > 0; going++ {
			in := todo[0]
			todo = todo[1:]
			go func() { ended <- end{in, b.one(ctx, in)} }()
		}
		if going == 0 {
			return cmp.Or(b.over(), b.sum(bad))
		}
		select {
		case e := <-ended:
			if going--; e.err != nil {
				bad = append(bad, fmt.Sprint(e.in.line))
				fmt.Fprintf(b.console.err, "satin-peer: %s:%d: %s\n", b.o.each, e.in.line, oneLine(e.err.Error()))
				if b.over() != nil {
					todo = nil
				}
			}
		case <-ticks:
			if quiet++; quiet == samplesALine {
				quiet = 0
				fmt.Fprintln(b.console.err, b.progress())
			}
		case s := <-signals:
			release()
			cancel()
			text := "interrupted with " + b.progress()
			if b.d != nil {
				text += "; the runs that have begun go on"
			}
			return &interrupted{signal: s, text: text + "; the same command goes on from here"}
		}
	}
}

// one runs one input to its end, and keeps its answer.
func (b *batch) one(ctx context.Context, in *input) (err error) {
	if in.instead != nil {
		if done, err := in.instead(ctx); done || err != nil {
			return err
		}
	}
	if in.read != nil {
		if in.task, err = in.read(); err != nil {
			return err
		}
		defer func() { in.task = nil }()
	}
	r, stop, err := b.start(in)
	if err != nil {
		return err
	}
	defer stop()
	b.mu.Lock()
	b.running[in] = r
	b.mu.Unlock()
	s, err := r.solve(ctx)
	if err == nil && ctx.Err() == nil {
		err = b.keep(in, s)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.running, in)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, control.ErrUnavailable) || errors.Is(err, control.ErrNotRunning) ||
		errors.Is(err, errSuspended) || errors.Is(err, errRefused) || errors.As(err, new(syscall.Errno)) {
		return err // the daemon is gone, or keeps the run, and goes on with it later; or the disk is full
	}
	if err = errors.Join(err, durable.Remove(filepath.Join(b.dir, in.file(".run")))); err != nil {
		return err
	}
	b.done++
	text, _, _ := strings.Cut(s.answer.Text, "\n")
	_, err = fmt.Fprintf(b.console.out, "%s  %s: %s (%s)\n", in.file(""), oneLine(in.text), oneLine(text),
		seconds(s.end.at))
	return err
}

// start begins a run, or finds the one that was begun before.
func (b *batch) start(in *input) (r computation, stop func(), err error) {
	if b.d == nil {
		pool, err := b.o.pool()
		if err != nil {
			return nil, nil, err
		}
		return newLocalRun(in.task.problem, pool), pool.Close, nil
	}
	ctx := context.Background()
	name := filepath.Join(b.dir, in.file(".run"))
	if id, err := apps.ReadFile(name, maxLine); err == nil {
		run, err := findRun(ctx, b.d, strings.TrimSpace(string(id)))
		if err == nil && run.Mine && run.App == in.task.app && slices.Equal(run.Args, commandLine(in.task)) {
			return &swarmRun{console: b.console, d: b.d, run: run.Run, problem: in.task.problem}, func() {}, nil
		}
	}
	run, err := handIn(b.console, in.task, b.o, b.d)
	if err != nil {
		return nil, nil, err
	}
	// a link that somebody has put there is replaced
	if err := apps.WriteFile(name, durable.Bytes([]byte(run.Run+"\n"))); err != nil {
		return nil, nil, errors.Join(failed("%w", err), b.d.Cancel(ctx, run.Run))
	}
	return &swarmRun{console: b.console, d: b.d, run: run.Run, problem: in.task.problem, ownsIt: true}, func() {}, nil
}

// writeAnswer writes an answer so that it is there whole or not at all.
func (b *batch) writeAnswer(in *input, s solution) error {
	text, err := describe(in.task, b.o, s)
	if err != nil {
		return err
	}
	return apps.WriteFile(filepath.Join(b.dir, in.file(".json")), durable.Bytes(text))
}

// isThere says whether the answer to an input is there. One to another input is not taken for it.
func (b *batch) isThere(in *input) bool {
	text, err := os.ReadFile(filepath.Join(b.dir, in.file(".json")))
	var d document
	if err != nil || json.Unmarshal(text, &d) != nil || d.App != in.task.app || !slices.Equal(d.Args, in.task.args) {
		return false
	}
	then, _ := json.Marshal(d.Flags) // which came from JSON
	now, err := json.Marshal(in.task.flags)
	return err == nil && bytes.Equal(then, now)
}

// progress says how far the batch is.
func (b *batch) progress() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := fmt.Sprintf("%d of %d done", b.done, len(b.inputs))
	for _, in := range b.inputs {
		if r := b.running[in]; r != nil {
			text += fmt.Sprintf(", %s at %s", in.file(""), percent(r.measure().share))
		}
	}
	return text
}

// sum is how a batch ended.
func (b *batch) sum(bad []string) error {
	if len(bad) == 0 {
		return nil
	}
	return failed("%d of %d failed: lines %s of %s; the same command tries them again", len(bad), len(b.inputs),
		strings.Join(bad, ", "), b.o.each)
}
