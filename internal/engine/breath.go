package engine

// A breath lets others have the thread that a worker runs on, where the process has one only (Config.Breathe).
//
// There nobody can raise the attention word while a job runs, so the worker holds it up itself: each Spawn and Get
// visits attention, which wants some tens of nanoseconds. The clock is read at some of the visits: after a reading that
// came soon twice as many are let pass, after one that came late, the very next is one. What is private is published
// before, so that whoever wants a job finds it in the meantime.
type breath struct {
	last, looked int64  // ns: the last one, and the last reading
	skip, left   uint32 // visits from one reading to the next, and until the next
}

const (
	breatheEvery = 2_000_000 // ns from one to the next
	lookEvery    = breatheEvery / 8
	maxSkip      = 1 << 12
)

// visit is called at each visit of w.
func (b *breath) visit(w *Worker) {
	w.Stack.hold()
	if b.left > 0 {
		b.left--
		return
	}
	now := w.pool.sched.now()
	switch since := now - b.looked; {
	case since < lookEvery/2:
		b.skip = min(2*b.skip+1, maxSkip)
	case since > lookEvery:
		b.skip /= 2
	}
	if now-b.looked > breatheEvery {
		b.skip = 0
	}
	if b.left, b.looked = b.skip, now; now-b.last < breatheEvery {
		return
	}
	w.shareAll()
	w.pool.cfg.Breathe()
	b.last = w.pool.sched.now()
	b.looked = b.last
}
