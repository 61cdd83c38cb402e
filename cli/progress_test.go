package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/report"
)

func at(seconds float64, share float64, executed uint64, busy int) sample {
	return sample{at: time.Duration(seconds * float64(time.Second)), share: share,
		Stats: satin.Stats{Workers: 4, Busy: busy, Executed: executed}}
}

// TestMeter follows a run: the first figures, the rate of the last five seconds, a share that never goes back, and the
// sequential program.
func TestMeter(t *testing.T) {
	m := &meter{}
	for _, c := range []struct {
		sample
		line, plain string
	}{
		{at(0.5, 0, 0, 4),
			" 0.0 %  0 jobs/s  4/4 workers busy  ETA unknown",
			"1s: 0.0 % of the tree done, 0 jobs/s, 4 of 4 workers busy, ETA unknown"},
		{at(2, 0.1, 2_000_000, 4),
			"10.0 %  1.00M jobs/s  4/4 workers busy  ETA unknown",
			"2s: 10.0 % of the tree done, 1.00M jobs/s, 4 of 4 workers busy, ETA unknown"},
		{at(4, 0.2, 4_000_000, 3),
			"20.0 %  1.00M jobs/s  3/4 workers busy  ETA unknown",
			"4s: 20.0 % of the tree done, 1.00M jobs/s, 3 of 4 workers busy, ETA unknown"},
		{at(9, 0.25, 4_500_000, 1), // half a million in the five seconds since the sample before
			"25.0 %  100k jobs/s  1/4 workers busy  ETA unknown",
			"9s: 25.0 % of the tree done, 100k jobs/s, 1 of 4 workers busy, ETA unknown"},
		{at(600, 0.1, 4_500_000, 1), // a job has spawned more than anybody expected
			"25.0 %  0 jobs/s  1/4 workers busy  ETA unknown",
			"10m00s: 25.0 % of the tree done, 0 jobs/s, 1 of 4 workers busy, ETA unknown"},
		{at(36_000, 0.0011, 4_600_000, 4),
			"25.0 %  2.82 jobs/s  4/4 workers busy  ETA unknown",
			"10h00m: 25.0 % of the tree done, 2.82 jobs/s, 4 of 4 workers busy, ETA unknown"},
		{at(36_001, 0.99999, 4_600_000, 4),
			"99.9 %  2.82 jobs/s  4/4 workers busy  ETA 0s-11s",
			"10h00m: 99.9 % of the tree done, 2.82 jobs/s, 4 of 4 workers busy, ETA 0s-11s"},
		{sample{at: 40_000 * time.Second, share: 0.9999, peers: 2,
			Stats: satin.Stats{Workers: 4, Busy: 3, Executed: 4_600_000}},
			"99.9 %  0 jobs/s  2 peers  3/4 workers busy  ETA 0s-14s",
			"11h06m: 99.9 % of the tree done, 0 jobs/s, 3 of 4 workers of 2 peers busy, ETA 0s-14s"},
		{sample{at: 40_001 * time.Second, share: 0.9999, peers: 1},
			"99.9 %  nobody computes now: see satin-peer status, or take run --local",
			"11h06m: 99.9 % of the tree done; nobody computes now: satin-peer status says why; " +
				insteadHere},
		{sample{at: 72_000 * time.Second}, "20h00m in the sequential program", "20h00m: in the sequential program"},
	} {
		p := m.add(c.sample)
		if p.line() != c.line {
			t.Errorf("after %v on a terminal:\n%q, want\n%q", c.at, p.line(), c.line)
		}
		if p.plain() != c.plain {
			t.Errorf("after %v:\n%q, want\n%q", c.at, p.plain(), c.plain)
		}
	}
}

// TestMeterInTheLongRun checks that a run of days is as well estimated as one of seconds, from a bounded past.
func TestMeterInTheLongRun(t *testing.T) {
	m := &meter{}
	const days = 400_000 // half seconds
	for i := range days {
		p := m.add(at(float64(i)/2, float64(i)/days, uint64(i)*5, 4))
		if want := float64(days-i) / 2; i > days/10 && (p.left.Least > 1.01*want || p.left.Most < 0.99*want ||
			p.left.Most-p.left.Least > want/20) {
			t.Fatalf("after %v %v are left, want %v s", p.at, *p.left, want)
		}
		if i > 0 && (p.rate < 9.9 || p.rate > 10.1) {
			t.Fatalf("after %v %v jobs/s, want 10", p.at, p.rate)
		}
	}
	if len(m.recent) > 12 {
		t.Errorf("the meter keeps %d samples", len(m.recent))
	}
}

