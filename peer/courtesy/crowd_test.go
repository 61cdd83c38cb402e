package courtesy

import (
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/peer/preferences"
)

// Guards that jobs are stopped beside programs that want all cores, stay so as long as those do, and go on afterwards;
// and that what is not known, or was too short, stops nobody.
func TestCrowd(t *testing.T) {
	var f report.RunStats
	var idle, all float64
	known := true
	c := &crowd{sum: func() report.RunStats { return f },
		times: func() (float64, float64, bool) { return idle, all, known }}
	p := preferences.Preferences{Workers: 2, Here: preferences.Same}
	v := preferences.Verdict{Cores: 2}
	now := time.Unix(0, 0)
	second := func(what string, held, cpu report.Span, free float64, cores int) {
		t.Helper()
		f.HeldTime, f.CPUTime = f.HeldTime+held, f.CPUTime+cpu
		idle, all = idle+free, all+2
		now = now.Add(time.Second)
		s := preferences.Seen{Now: now}
		c.look(&s, !v.Crowded.IsZero())
		if v = p.Decide(s, v); v.Cores != cores || (v.Limit == "") != (cores == 2) {
			t.Errorf("%s: %d cores, %q", what, v.Cores, v.Limit)
		}
	}
	second("alone", 2000, 1990, 0, 2)
	second("a crowd comes", 2000, 6, 0, 0)
	second("jobs are stopped", 0, 0, 0, 0)
	second("a long leaf goes on", 1000, 3, 0.1, 0)
	second("it was long enough: they are tried", 0, 0, 0, 2)
	second("the crowd is still there", 2000, 6, 0, 0)
	second("half a core is left over", 0, 0, 0.5, 2)
	second("in peace again", 2000, 1990, 0, 2)
	second("in the way of one's own kind", 2000, 200, 0, 2)
	second("and longer", 2000, 200, 0, 2)
	second("too short to tell", 190, 0, 0, 2)
	second("and longer", 190, 0, 0, 2)
	second("jobs wait though cores are free", 2000, 6, 1, 2)
	second("and longer", 2000, 6, 1, 2)
	second("busy in peace", 2000, 1990, 0, 2)
	second("idle in peace", 0, 0, 60, 2) // which was not looked at
	second("a crowd comes back", 2000, 6, 0, 2)
	second("it stays again", 2000, 6, 0.05, 0)
	second("it goes", 0, 0, 2, 2)
	f = report.RunStats{} // a run has ended, and its figures are missing for a moment
	second("figures went back", 1000, 0, 0, 2)
	known = false
	second("nobody tells", 2000, 0, 0, 2)
	second("and longer", 2000, 0, 0, 2)
}
