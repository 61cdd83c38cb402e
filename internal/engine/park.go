package engine

// yield lets a ready worker have w's core, in the middle of a job, or gives it up if the pool has too many.
func (s *scheduler) yield(w *Worker) {
	w.shareAll()
	s.mu.Lock()
	switch {
	case s.giveUp():
	case len(s.ready) > 0:
		s.grant(s.next())
	default:
		s.mu.Unlock()
		return
	}
	s.preempted = append(s.preempted, w)
	s.resumable.Add(1)
	s.mu.Unlock()
	s.sleep(w)
}

// park waits until something comes back to w, and meanwhile lends its core to another worker. It may return
// early. If the thief is a worker of this process, it has or gets a core, and the wait is not worth a thread
// more when there are many; but somebody has to begin what was put back, for which w may wait.
func (s *scheduler) park(w *Worker, local bool) {
	p := w.pool
	w.Stack.Counts.parks++
	if p.inside != nil {
		p.inside.await()
		return
	}
	w.shareAll()
	p.sched.mu.Lock()
	w.parked.Store(true)
	if w.finished.any() || w.came.Load() || w.Aborted() {
		w.parked.Store(false)
		p.sched.mu.Unlock()
		return
	}
	if p.sched.giveUp() {
		p.sched.mu.Unlock()
		s.sleep(w)
		return
	}
	v, n := p.sched.next(), len(*p.sched.workers.Load())
	switch {
	case v != nil:
	case len(p.sched.spares) > 0:
		v = p.sched.popSpare()
	case n < p.cfg.Workers+maxForLocal, n < maxWorkers && (!local || p.sched.putBack()):
		v = p.addWorker()
	case local:
		w.parked.Store(false)
		p.sched.mu.Unlock()
		return
	}
	if v != nil {
		p.sched.grant(v)
	} else {
		p.sched.addFree(1)
	}
	p.sched.mu.Unlock()
	if v == nil {
		p.host.Hungry()
	}
	s.sleep(w)
}

// sleep waits, in the middle of a job, until w is given a core again.
func (*scheduler) sleep(w *Worker) {
	since := w.stopwatch.read(w)
	w.stats.tell(w, 0)
	w.pool.sched.gotCore(w, <-w.core)
	w.stopwatch.slept += w.stopwatch.read(w) - since
	w.want.Store(0) // who still wants something is hungry or asks again
	w.grain.restart()
}

// wake makes w, if it is parked, go on as soon as it has a core.
func (s *scheduler) wake(w *Worker) {
	if !w.parked.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !w.parked.Load() {
		return
	}
	w.parked.Store(false)
	if s.free.Load() > 0 {
		s.feed(w)
		return
	}
	s.ready = append(s.ready, w)
	s.waiting.Add(1)
	s.resumable.Add(1)
	s.callAll()
}
