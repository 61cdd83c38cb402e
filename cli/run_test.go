package cli

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/spf13/pflag"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/apps/all"
)

// TestCommands runs the commands in testdata and compares what they say. Lines of the error output begin with
// "! "; times are replaced by T. $DIR is a directory that has a file. With "daemon" there is one, with a
// history. With "only=x" of the output the lines that begin with x are shown.
func TestCommands(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "file"), []byte("as it was\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "satin-peer" {
				t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
			}
			args := words(t, strings.ReplaceAll(d.Input, "$DIR", dir))
			f := newFake()
			if d.HasArg("daemon") {
				f.withDaemon(t, newFakeMember())
			}
			code := f.run(args...)
			var b strings.Builder
			for line := range strings.Lines(f.out.String()) {
				if !d.HasArg("only") || strings.HasPrefix(line, d.CmdArgs[0].Vals[0]) {
					b.WriteString(line)
				}
			}
			for line := range strings.Lines(f.err.String()) {
				b.WriteString("! " + line)
			}
			if code != 0 {
				b.WriteString("exit " + strconv.Itoa(code) + "\n")
			}
			return normal(strings.ReplaceAll(b.String(), f.dirs.Home, "$HOME"), dir)
		})
	})
}

// words are the arguments in a text: what white space parts, and what is written as a Go string.
func words(t *testing.T, text string) (list []string) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		word := strings.Fields(text)[0]
		if text[0] == '"' {
			quoted, err := strconv.QuotedPrefix(text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			word = quoted
		}
		text = text[len(word):]
		if unquoted, err := strconv.Unquote(word); err == nil {
			word = unquoted
		}
		list = append(list, word)
	}
	return list
}

