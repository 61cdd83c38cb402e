package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/peer/control"
)

func isSubmit(asked string) bool { return strings.HasPrefix(asked, "submit") }

// Guards that the page lists the modules of the swarm, by names that say which one is meant, begins runs of them as the
// command does, and says what is wrong with their arguments.
func TestModulesOnThePage(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	bin, err := os.ReadFile(queensModule)
	if err != nil {
		t.Fatal(err)
	}
	m := newFakeMember()
	m.module = bin
	named := func(name, publisher string) control.ModuleInfo {
		return control.ModuleInfo{Name: name, Publisher: publisher, Summary: "count\nthem", Args: "N\nM"}
	}
	m.modules = []control.ModuleInfo{named("queens", "A"), named("rulers", "A"), named("rulers", "B"),
		named("count", "B"), {Module: "ef", Here: true}}
	k := &desk{d: m, list: testApps()}
	list, err := k.Apps(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, a := range list[len(k.list):] {
		names = append(names, a.Name)
		if strings.ContainsAny(a.Args+a.Summary, "\n") || !strings.HasPrefix(a.Args, "N") {
			t.Errorf("%+v", a)
		}
	}
	if want := []string{"queens", "A/rulers", "B/rulers", "B/count"}; !slices.Equal(names, want) {
		t.Errorf("the modules are called %q, want %q", names, want)
	}
	m.asked = nil
	run, err := k.Start(t.Context(), "queens", "--threshold 3 6")
	want := []string{"module queens", fmt.Sprintf("add a module of %d bytes", len(bin)),
		`submit queens.wasm ["--threshold=3" "6"] as satin1.job`}
	if err != nil || run != runGoing || !slices.Equal(m.asked, want) {
		t.Errorf("run %q, %v, asked %q, want %q", run, err, m.asked, want)
	}
	m.asked = nil
	_, err = k.Start(t.Context(), "queens", "66")
	if !errors.Is(err, report.ErrBadInput) || !strings.Contains(err.Error(), `N: got "66"`) ||
		slices.ContainsFunc(m.asked, isSubmit) {
		t.Errorf("%v, asked %q", err, m.asked)
	}
	m.module = []byte("no module")
	if _, err = k.Start(t.Context(), "queens", "6"); !errors.Is(err, report.ErrBadInput) {
		t.Error(err)
	}
}

// Guards that the page begins what the command would, refuses what it would, and writes no file.
func TestDesk(t *testing.T) {
	m := newFakeMember()
	k := &desk{d: m, list: testApps()}
	run, err := k.Start(t.Context(), "count", "--add 2 3")
	if err != nil || run != runGoing || m.asked[0] != `submit count ["--add=2" "3"] as test.count` {
		t.Errorf("run %q, %v, asked %q", run, err, m.asked)
	}
	out := filepath.Join(t.TempDir(), "out")
	for _, c := range [][2]string{{"gone", "3"}, {"count", "many"}, {"count", "--no-such 3"}, {"count", "3 3"},
		{"count", "--out " + out + " 3"}} {
		m.asked = nil
		_, err := k.Start(t.Context(), c[0], c[1])
		if !errors.Is(err, report.ErrBadInput) || slices.ContainsFunc(m.asked, isSubmit) {
			t.Errorf("%q: %v, asked %q", c, err, m.asked)
		}
	}
	if err := errors.Join(k.Suspend(t.Context(), "x"), k.ResumeRun(t.Context(), "y")); err != nil ||
		len(m.asked) != 2 {
		t.Errorf("%v, asked %q", err, m.asked)
	}
	m.outcome.State = control.RunDone
	mine := func(r control.RunInfo) {
		m.runs = []control.RunInfo{r}
	}
	done := control.RunInfo{Run: runDone, App: "count", Args: []string{"3", "--out=" + out}, Mine: true,
		State: control.RunDone}
	mine(done)
	text, err := k.Answer(t.Context(), runDone)
	if err != nil || !strings.Contains(text, "8") {
		t.Errorf("the answer is %q, %v", text, err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("the page has written a file")
	}
	for _, change := range []func(*control.RunInfo){
		func(r *control.RunInfo) { r.Mine = false },
		func(r *control.RunInfo) { r.Module = "ef" },
		func(r *control.RunInfo) { r.State = control.RunRunning },
		func(r *control.RunInfo) { r.App = "gone" },
	} {
		r := done
		change(&r)
		mine(r)
		if text, err := k.Answer(t.Context(), runDone); !errors.Is(err, report.ErrRefused) || text != "" {
			t.Errorf("%+v: %q, %v", r, text, err)
		}
	}
}
