package child_test

import (
	"os"
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

// startModule starts a child for a module's jobs.
func startModule(t *testing.T, m *child.Module) *child.Engine {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e, err := child.Start(child.Config{Command: []string{exe, "compute"}, Compute: porttest.Config(), Module: m})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// rootOf is the job by which a module computes something.
func rootOf(t *testing.T, bin []byte, args ...string) *steal.Job {
	t.Helper()
	h, err := module.NewHost(module.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	m, err := h.Load(bin)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	flags := make([]string, len(m.Flags))
	for i, f := range m.Flags {
		flags[i] = f.Default
	}
	root, err := m.Setup(args, flags)
	if err != nil {
		t.Fatal(err)
	}
	return callOf(t, module.Call{Module: m.Hash, Fn: root.Fn, Arg: root.Arg})
}

func callOf(t *testing.T, c module.Call) *steal.Job {
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
	job := rootOf(t, bin, "9")
	outcomes := map[string]bool{}
	for range 2 { // the second time from the cache
		e := startModule(t, &child.Module{Hash: module.HashOf(bin), Bytes: bin, Cache: cache})
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
			e := startModule(t, &c.m)
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

// end has one job run and gives the event that ends it, or the engine's last one.
func end(t testing.TB, e *child.Engine, job *steal.Job) port.Event {
	t.Helper()
	e.Do(&port.Order{Kind: port.Cores, Max: 1})
	e.Do(&port.Order{Kind: port.Run, Segment: 1, Job: job})
	deadline := time.After(time.Minute)
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
