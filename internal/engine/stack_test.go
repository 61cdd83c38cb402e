package engine_test

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
)

func init() {
	satin.Register("test.id", identity)
	satin.Register("test.nested", nested)
}

func identity(f *satin.Frame, n int) int { return n }

// A stackMachine drives one worker's stack step by step, as its jobs, its thieves and its own frame would, and
// compares every step with a model: a list of jobs, each private, published, stolen or finished.
type stackMachine struct {
	w      *engine.Worker
	jobs   []*modelJob // on the stack, oldest first
	next   int
	stolen []*modelJob
	rng    *rand.Rand
}

type modelJob struct {
	x      satin.Future[int, int]
	arg    int
	rec    *engine.Record // when stolen
	isDone bool
}

func (m *stackMachine) spawn(*testing.T) {
	m.next++
	m.jobs = append(m.jobs, &modelJob{x: satin.Spawn(frame(m.w), identity, m.next), arg: m.next})
}

func (m *stackMachine) publish(t *testing.T) {
	if private := int(m.w.Stack.Head - m.w.Split()); private > 0 {
		m.w.Publish(uint32(1 + m.rng.IntN(private)))
	}
}

func (m *stackMachine) nudge(*testing.T) {
	m.w.SetBusy()
	m.w.Nudge()
}

func (m *stackMachine) steal(t *testing.T) {
	want := m.oldest()
	r := m.w.Steal()
	if r == nil {
		if m.w.Stealable() {
			t.Fatal("nothing stolen although something is stealable")
		}
		return
	}
	if want == nil || recordOf(want.x) != r || r.Arg() != want.arg {
		t.Fatalf("stole another job than the oldest")
	}
	want.rec = r
	m.stolen = append(m.stolen, want)
}

// oldest is the job that a thief should get.
func (m *stackMachine) oldest() *modelJob {
	for _, j := range m.jobs {
		if j.rec == nil && recordOf(j.x).Slot != engine.NoSlot { // engine.NoSlot: a Get of an older job made it run
			return j
		}
	}
	return nil
}

// handOver gives the newest job to the outside, although older ones may still be here.
func (m *stackMachine) handOver(t *testing.T) {
	w := m.w
	if w.Stack.Head == 0 {
		return
	}
	h := w.Stack.Head - 1
	r := w.Slots()[h]
	if r.Gone() || !w.Claim(h) {
		return
	}
	for _, j := range m.jobs {
		if recordOf(j.x) == r {
			w.HandOver(r, h, satin.JobID{})
			j.rec = r
			m.stolen = append(m.stolen, j)
			return
		}
	}
	t.Fatal("the newest job is not in the model")
}

// pulse has the jobs pending now, and those in the next slot, timed when they run.
func (m *stackMachine) pulse(*testing.T) { m.w.Pulse(1) }

// finish lets a thief bring a stolen job back.
func (m *stackMachine) finish(t *testing.T) {
	if len(m.stolen) == 0 {
		return
	}
	i := m.rng.IntN(len(m.stolen))
	j := m.stolen[i]
	m.stolen = append(m.stolen[:i], m.stolen[i+1:]...)
	j.isDone = true
	j.rec.SetState(engine.Running)
	j.rec.SetResult(j.arg)
	j.rec.SetState(engine.Done)
	j.rec.Deliver()
}

// get takes the result of any job that is not away.
func (m *stackMachine) get(t *testing.T) {
	if len(m.jobs) == 0 {
		return
	}
	i := m.rng.IntN(len(m.jobs))
	for _, j := range m.jobs[i:] {
		if j.rec != nil && !j.isDone {
			return // would wait
		}
	}
	j := m.jobs[i]
	m.jobs = append(m.jobs[:i], m.jobs[i+1:]...)
	if got := j.x.Get(); got != j.arg {
		t.Fatalf("job %d gave %d", j.arg, got)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Fatalf("the result of job %d was given twice", j.arg)
			}
		}()
		j.x.Get()
	}()
}

// abort drops all jobs.
func (m *stackMachine) abort(t *testing.T) {
	frame(m.w).Abort()
	for _, j := range m.jobs {
		finished := j.isDone
		got, err := j.x.Try()
		if finished && (err != nil || got != j.arg) || !finished && err != engine.ErrAborted && got != j.arg {
			t.Fatalf("aborted job %d gave %d, %v", j.arg, got, err)
		}
	}
	m.jobs, m.stolen = nil, nil
}

