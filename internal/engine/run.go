package engine

// A stolenRoot is a job that a worker runs for somebody else, and where on its stack that began.
type stolenRoot struct {
	r      *Record
	base   uint32 // the head then
	depth  uint64 // its depth
	search search
}

// roots are the jobs that a worker runs for others, the innermost last.
type roots []stolenRoot

// dropped gives the outermost that nobody waits for any more; nil if there is none.
func (roots roots) dropped() *Record {
	for _, s := range roots {
		if s.r.state.Load() == dropped {
			return s.r
		}
	}
	return nil
}

// unwind unwinds the stack if nobody waits for one of them any more: neither its spawner nor, of a run, anybody.
func (roots roots) unwind() {
	if r := roots.dropped(); r != nil {
		panic(abortPanic{r})
	}
}

// An abortPanic unwinds a worker's stack down to the root that was dropped.
type abortPanic struct{ r *Record }

// Unwinding is wire.Unwinding's: what makes errors of panics passes it on.
func (abortPanic) Unwinding() {}

// runRoot runs a stolen job, or one from the inbox, on top of the stack, and delivers its result. Everything
// of this worker's own that is older is stolen at this point, so tail, split and head are equal (see
// join.go). A restarted job may be handed over instead (salvage.go).
func (w *Worker) runRoot(r *Record) {
	srch, found := search{}, false
	if w.pool != nil && w.pool.restarts.Load() {
		since := w.pool.sched.now()
		srch, found = w.pool.look(r, w.Stack.Cur>>DepthShift+1)
		if w.spent.recovering(w.pool, since); found {
			return
		}
	}
	r.thief.Store(w)
	if !r.state.CompareAndSwap(stolen, running) {
		w.Stack.Counts.unbegun++ // nobody waits for it any more
		return
	}
	n, cur, alone := len(w.roots), w.Stack.Cur, w.alone.Load()
	if w.pool != nil {
		w.alone.Store(w.pool.stays(r))
	}
	outer := w.tallied.begin(&w.Stack.Counts, r, n == 0)
	w.Stack.enter(0, cur)
	w.Stack.tab.Load().roots[cur>>DepthShift+1] = r
	w.roots = append(w.roots, stolenRoot{r, w.Stack.Head, w.Stack.Cur >> DepthShift, srch})
	w.Stack.Counts.roots++
	if w.grain.restart(); r.W == nil {
		w.grain.begin(w)
	}
	if w.roots.searching(&w.Stack) || w.pool != nil && w.pool.called() {
		w.Stack.hold()
	}
	defer func() { // also when the panic is an outer root's abort, or the job ended its goroutine
		w.roots[n], w.roots = stolenRoot{}, w.roots[:n]
		w.Stack.tab.Load().roots[cur>>DepthShift+1] = nil // see path.go
		w.alone.Store(alone)
		w.tallied.count(&w.Stack.Counts, outer)
		w.grain.restart()
		if w.roots.searching(&w.Stack) {
			w.Stack.hold()
		}
		if w.roots.dropped() != nil {
			w.Stack.hold() // see join.go
			return
		}
		if r.state.CompareAndSwap(running, done) {
			r.deliver()
		}
	}()
	if !w.stopwatch.keeps() {
		w.call(r, cur)
		return
	}
	l := w.stopwatch.start(w, r)
	w.call(r, cur)
	w.stopwatch.stop(w, r, l)
}

// call runs r's job in the frame that was entered for it and goes back to the frame cur. It keeps a panic in
// r.Fail, but passes on the abort of another job than r.
func (w *Worker) call(r *Record, cur uint64) {
	base, depth := w.Stack.Head, w.Stack.Cur>>DepthShift
	before := w.failures.enter(depth)
	ran, returned := false, false
	defer func() {
		w.failures.leave(before)
		if returned {
			return
		}
		v := recover()
		abort, aborted := v.(abortPanic)
		if aborted {
			w.Stack.Counts.unwound += w.Stack.Cur>>DepthShift - depth + 1
			r.Fail = ErrAborted
		} else if !ran || r.d.Ops.Err(r) == nil { // an error of its own counts more than one that it forgot
			r.Fail = failure(v, w.ID)
		}
		for w.Stack.Head > base {
			w.drop()
		}
		w.Stack.Cur = cur
		w.ready.cut(cur)
		if aborted && abort.r != r {
			panic(v)
		}
	}()
	r.d.Ops.Run(w, r)
	ran = true
	if w.Stack.Head != base || w.failures.any() {
		w.SyncTo(base)
	}
	w.Stack.Cur = cur
	w.ready.cut(cur)
	returned = true
}

// deliver hands a finished record back to whoever waits for it.
func (r *Record) deliver() {
	o := r.W
	if o == nil {
		if p := r.thief.Load().pool; p != nil {
			p.frontier.runMu.Lock()
			delete(p.frontier.runs, r)
			p.frontier.runMu.Unlock()
		}
		r.out.ended(r)
		return
	}
	o.finished.push(r)
	o.pool.sched.wake(o)
}
