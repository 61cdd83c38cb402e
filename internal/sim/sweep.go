package sim

import (
	"maps"
	"slices"

	"github.com/satin-peer/satin/steal"
)

// abort drops a segment. It returns the jobs below it that other peers hold.
func (g *engine) abort(id steal.SegmentID) (unwanted []steal.Ref) {
	s := g.segments[id]
	if s == nil {
		return nil // its result was on the way to the core
	}
	s.dead = true
	delete(g.segments, id)
	return g.sweep(nil)
}

// sweep drops all that is doomed: queued jobs, running leaves, jobs given away, frames.
func (g *engine) sweep(unwanted []steal.Ref) []steal.Ref {
	dropped := g.queue.filter(func(e *entry) bool { return !g.doomed(e.place) })
	g.books.aborted += uint64(dropped)
	for i := range g.workers {
		w := &g.workers[i]
		if !w.busy || w.spent || !g.doomed(w.job.place) {
			continue
		}
		g.books.aborted++
		if g.deaf { // what is outside is dropped all the same
			w.spent = true
			g.spent++
			continue
		}
		if w.held {
			g.held--
		} else {
			g.halts(i)
		}
		w.busy, w.held, w.took = false, false, 0
		w.token++
		g.idle++
	}
	for _, ref := range slices.Sorted(maps.Keys(g.given)) {
		if g.doomed(g.given[ref].place) {
			delete(g.given, ref)
			g.books.revoked++
			g.revoked[ref] = true
			unwanted = append(unwanted, ref)
		}
	}
	var doomed []int32
	for i := range g.frames { // released together, so that no walk up meets a frame that is gone
		if f := &g.frames[i]; f.used && g.doomed(f.place) {
			doomed = append(doomed, int32(i))
		}
	}
	for _, f := range doomed {
		g.release(f)
		g.books.aborted++
	}
	return unwanted
}

// computing is how many workers have a job that somebody wants.
func (g *engine) computing() uint64 { return uint64(len(g.workers) - g.idle - g.spent) }

// check is the conservation of jobs: what came in is somewhere or has gone out.
func (g *engine) check() {
	b := &g.books
	in := b.entered + b.spawned + b.putBack
	busy := g.computing()
	out := uint64(g.queue.len()) + busy + uint64(b.open) + b.executed + b.aborted + b.given + b.found
	if in != out {
		panic(violation(conservation,
			"%d entered + %d spawned + %d put back, but %d queued + %d running + %d waiting + "+
				"%d executed + %d aborted + %d given away + %d found", b.entered, b.spawned, b.putBack,
			g.queue.len(), busy, b.open, b.executed, b.aborted, b.given, b.found))
	}
	if b.given+b.found != b.filled+b.salvaged+b.putBack+b.revoked+uint64(len(g.given)) {
		panic(violation(slotOnce,
			"%d given away + %d found, but %d filled + %d salvaged + %d put back + %d revoked + %d out",
			b.given, b.found, b.filled, b.salvaged, b.putBack, b.revoked, len(g.given)))
	}
}

// checkAwaited sees to it that all that frames wait for is there: queued, running, waiting itself, or outside.
func (g *engine) checkAwaited() {
	there := make([]int32, len(g.frames))
	at := func(p place) {
		if p.parent != noFrame {
			there[p.parent]++
		}
	}
	for i := range g.queue.len() {
		at(g.queue.at(i).place)
	}
	for i := range g.workers {
		if w := &g.workers[i]; w.busy && !w.spent {
			at(w.job.place)
		}
	}
	for _, j := range g.given {
		at(j.place)
	}
	for i := range g.frames {
		if g.frames[i].used {
			at(g.frames[i].place)
		}
	}
	for i := range g.frames {
		if f := &g.frames[i]; f.used && f.pending != there[i] {
			panic(violation(awaited, "job %s waits for %d children, of which there are %d",
				g.path(f.place), f.pending, there[i]))
		}
	}
}
