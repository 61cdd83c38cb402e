package steal

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/satin-peer/satin/job"
)

// absorb sends messages and carries out orders.
func (p *modelPeer) absorb(o Output) {
	orders := slices.Clone(o.Orders)
	for _, m := range slices.Clone(o.Messages) {
		p.send(m)
	}
	for _, r := range orders {
		p.obey(r)
	}
}

func (p *modelPeer) obey(r Order) {
	switch r.Kind {
	case Take:
		var jobs []Taken
		for len(jobs) < r.Max && len(p.queue) > 0 {
			j := p.queue[0]
			p.queue = p.queue[1:]
			p.lastRef++
			p.slots[p.lastRef] = j
			jobs = append(jobs, Taken{Ref: p.lastRef, Job: j.job(), Spawned: j.parent != nil})
		}
		p.absorb(p.core.Taken(p.w.now, r.Ticket, jobs))
	case PutBack:
		if j := p.slot(r.Ref, "put back"); j != nil {
			j.again = j.again || r.Restarted
			p.queue = slices.Insert(p.queue, 0, j)
		}
	case Deliver:
		if j := p.slot(r.Ref, "delivered"); j != nil {
			sum, _ := binary.Uvarint(r.Outcome)
			p.complete(j, sum)
		}
	case RunSegment:
		p.runs++
		seed, depth := jobFromArg(r.Job.Arg)
		j := &modelJob{segment: r.Segment, path: r.Job.Path, seed: seed, depth: depth, again: r.Job.Restarted,
			looked: true}
		if job.Identify("f", j.arg()) != r.Job.Identity || p.segments[r.Segment] != nil {
			panic(modelError(fmt.Sprintf("segment %d is wrong or run twice", r.Segment)))
		}
		p.segments[r.Segment] = j
		p.queue = append(p.queue, j)
	case AbortSegment:
		if j := p.segments[r.Segment]; j != nil {
			delete(p.segments, r.Segment)
			j.dead = true
			p.sweep()
		}
	case Tell:
		p.tell(r.News)
	case Watch:
		p.orphans = r.Orphans
	case Answer:
		sum, _ := binary.Uvarint(r.Outcome)
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
}

// job is how a job travels.
func (j *modelJob) job() Job {
	return Job{Path: j.path, Function: "f", Arg: j.arg(), Identity: job.Identify("f", j.arg()), Restarted: j.again}
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
	p.absorb(p.core.Found(p.w.now, []Taken{{Ref: p.lastRef, Job: j.job(), Spawned: true}}))
	return true
}

// slot is the place of a given job, to be filled or put back once; nil if the job was aborted while the order
// was on its way.
func (p *modelPeer) slot(r Ref, what string) *modelJob {
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
		if p.core.Gone() {
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
		l := Load{Workers: 1, Runs: p.runs, Queued: len(p.queue)}
		if p.running == nil {
			l.Idle = 1
		}
		if l == p.reported {
			return
		}
		p.reported = l
		p.absorb(p.core.Report(p.w.now, l))
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
			p.absorb(p.core.Keep(p.w.now, []Partial{{Path: j.path, Identity: j.job().Identity,
				Outcome: binary.AppendUvarint(nil, sum)}}))
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
		p.absorb(p.core.Finished(p.w.now, j.segment, binary.AppendUvarint(nil, sum)))
	}
}

// sweep drops what nobody waits for.
func (p *modelPeer) sweep() {
	p.queue = slices.DeleteFunc(p.queue, (*modelJob).doomed)
	if p.running != nil && p.running.doomed() {
		p.running = nil
	}
	var refs []Ref
	for _, r := range slices.Sorted(maps.Keys(p.slots)) {
		if p.slots[r].doomed() {
			delete(p.slots, r)
			p.aborted[r] = true
			refs = append(refs, r)
		}
	}
	if len(refs) > 0 {
		p.absorb(p.core.Aborted(p.w.now, refs...))
	}
}
