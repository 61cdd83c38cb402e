package porttest

import (
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// Config is what the engines under test are to have.
func Config() compute.Config {
	return compute.Config{Run: job.RunID{7}, Self: "me", Workers: 1, KeepAfter: time.Millisecond, Lattices: true}
}

// Run runs all cases, each with a new engine.
func Run(t *testing.T, open func(t *testing.T) port.Live) {
	for _, c := range []struct {
		name string
		run  func(*rig)
	}{
		{"a job runs to its end", runs}, {"an engine begins with no cores", cores},
		{"errors and panics are outcomes", failures}, {"what cannot be run ends", garbageJobs},
		{"a job is taken and delivered", delivered}, {"a panic is delivered", deliveredPanic},
		{"garbage is not delivered", deliveredGarbage}, {"a job is put back", putBack},
		{"an abort stops and drops", aborted}, {"a job is found", found}, {"a found job is put back once", foundAgain},
		{"long jobs are kept", kept}, {"the first comes first", first}, {"an engine counts", counted},
		{"orders for what is gone are ignored", stale}, {"jobs share", shared},
		{"what there is to give is told", toGive}, {"results are judged", judged},
		{"a job is divided further", divided}, {"a lattice is told of at once", lattice},
		{"of what runs alone nothing leaves", alone}, {"what cannot leave is in nobody's way", stays},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := open(t)
			defer e.Close()
			c.run(&rig{t: t, e: e, run: Config().Run})
		})
	}
}

func runs(r *rig) {
	r.start()
	e := r.finished(r.begin("porttest.fib", 20, nil))
	got := r.result("porttest.fib", e.Outcome)
	if got != 6765 || !e.Good || e.Tally.Executed != 10946 || e.Tally.Own <= 0 {
		r.t.Errorf("fib(20) = %v, good %v, %+v", got, e.Good, e.Tally)
	}
	r.await("an idle core", func(e *port.Event) bool {
		return e.Kind == port.LoadChanged && e.Load.Idle == 1 && e.Load.Runs == 1
	})
}

func cores(r *rig) {
	id := r.begin("porttest.echo", 3, nil)
	if e := r.kind(port.LoadChanged); e.Load.Workers != 0 || e.Load.Idle != 0 {
		r.t.Errorf("a new engine has a load of %+v", e.Load)
	}
	r.start()
	r.await("a core", func(e *port.Event) bool { return e.Kind == port.LoadChanged && e.Load.Workers == 1 })
	r.finished(id)
	r.e.Do(&port.Order{Kind: port.Cores})
	r.await("no core", func(e *port.Event) bool { return e.Kind == port.LoadChanged && e.Load.Workers == 0 })
}

// toGive has a worker stop in the middle of its jobs, which others take then.
func toGive(r *rig) {
	_, j := r.seeking() // it has begun: what has not counts as to give, and cannot be taken
	r.e.Do(&port.Order{Kind: port.PutBack, Ref: j.Ref})
	r.told = nil
	r.e.Do(&port.Order{Kind: port.Cores, Others: true})
	for begun := time.Now(); time.Since(begun) < patience; { // a worker that stops may have more to give later
		r.ticket++
		r.e.Do(&port.Order{Kind: port.Take, Ticket: r.ticket, Max: 1})
		e := r.await("a taken job, or none to give", func(e *port.Event) bool {
			return e.Kind == port.Taken && e.Ticket == r.ticket ||
				e.Kind == port.LoadChanged && e.Load.Queued == 0 && e.Load.Workers == 0
		})
		if e.Kind == port.LoadChanged {
			return
		}
	}
	r.t.Error("it is not told that there is nothing left to give")
}

func failures(r *rig) {
	r.start()
	e := r.finished(r.begin("porttest.fail", 3, nil))
	f, _ := engine.Lookup("porttest.fail")
	v, err, panicked, bad := compute.DecodeOutcome(r.run, e.Outcome, f)
	if v != 3 || err == nil || panicked != nil || bad != nil || !e.Good {
		r.t.Errorf("%v, %v, %v, %v, good %v", v, err, panicked, bad, e.Good)
	}
	e = r.finished(r.begin("porttest.panic", 3, nil))
	f, _ = engine.Lookup("porttest.panic")
	_, _, panicked, bad = compute.DecodeOutcome(r.run, e.Outcome, f)
	if panicked == nil || bad != nil || e.Good || panicked.Peer != "me" ||
		!strings.Contains(panicked.Error(), "it panicked") {
		r.t.Errorf("%v, %v, good %v", panicked, bad, e.Good)
	}
}

