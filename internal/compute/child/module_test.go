package child_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/compute/child"
	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/port/porttest"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/steal"
)

// startModule starts a child for a module's jobs; log has what they say, if it is not nil.
func startModule(t *testing.T, m *child.Module, log func(string)) *child.Engine {
	t.Helper()
	return startWith(t, child.Config{Module: m, Log: log})
}

func startWith(t *testing.T, cfg child.Config) *child.Engine {
	t.Helper()
	cfg.Compute = porttest.Config()
	e := started(t, cfg)
	t.Cleanup(e.Close)
	return e
}

// loaded is a module in this process, until the test ends.
func loaded(t testing.TB, bin []byte) *module.Module {
	t.Helper()
	h, err := module.NewHost(module.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	m, err := h.Load(bin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// rootOf is the job by which a module computes something.
func rootOf(t testing.TB, m *module.Module, args ...string) *steal.Job {
	t.Helper()
	flags := make([]string, len(m.Flags))
	for i, f := range m.Flags {
		flags[i] = f.Default
	}
	root, err := m.Setup(args, flags, nil)
	if err != nil {
		t.Fatal(err)
	}
	return callOf(t, root.Call)
}

func callOf(t testing.TB, c module.Call) *steal.Job {
	b, err := wire.Value().Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	return &steal.Job{Function: module.Func, Arg: b}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	bin, err := os.ReadFile("../../../" + path)
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// A module's jobs run in a child, which gets its bytes before its first job; it keeps compiled code where it may,
// and reaches nothing else.
func TestModule(t *testing.T) {
	bin := readFile(t, "examples/queens-c/queens.wasm")
	cache := t.TempDir()
	job := rootOf(t, loaded(t, bin), "9")
	outcomes := map[string]bool{}
	for range 2 { // the second time from the cache
		e := startModule(t, &child.Module{Hash: module.HashOf(bin), Bytes: bin, Cache: cache}, nil)
		ev := end(t, e, job)
		if ev.Kind != port.Finished || !ev.Good {
			t.Fatalf("event %v: %s", ev.Kind, ev.Text)
		}
		outcomes[string(ev.Outcome)] = true
	}
	if len(outcomes) != 1 {
		t.Error("the second outcome differs from the first")
	}
	if list, err := os.ReadDir(cache); err != nil || len(list) == 0 {
		t.Errorf("nothing is kept of the compiled code: %v", err)
	}
}

// A folder for compiled code that was removed a moment ago costs the compiled code, and not the process.
func TestModuleWithoutItsFolder(t *testing.T) {
	bin := readFile(t, "examples/queens-c/queens.wasm")
	e := startModule(t, &child.Module{Hash: module.HashOf(bin), Bytes: bin, Cache: filepath.Join(t.TempDir(), "gone")},
		nil)
	if ev := end(t, e, rootOf(t, loaded(t, bin), "6")); ev.Kind != port.Finished || !ev.Good {
		t.Errorf("event %v: %s", ev.Kind, ev.Text)
	}
}

// What is wrong with a module is a failure of its jobs in one line; bytes that are not those of its hash are not
// run.
func TestBadModule(t *testing.T) {
	queens := readFile(t, "examples/queens-c/queens.wasm")
	hash := module.HashOf(queens)
	for _, c := range []struct {
		what   string
		m      child.Module
		of     module.Hash // whose job
		died   bool
		reason string
	}{
		{"no module at all", child.Module{Hash: module.HashOf([]byte("no module")), Bytes: []byte("no module")},
			module.HashOf([]byte("no module")), false, "module "},
		{"half of one", child.Module{Hash: module.HashOf(queens[:999]), Bytes: queens[:999]},
			module.HashOf(queens[:999]), false, "module "},
		{"another's job", child.Module{Hash: hash, Bytes: queens}, module.Hash{1}, false, "is not here"},
		{"other bytes", child.Module{Hash: hash, Bytes: queens[1:]}, hash, true, "with other bytes"},
		{"too many bytes", child.Module{Hash: hash, Bytes: make([]byte, module.MaxSize+1)}, hash, true, "at most"},
	} {
		t.Run(c.what, func(t *testing.T) {
			e := startModule(t, &c.m, nil)
			ev := end(t, e, callOf(t, module.Call{Module: c.of}))
			text := ev.Text
			if ev.Kind == port.Finished {
				var o compute.Outcome
				if err := wire.Value().Decode(ev.Outcome, &o); err != nil || o.Panic == nil {
					t.Fatalf("the outcome is %+v, %v", o, err)
				}
				text = o.Panic.Panic
			}
			if (ev.Kind == port.Died) != c.died || !strings.Contains(text, c.reason) || strings.Contains(text, "\n") {
				t.Errorf("event %v, %q, want one line with %q", ev.Kind, text, c.reason)
			}
		})
	}
}

// Whatever a module's jobs do, each ends in one clear line, or does no harm, and the same process goes on with the
// next; what they ask for in memory stays within the process's limit.
func TestHostileModule(t *testing.T) {
	if testing.Short() {
		t.Skip("one job after the other: make race runs the short tests, and these have nothing to race for a minute")
	}
	bin := readFile(t, "guest/conform/hostile.wasm")
	said := make(chan string, 1000) // many more than come through
	e := startModule(t, &child.Module{Hash: module.HashOf(bin), Bytes: bin}, func(line string) { said <- line })
	m := loaded(t, bin)
	for i, c := range []struct{ what, n, why string }{
		{"recurse", "1", "out of bounds memory access"}, {"calls", "1", "stack overflow"}, {"grow", "1", ""},
		{"grow", "100000", ""}, {"traps", "0", "out of bounds memory access"},
		{"forge", "1", "names a child 1 that it has not offered"}, {"forge", "4294967295", "names a child -1"},
		{"forge_drop", "17", "names a child 17"}, {"twice_joined", "1", "names a child 1"},
		{"wait_far", "2147483392", "outside its memory"}, {"wait_many", "4294967295", "waits for one of 4294967295"},
		{"promote", "200000", ""}, {"hoard", "100000", "offers more than 65536 children at a time"},
		{"leave", "1", "although 1 of its children are at work"}, {"large", "0", "outside its memory"},
		{"far", "0", "outside its memory"}, {"long_path", "2147483647", "deep"},
		{"fail_far", "4096", "outside its memory"}, {"terminal", "1", "red  [31m and more lines"},
		{"chatter", "100000", ""},
	} {
		ev := endOf(t, e, rootOf(t, m, c.what, c.n), steal.SegmentID(i+1))
		var o compute.Outcome
		if ev.Kind != port.Finished {
			t.Fatalf("%s %s: event %v: %s", c.what, c.n, ev.Kind, ev.Text)
		}
		if err := wire.Value().Decode(ev.Outcome, &o); err != nil {
			t.Fatal(err)
		}
		text := ""
		if o.Panic != nil {
			text = o.Panic.Panic
		}
		if (text == "") != (c.why == "") || !strings.Contains(text, c.why) || strings.ContainsAny(text, "\n\r\033") {
			t.Errorf("%s %s: %q, want one line with %q", c.what, c.n, text, c.why)
		}
	}
	if line := <-said; !strings.Contains(line, "is ready: checked in") {
		t.Errorf("the process says %q first", line)
	}
	if line := <-said; line != "spam" {
		t.Errorf("a module is heard to say %q", line)
	}
}

// What runs for ever is ended with its process, at once.
func TestEndlessModule(t *testing.T) {
	bin := readFile(t, "guest/conform/hostile.wasm")
	for _, what := range []string{"loop", "copy"} {
		e := startModule(t, &child.Module{Hash: module.HashOf(bin), Bytes: bin}, nil)
		e.Do(&port.Order{Kind: port.Cores, Max: 1})
		e.Do(&port.Order{Kind: port.Run, Segment: 1, Job: rootOf(t, loaded(t, bin), what, "16000000")})
		e.Do(&port.Order{Kind: port.Count, Whole: true})
		for busy := false; !busy; {
			events, _ := e.Poll()
			for _, ev := range events {
				if ev.Kind == port.Finished || ev.Kind == port.Died {
					t.Fatalf("%s: event %v: %s", what, ev.Kind, ev.Text)
				}
				// That the worker is busy need not be told where that follows from the order; of its time it is.
				busy = busy || ev.Kind == port.Counted && ev.Figures.Times.CPU > 20*time.Millisecond
				if ev.Kind == port.Counted && !busy {
					e.Do(&port.Order{Kind: port.Count, Whole: true})
				}
			}
			if !busy {
				<-e.Bell()
			}
		}
		e.Close()
	}
}

// end has one job run and gives the event that ends it, or the engine's last one.
func end(t testing.TB, e *child.Engine, job *steal.Job) port.Event {
	t.Helper()
	return endOf(t, e, job, 1)
}

// endOf is end of a job that is not the first.
func endOf(t testing.TB, e *child.Engine, job *steal.Job, id steal.SegmentID) port.Event {
	t.Helper()
	e.Do(&port.Order{Kind: port.Cores, Max: 1})
	e.Do(&port.Order{Kind: port.Run, Segment: id, Job: job})
	deadline := time.After(8 * time.Minute)
	for {
		events, _ := e.Poll()
		for _, ev := range events {
			if ev.Kind == port.Finished || ev.Kind == port.Died {
				return ev
			}
		}
		select {
		case <-e.Bell():
		case <-deadline:
			t.Fatalf("a job of %s does not end", job.Function)
		}
	}
}

// A process whose jobs are compared with others' has them see nothing of where they run: what looks for a lattice ends
// with a line.
func TestStrictModule(t *testing.T) {
	bin := readFile(t, "examples/golomb-c/golomb.wasm")
	e := startModule(t, &child.Module{Hash: module.HashOf(bin), Bytes: bin, Strict: true}, nil)
	ev := end(t, e, rootOf(t, loaded(t, bin), "6"))
	var o compute.Outcome
	if err := wire.Value().Decode(ev.Outcome, &o); err != nil || o.Panic == nil ||
		!strings.Contains(o.Panic.Panic, "cannot be compared") {
		t.Errorf("event %v: %s, %+v, %v", ev.Kind, ev.Text, o, err)
	}
}
