package driver

import (
	"fmt"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/steal"
)

// carryOut does what the core wants. What the engine does not have any more, because it has told so meanwhile, is for
// the engine to ignore: it alone knows whether that can be.
func (d *Driver) carryOut(next *order) {
	switch {
	case next.shared.Kind != 0:
		d.shared.carryOut(&next.shared)
		return
	case next.used != 0:
		d.shared.absorb(d.shared.core.JobDone(d.now, next.used))
		return
	}
	o := &next.steal
	switch o.Kind {
	case steal.Fetch:
		d.inputs.push(input{kind: fetchOrdered, now: d.now, segment: o.Segment, job: o.Job, victim: o.Victim})
		return
	case steal.Release:
		d.inputs.push(input{kind: released, now: d.now, segment: o.Segment})
		return
	case steal.Prove:
		d.proving.came(o)
		return
	case steal.Store:
		d.store(identity{o.Job.Path, o.Job.Identity}, o.Outcome, o.Voucher, HandedOver)
		return
	case steal.Proven:
		d.proving.proven(o.Handle)
		return
	case steal.Tell:
		d.cfg.Transport.Tell(o.News)
		return
	case steal.Answer:
		d.cfg.Transport.Answer(o.Outcome)
		return
	case steal.Deliver:
		if !d.shared.delays(o) {
			d.deliver(o)
		}
		return
	}
	d.order = port.Order{}
	p := &d.order
	switch o.Kind {
	case steal.Take:
		p.Kind, p.Ticket, p.Max = port.Take, o.Ticket, o.Max
	case steal.RunSegment:
		d.segments[o.Segment] = identity{o.Job.Path, o.Job.Identity}
		if len(o.Job.Path) == 0 {
			d.root = o.Segment
			if d.shared.holdsRoot(o) {
				return
			}
		}
		runSegment(d, o)
		return
	case steal.PutBack:
		d.isBack(o.Ref)
		p.Kind, p.Ref, p.Restarted, p.Stays = port.PutBack, o.Ref, o.Restarted, o.Stays
	case steal.AbortSegment:
		d.aborted.note(d.segments[o.Segment], d.now)
		d.release(o.Segment)
		if d.shared.gaveUp(o.Segment) {
			return
		}
		p.Kind, p.Segment = port.Abort, o.Segment
	case steal.LostWork:
		p.Kind, p.Orphans = port.LostWork, o.Orphans
	default:
		panic(fmt.Sprintf("driver: order %v", o.Kind))
	}
	d.cfg.Engine.Do(p)
}

// runSegment gives the engine a job to run.
func runSegment(d *Driver, o *steal.Order) {
	d.job = o.Job
	d.shared.makeWhole(&d.job)
	d.sources.begins(o.Segment, &d.job)
	d.order = port.Order{Kind: port.Run, Segment: o.Segment, Job: &d.job, First: o.First, Alone: o.Alone}
	d.cfg.Engine.Do(&d.order)
}

// deliver fills the slot of a job.
func (d *Driver) deliver(o *steal.Order) {
	if g, ok := d.given[o.Ref]; ok { // or it was dropped meanwhile
		d.out += len(o.Outcome) + len(o.Voucher) - len(g.outcome) - len(g.voucher)
		g.outcome, g.voucher = o.Outcome, o.Voucher
		d.given[o.Ref] = g
	}
	d.order = port.Order{Kind: port.Deliver, Ref: o.Ref, Outcome: d.shared.whole(o.Outcome)}
	d.cfg.Engine.Do(&d.order)
}