func (m *stackMachine) check(t *testing.T) {
	w := m.w
	tail, split := w.TS()
	if tail > split || split > w.Stack.Head || split != w.Split() || w.Fence() < split {
		t.Fatalf("tail %d, split %d (owner's %d), fence %d, head %d", tail, split, w.Split(), w.Fence(), w.Stack.Head)
	}
	away := 0
	for _, j := range m.jobs {
		if j.rec != nil && !j.isDone {
			away++
			if j.rec.Slot >= tail && !(j.rec.Gone() && j.rec.Slot < w.Fence()) || w.Slots()[j.rec.Slot] != j.rec {
				t.Fatalf("stolen job %d is in slot %d, tail %d", j.arg, j.rec.Slot, tail)
			}
		}
	}
	if away != len(m.stolen) {
		t.Fatalf("%d jobs away, %d expected", away, len(m.stolen))
	}
	for h := uint32(0); h < w.Stack.Head; h++ {
		if r := w.Slots()[h]; r.Slot != h || r.W != w {
			t.Fatalf("the record in slot %d believes to be in %d", h, r.Slot)
		}
	}
}

// TestStack compares the stack with its model in random sequences of steps of owner and thieves.
func TestStack(t *testing.T) {
	for _, keepAfter := range []time.Duration{1, time.Hour} { // all jobs are long, or all are tiny
		p, err := engine.NewPool(engine.Config{Workers: 1, Host: newSalvager(), KeepAfter: keepAfter})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		testStack(t, p)
	}
}

func testStack(t *testing.T, p *engine.Pool) {
	trials(t, func(rng *rand.Rand) {
		w := engine.NewWorker(p, 1)
		w.Enter(0, 0)
		w.Root(1, engine.NewRoot(0))
		m := &stackMachine{w: w, rng: rng}
		steps := []struct {
			name string
			do   func(*testing.T)
		}{{"spawn", m.spawn}, {"publish", m.publish}, {"nudge", m.nudge}, {"steal", m.steal}, {"hand over", m.handOver},
			{"pulse", m.pulse}, {"finish", m.finish}, {"get", m.get}, {"abort", m.abort}}
		var done []string
		defer func() {
			if t.Failed() {
				t.Logf("the steps were %q", done)
			}
		}()
		for range 1 + rng.IntN(100) {
			step := steps[rng.IntN(len(steps))]
			done = append(done, step.name)
			step.do(t)
			m.check(t)
		}
	})
}

// TestStealRace lets thieves loose on an owner that spawns, claims, publishes and drops: every job must be had by
// exactly one of them.
func TestStealRace(t *testing.T) {
	const thieves = 3
	jobs := 200_000
	if testing.Short() {
		jobs /= 10
	}
	p := testPool(t, 1)
	w := engine.NewWorker(p, 1)
	w.Enter(0, 0)
	w.SetBusy()
	had := make([]atomic.Int32, jobs)
	var wg sync.WaitGroup
	var over atomic.Bool
	for range thieves {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for !over.Load() {
				r := w.Steal()
				if r == nil {
					engine.Pause()
					continue
				}
				n := r.Arg().(int)
				if r.Move(engine.Stolen, engine.Running) {
					had[n].Add(1)
					if r.Move(engine.Running, engine.Done) {
						r.Deliver()
					}
				}
			}
		}()
	}
	f := frame(w)
	dropped := 0
	for n := 0; n < jobs; {
		var xs []satin.Future[int, int]
		for range 1 + n%13 {
			if n < jobs {
				xs = append(xs, satin.Spawn(f, identity, n))
				n++
			}
		}
		w.ShareAll()
		if n%5 == 0 {
			f.Abort()
			dropped += len(xs)
			continue
		}
		for i := len(xs) - 1; i >= 0; i-- {
			was := w.Begun()
			arg := n - len(xs) + i
			xs[i].Get()
			if w.Begun() > was {
				had[arg].Add(1)
			}
		}
	}
	over.Store(true)
	wg.Wait()
	missing := 0
	for n := range had {
		switch had[n].Load() {
		case 0:
			missing++
		case 1:
		default:
			t.Fatalf("job %d was run %d times", n, had[n].Load())
		}
	}
	if missing > dropped {
		t.Fatalf("%d jobs were lost, at most %d were aborted", missing, dropped)
	}
}

