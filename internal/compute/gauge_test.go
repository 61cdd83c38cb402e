package compute

import (
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

func init() {
	satin.Register("gauge.spin", spin, satin.Small(2))
	satin.Register("gauge.panics", panics)
}

// spin takes so many ms.
func spin(_ *satin.Frame, ms int) int {
	for end := time.Now().Add(time.Duration(ms) * time.Millisecond); time.Now().Before(end); {
	}
	return ms
}

func panics(*satin.Frame, int) int { panic("no") }

const ms = time.Millisecond

// Speed is measured on idle cores, not more often than every gaugeEvery, and for half a hundredth of the cores' time,
// whatever the yardstick takes.
func TestGaugeKeepsToItsShare(t *testing.T) {
	for _, c := range []struct {
		name  string
		cores int
		took  time.Duration
		most  float64 // of the cores' time, besides one run that nobody could foresee
		every time.Duration
	}{
		{"as foreseen", 1, 20 * ms, 0.005, 2 * time.Second},
		{"short", 1, ms, 0.0006, 2 * time.Second},
		{"long", 1, 400 * ms, 0.005, 79 * time.Second},
		{"four cores", 4, 400 * ms, 0.005, 19 * time.Second},
	} {
		g := new(gauge)
		g.set(&steal.Job{Function: "f"}, nil)
		var spent, last time.Duration
		runs := 0
		for now := ms; now < 10*time.Minute; now += 10 * ms {
			begin, at := g.look(now, c.cores, 1)
			if !begin {
				if at <= now {
					t.Fatalf("%s: at %v it is to be looked at %v", c.name, now, at)
				}
				continue
			}
			if again, _ := g.look(now, c.cores, 1); again {
				t.Fatalf("%s: two at a time", c.name)
			}
			if runs > 1 && now-last < c.every {
				t.Fatalf("%s: again after %v", c.name, now-last)
			}
			runs, last, spent = runs+1, now, spent+c.took
			g.measured(now+c.took, g.yardstick, c.took, false)
		}
		share := float64(spent-c.took) / float64(10*time.Minute*time.Duration(c.cores))
		if runs < 7 || share > c.most {
			t.Errorf("%s: %d runs, %v of the time", c.name, runs, share)
		}
	}
}

// A core that falls idle gets a job at once as a rule: only one that has been idle for a while is used.
func TestGaugeWaitsForIdleCores(t *testing.T) {
	g := new(gauge)
	if begin, at := g.look(time.Minute, 2, 2); begin || at != 0 {
		t.Error("it times nothing")
	}
	g.set(&steal.Job{Function: "f"}, nil)
	for now := time.Minute; now < 2*time.Minute; now += gaugeIdle / 2 {
		if begin, _ := g.look(now, 2, int(now/(gaugeIdle/2))%2); begin {
			t.Fatal("it begins on a core that is idle for a moment")
		}
	}
	g.look(2*time.Minute, 2, 0)
	if begin, at := g.look(2*time.Minute+ms, 2, 1); begin || at != 2*time.Minute+ms+gaugeIdle {
		t.Errorf("it is to be looked at %v", at)
	}
	if begin, _ := g.look(2*time.Minute+ms+gaugeIdle, 2, 1); !begin {
		t.Error("it does not begin")
	}
}

// What is told is the best of the last few times of this yardstick; one that fails here is left alone.
func TestGaugeTellsTheBest(t *testing.T) {
	g := new(gauge)
	g.set(&steal.Job{Function: "f"}, nil)
	first := g.yardstick
	for i, c := range []struct{ took, told time.Duration }{{30, 30}, {20, 20}, {40, 20}, {50, 20}, {60, 40}} {
		g.measured(0, first, c.took, false)
		if s := g.speed(); s.Took != c.told || s.Runs != uint64(i+1) || s.Yardstick != first {
			t.Errorf("%+v", s)
		}
	}
	g.set(&steal.Job{Function: "g"}, nil)
	if g.measured(0, first, 1, false); g.speed().Took != 0 || g.spent != 201 {
		t.Errorf("%+v after %v", g.speed(), g.spent)
	}
	g.measured(0, g.yardstick, 1, true)
	if begin, _ := g.look(time.Hour, 1, 1); begin || g.speed().Took != 0 {
		t.Error("it goes on with what fails")
	}
}

// measuring has an engine time a job until it says how long that takes, or until done says that it need not.
func measuring(t *testing.T, j *steal.Job, done func(e *Engine) bool) port.Speed {
	t.Helper()
	e, err := New(Config{Workers: 1, Self: "me"})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.Do(&port.Order{Kind: port.Cores, Max: 1})
	e.Do(&port.Order{Kind: port.Measure, Job: j})
	e.gauge.cores = time.Hour // as though it had been there as long
	for {
		_, again := e.Poll()
		if s := e.figures().Speed; s.Took > 0 || done(e) {
			return s
		}
		if again == 0 {
			again = time.Hour
		}
		select {
		case <-e.Bell():
		case <-time.After(again):
		}
	}
}

// An engine times the small instance of a function, or the argument that it is told, and what fails once.
func TestMeasure(t *testing.T) {
	never := func(*Engine) bool { return false }
	arg, err := wire.Shared().Encode(3)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		arg   []byte
		least time.Duration
	}{{nil, 2 * ms}, {arg, 3 * ms}} {
		s := measuring(t, &steal.Job{Function: "gauge.spin", Arg: c.arg}, never)
		if s.Took < c.least || s.Runs != 1 || s.Yardstick != job.Identify("gauge.spin", c.arg) {
			t.Errorf("%+v", s)
		}
	}
	gone := func(e *Engine) bool { return e.gauge.job == nil }
	for _, fn := range []string{"gauge.panics", "gauge.nowhere"} {
		if s := measuring(t, &steal.Job{Function: fn, Arg: arg}, gone); s.Took != 0 {
			t.Errorf("%s: %+v", fn, s)
		}
	}
}

// The shortest job that has run here for a while is what others can measure themselves by, if it is small and shares
// nothing.
func TestLeavesThatCanBeYardsticks(t *testing.T) {
	e, err := New(Config{Workers: 1, Self: "me"})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for i, c := range []struct {
		took time.Duration
		arg  any
		size int
		is   int // which one it is from then on; -1: none
	}{
		{leastLeaf - 1, 0, 9, -1}, {mostLeaf + 1, 0, 9, -1}, {20 * ms, 0, port.MaxYardstick + 1, -1},
		{20 * ms, satin.Constant[int]{}, 9, -1},
		{20 * ms, 0, port.MaxYardstick, 4}, {30 * ms, 0, 9, 4}, {10 * ms, 0, 9, 6},
	} {
		b := slices.Repeat([]byte{byte(i)}, c.size)
		e.offer(&engine.Job{Func: "gauge.spin", Arg: c.arg, Took: c.took}, b)
		leaf := e.figures().Leaf
		if (leaf == nil) != (c.is < 0) || leaf != nil && (leaf.Arg[0] != byte(c.is) || leaf.Function != "gauge.spin") {
			t.Errorf("%d: %+v", i, leaf)
		}
	}
}