func garbageJobs(r *rig) {
	r.start()
	for fn, arg := range map[string]any{"porttest.nothing": 3, "porttest.echo": "three", "": 3} {
		e := r.finished(r.begin(fn, arg, nil))
		f, _ := engine.Lookup("porttest.echo")
		if _, _, panicked, bad := compute.DecodeOutcome(r.run, e.Outcome, f); panicked == nil || bad != nil || e.Good {
			r.t.Errorf("%q of %v: %v, %v, good %v", fn, arg, panicked, bad, e.Good)
		}
		r.kind(port.Troubled)
	}
}

// seeking has a job run that spawns others until one has come to something else, and takes one of these.
func (r *rig) seeking() (steal.SegmentID, steal.Taken) {
	r.t.Helper()
	r.start()
	r.finished(r.begin("porttest.echo", 7, nil)) // so that the next one is not the first
	id := r.begin("porttest.seek", 7, nil)
	j := r.take("porttest.echo")
	if want := job.Identify("porttest.echo", r.encode(7)); len(j.Job.Path) != 2 || j.Job.Path[0] != uint32(id) ||
		j.Job.Function != "porttest.echo" || j.Job.Identity != want || !j.Spawned || j.Segment != id ||
		j.Ref == 0 || j.Job.Restarted {
		r.t.Fatalf("the job %+v was taken", j)
	}
	return id, j
}

func (r *rig) ends(id steal.SegmentID, want int) {
	r.t.Helper()
	if got := r.result("porttest.seek", r.finished(id).Outcome); got != want {
		r.t.Errorf("the job ends with %v, want %d", got, want)
	}
}

// deliver ends a segment whose job was taken.
func (r *rig) deliver(ref steal.Ref, outcome []byte, good bool) {
	r.t.Helper()
	r.e.Do(&port.Order{Kind: port.Deliver, Ref: ref, Outcome: outcome})
	e := r.await("a delivery", func(e *port.Event) bool { return e.Kind == port.Delivered && e.Ref == ref })
	if e.Good != good {
		r.t.Errorf("the outcome %x is good: %v", outcome, e.Good)
	}
}

func delivered(r *rig) {
	id, j := r.seeking()
	r.deliver(j.Ref, r.outcome(1000), true)
	r.ends(id, 1000)
}

func deliveredPanic(r *rig) {
	id, j := r.seeking()
	r.deliver(j.Ref, r.encode(&compute.Outcome{Panic: &compute.Failure{Panic: "far away", Peer: "you"}}), false)
	f, _ := engine.Lookup("porttest.seek")
	_, _, panicked, bad := compute.DecodeOutcome(r.run, r.finished(id).Outcome, f)
	if bad != nil || panicked == nil || panicked.Peer != "you" {
		r.t.Errorf("%+v, %v", panicked, bad)
	}
}

func deliveredGarbage(r *rig) {
	id, j := r.seeking()
	for _, garbage := range [][]byte{nil, {0xff}, r.outcome("seven")} {
		r.deliver(j.Ref, garbage, false)
		r.kind(port.Troubled)
		j = r.take("porttest.echo") // that one runs here after all, and comes to 7
	}
	r.deliver(j.Ref, r.outcome(1000), true)
	r.ends(id, 1000)
}

func putBack(r *rig) {
	id, j := r.seeking()
	r.e.Do(&port.Order{Kind: port.PutBack, Ref: j.Ref})
	k := r.take("porttest.echo")
	r.deliver(k.Ref, r.outcome(1000), true)
	r.ends(id, 1000)
}