// TestStealHammer plays only the stack's protocol, as fast as it goes: the owner publishes eight slots in two
// steps and claims them back from the top, thieves steal. Each slot must be had once in each round.
func TestStealHammer(t *testing.T) {
	const slots = 8
	rounds := 8_000
	if testing.Short() {
		rounds = 2_000
	}
	p := testPool(t, 1)
	w := engine.NewWorker(p, 1)
	var had [slots]atomic.Int32
	var over atomic.Bool
	var wg sync.WaitGroup
	defer wg.Wait()
	defer over.Store(true)
	for range 2 {
		wg.Go(func() {
			for !over.Load() {
				if r := w.Steal(); r != nil {
					had[r.Slot].Add(1)
				} else {
					runtime.Gosched() // or the owner waits for 10 ms where there are fewer cores than goroutines
				}
			}
		})
	}
	for h := range uint32(slots) {
		w.Slots()[h] = engine.NewRoot(h)
	}
	for round := range rounds {
		for h := range had {
			w.Slots()[h].SetState(engine.Fresh)
			had[h].Store(0)
		}
		w.Stack.Head = slots
		for range slots {
			w.Publish(1)
		}
		for h := uint32(slots); h > 0; {
			if h--; round%2 == 0 && w.Claim(h) { // in odd rounds thieves race only each other
				w.Stack.Head = h
				had[h].Add(1)
				continue
			}
			until(t, "the thief of a stolen slot comes", func() bool { return had[h].Load() > 0 })
			w.PopStolen(h)
		}
		for h := range had {
			if n := had[h].Load(); n != 1 {
				t.Fatalf("round %d: slot %d was had %d times", round, h, n)
			}
		}
	}
}

// stealAway steals the oldest job of w and brings it back, as a thief would.
func stealAway(w *engine.Worker) {
	r := w.Steal()
	r.SetState(engine.Running)
	r.SetResult(r.Arg())
	r.SetState(engine.Done)
	r.Deliver()
}

// nested has a child that is stolen and comes back; it gives the height of the stack then.
func nested(f *satin.Frame, n int) int {
	x := satin.Spawn(f, identity, n)
	worker(f).Publish(1)
	stealAway(worker(f))
	x.Get()
	return int(worker(f).Stack.Head)
}

// TestFramesKeepToTheirSlots: the frame below has a slot whose result was taken early. Its child must leave it alone.
func TestFramesKeepToTheirSlots(t *testing.T) {
	p := testPool(t, 1)
	w := engine.NewWorker(p, 1)
	w.Enter(0, 0)
	f := frame(w)
	x := satin.Spawn(f, identity, 1)
	y := satin.Spawn(f, nested, 2)
	w.Publish(1)
	stealAway(w)
	x.Get()
	if height := y.Get(); height != 1 {
		t.Errorf("the child found the stack %d high, want 1: the slot below is its parent's", height)
	}
}

// TestDroppedNeverBegins: a job that was dropped between theft and start is not started.
func TestDroppedNeverBegins(t *testing.T) {
	p := testPool(t, 1)
	w, thief := engine.NewWorker(p, 1), engine.NewWorker(p, 2)
	w.Enter(0, 0)
	x := satin.Spawn(frame(w), identity, 1)
	w.ShareAll()
	r := w.Steal()
	frame(w).Abort()
	if _, err := x.Try(); err != engine.ErrAborted {
		t.Error(err)
	}
	thief.RunRoot(r)
	if begun, unbegun := thief.Roots(); begun != 0 || unbegun != 1 {
		t.Errorf("%d jobs begun, %d not; want 0, 1", begun, unbegun)
	}
}

// TestDroppedWaitsForItsThief: a slot whose job is dropped is not given to another record before the thief that has
// moved tail over it has looked into it and said so.
func TestDroppedWaitsForItsThief(t *testing.T) {
	p := testPool(t, 1)
	w := engine.NewWorker(p, 1)
	w.Enter(0, 0)
	x := satin.Spawn(frame(w), identity, 1)
	w.ShareAll()
	tail, split := w.TS()
	r := w.Slots()[tail]
	w.SetTS(uint64(tail+1)<<32 | uint64(split)) // the first half of steal
	looked := make(chan *engine.Record)
	go func() {
		for range 10_000 {
			engine.Pause()
		}
		found := w.Slots()[tail]
		r.SetState(engine.Stolen)
		looked <- found
	}()
	frame(w).Abort()
	if _, err := x.Try(); err != engine.ErrAborted {
		t.Error(err)
	}
	if <-looked != r {
		t.Error("the thief found another record in the slot than it had claimed")
	}
}

// TestWishSurvivesGrowth: a thief asks while the stack is full; growing must not make the owner forget it.
func TestWishSurvivesGrowth(t *testing.T) {
	p := testPool(t, 2)
	w := engine.NewWorker(p, 2)
	w.Enter(0, 0)
	w.SetBusy()
	for w.Stack.Head < w.FullLimit() {
		satin.Spawn(frame(w), identity, 1)
	}
	for w.Steal() != nil { // takes all that is published; the last look leaves a wish
	}
	if w.Want() == 0 || w.Stealable() {
		t.Fatal("no wish is open")
	}
	satin.Spawn(frame(w), identity, 1)
	if !w.Stealable() {
		t.Error("the wish was forgotten when the stack grew")
	}
}