var (
	times  = regexp.MustCompile(`\d+\.\d{3} s`)
	fields = regexp.MustCompile(`(_seconds": )[-+.e\d]+`)
	stamps = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:[\d.]+Z`)
	jobIDs = regexp.MustCompile(`\b[0-9a-f]{8}/`)
)

func normal(s, dir string) string {
	s = times.ReplaceAllString(strings.ReplaceAll(s, dir, "$DIR"), "T s")
	s = stamps.ReplaceAllString(s, "T")
	return jobIDs.ReplaceAllString(fields.ReplaceAllString(s, "${1}T"), "RUN/")
}

// TestFileKept checks that a refused run leaves the output file as it was, and a good one replaces it.
func TestFileKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	for _, c := range []struct {
		depth string
		code  int
		want  string
	}{{"3", 0, "8\n"}, {"0", exitBadInput, "8\n"}, {"4", 0, "16\n"}} {
		if code := newFake().run("run", "count", c.depth, "--out", path); code != c.code {
			t.Errorf("depth %s: exit code %d, want %d", c.depth, code, c.code)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != c.want {
			t.Errorf("depth %s: the file has %q, %v, want %q", c.depth, got, err, c.want)
		}
	}
}

// TestJSON checks that all of standard output is one JSON object, and what it says of the flags.
func TestJSON(t *testing.T) {
	f := newFake()
	if code := f.run("run", "count", "3", "--json", "--stats", "--twice", "--add", "1", "--wait", "2s", "--workers",
		"2"); code != 0 {
		t.Fatalf("exit code %d: %s", code, &f.err)
	}
	var got document
	d := json.NewDecoder(&f.out)
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if d.More() {
		t.Error("there is more than one object")
	}
	if want := map[string]any{"twice": true, "add": 1.0, "wait": "2s"}; !maps.Equal(got.Flags, want) {
		t.Errorf("flags %v, want %v", got.Flags, want)
	}
	if got.Workers != 2 || got.Elapsed <= 0 || got.Answer["leaves"] != 18.0 || !slices.Equal(got.Args, []string{"3"}) {
		t.Errorf("got %+v", got)
	}
	if got.Stats == nil || got.Stats.Spawns != 7 || got.Stats.Executed != 8 {
		t.Errorf("statistics %+v, want 7 spawns and 8 executed", got.Stats)
	}
	if f.err.Len() > 0 {
		t.Errorf("standard error: %s", &f.err)
	}
}

// TestUnencodableAnswer checks that half an object is not printed.
func TestUnencodableAnswer(t *testing.T) {
	f := newFake()
	if code := f.run("run", "count", "3", "--json", "--scale", "Inf"); code != exitFailed || f.out.Len() > 0 {
		t.Errorf("exit code %d, output %q", code, &f.out)
	}
}

// TestVerbose checks that --verbose adds the stack of the panic, and only it.
func TestVerbose(t *testing.T) {
	for _, args := range [][]string{{"run", "boom", "--verbose"}, {"run", "boom", "--verbose", "--sequential"}} {
		f := newFake()
		if code := f.run(args...); code != exitFailed {
			t.Errorf("%q: exit code %d", args, code)
		}
		if s := f.err.String(); !strings.Contains(s, "console_test.go:") || strings.Count(s, "satin-peer: ") != 1 {
			t.Errorf("%q: %s", args, s)
		}
	}
}

// TestStackOfAnother checks that the stack of a job that panicked elsewhere is shown and can do nothing.
func TestStackOfAnother(t *testing.T) {
	var w strings.Builder
	code := exitCode(&failure{exitFailed, errors.New("a\x1b[2Jb"), []byte("main.f\x1b[2J()\n\tf.go:1\r\n")}, &w)
	if want := "satin-peer: a\\x1b[2Jb\nmain.f\\x1b[2J()\n\tf.go:1\\r\n"; code != exitFailed || w.String() != want {
		t.Errorf("exit code %d, %q, want %q", code, w.String(), want)
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

// TestUnreadOutput checks that an answer which could not be printed is not a success, and that nobody need
// read the rest.
func TestUnreadOutput(t *testing.T) {
	for _, args := range [][]string{{"run", "count", "3"}, {"run", "count", "3", "--json"}, {"apps"}, {"version"},
		{"help"}, {"completion", "bash"}} {
		for err, want := range map[error]int{syscall.EPIPE: 141, syscall.ENOSPC: exitFailed} {
			f := newFake()
			f.console.out = brokenWriter{err}
			if code := f.run(args...); code != want {
				t.Errorf("%q with %v: exit code %d, want %d", args, err, code, want)
			}
			said := 1
			if err == syscall.EPIPE {
				said = 0 // whoever reads no more, as head, knows it
			}
			if strings.Count(f.err.String(), "satin-peer: standard output: ") != said {
				t.Errorf("%q with %v: %s", args, err, &f.err)
			}
		}
	}
	f := newFake()
	f.console.err = brokenWriter{syscall.EPIPE}
	if code := f.run("run", "count", "3"); code != 0 || f.out.String() != "8 leaves, 0 flags\n" {
		t.Errorf("without standard error: exit code %d, output %q", code, &f.out)
	}
}

// TestWritersAtOnce: runs of a batch, and of the parts of a campaign in one, write lines to standard output at once.
// After the first error nothing more is tried, whoever writes.
func TestWritersAtOnce(t *testing.T) {
	var tried atomic.Int32
	out := &sticky{w: writerFunc(func([]byte) (int, error) {
		tried.Add(1)
		runtime.Gosched()
		return 0, syscall.EPIPE
	})}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				fmt.Fprintln(out, "a line")
			}
		})
	}
	all.Wait()
	if n := tried.Load(); n != 1 || !errors.Is(out.failure(), errUnread) {
		t.Errorf("%d writes were tried, and then: %v", n, out.failure())
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestCompletionScripts checks that there is a script for each shell.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "fish", "powershell", "zsh"} {
		f := newFake()
		if code := f.run("completion", shell); code != 0 || !strings.Contains(f.out.String(), "satin-peer") {
			t.Errorf("%s: exit code %d, %d bytes", shell, code, f.out.Len())
		}
	}
}

// TestBuiltIn checks that the applications that are built in fit into the command: their flags are free, their names
// complete, and their help says how to call them.
func TestBuiltIn(t *testing.T) {
	taken := map[string]bool{"help": true, "h": true}
	runCommand(newRoot(nil, newFake().console)).PersistentFlags().VisitAll(func(f *pflag.Flag) { taken[f.Name] = true })
	last := ""
	for _, app := range all.Apps() {
		if app.Name <= last {
			t.Errorf("%q comes after %q", app.Name, last)
		}
		last = app.Name
		if app.Name == "" || app.Summary == "" || app.Long == "" || len(app.Examples) == 0 {
			t.Errorf("%q: no name, summary, explanation or example", app.Name)
		}
		own := flag.NewFlagSet(app.Name, flag.ContinueOnError)
		app.Setup(own)
		own.VisitAll(func(f *flag.Flag) {
			if taken[f.Name] {
				t.Errorf("%s: --%s is a flag of the command itself", app.Name, f.Name)
			}
			if f.Usage == "" {
				t.Errorf("%s: --%s is not explained", app.Name, f.Name)
			}
		})
		f := newFake()
		if code := run([]string{"run", app.Name, "--help"}, all.Apps(), f.console); code != 0 {
			t.Errorf("%s --help: exit code %d: %s", app.Name, code, &f.err)
		}
		for _, example := range app.Examples {
			if !strings.Contains(f.out.String(), "satin-peer run "+app.Name+" "+example) {
				t.Errorf("%s --help does not show the example %q", app.Name, example)
			}
		}
	}
}

// TestExamples checks that the applications in the examples of the other commands exist.
func TestExamples(t *testing.T) {
	root := newRoot(all.Apps(), newFake().console)
	for _, cmd := range append(root.Commands(), root) {
		for line := range strings.Lines(cmd.Example) {
			words := strings.Fields(line)
			if len(words) < 3 || words[1] != "run" && words[1] != "apps" || strings.HasSuffix(words[2], ".wasm") {
				continue // a module is a file of the user's
			}
			if found, _, err := root.Find([]string{runName, words[2]}); err != nil || found.Name() != words[2] {
				t.Errorf("%s --help shows %q, but there is no such application", cmd.Name(), line)
			}
		}
	}
}

// Guards that an application may do without a check of its answer and without a sequential program, and that what it
// cannot do without is missed before the run, in a line, as is a panic where it reads its arguments.
func TestProblemsThatLackSomething(t *testing.T) {
	answer := func(r any) apps.Answer { return apps.Answer{Text: fmt.Sprint(r)} }
	for _, c := range []struct {
		p    apps.Problem
		want string
	}{
		{apps.Problem{Root: "test.count", Answer: answer}, "<nil>"},
		{apps.Problem{Root: "test.count"}, "the Setup of x made a Problem without a Root or an Answer: see go doc apps.Problem"},
		{apps.Problem{Answer: answer}, "the Setup of x made a Problem without a Root or an Answer: see go doc apps.Problem"},
		{apps.Problem{Root: "panics"}, "the Setup of x panicked: no argument"},
	} {
		read := setup(apps.App{Name: "x", Setup: func(*flag.FlagSet) func([]string) (*apps.Problem, error) {
			return func([]string) (*apps.Problem, error) {
				if c.p.Root == "panics" {
					panic("no argument")
				}
				return &c.p, nil
			}
		}}, nil)
		p, err := read(nil)
		if fmt.Sprint(err) != c.want || (p == nil) != (c.p.Root == "panics") {
			t.Errorf("%q: %v, want %s", c.p.Root, err, c.want)
		}
		if err != nil {
			continue
		}
		s, err := examine(p, func() (any, sample, error) { return 7, sample{}, nil })
		if err != nil || s.answer.Text != "7" {
			t.Errorf("an answer that nobody checks: %q, %v", s.answer.Text, err)
		}
	}
	f := newFake()
	if code := f.run("run", "spin", "--sequential"); code != exitBadInput ||
		f.err.String() != "satin-peer: --sequential: spin has no sequential program\n" {
		t.Errorf("exit code %d, says %q", code, &f.err)
	}
}
