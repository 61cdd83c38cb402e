package engine

import (
	"time"

	"github.com/satin-peer/satin/job"
)

// Pulse asks the workers to look at the time that their pending jobs take, when they come to them; the jobs that have
// begun are not looked at any more. Between two calls only some jobs are looked at. To be called now and
// then, every 20 Config.KeepAfter or so, if that is set; else it does nothing.
func (p *Pool) Pulse() {
	if p.cfg.KeepAfter == 0 {
		return
	}
	p.pulses.Add(1)
	p.sched.callAll()
}

// Which jobs are timed
//
// Time cannot be taken where Get and Results call a job by themselves, so somebody has to send them to step:
// the fence does. They leave slots below it to step, which times what it runs. Pulse raises the fence above
// all pending jobs, and above the slot that the running frame's next child will get. What is spawned above
// the fence is fast and not timed, until the next call. As pending jobs go, the fence goes down with them. So
// at each call the jobs pending at that moment become visible, at every level of the running chain; these are
// the siblings of the running frames, thus what will have finished at most one call's interval of untimed
// work later, at each level.
//
// In a loop that spawns and gets, nothing is ever pending. There it counts what slot the next child will get, and all
// frames of the running chain may want the same one. Therefore:
//
//   - A timed job does not leave its slot free: while it runs a spacer stays there, and the fence just above.
//     So its own children get slots above the fence, fast, and when it has ended the next job in that slot is
//     timed again.
//   - If many timed jobs in a row turn out to be tiny, not worth two readings of the clock, then the spacer
//     stays when the last has ended: the frame's further children get slots above the fence too, fast. The
//     spacer goes with the frame (SyncTo pops it), and the frame's parent finds the fence just above its next
//     slot, as it was.
//   - In between two calls only so many tiny jobs are timed (budget). When it is used up, each slow job that is
//     begun lowers the fence by half, so that the oldest jobs, the largest, stay below it longest.
//
// A spacer is a record that came back, is consumed and gone (gone.go), so whoever meets it pops it or
// steps over it.
//
// Which are kept: those that took KeepAfter. In a frame with many shorter children, nothing would ever be: so
// each frame counts what was not kept (debts), and when that comes to KeepAfter, its children are kept from a
// quarter of it on. A kept job settles the debts of the frames below it. Jobs that a worker steals count for
// the frame that it had below them, or for none, one after the other.
//
// Rejected: a clock at each slow job, 80 ns that programs of fine jobs under Sync would feel; and to publish
// at each Pulse, which makes slow, but cannot reach loops that spawn and get.
const (
	tinyJob    = 16_000 // ns: shorter ones make the clock's price felt
	tinyBudget = 512    // tiny jobs that are timed for each Pulse, some 0.2 us each
	tinyRefill = 64     // and for each kept job
	tinyInARow = 96     // tiny jobs after which a frame's next ones are not timed
	smallShare = 4      // with debts, jobs from 1/smallShare of KeepAfter on are kept
)

// A stopwatch is what a worker knows of the time that its jobs take. All but sleep counts.
type stopwatch struct {
	after  int64 // KeepAfter in ns; 0: nothing is kept
	pulses uint64
	budget int
	tiny   int // in a row
	slept  int64
	others int64  // what went into jobs that count by themselves; see lap
	debts  []debt // by depth
}

// A debt is the time of a frame's finished children that were not kept.
type debt struct {
	frame Level // how the frame was entered: tells it from most others at its depth
	ns    int64
}

func newStopwatch(p *Pool) (s stopwatch) {
	if p != nil && p.cfg.KeepAfter > 0 {
		s.after, s.budget = int64(p.cfg.KeepAfter), tinyBudget
	}
	return s
}

func (s *stopwatch) keeps() bool { return s.after > 0 }

// read gives the time, slept or not; 0 when nothing is kept.
func (s *stopwatch) read(w *Worker) int64 {
	if s.after == 0 {
		return 0
	}
	return w.pool.clock()
}

// pulse answers a call of Pulse.
func (s *stopwatch) pulse(w *Worker, call uint64) {
	s.pulses, s.budget, s.tiny = call, tinyBudget, 0
	w.Stack.setFence(max(w.Stack.fence, w.Stack.Head+1))
}

