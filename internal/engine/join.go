package engine

// Joining
//
// A frame's children are the newest slots of its worker's stack, so waiting for one of them always comes down to
// getting rid of the newest slot: step. What was not stolen is run. What was stolen is awaited, in two ways:
//
//   - A thief in this process is helped: the waiting worker steals the oldest job of the very thief it waits for
//     (leapfrogging, Wagner and Calder 1993). While the awaited job runs there, everything stealable on that
//     thief's stack descends from it: a worker starts a stolen job only when all of its own older jobs are
//     stolen. So the frame that waits is never buried under work that it does not wait for. If the awaited job ended
//     in the moment of the theft, the loot may be something else, and goes to the pool's inbox instead.
//   - A thief further away, or one that has had nothing to give for a while, is awaited by parking: the
//     goroutine gives its core to another worker and sleeps until something comes back (sched.go).
//
// What comes back: the thief writes result and fail, moves the record's state from running to done, pushes
// the record on the owner's finished list and, if the owner is parked, wakes it. The owner uses the record
// only after it found it in that list (drain), so the thief's last touch of a record, the push, comes before
// any reuse.
//
// What does not come back: a job that was run to help, when the waiting frame has been dropped meanwhile. It descends
// from that frame, so it has unwound, or looked at Aborted and returned anything. But its owner, who runs the job that
// is waited for, has not been told yet: it would go on with such a result, tell others of it, have its own outcome
// kept. So the record stays with this worker, which raises its own attention word. At its next look it unwinds the
// waiting frame, and with it drops the job that is waited for: its owner hears that and unwinds, too.
//
// An inlet (the body of a Results loop) runs in its frame's own goroutine, called by the loop, which calls step only
// between two bodies. Thieves never call user code of another worker's frame; they only push records. So an inlet
// overlaps neither its frame nor another inlet of it, without any lock.

// step makes progress on the newest slot, which must exist: it runs the job, or waits for it to come back or for
// anything else to come back, or pops it. A job that ran leaves the stack with its result in its record.
func (w *Worker) step() {
	w.attend()
	h := w.Stack.Head - 1
	r := w.Stack.slots[h]
	switch {
	case r.consumed:
		w.popBack(h)
	case !r.gone && w.Stack.claim(h):
		if w.roots.searching(&w.Stack) {
			since := w.pool.sched.now()
			id, hit := w.roots.salvage(w.pool.host, &w.Stack, r)
			if w.spent.recovering(w.pool, since); hit {
				w.handOver(r, h, id)
				return
			}
		}
		w.begin(r, h)
	case r.joined:
		w.Stack.regain(r, h)
		w.Stack.detach(r, h)
		w.popStolen(h)
		w.failures.note(r, &w.Stack, w.ID)
	default:
		w.wait(r)
	}
}

// begin runs the newest job, which has been claimed from slot h, ahead of its Get.
func (w *Worker) begin(r *Record, h uint32) {
	w.Stack.detach(r, h)
	if h < w.Stack.fence {
		if w.stopwatch.budget > 0 {
			w.stopwatch.run(w, r, h)
			return
		}
		w.lowerFence(h)
	}
	w.Stack.Head = h
	w.runDetached(r)
}

// runDetached runs a job whose record has left the stack, ahead of its Get. A panic stays in the record.
func (w *Worker) runDetached(r *Record) {
	id, cur := r.ID, w.Stack.Cur
	w.Stack.Counts.detached++
	w.Stack.enter(id, cur)
	w.call(r, cur)
	if w.roots.searching(&w.Stack) {
		w.Stack.hold()
	}
	r.ID = id | doneBit
	w.failures.note(r, &w.Stack, w.ID)
	if r.Group != 0 {
		w.drain() // what came back meanwhile has finished before
		hold(w, r)
	}
}

// SyncTo ends a frame that left children behind, above slot h: it waits for them and forgets their results. If one of
// them failed, the frame panics with its failure.
//
//go:noinline
func (w *Worker) SyncTo(h uint32) {
	for w.Stack.Head > h {
		w.step()
	}
	if err := w.failures.oldest(w.Stack.Cur >> DepthShift); err != nil {
		panic(err)
	}
}

// drain takes over what came back, oldest first.
func (w *Worker) drain() {
	for r := w.finished.take(); r != nil; w.Stack.Counts.back++ {
		next := r.next
		r.next, r.joined = nil, true
		if r.Group != 0 {
			hold(w, r)
		}
		r = next
	}
}

// wait returns when something came back, if possible the stolen job r in the newest slot. What came back
// while it helped, and was drained by what it helped with, counts.
func (w *Worker) wait(r *Record) {
	w.Stack.Counts.waits++
	before := w.Stack.Counts.back
	idleSince := w.pool.sched.now()
	for w.drain(); w.Stack.Counts.back == before; w.drain() {
		w.roots.unwind()
		v := r.thief.Load()
		// gone: older jobs are still here, so no help (gone.go)
		away := r.gone || v == nil && r.state.Load() == running
		if away || w.pool.sched.now()-idleSince > helpPatience {
			w.spent.wait += w.pool.sched.now() - idleSince
			w.pool.sched.park(w, !away)
			idleSince = w.pool.sched.now()
			continue
		}
		var loot *Record
		if v != nil {
			w.Stack.Counts.attempts++
			loot = v.steal()
		}
		if loot == nil {
			pause()
			continue
		}
		w.Stack.Counts.steals++
		w.spent.wait += w.pool.sched.now() - idleSince
		if r.state.Load() == running && r.thief.Load() == v { // still there: the loot descends from it
			w.runRoot(loot)
		} else {
			w.pool.sched.inject(loot)
		}
		idleSince = w.pool.sched.now()
	}
	w.spent.wait += w.pool.sched.now() - idleSince
	w.want.Store(0) // as old as the wait; who still wants something is hungry or asks again
	w.grain.restart()
}

// drop aborts the job in the newest slot and pops it.
func (w *Worker) drop() {
	h := w.Stack.Head - 1
	r := w.Stack.slots[h]
	if r.consumed {
		w.popBack(h)
		return
	}
	if !r.gone && w.Stack.claim(h) {
		if r.ID |= abortedBit; r.Group == 0 {
			w.Stack.detach(r, h) // its Future asks, and the slot's next job must not answer
		}
		r.Group = 0
		w.Stack.Head = h
		w.lowerFence(h)
		w.Stack.Counts.recalled++
		return
	}
	w.Stack.regain(r, h)
	if !r.joined && w.disown(r, h) {
		return
	}
	w.Stack.detach(r, h) // it finished in time, its result may still be wanted
	w.popStolen(h)
}

// disown leaves the stolen record r in slot h to its thief, which is told; false if it came back meanwhile.
func (w *Worker) disown(r *Record, h uint32) bool {
	for {
		s := r.state.Load()
		if s == done {
			for !r.joined { // its thief is about to push it
				w.drain()
				pause()
			}
			return false
		}
		if s == fresh || !r.state.CompareAndSwap(s, dropped) {
			pause()
			continue
		}
		w.Stack.Counts.back++
		w.pool.paths.awaitReaders()
		n := w.Stack.take(r.d)
		n.Slot = h
		w.Stack.slots[h] = n
		w.popStolen(h)
		if s == running {
			w.pool.tellDropped(r)
		}
		return true
	}
}
