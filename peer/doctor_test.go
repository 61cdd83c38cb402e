package peer

import (
	"strings"
	"testing"

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