// worth says whether a child of the running frame is to be kept, which took so long.
func (s *stopwatch) worth(w *Worker, took int64) bool {
	depth := w.Stack.Cur >> DepthShift
	for uint64(len(s.debts)) <= depth {
		s.debts = append(s.debts, debt{})
	}
	s.debts = s.debts[:depth+1]
	d := &s.debts[depth]
	if frame := w.Stack.Levels[depth]; d.frame != frame {
		*d = debt{frame, 0}
	}
	enough := s.after
	if d.ns >= enough {
		enough /= smallShare
	}
	if took < enough {
		d.ns += took
		return false
	}
	return true
}

// A lap is when a job began. What it took by itself is without all that ran inside its time and counts by itself: jobs
// that were kept, and those that the worker did for others, or stole, while it waited; and without that waiting.
type lap struct{ since, others int64 }

func (s *stopwatch) begin(w *Worker) lap { return lap{s.read(w) - s.slept, s.others + w.spent.wait} }

func (s *stopwatch) end(w *Worker, l lap) (took, own int64) {
	took = s.read(w) - s.slept - l.since
	return took, max(took-(s.others+w.spent.wait-l.others), 0)
}

// apart has what a job took count by itself, and not for the frame that it ran in.
func (s *stopwatch) apart(w *Worker, l lap, took int64) { s.others = l.others + took - w.spent.wait }

// run runs w's newest job, which was claimed from slot h and detached, and times it.
func (s *stopwatch) run(w *Worker, r *Record, h uint32) {
	spacer := w.Stack.slots[h]
	spacer.ID, spacer.joined, spacer.consumed, spacer.gone = w.Stack.Cur, true, true, true
	spacer.state.Store(done)
	w.Stack.Head = h + 1
	w.Stack.setFence(h + 1)
	index, l := childIndex(r.ID), s.begin(w)
	w.runDetached(r)
	took, own := s.end(w, l)
	if s.worth(w, took) && r.Fail == nil && !w.Aborted() {
		if id, ok := w.runningPath(); ok {
			id.Path = append(id.Path, index)
			if s.offer(w.pool, r, id, took, own) {
				s.apart(w, l, took)
			}
		}
	}
	if took >= min(tinyJob, s.after) {
		if s.tiny = 0; took >= s.after {
			s.budget = min(s.budget+tinyRefill, tinyBudget)
			w.Stack.setFence(max(w.Stack.fence, h+1))
		}
		w.popBack(h)
		return
	}
	if s.budget--; s.budget <= 0 {
		w.popBack(h)
		w.lowerFence(h)
		return
	}
	if s.tiny++; s.tiny%tinyInARow != 0 {
		w.popBack(h)
		return
	}
	w.Stack.setFence(max(w.Stack.lowestFence(), min(w.Stack.fence, h+1)))
}

// start and stop time r, which runs for somebody else.
func (s *stopwatch) start(w *Worker, r *Record) lap {
	if r.W == nil {
		s.debts = s.debts[:0]
	}
	return s.begin(w)
}

// stop offers what a worker has stolen of another one. What is not kept counts for the job from outside that it is of.
func (s *stopwatch) stop(w *Worker, r *Record, l lap) {
	took, own := s.end(w, l)
	s.apart(w, l, took)
	if long := r.W != nil && s.worth(w, took); long && r.Fail == nil && !w.Aborted() {
		if id, _, ok := w.pool.paths.idOf(r); ok && s.offer(w.pool, r, id, took, own) {
			return
		}
	}
	if t := w.tallied.to; t != nil {
		t.own.Add(own)
	}
}

// offer offers the outcome of r, which has ended in a worker of p after so many ns, some of them its own.
func (*stopwatch) offer(p *Pool, r *Record, id job.ID, took, own int64) (kept bool) {
	return p.host.Kept(Job{ID: id, Func: r.d.Name, Arg: r.d.Ops.Arg(r), Root: p.paths.rootOf(r).name(),
		Took: time.Duration(took), Own: time.Duration(own)}, r.outcome())
}
