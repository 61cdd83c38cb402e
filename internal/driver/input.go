package driver

import (
	"fmt"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// inputKind says what an input is.
type inputKind uint8

const (
	stepped inputKind = iota
	sendFailed
	heard
	ticked
	membersChanged
	restored
	left
	cancelled
	happened
	sharedStepped
	sharedSendFailed
	sharedHeard
	// of one core for the other
	fetchOrdered
	released
	lent
	ready
	notReady
	unusable
	resultUsed
	copyWanted // of what is unproved
	proved
	shunned
	stood
	opened // of a claim
	reran
)

// input is something that the core is to be told; which fields are set depends on kind.
type input struct {
	kind     inputKind
	now      time.Duration
	message  *steal.Message
	news     *steal.News
	members  *steal.Members
	parts    []steal.Partial
	patience time.Duration
	event    port.Event

	sharedMessage *sharedobj.Message
	sharedNews    *sharedobj.News
	from          sharedobj.PeerID
	segment       steal.SegmentID
	job           steal.Job
	victim        steal.PeerID
	ready         bool // a message: what it names is here
	on            bool
	stance        steal.Stance
	result        sharedobj.JobID

	handle steal.Handle
	to     steal.PeerID
	word   Word

	outcasts steal.Outcasts

	asked *verify.Open
	shown *Shown
	trial *Trial
	tried *Tried
}

// apply gives an input to the core.
func (d *Driver) apply(in *input) steal.Output {
	c, now := d.core, in.now
	d.now = max(d.now, now)
	switch in.kind {
	case stepped:
		if d.shared.holdsBack(in) {
			return steal.Output{}
		}
		return c.Step(now, in.message)
	case sendFailed:
		return c.SendFailed(now, in.message)
	case heard:
		return c.Hear(now, in.news)
	case ticked:
		d.shared.tick(now)
		d.proving.tick(now)
		return c.Tick(now)
	case membersChanged:
		d.shared.setMembers(now, in.members)
		return c.SetMembers(now, in.members)
	case restored:
		return c.Restore(now, in.parts)
	case left:
		return c.Leave(now, in.patience)
	case cancelled:
		return c.Cancel(now)
	case happened:
		return d.applyEvent(now, &in.event)
	case fetchOrdered, sharedStepped, sharedSendFailed, sharedHeard, released, lent:
		if d.shared == nil && in.kind == fetchOrdered {
			return c.NotReady(now, in.segment)
		}
		d.shared.apply(in)
		return steal.Output{}
	case copyWanted:
		return c.CopyTo(now, in.handle, in.to)
	case proved:
		return c.Proved(now, in.handle, in.word.Outcome, in.word.Voucher)
	case opened:
		d.proving.opened(in.asked, in.shown)
		return steal.Output{}
	case reran:
		d.proving.reran(in.trial, in.tried)
		return steal.Output{}
	case shunned:
		return c.Shun(now, in.outcasts)
	case stood:
		return c.Stand(now, in.stance)
	case ready:
		return c.Ready(now, in.segment)
	case notReady:
		return c.NotReady(now, in.segment)
	case unusable:
		return c.Unusable(now, in.message, in.on)
	case resultUsed: // when all is done that it has brought about
		d.orders.push(order{used: in.result})
		return steal.Output{}
	}
	panic(fmt.Sprintf("driver: input of kind %d", in.kind))
}

// applyEvent tells the core what has happened in the engine.
func (d *Driver) applyEvent(now time.Duration, e *port.Event) steal.Output {
	c := d.core
	switch e.Kind {
	case port.LoadChanged:
		d.load = e.Load
		l := e.Load
		l.Runs += d.neverBegan
		return c.Report(now, l)
	case port.Taken:
		jobs := d.give(now, e.Jobs)
		return c.Taken(now, e.Ticket, jobs)
	case port.Found:
		jobs := d.give(now, e.Jobs)
		return c.Found(now, jobs)
	case port.Finished:
		return d.finished(now, e)
	case port.Dropped:
		for _, ref := range e.Refs {
			d.isBack(ref)
		}
		return c.Aborted(now, e.Refs...)
	case port.Kept:
		parts := make([]steal.Partial, 0, len(e.Kept))
		for i := range e.Kept {
			p, good := e.Kept[i].Partial, false
			if p.Voucher, good = d.sources.kept(&e.Kept[i]); good {
				parts = append(parts, p)
				d.store(identity{p.Path, p.Identity}, p.Outcome, p.Voucher, RanHere)
			}
		}
		return c.Keep(now, parts)
	case port.Delivered:
		// The job was large enough to be given away. If all peers are lost but this one, what others did for
		// it should not be.
		if g, ok := d.given[e.Ref]; ok && e.Good {
			d.sources.took(&g)
			d.store(g.identity, g.outcome, g.voucher, CameHome)
		}
		d.isBack(e.Ref)
	case port.Guarded, port.Made, port.Wanted, port.Offered, port.Applied, port.Joined, port.Collected, port.Encoded:
		d.shared.happened(now, e)
	case port.Judged:
		d.proving.judged(e)
	case port.Shares:
		d.proving.shares(d.segments[e.Segment])
	}
	return steal.Output{} // Stopped, Counted and Troubled are for people
}

// finished tells the core what a segment has come to.
func (d *Driver) finished(now time.Duration, e *port.Event) steal.Output {
	s, ok := d.segments[e.Segment]
	if !ok {
		return d.core.Finished(now, e.Segment, e.Outcome, nil)
	}
	outcome, err := d.leaving(now, s, e.Outcome)
	if err != nil {
		outcome = e.Outcome
	}
	voucher, good := d.sources.finished(e.Segment, s, outcome, e.Tally.Own)
	if e.Good && good {
		d.store(s, outcome, voucher, RanHere)
	}
	good = good && !d.shared.lacked(e.Segment)
	d.release(e.Segment)
	if err != nil {
		d.shared.useless("what a job has come to cannot leave: ", err)
	}
	if err != nil || !good {
		return d.core.CannotLeave(now, e.Segment, outcome, voucher)
	}
	return d.core.Finished(now, e.Segment, outcome, voucher)
}

// give notes jobs that have left the engine, and says which: if there is no room for them all go back.
func (d *Driver) give(now time.Duration, jobs []steal.Taken) []steal.Taken {
	for i := range jobs {
		ref, j := jobs[i].Ref, &jobs[i].Job
		if d.isBack(ref); d.out > maxOut {
			d.orders.push(order{steal: steal.Order{Kind: steal.PutBack, Ref: ref, Restarted: j.Restarted}})
			continue
		}
		o := outside{identity: identity{j.Path, j.Identity}, segment: jobs[i].Segment, names: d.shared.leaves(now, j)}
		d.given[ref] = o
		d.out += o.size()
	}
	return slices.DeleteFunc(jobs, func(j steal.Taken) bool { _, ok := d.given[j.Ref]; return !ok })
}

// isBack forgets a job that was outside the engine.
func (d *Driver) isBack(ref steal.Ref) {
	if o, ok := d.given[ref]; ok {
		d.shared.unpin(o.names)
		d.out -= o.size()
		delete(d.given, ref)
	}
}

// release forgets a segment, which has ended or is not wanted.
func (d *Driver) release(s steal.SegmentID) {
	delete(d.segments, s)
	d.sources.forget(s)
	d.shared.ended(s)
	if s == d.root {
		d.root = 0
	}
}

// store keeps an outcome beyond this process, unless it names values that would not be there.
func (d *Driver) store(j identity, outcome, voucher []byte, from Source) {
	if d.cfg.Store != nil && storable(j.path, outcome) {
		d.cfg.Store.Store(steal.Partial{Path: j.path, Identity: j.id, Outcome: outcome, Voucher: voucher}, from)
	}
}

// storable says whether an outcome is of use beyond this process. The answer is in any case, as far as it fits.
func storable(path job.Path, outcome []byte) bool {
	names, _ := port.NamedBy(outcome)
	return len(outcome) <= port.MaxOutcome && (len(names) == 0 || len(path) == 0)
}
