// Package record takes the job trees of real programs down for the simulator (sim.Recorded): which job
// spawned which and after what, what each costs, how large its argument and result are when they travel.
//
// A program runs on one core. Every job that is about to begin, or that a core without work would steal, is handed out
// instead, however small it is, as though somebody had its outcome (engine.Host.Salvage); it is run by itself when the
// frame that spawned it waits for it, and then given back. So exactly one job runs at any time, and its cost is the
// processor time of its thread, without that of its children. What a job does before it waits for the first time is
// taken to come before its first spawn; when it spawns again afterwards, that is its next phase. To hand children out
// and to wait for them costs their parent some microseconds for each, which are measured beforehand and taken away.
//
// A machine that does other things makes a job cost up to twice as much, for a moment or for seconds, and finds the
// caches cold after its children were handed out and computed. So each job, a pure function of its argument and of what
// its children come to, is run three times, and each of its phases counts with the least that it cost; and a program
// may be recorded several times (sim.Merge).
//
// A program whose jobs are handed out finds the caches cold that it had left warm: Whole is what it takes when nobody
// records it, as which all jobs together should count (sim.Recorded.Weigh). How much that is of what the sequential
// program takes is what efficiencies depend on most. So the two are to run at one time, side by side: one after the
// other, their ratio was between 0.95 and 1.11 in five trials on a busy machine, and between 1.01 and 1.06 like this.
//
// Of what jobs share, arguments have the names, as in a swarm; how the values get to the peers is not recorded.
//
// A recording depends on the machine and the moment. What is simulated with it does not.
package record

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
)

// node is a job: the root, or one that was handed out.
type node struct {
	path    job.Path
	fn      string
	arg     any
	taken   *engine.Taken // nil for the root
	outcome engine.Outcome
	ended   bool
	phases  []phase

	// Of the thread that runs it.
	thread int
	since  time.Duration // its processor time when the job was last charged
	cost   time.Duration // of the phase
}

// phase is what a job did until it waited, and for what.
type phase struct {
	cost     time.Duration
	children []*node
}

// recorder runs one program.
type recorder struct {
	engine.Alone
	pool *engine.Pool
	run  job.RunID
	news chan struct{} // one token: something has happened

	mu      sync.Mutex
	current *node   // the innermost job that runs or waits
	found   []*node // its children since it last waited
}

// Tree runs the function registered as fn and returns the tree of its jobs, and its result. It blocks for the
// length of the run, or until ctx is done. A job that fails is an error: another run would not do the same. What a
// program spawns to abort some of it is recorded whole.
func Tree(ctx context.Context, name, fn string, arg any) (tree *sim.Recorded, result any, err error) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // what the recorder keeps is not for the jobs to be collected
	r := &recorder{run: job.NewRunID(), news: make(chan struct{}, 1)}
	r.pool, err = engine.NewPool(engine.Config{Workers: 1, Host: r, Outside: namer{wire.Shared()}})
	if err != nil {
		return nil, nil, err
	}
	defer r.pool.Close()
	own, err := r.own(ctx)
	if err != nil {
		return nil, nil, err
	}
	engine.Handles(arg, func(h engine.Shared) { _, _, _ = h.Leave(r.pool.Shelf()) })
	root := &node{fn: fn, arg: arg}
	if err := r.do(ctx, root); err != nil {
		return nil, nil, err
	}
	jobs, err := write(root, own, nil)
	if err != nil {
		return nil, nil, err
	}
	tree, err = sim.NewRecorded(name, jobs)
	return tree, root.outcome.Result, err
}

