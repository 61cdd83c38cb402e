package peer

import (
	"strings"
	"testing"

	"github.com/satin-peer/satin/peer/control"
)

// Doctor says how much the workers yield, and whether that was asked for.
func TestPriorityFinding(t *testing.T) {
	for _, c := range []struct {
		wanted, bySession bool
		level             control.Severity
		has               string
	}{
		{true, false, control.Good, "jobs run slowly"},
		{true, true, control.Good, "weighs sessions"},
		{false, true, control.Warning, "jobs run slowly"},
	} {
		f := priorityFinding("slowly", c.wanted, c.bySession)
		if f.Level != c.level || !strings.Contains(f.Text, c.has) || (f.Level == control.Warning) != (f.Fix != "") {
			t.Errorf("%+v: %+v", c, f)
		}
	}
}

// TestPriorityInForce: what is asked of the system is its word, unless the settings want normal priority.
func TestPriorityInForce(t *testing.T) {
	full := (&doctor{cfg: &Config{FullPriority: true}}).examinePriority()
	idle := (&doctor{cfg: &Config{}}).examinePriority()
	if full.Text == idle.Text || !strings.Contains(full.Text, "setting") {
		t.Errorf("with full priority %q, without %q", full.Text, idle.Text)
	}
}
