package engine

const (
	// Jobs that take longer than fineGrain each, in ns, are published at once; shorter ones when somebody wants one.
	fineGrain = 5_000
	// The grain is measured over this many jobs.
	grainProbe = 32
	// A wish that waited longer than this, in ns, shows that jobs have become coarse.
	lateAnswer = 50_000
)

// A grain is what a worker knows of how long its jobs take. Coarse jobs are published as they are spawned, so that a
// thief never waits for a long leaf to end; the price, some 60 ns a job, is small beside such jobs. Fine ones
// stay private until somebody wants one: the owner comes by soon anyway.
type grain struct {
	begun uint64 // jobs begun when the measurement began
	since int64  // ns; 0: not yet begun
}

// restart begins a new measurement: waits and thefts must not count as the time that jobs take.
func (g *grain) restart() { g.since = 0 }

// begin is called when a new run starts on the worker: its jobs count as coarse until measured.
func (g *grain) begin(w *Worker) {
	w.Stack.coarse, g.since = w.pool != nil && w.pool.demand.Load(), 0
	w.Stack.hold()
}

// measure is called at each visit while jobs count as coarse.
func (g *grain) measure(w *Worker) {
	if g.since == 0 {
		g.since, g.begun = w.pool.sched.now(), w.Stack.Counts.begun()
		return
	}
	n := w.Stack.Counts.begun() - g.begun
	if n < grainProbe {
		return
	}
	now := w.pool.sched.now()
	w.Stack.coarse = now-g.since > int64(n)*fineGrain
	g.since, g.begun = now, w.Stack.Counts.begun()
}

// attend visits attention if somebody raised the attention word.
func (w *Worker) attend() {
	if w.Stack.limit.Load() == 0 {
		w.attention()
	}
}

// attention looks after what others want of this worker.
//
//go:noinline
func (w *Worker) attention() {
	w.Stack.Counts.visits++
	w.Stack.open() // first: a wish that is said after we looked raises it again
	w.roots.unwind()
	p := w.pool
	if p == nil {
		return
	}
	if p.inside != nil {
		p.inside.attend()
		return
	}
	if n := p.resalvages.Load(); n != w.resalvaged {
		w.resalvaged = n
		w.roots.searchAgain(p.host, &w.Stack)
	}
	if n := p.pulses.Load(); n != w.stopwatch.pulses {
		w.stopwatch.pulse(w, n)
	}
	if w.roots.searching(&w.Stack) {
		w.Stack.hold() // no child begins by itself
	}
	if p.sched.waiting.Load() > 0 || p.sched.free.Load() < 0 {
		p.sched.yield(w)
	}
	if seq := p.sample.Load(); seq != w.stats.seq.Load() {
		w.stats.tell(w, seq)
	}
	wanted := w.want.Load()
	if wanted != 0 && p.sched.now()-wanted > lateAnswer {
		w.Stack.coarse, w.grain.since = true, 0
	}
	if w.Stack.coarse {
		w.grain.measure(w)
	}
	if private := w.Stack.Head - w.Stack.split; private > 0 {
		switch {
		case w.Stack.coarse:
			w.shareAll()
		case wanted != 0 || p.hungry() || !w.Stack.stealable() && p.demand.Load():
			w.want.Store(0)
			w.publish((private + 1) / 2)
		}
	} else if wanted != 0 || p.hungry() {
		w.Stack.hold() // nothing to share yet: come back at the next Spawn or Get
	}
	if w.Stack.coarse {
		w.Stack.hold()
	}
	if p.cfg.Breathe != nil {
		w.breath.visit(w)
	}
}

// shareAll publishes all private jobs.
func (w *Worker) shareAll() {
	if n := w.Stack.Head - w.Stack.split; n > 0 {
		w.want.Store(0)
		w.publish(n)
	}
}