// Whole runs the function registered as fn as it runs in a swarm on one core that nobody steals from, and returns the
// processor time of that core's thread; 0 where the system does not tell.
func Whole(ctx context.Context, fn string, arg any) (used time.Duration, err error) {
	w := new(watch)
	p, err := engine.NewPool(engine.Config{Workers: 1, Host: w, Outside: namer{wire.Shared()}})
	if err != nil {
		return 0, err
	}
	defer p.Close()
	engine.Handles(arg, func(h engine.Shared) { _, _, _ = h.Leave(p.Shelf()) })
	ended := make(chan engine.Outcome, 1)
	in := engine.Job{ID: job.ID{Run: job.NewRunID()}, Func: fn, Arg: arg, Restarted: true}
	if _, err := p.Submit(in, func(o engine.Outcome) {
		_, until := engine.ThreadTime()
		used = until - w.since
		ended <- o
	}); err != nil {
		return 0, err
	}
	select {
	case o := <-ended:
		return used, cmp.Or(o.Failure, o.Err)
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// watch notes when the root begins.
type watch struct {
	engine.Alone
	since time.Duration
}

func (w *watch) Salvage(job.Path) (hit, below bool) {
	_, w.since = engine.ThreadTime()
	return false, false
}

// trials is how often a job is run.
const trials = 3

// do runs a job, as often as it counts: what it spawns is run once, and has its outcome at once when the job is run
// again. If that spawns other jobs, as it has looked something up, it does not count.
func (r *recorder) do(ctx context.Context, j *node) error {
	if err := r.once(ctx, j, func(_ int, c *node) error { return r.do(ctx, c) }); err != nil {
		return err
	}
	for range trials - 1 {
		again := &node{path: j.path, fn: j.fn, arg: j.arg}
		if err := r.once(ctx, again, func(phase int, c *node) error {
			if known := j.child(phase, c); known != nil {
				c.outcome = known.outcome
				return nil
			}
			return r.do(ctx, c)
		}); err != nil {
			return err
		}
		same := func(a, b phase) bool { return len(a.children) == len(b.children) }
		if !slices.EqualFunc(j.phases, again.phases, same) {
			continue
		}
		for i := range j.phases {
			j.phases[i].cost = min(j.phases[i].cost, again.phases[i].cost)
		}
	}
	return nil
}

// child finds what a job has spawned in a phase; nil if it is another. There it stands by its path: see wait.
func (j *node) child(phase int, c *node) *node {
	if phase >= len(j.phases) {
		return nil
	}
	list := j.phases[phase].children
	i, found := slices.BinarySearchFunc(list, c, byPath)
	if !found || list[i].fn != c.fn {
		return nil
	}
	return list[i]
}

func byPath(a, b *node) int { return slices.Compare(a.path, b.path) }

// once runs a job. What it spawns gets an outcome whenever it waits for it: the newest first, as a worker would.
func (r *recorder) once(ctx context.Context, j *node, child func(phase int, c *node) error) error {
	r.mu.Lock()
	above := r.current
	r.current = j
	r.mu.Unlock()
	in := engine.Job{ID: job.ID{Run: r.run, Path: j.path}, Func: j.fn, Arg: j.arg, Restarted: true}
	if _, err := r.pool.Submit(in, func(o engine.Outcome) { r.end(j, o) }); err != nil {
		return err
	}
	for { // it may end while this goroutine does something else: its last phase counts all the same
		p, err := r.wait(ctx, j)
		if err != nil {
			return err
		}
		j.phases = append(j.phases, p)
		for _, c := range slices.Backward(p.children) {
			if err := child(len(j.phases)-1, c); err != nil {
				return err
			}
		}
		r.mu.Lock()
		r.current = j
		r.mu.Unlock()
		for _, c := range p.children {
			if _, err := c.taken.End(c.outcome); err != nil { // the first may be all that was wanted
				return err
			}
		}
		if p.children == nil {
			break
		}
	}
	r.mu.Lock()
	r.current = above
	r.mu.Unlock()
	if err := cmp.Or(j.outcome.Failure, j.outcome.Err); err != nil {
		return fmt.Errorf("job %v of %s failed: %w", j.path, j.fn, err)
	}
	return nil
}

// wait waits until a job has ended, or waits for children.
func (r *recorder) wait(ctx context.Context, j *node) (p phase, err error) {
	for {
		r.mu.Lock()
		ended, parked := j.ended, r.pool.Idle() > 0 && len(r.found) > 0
		if ended || parked {
			p = phase{j.cost, r.found}
			j.cost, r.found = 0, nil
		}
		r.mu.Unlock()
		switch {
		case ended && len(p.children) > 0:
			return p, fmt.Errorf("job %v of %s ended and waited for nothing that it had spawned last: such a "+
				"search cannot be recorded", j.path, j.fn)
		case ended || parked:
			slices.SortFunc(p.children, byPath)
			return p, nil
		}
		select {
		case <-ctx.Done():
			return p, ctx.Err()
		case <-r.news:
		}
	}
}

// charge notes the time of the calling thread, if it is the one that runs the job. The caller holds mu.
func (r *recorder) charge(j *node) {
	if thread, used := engine.ThreadTime(); thread == j.thread {
		j.cost += used - j.since
		j.since = used
	}
}

// end has what came of a job. It is called by the worker that ran it.
func (r *recorder) end(j *node, o engine.Outcome) {
	r.mu.Lock()
	r.charge(j)
	j.outcome, j.ended = o, true
	r.mu.Unlock()
	r.tell()
}

func (r *recorder) tell() {
	select {
	case r.news <- struct{}{}:
	default:
	}
}

// Salvage is asked of a job that begins, and of each that it has spawned.
func (r *recorder) Salvage(path job.Path) (hit, below bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	j := r.current
	if len(path) > len(j.path) {
		r.charge(j)
		return true, true
	}
	j.thread, j.since = engine.ThreadTime()
	return false, true
}

// Found has a job that is handed out.
func (r *recorder) Found(t *engine.Taken) {
	in := t.Job()
	r.mu.Lock()
	r.found = append(r.found, &node{path: in.ID.Path, fn: in.Func, arg: in.Arg, taken: t})
	r.mu.Unlock()
	r.tell()
}

// Hungry says that the job that ran waits, or has ended.
func (r *recorder) Hungry() { r.tell() }

// Time is how long the calling goroutine's thread computes in f.
func Time(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_, before := engine.ThreadTime()
	f()
	_, after := engine.ThreadTime()
	return after - before
}

func init() {
	satin.Register("record.wait", wait)
	satin.Register("record.waitOnce", waitOnce)
}

// waits is the argument of a job that waits so often for a job, which waits once for so many.
type waits struct{ Times, Jobs int }

func wait(f *satin.Frame, w waits) int {
	if w.Times == 0 { // as long as leaves are, about, so that threads fall asleep
		for since := time.Now(); time.Since(since) < 200*time.Microsecond; {
		}
	}
	for range w.Times {
		satin.Spawn(f, waitOnce, w.Jobs).Get()
	}
	return 0
}

func waitOnce(f *satin.Frame, jobs int) int {
	asked := make([]satin.Future[waits, int], jobs)
	for i := range asked {
		asked[i] = satin.Spawn(f, wait, waits{})
	}
	for _, a := range slices.Backward(asked) {
		a.Get()
	}
	return 0
}

// handling is what recording adds to what a job costs, when its children are handed out and when it goes on: for one
// child, and for each one more.
type handling struct{ one, more phaseCosts }

type phaseCosts struct{ out, on time.Duration }

// of is what a job with so many children costs more.
func (h handling) of(children int) phaseCosts {
	more := time.Duration(children - 1)
	return phaseCosts{h.one.out + more*h.more.out, h.one.on + more*h.more.on}
}

// own measures that with jobs that do nothing.
func (r *recorder) own(ctx context.Context) (h handling, err error) {
	const jobs = 5
	if h.one, err = r.idle(ctx, 41, 1); err != nil {
		return h, err
	}
	all, err := r.idle(ctx, 7, jobs)
	h.more.out, h.more.on = max(0, all.out-h.one.out)/(jobs-1), max(0, all.on-h.one.on)/(jobs-1)
	return h, err
}

// idle is what a job costs that spawns so many, waits for them, and does nothing else: the least of some times, so that
// never more is taken away than that costs.
func (r *recorder) idle(ctx context.Context, times, jobs int) (phaseCosts, error) {
	j := &node{fn: "record.wait", arg: waits{times, jobs}}
	if err := r.do(ctx, j); err != nil {
		return phaseCosts{}, err
	}
	least := phaseCosts{time.Hour, time.Hour}
	for _, p := range j.phases[:times] {
		phases := p.children[0].phases
		least.out, least.on = min(least.out, phases[0].cost), min(least.on, phases[1].cost)
	}
	return least, nil
}

// write appends a job and all below it in preorder.
func write(j *node, own handling, to []sim.RecordedJob) ([]sim.RecordedJob, error) {
	var line sim.RecordedJob
	var err error
	if line.Arg, err = encodedSize(j.arg); err != nil {
		return nil, err
	}
	if line.Result, err = encodedSize(j.outcome.Result); err != nil {
		return nil, err
	}
	at := len(to)
	to = append(to, line)
	for i, p := range j.phases {
		now := sim.RecordedPhase{Children: len(p.children), Cost: p.cost}
		if now.Children > 0 {
			now.Cost -= own.of(now.Children).out
		}
		if i > 0 {
			now.Cost -= own.of(len(j.phases[i-1].children)).on
		}
		now.Cost = twoDigits(max(0, now.Cost))
		if i == 0 {
			to[at].RecordedPhase = now
		} else {
			to[at].Later = append(to[at].Later, now)
		}
		for _, c := range p.children {
			if to, err = write(c, own, to); err != nil {
				return nil, err
			}
		}
	}
	return to, nil
}

// twoDigits rounds a cost to two digits: the next run would differ by more, and files get small.
func twoDigits(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 100 {
		unit *= 10
	}
	return d.Round(unit)
}

func encodedSize(v any) (int, error) {
	b, err := wire.Value().Encode(v)
	return len(b), err
}
