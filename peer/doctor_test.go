package peer

import (
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/peer/control"
)

// What doctor says to do about a run that is refused can be done: nobody is sent for a version that is there, and an
// owner learns how to be rid of its run.
func TestWhatLetsARunIn(t *testing.T) {
	for _, c := range []struct {
		run  control.RunInfo
		says []string
	}{
		{control.RunInfo{}, []string{"install the version"}},
		{control.RunInfo{Quarantined: true}, []string{"resume aa"}},
		{control.RunInfo{Quarantined: true, Mine: true}, []string{"resume aa", "cancel aa"}},
		{control.RunInfo{Mine: true}, []string{"cancel aa"}},
	} {
		c.run.Run = "aa"
		got := letIn(&c.run)
		for _, s := range c.says {
			if !strings.Contains(got, s) {
				t.Errorf("%+v: %q does not say %q", c.run, got, s)
			}
		}
		if (c.run.Mine || c.run.Quarantined) && strings.Contains(got, "version") {
			t.Errorf("%+v: %q", c.run, got)
		}
	}
}

// What doctor says to do about members that are gone, and where nobody can connect, helps whatever the cause: peers
// shows no addresses, who was put out has a network, and no router forwards to an address that is this machine's own.
func TestWhatConnects(t *testing.T) {
	d := &doctor{card: &ownCard{}, members: someMembers(1, time.Now())}
	gone := d.examineMembers(&control.Status{})
	private := d.examineReach(&control.Status{Reachability: control.Reachability{State: control.ReachPrivate}})
	if !strings.Contains(gone.Fix, "satin-peer join") || !strings.Contains(gone.Fix, "put out") ||
		!strings.Contains(private.Fix, "listen") {
		t.Errorf("%q, %q", gone.Fix, private.Fix)
	}
}

// Doctor speaks of the run whose need this peer's line does not carry, or else of the one that needs most, and what
// it advises would do.
func TestUplinkFinding(t *testing.T) {
	run := func(id string, needs, has float64) control.RunInfo {
		return control.RunInfo{Run: id, Uplink: &report.Uplink{Needs: needs, Has: has}}
	}
	for _, c := range []struct {
		what  string
		runs  []control.RunInfo
		level control.Severity
		says  string
	}{
		{"no run", nil, control.Good, "not known"},
		{"one that has not sent for long", []control.RunInfo{{Run: "aa"}}, control.Good, "not known"},
		{"the one that needs most", []control.RunInfo{run("aa", 1e3, 1e6), {Run: "bb"}, run("cc", 2e3, 0)},
			control.Good, "run cc with all its cores here: 2 KB/s needed"},
		{"the one that lacks", []control.RunInfo{run("aa", 8e3, 1e6), run("bb", 4e3, 1e3), run("cc", 9e3, 0)},
			control.Warning, "run bb with all its cores here: 4 KB/s needed, only 1 KB/s there"},
	} {
		f := uplinkFinding(c.runs)
		if f.Level != c.level || !strings.Contains(f.Text, c.says) || (f.Fix != "") != (c.level != control.Good) {
			t.Errorf("%s: %+v", c.what, f)
		}
		if c.level == control.Warning && !strings.Contains(f.Fix, "about 25 %") {
			t.Errorf("%s: %q", c.what, f.Fix)
		}
	}
}
