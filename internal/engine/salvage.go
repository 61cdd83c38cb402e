package engine

import (
	"slices"

	"github.com/satin-peer/satin/job"
)

// Resalvage says that the Host's answers have changed. Workers ask again, at their next Spawn or Get,
// whether anything is below the restarted jobs that they run; from then on, before each child begins. A
// worker that waits does so when it goes on.
func (p *Pool) Resalvage() {
	p.resalvages.Add(1)
	p.sched.callAll()
}

// Who is asked about, and when
//
// "Restarted" is a mark on the passport of a root: a job that came in, or back. It is inherited by the whole
// subtree, and found by whoever resolves a path, because that leads through all the roots above. Nothing is
// inherited at a spawn.
//
// A Host knows paths. If there is none at or below a job's path, none is below its children's. So frames
// of interest are those from a restarted root downwards whose answer was below, and a worker's stack is one
// chain of such frames: one number is enough to say which, searched: the depth of the innermost one that its
// root's part of the stack still has (each root on a worker's stack has its own, see stolenRoot). A frame at
// that depth or above it is searched. The number may be too high, never too low; too high costs time only.
//
// While a searched frame runs, the attention word is 0, so no fast path begins a child. Children begin in
// three places, and each asks once:
//
//   - step, after the claim (salvage): the job is the worker's alone. A hit is handed over (gone.go); else it
//     begins, searched or not as the answer says.
//   - runRoot, before the thief makes the job its own (look): a stolen job, or one from the inbox. A hit goes
//     outside as by Take; else it begins, as above.
//   - Take, before it leaves: a hit goes to Found in place of the caller, who gets another one.
//
// So a job is asked about by the one who holds it alone, and then begins or leaves: it runs once, here or
// outside. It is asked about again only if it left without having been found (Take) and was put back as
// restarted, or has not begun there. A found one is marked (Taken.found, carried on to its next Taken), and
// then a hit counts no more: else it would go to and fro.
//
// The invariant is: when the running frame is at depth searched or above, the attention word is 0, or this
// goroutine sets it to 0 before it reaches a Spawn, Get or Results of that frame.
//
//   - A root that is searched begins with the word at 0 (runRoot).
//   - Only attention and growSlots store anything else, and attention comes after both; it looks at searched last.
//   - An unsearched child of a searched frame has the word full. It was begun by step or runs on top in
//     runRoot, and both set the word to 0 when it has ended, also by a panic (runDetached, runRoot). Could
//     the child have been begun by a fast path, which does nothing at its end? Then it began before its
//     parent was searched, and only searchAgain changes that: it sets searched to the depth of the whole chain, so
//     the child counts as searched itself until it ends, and the word stays 0 across its end. Those frames ask
//     about their next child too, in vain perhaps, and the first answer lowers searched to what it should be.
//
// No change of the answers is missed, for Resalvage is called after the change:
//   - A worker that is busy, parked or preempted ones included, finds its attention word raised and then the
//     number of calls changed: attention stores the full limit first and reads the number after. Before it
//     begins another child it passes there: fast paths by the word, step by attend.
//   - One that becomes busy says so before it asks about its root (look); Resalvage is called after the change and
//     then looks at busy. So either the look sees the new answers, or Resalvage sees the worker.
//   - A stolen job that the thief asked about a moment before the change begins with the old answer, but its
//     thief is busy: the first case.
//
// An abort at the same time: a job is dropped by its owner's goroutine, which in step and handOver is the one
// that acts. Against thieves and Take the states decide as ever (record.go): stolen to running under runMu,
// or to dropped. After running, the owner's drop finds the Taken away and tells the Host,
// if need be after Found (tellFound).

// A search is what a worker knows of a root that it runs, if the root is a restarted job.
type search struct {
	restarted bool
	job       job.ID   // of the root
	path      job.Path // of the innermost searched frame, and maybe of more
	searched  uint64   // depth of the innermost frame that is searched; 0: none
}

// restarted says that r came in, or back, as a restarted job.
func (r *Record) restarted() bool { return r.out != nil && r.out.restarted }

// wasFound says that a Host got r once.
func (r *Record) wasFound() bool { return r.out != nil && r.out.taken != nil && r.out.taken.found }

// ask asks the Host about r. A job that came from outside, or was found before, is never a hit.
func (p *Pool) ask(r *Record, path job.Path, restarted bool) (hit, below bool) {
	if !restarted {
		return false, false
	}
	hit, below = p.host.Salvage(path)
	return hit && r.W != nil && !r.wasFound(), below
}

// look asks about a job that a worker is about to begin for somebody else, at the given depth. It hands the job over
// if it is a hit.
func (p *Pool) look(r *Record, depth uint64) (srch search, found bool) {
	id, restarted, ok := p.paths.idOf(r)
	if !ok || !restarted {
		return srch, false
	}
	hit, below := p.ask(r, id.Path, true)
	if hit {
		if t := p.give(r, id, true, true); t != nil {
			t.tellFound()
		}
		return srch, true
	}
	srch = search{restarted: true, job: id, path: slices.Clone(id.Path)}
	if below {
		srch.searched = depth
	}
	return srch, false
}

// searching says whether the running frame of the worker with that stack is searched.
func (roots roots) searching(s *stack) bool {
	n := len(roots)
	return n > 0 && s.Cur>>DepthShift <= roots[n-1].search.searched
}

// salvage asks about r, a child of the running frame, which is searched: the newest job, which has been claimed and is
// about to begin. If somebody has its outcome, it says what the job is called.
func (roots roots) salvage(h Host, s *stack, r *Record) (id job.ID, hit bool) {
	root := &roots[len(roots)-1]
	search := &root.search
	depth := s.Cur >> DepthShift
	above := len(search.job.Path) + int(depth-root.depth)
	search.path = append(search.path[:above], childIndex(r.ID))
	hit, below := h.Salvage(search.path)
	if hit {
		return job.ID{Run: search.job.Run, Path: slices.Clone(search.path)}, true
	}
	if search.searched = depth; below {
		search.searched++
	}
	return job.ID{}, false
}

// searchAgain looks again at the roots on the stack, because the answers have changed. All running frames of a root
// that has something below count as searched, see above.
func (roots roots) searchAgain(h Host, s *stack) {
	for i := range roots {
		root := &roots[i]
		search := &root.search
		if !search.restarted {
			continue
		}
		search.searched = 0
		if _, below := h.Salvage(search.job.Path); !below {
			continue
		}
		last := s.Cur >> DepthShift
		if i+1 < len(roots) {
			last = roots[i+1].depth - 1
		}
		search.path = append(search.path[:0], search.job.Path...)
		for d := root.depth + 1; d <= last; d++ {
			search.path = append(search.path, childIndex(s.Levels[d].Job))
		}
		search.searched = last
	}
}