// TestETA: a range, the daemon's if it has one, which has seen more of the run.
func TestETA(t *testing.T) {
	for _, c := range []struct {
		left report.Left
		want string
	}{
		{report.Left{Least: 240, Most: 420}, "4m00s-7m00s"}, {report.Left{Least: 3, Most: 3.2}, "3s"},
		{report.Left{Least: 7200, Most: 3.6e6}, "2h00m or more"},
	} {
		s := at(5, 0.01, 1, 1)
		s.left = &c.left
		if p := (&meter{}).add(s); p.eta() != c.want {
			t.Errorf("%v: %s, want %s", c.left, p.eta(), c.want)
		}
	}
}

// TestTerminal checks the line on terminals of some widths, and that clear leaves nothing of it.
func TestTerminal(t *testing.T) {
	for _, c := range []struct {
		columns int
		want    string
	}{
		{81, "[=====>                    ] 20.0 %  1.00M jobs/s  3/4 workers busy  ETA unknown"},
		{60, "[>    ] 20.0 %  1.00M jobs/s  3/4 workers busy  ETA unknown"},
		{20, " 20.0 %  1.00M jobs"},
		{1, " "},
	} {
		f := newFake()
		f.columns = c.columns
		d := newDisplay(f.console)
		d.show(at(4, 0.2, 4_000_000, 3))
		if got := f.err.String(); got != "\r"+c.want {
			t.Errorf("%d columns:\n%q, want\n%q", c.columns, got, "\r"+c.want)
		}
		f.err.Reset()
		d.clear()
		d.clear()
		if got, want := f.err.String(), "\r"+strings.Repeat(" ", len(c.want))+"\r"; got != want {
			t.Errorf("%d columns: clear writes %q, want %q", c.columns, got, want)
		}
	}
}

// TestResizedTerminal checks that the line follows the window.
func TestResizedTerminal(t *testing.T) {
	f := newFake()
	f.columns = 80
	d := newDisplay(f.console)
	for _, columns := range []int{100, 50} {
		f.columns = columns
		f.err.Reset()
		d.show(at(4, 0.2, 4_000_000, 3))
		if got := f.err.Len(); got != columns { // "\r" and all columns but the last
			t.Errorf("%d columns: wrote %d bytes", columns, got)
		}
	}
}

// TestShown runs a job that blocks, on and off a terminal, and looks at what is shown meanwhile and left at the end.
func TestShown(t *testing.T) {
	for _, c := range []struct {
		columns  int
		args     []string
		interval time.Duration
		ticks    int
		want     []string // of the lines, in this order
	}{
		{0, []string{"run", "block", "--workers", "2"}, plainEvery, 2 * samplesALine,
			[]string{" of the tree done, ", " of 2 workers busy", " of 2 workers busy", "\ntest block: "}},
		{100, []string{"run", "block", "--workers", "2"}, terminalEvery, 1,
			[]string{"\r[", "/2 workers busy", "ETA", " \rtest block: "}},
		{0, []string{"run", "block", "--sequential"}, plainEvery, samplesALine,
			[]string{"in the sequential program\n", "test block: "}},
	} {
		f := newFake()
		f.columns = c.columns
		code := make(chan int)
		go func() { code <- f.run(c.args...) }()
		<-begun
		for range c.ticks + 1 { // each is shown when the next is taken
			f.ticks <- time.Time{}
		}
		gate <- struct{}{}
		if got := <-code; got != 0 {
			t.Errorf("%q: exit code %d", c.args, got)
		}
		if len(f.intervals) != 1 || f.intervals[0] != c.interval {
			t.Errorf("%q: shown every %v, want %v", c.args, f.intervals, c.interval)
		}
		rest := f.err.String()
		for _, want := range c.want {
			_, after, ok := strings.Cut(rest, want)
			if !ok {
				t.Errorf("%q: no %q, in this order, in %q", c.args, want, f.err.String())
			}
			rest = after
		}
		if f.columns == 0 && strings.Count(f.err.String(), "\n") != c.ticks/samplesALine+1 {
			t.Errorf("%q: not one line for %d samples: %s", c.args, samplesALine, &f.err)
		}
		if f.out.String() != "0\n" {
			t.Errorf("%q: output %q", c.args, &f.out)
		}
	}
}
