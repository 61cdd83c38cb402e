package compute

import (
	"runtime"
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// held lets the jobs that hold end; each test has its own.
var held chan struct{}

func hold(_ *satin.Frame, n int) int {
	<-held
	return n
}

func init() { satin.Register("compute.hold", hold) }

// While the loop does not come, workers drop what does not fit and go on.
func TestKeptOutcomesAreBounded(t *testing.T) {
	long := make(job.Path, maxKeptBytes/16)
	for name, k := range map[string]port.KeptJob{
		"many":  {Partial: steal.Partial{Outcome: make([]byte, 1)}},
		"large": {Partial: steal.Partial{Outcome: make([]byte, maxKeptBytes/2)}},
		"deep":  {Partial: steal.Partial{Path: long}, Job: steal.Job{Path: long}},
	} {
		var q keptQueue
		taken, size := 0, len(k.Partial.Outcome)+8*len(k.Partial.Path)
		for range 2 * maxKeptWaiting {
			if q.room(0, 1) {
				q.add(0, k)
				taken++
			}
		}
		if want := min(maxKeptWaiting, maxKeptBytes/size); taken != want {
			t.Errorf("%s: %d taken, want %d", name, taken, want)
		}
		got := q.take()
		if more := q.take(); len(got) != taken || !q.room(0, 1) || len(more) != 0 {
			t.Errorf("%s: the loop gets %d of %d, or there is no room afterwards", name, len(got), taken)
		}
	}
}

// What nobody would take is not told: outcomes of jobs with paths beyond all bounds, more arguments of a program than
// it may have, more jobs in one event than whoever reads it has room for.
func TestToldIsBounded(t *testing.T) {
	e, err := New(Config{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for n, want := range map[int]bool{wire.MaxElements: true, wire.MaxElements + 1: false} {
		j := engine.Job{ID: job.ID{Path: make(job.Path, n)}, Func: "compute.hold", Arg: 7}
		if got := (salvager{outside{e: e}}).Kept(j, engine.Outcome{Result: 7}); got != want {
			t.Errorf("an outcome with a path of %d steps is kept: %t", n, got)
		}
	}
	for n, want := range map[int]bool{steal.MaxPath: true, steal.MaxPath + 1: false} {
		j := engine.Job{ID: job.ID{Path: make(job.Path, n)}, Func: "compute.hold", Arg: 7}
		if _, err := e.jobOf(j); (err == nil) != want {
			t.Errorf("a job with a path of %d steps leaves: %v", n, err)
		}
	}
	e.hearFound(make([]foundJob, 2*maxFound+1))
	events, _ := e.Poll()
	for _, ev := range events {
		if ev.Kind == port.Found && len(ev.Jobs) > maxFound {
			t.Errorf("%d jobs are told together", len(ev.Jobs))
		}
	}
	if len(e.given) != 2*maxFound+1 {
		t.Errorf("%d jobs are outside", len(e.given))
	}
	p := programs{tell: func(ev port.Event) { t.Errorf("%v is told", ev.Kind) }}
	if _, err := p.execute("tool", nil, make([]string, port.MaxArgs+1), nil); err == nil {
		t.Error("a program may have any arguments")
	}
}

// An outcome that is kept wakes nobody: it goes with the next pulse, or sooner if there is no room for many more.
func TestKeptWaitsForThePulse(t *testing.T) {
	e, err := New(Config{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	keep := func(times int) (called bool) {
		for range times {
			salvager{outside{e: e}}.Kept(engine.Job{Func: "compute.hold", Arg: 7}, engine.Outcome{Result: 7})
		}
		select {
		case <-e.Bell():
			return true
		default:
			return false
		}
	}
	e.Poll()
	keep(0)                   // what the start told
	e.kept.spent = -time.Hour // on a busy machine encoding may take long
	if keep(3) {
		t.Error("three kept outcomes call the loop")
	}
	events, _ := e.Poll()
	if n := len(events); n == 0 || events[0].Kind != port.Kept || len(events[0].Kept) != 3 {
		t.Errorf("the next look tells %+v, want three jobs", events)
	}
	if !keep(maxKeptWaiting / 2) {
		t.Error("the loop is not called while there is room")
	}
}

// Encoding takes a hundredth of the workers' time, no more, whatever the outcomes are.
func TestKeepingIsCheap(t *testing.T) {
	var q keptQueue
	q.none(keepFree + 30*time.Millisecond)
	if q.room(time.Second, 2) {
		t.Error("30 ms of the two seconds that two workers have worked are allowed")
	}
	if !q.room(time.Second, 3) || !q.room(2*time.Second, 2) {
		t.Error("30 ms of three seconds are not allowed")
	}
}

// The workers are asked for what they hide in frames while one of them works, also when nothing was told of that:
// whoever has given a job concludes it.
func TestPulseOfWhatIsConcluded(t *testing.T) {
	held = make(chan struct{})
	e, err := New(Config{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	defer close(held)
	e.Do(&port.Order{Kind: port.Cores, Max: 1})
	for e.Poll(); e.reported.Idle != 1; e.Poll() {
		<-e.Bell()
	}
	e.Do(&port.Order{Kind: port.Run, Segment: 1, Job: &steal.Job{Function: "compute.hold", Arg: []byte{7}}})
	for e.pool.Idle() != 0 || e.pool.Queued() != 0 { // it has begun before anybody looks
		runtime.Gosched()
	}
	e.Poll()
	if e.reported.Idle != 1 {
		t.Fatalf("%+v was told: this tests nothing", e.reported)
	}
	if e.pulseAt == 0 {
		t.Error("what a worker hides is never asked for")
	}
}