func aborted(r *rig) {
	id, j := r.seeking()
	r.e.Do(&port.Order{Kind: port.Abort, Segment: id})
	if e := r.kind(port.Stopped); e.Segment != id {
		r.t.Errorf("segment %d has stopped, not %d", e.Segment, id)
	}
	if e := r.kind(port.Dropped); len(e.Refs) != 1 || e.Refs[0] != j.Ref {
		r.t.Errorf("%v were dropped, not %d", e.Refs, j.Ref)
	}
	r.e.Do(&port.Order{Kind: port.Deliver, Ref: j.Ref, Outcome: r.outcome(1000)}) // it crossed
	if got := r.result("porttest.echo", r.finished(r.begin("porttest.echo", 3, nil)).Outcome); got != 3 {
		r.t.Errorf("echo(3) = %v", got)
	}
	for _, e := range r.told {
		if e.Kind == port.Finished || e.Kind == port.Delivered {
			r.t.Errorf("after the abort comes %+v", e)
		}
	}
}

// restarted has a job begin that somebody had worked on, of whose first child the outcome is known.
func (r *rig) restarted() (steal.SegmentID, steal.Taken) {
	r.t.Helper()
	known, err := steal.NewOrphans([]job.Path{{1, 1}, {2}})
	if err != nil {
		r.t.Fatal(err)
	}
	r.e.Do(&port.Order{Kind: port.LostWork, Orphans: known})
	r.start()
	id := r.begin("porttest.seek", 7, func(o *port.Order) { o.Job.Restarted = true })
	e := r.kind(port.Found)
	if len(e.Jobs) != 1 || e.Jobs[0].Job.Path.Compare(job.Path{1, 1}) != 0 || e.Jobs[0].Segment != id ||
		!e.Jobs[0].Job.Restarted {
		r.t.Fatalf("%+v were found", e.Jobs)
	}
	return id, e.Jobs[0]
}

// divided: a hint reaches the job, all below it, and those of them that leave; no other job has it.
func divided(r *rig) {
	r.start()
	if got := r.result("porttest.deeper", r.finished(r.begin("porttest.deeper", 2, nil)).Outcome); got != 0 {
		r.t.Errorf("jobs without a hint saw %d", got)
	}
	hint := func(o *port.Order) { o.Job.Depth = 3 }
	id := r.begin("porttest.seek", 7, hint)
	j := r.take("porttest.echo")
	if j.Job.Depth != 3 {
		r.t.Errorf("the job that left has the hint %d", j.Job.Depth)
	}
	r.deliver(j.Ref, r.outcome(1000), true)
	r.ends(id, 1000)
	if got := r.result("porttest.deeper", r.finished(r.begin("porttest.deeper", 2, hint)).Outcome); got != 333 {
		r.t.Errorf("jobs saw %d", got)
	}
	if got := r.result("porttest.deeper", r.finished(r.begin("porttest.deeper", 2, nil)).Outcome); got != 0 {
		r.t.Errorf("other jobs saw %d", got)
	}
	most := r.begin("porttest.deeper", 0, func(o *port.Order) { o.Job.Depth = 255 })
	if got := r.result("porttest.deeper", r.finished(most).Outcome); got != steal.MaxDepth {
		r.t.Errorf("a hint of 255 became %d", got)
	}
}

// alone has a job run that would have others to give until its end.
func alone(r *rig) {
	r.start()
	n, want := 30, 832040
	if testing.Short() {
		n, want = 24, 46368
	}
	r.givesNothing("porttest.fib", r.begin("porttest.fib", n, func(o *port.Order) { o.Alone = true }), want)
}

// givesNothing asks a job for others until its end.
func (r *rig) givesNothing(fn string, id steal.SegmentID, want int) {
	for {
		r.ticket++
		r.e.Do(&port.Order{Kind: port.Take, Ticket: r.ticket, Max: 1})
		e := r.await("an answer", func(e *port.Event) bool { return e.Kind == port.Taken || e.Kind == port.Finished })
		if len(e.Jobs) > 0 {
			r.t.Fatalf("the job %v was taken", e.Jobs[0].Job.Path)
		}
		if e.Kind == port.Finished {
			if got := r.result(fn, e.Outcome); got != want || e.Segment != id {
				r.t.Errorf("segment %d comes to %d", e.Segment, got)
			}
			return
		}
	}
}

