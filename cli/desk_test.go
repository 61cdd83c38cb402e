package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/peer/control"
)

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
		if _, err := k.Start(t.Context(), c[0], c[1]); !errors.Is(err, report.ErrBadInput) || len(m.asked) > 0 {
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
