package steal_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// Do is what the engine of a peer does at an order.
func (p *modelPeer) Do(o *port.Order) {
	switch o.Kind {
	case port.Take:
		var jobs []steal.Taken
		for len(jobs) < o.Max && len(p.queue) > 0 {
			j := p.queue[0]
			p.queue = p.queue[1:]
			p.lastRef++
			p.slots[p.lastRef] = j
			jobs = append(jobs, steal.Taken{Ref: p.lastRef, Job: j.job(), Spawned: j.parent != nil})
		}
		p.happened(port.Event{Kind: port.Taken, Ticket: o.Ticket, Jobs: jobs})
	case port.PutBack:
		if j := p.slot(o.Ref, "put back"); j != nil {
			j.again = j.again || o.Restarted
			p.queue = slices.Insert(p.queue, 0, j)
		}
	case port.Deliver:
		if j := p.slot(o.Ref, "delivered"); j != nil {
			sum, _ := binary.Uvarint(o.Outcome)
			p.happened(port.Event{Kind: port.Delivered, Ref: o.Ref, Good: true})
			p.complete(j, sum)
		}
	case port.Run:
		p.runs++
		seed, depth := jobFromArg(o.Job.Arg)
		j := &modelJob{segment: o.Segment, path: o.Job.Path, seed: seed, depth: depth, again: o.Job.Restarted,
			looked: true}
		if job.Identify("f", j.arg()) != o.Job.Identity || p.segments[o.Segment] != nil {
			panic(modelError(fmt.Sprintf("segment %d is wrong or run twice", o.Segment)))
		}
		p.segments[o.Segment] = j
		p.queue = append(p.queue, j)
	case port.Abort:
		if j := p.segments[o.Segment]; j != nil {
			delete(p.segments, o.Segment)
			j.dead = true
			p.sweep()
		}
	case port.LostWork:
		p.orphans = o.Orphans
	}
}

// happened tells the driver what has happened in the engine.
func (p *modelPeer) happened(e port.Event) { p.driver.Happened(p.w.now, e) }

// Answer has the root's outcome.
func (p *modelPeer) Answer(outcome []byte) {
	sum, _ := binary.Uvarint(outcome)
	if p.w.done && (p.w.cfg.deputies == 0 || sum != p.w.answer) {
		panic(modelError("the root has two outcomes"))
	}
	if p.w.cfg.lostAnswers > 0 && !p.w.last(p) {
		p.w.cfg.lostAnswers--
		p.gone = true
		return
	}
	p.w.answer, p.w.done = sum, true
}

// job is how a job travels.
func (j *modelJob) job() steal.Job {
	return steal.Job{Path: j.path, Function: "f", Arg: j.arg(), Identity: job.Identify("f", j.arg()),
		Restarted: j.again}
}

// find takes a job out that is about to begin under a restarted one, if somebody has it.
func (p *modelPeer) find(j *modelJob) bool {
	if !j.again || j.looked {
		return false
	}
	j.looked = true
	if hit, _ := p.orphans.Look(j.path); !hit {
		return false
	}
	p.found++
	p.lastRef++
	p.slots[p.lastRef] = j
	p.happened(port.Event{Kind: port.Found, Jobs: []steal.Taken{{Ref: p.lastRef, Job: j.job(), Spawned: true}}})
	return true
}

// slot is the place of a given job, to be filled or put back once; nil if the job was aborted while the order
// was on its way.
func (p *modelPeer) slot(r steal.Ref, what string) *modelJob {
	j := p.slots[r]
	if j == nil && p.aborted[r] {
		delete(p.aborted, r)
		return nil
	}
	if j == nil {
		panic(modelError(fmt.Sprintf("job %d of %s is %s, but it is not out", r, p.id, what)))
	}
	delete(p.slots, r)
	return j
}

// settle lets the worker go on and reports until nothing changes.
func (p *modelPeer) settle() {
	for !p.gone && p.stalled <= p.w.now {
		if p.driver.Core().Gone() {
			p.gone = true
			return
		}
		if p.running == nil && len(p.queue) > 0 {
			j := p.queue[len(p.queue)-1]
			p.queue = p.queue[:len(p.queue)-1]
			if p.find(j) {
				continue
			}
			p.running = j
			p.endsAt = p.w.now + time.Duration(max(1, p.w.cfg.slow))*p.running.cost()
		}
		l := steal.Load{Workers: 1, Runs: p.runs, Queued: len(p.queue)}
		if p.running == nil {
			l.Idle = 1
		}
		if l == p.reported {
			return
		}
		p.reported = l
		p.happened(port.Event{Kind: port.LoadChanged, Load: l})
	}
}

// finish ends the running job's own work: a leaf is complete, another one spawns its children.
func (p *modelPeer) finish() {
	j := p.running
	p.running = nil
	p.w.work += j.cost()
	n := j.children()
	if n == 0 {
		p.complete(j, 1)
	}
	j.pending = n
	for i := range n {
		p.queue = append(p.queue, &modelJob{parent: j, path: append(slices.Clone(j.path), uint32(i+1)),
			seed: childSeed(j.seed, i), depth: j.depth - 1, again: j.again})
	}
	p.settle()
}

// complete passes a result up as far as it goes.
func (p *modelPeer) complete(j *modelJob, sum uint64) {
	for {
		if j.done {
			panic(modelError(fmt.Sprintf("job %v of %s is complete twice", j.path, p.id)))
		}
		j.done = true
		up := j.parent
		if n := p.w.cfg.keep; n > 0 && up != nil && mix(j.seed+3)%uint64(n) == 0 {
			p.happened(port.Event{Kind: port.Kept, Kept: []port.KeptJob{{Partial: steal.Partial{Path: j.path,
				Identity: j.job().Identity, Outcome: binary.AppendUvarint(nil, sum)}}}})
		}
		if up == nil {
			break
		}
		up.pending--
		up.sum += sum
		if up.speculative() {
			sum = 1
			up.dead = true
			p.sweep()
			up.dead = false
		} else if up.pending > 0 {
			return
		} else {
			sum = up.sum
		}
		j = up
	}
	if p.segments[j.segment] != nil {
		delete(p.segments, j.segment)
		p.happened(port.Event{Kind: port.Finished, Segment: j.segment, Outcome: binary.AppendUvarint(nil, sum),
			Good: true})
	}
}

// sweep drops what nobody waits for.
func (p *modelPeer) sweep() {
	p.queue = slices.DeleteFunc(p.queue, (*modelJob).doomed)
	if p.running != nil && p.running.doomed() {
		p.running = nil
	}
	var refs []steal.Ref
	for _, r := range slices.Sorted(maps.Keys(p.slots)) {
		if p.slots[r].doomed() {
			delete(p.slots, r)
			p.aborted[r] = true
			refs = append(refs, r)
		}
	}
	if len(refs) > 0 {
		p.happened(port.Event{Kind: port.Dropped, Refs: refs})
	}
}