// stays has a job run whose oldest child cannot leave, as the engine finds out, and the next one neither, as it is
// told; and one of which no child can.
func stays(r *rig) {
	r.start()
	id := r.begin("porttest.mixed", 7, nil)
	j := r.take("porttest.echo")
	if at := j.Job.Path[1]; at != 2 {
		r.t.Errorf("child %d is taken first", at)
	}
	r.e.Do(&port.Order{Kind: port.PutBack, Ref: j.Ref, Stays: true})
	if j = r.take("porttest.echo"); j.Job.Path[1] <= 2 {
		r.t.Errorf("child %d is taken again", j.Job.Path[1])
	}
	r.deliver(j.Ref, r.outcome(1000), true)
	if got := r.result("porttest.mixed", r.finished(id).Outcome); got != 1014 {
		r.t.Errorf("the job comes to %v", got)
	}
	r.givesNothing("porttest.homely", r.begin("porttest.homely", 30, nil), 30*6765)
}

func found(r *rig) {
	id, j := r.restarted()
	r.deliver(j.Ref, r.outcome(1000), true)
	r.ends(id, 1000)
}

func foundAgain(r *rig) {
	id, j := r.restarted()
	r.e.Do(&port.Order{Kind: port.PutBack, Ref: j.Ref, Restarted: true})
	r.deliver(r.take("porttest.echo").Ref, r.outcome(1000), true) // itself, or a later one
	r.ends(id, 1000)
	for _, e := range r.told {
		if e.Kind == port.Found {
			r.t.Errorf("then %+v were found", e.Jobs)
		}
	}
}

func kept(r *rig) {
	r.start()
	id := r.begin("porttest.long", 27, nil)
	e := r.kind(port.Kept) // when the engine has looked while a job ran
	want, own := job.Identify("porttest.fib", r.encode(27)), time.Duration(0)
	for _, k := range e.Kept {
		p := k.Partial
		own += k.Own
		if len(p.Path) < 2 || p.Path[0] != uint32(id) || k.Segment != id {
			r.t.Errorf("of job %v an outcome is kept", p.Path)
		}
		if len(p.Path) == 2 && (p.Identity != want || r.result("porttest.fib", p.Outcome) != 196418) {
			r.t.Errorf("%+v is kept", p)
		}
	}
	if own <= 0 {
		r.t.Errorf("%d outcomes are kept that took %v", len(e.Kept), own)
	}
	r.e.Do(&port.Order{Kind: port.Abort, Segment: id})
	r.kind(port.Stopped)
}

func first(r *rig) {
	id, _ := r.seeking()
	e := r.finished(r.begin("porttest.echo", 3, func(o *port.Order) { o.First = true }))
	if got := r.result("porttest.echo", e.Outcome); got != 3 {
		r.t.Errorf("echo(3) = %v", got)
	}
	r.e.Do(&port.Order{Kind: port.Abort, Segment: id})
	r.kind(port.Stopped)
}

func counted(r *rig) {
	id, _ := r.seeking()
	r.e.Do(&port.Order{Kind: port.Count})
	f := r.kind(port.Counted).Figures
	if f.Whole || len(f.Segments) != 1 || f.Segments[0].Segment != id {
		r.t.Errorf("%+v", f)
	}
	// A count waits only so long for workers to say what they have done: on a busy machine it comes later.
	for begun, told := time.Now(), false; !told; told = f.Executed > 0 && f.Spawned > 0 {
		r.e.Do(&port.Order{Kind: port.Count, Whole: true})
		f = r.kind(port.Counted).Figures
		if !f.Whole || f.Times.Cores <= 0 || f.Progress < 0 || f.Progress > 1 || time.Since(begun) > patience {
			r.t.Fatalf("%+v", f)
		}
	}
}

func stale(r *rig) {
	r.start()
	for _, o := range []port.Order{{Kind: port.PutBack, Ref: 99}, {Kind: port.Deliver, Ref: 99, Outcome: []byte{1}},
		{Kind: port.Abort, Segment: 99}, {Kind: port.LostWork}} {
		r.e.Do(&o)
	}
	if got := r.result("porttest.echo", r.finished(r.begin("porttest.echo", 3, nil)).Outcome); got != 3 {
		r.t.Errorf("echo(3) = %v", got)
	}
}
