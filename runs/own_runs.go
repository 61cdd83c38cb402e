package runs

import (
	"fmt"
	"time"
)

// own are the runs of this peer: they are written down before they are told of, and their answers before these are.
type own struct {
	*table
	newest []RunID // whose tombstones are told again at meetings, for those whom gossip did not reach
	asking int     // answers that are being fetched
}

// submit writes a new run down. It begins when that is done.
func (o *own) submit(t Ticket, m *Manifest, args []string) {
	if why := o.noRoom(); why != "" {
		o.order(Reply{t, m.Run, &Refusal{Refuse, why}})
		return
	}
	r := &run{m: m, mine: true, args: args, began: o.now, state: StateRunning, own: writing{submitting, t, 0}}
	o.set(r.m.Run, r)
	o.writeDown(r, false)
}

// noRoom says why there can be no further own run at the moment.
func (o *own) noRoom() string {
	mine, there := 0, 0
	for _, r := range o.runs {
		if r.mine && !r.state.Ended() {
			mine++
		}
		if r.mine && (!r.state.Ended() || r.state == StateSuspended || r.state == StateRefused) {
			there++
		}
	}
	switch {
	case mine >= o.cfg.PerOwner:
		return fmt.Sprintf("%d runs of this peer are in progress, at most %d may be: wait for one, or cancel it", mine,
			o.cfg.PerOwner)
	case there >= o.cfg.Own:
		return fmt.Sprintf("%d runs of this peer have no answer yet, the suspended ones counted, at most %d may be: "+
			"cancel one", there, o.cfg.Own)
	}
	return ""
}

// writeDown writes the file of an own run that has no answer.
func (o *own) writeDown(r *run, suspended bool) {
	r.own.pending++
	seq := r.seq
	if r.own.what == suspending || r.own.what == resuming {
		seq++ // of the tombstone that follows
	}
	o.order(WriteOwn{r.m.Run, Own{Manifest: r.m, Args: r.args, Began: r.began.UnixNano(), Suspended: suspended,
		Seq: seq}})
}

// written goes on with what was asked of a run once its file is on the disk, or could not be written.
func (o *own) written(r *run, trouble string) {
	r.own.pending--
	what, ticket := r.own.what, r.own.ticket
	if r.own.pending > 0 || what != submitting && what != suspending && what != resuming {
		return // it was written besides, or before
	}
	r.own.what = nothing
	reply := func(why *Refusal) { o.order(Reply{ticket, r.m.Run, why}) }
	switch {
	case what == submitting && trouble != "":
		o.set(r.m.Run, nil)
		reply(&Refusal{Unavailable,
			"the run cannot be written down, so that it would be known after a restart: " + trouble})
		o.order(Remove{OwnFile, r.m.Run}, Forget{r.m.Run}) // it may be there all the same
	case what == submitting:
		o.start(r, true)
		r.again.begin(o.now)
		o.order(Announce{r.m.Run})
		reply(nil)
	case what == suspending && r.state.Ended():
		reply(&Refusal{Refuse, endedMeanwhile(r)})
		o.order(Remove{OwnFile, r.m.Run})
	case what == suspending && r.writing != nil:
		reply(&Refusal{Refuse, fmt.Sprintf("run %x has been answered in the meantime", r.m.Run[:])})
	case what == suspending && trouble != "":
		o.writeDown(r, false) // for it may be there all the same
		reply(&Refusal{Unavailable, "that the run is suspended cannot be written down, and it goes on: " + trouble})
	case what == suspending:
		o.bury(r, Suspended)
		o.end(r, StateSuspended, "satin-peer resume goes on with it", false)
		reply(nil)
	case what == resuming && r.state != StateSuspended:
		reply(&Refusal{Refuse, endedMeanwhile(r)})
		o.order(Remove{OwnFile, r.m.Run})
	case what == resuming && trouble != "":
		o.writeDown(r, true)
		r.m = r.m.head()
		reply(&Refusal{Unavailable, "that the run goes on cannot be written down: " + trouble})
	case what == resuming:
		o.goOn(r)
		reply(nil)
	}
}

func endedMeanwhile(r *run) string {
	return fmt.Sprintf("run %x has ended in the meantime: it is %s", r.m.Run[:], r.state)
}

// goOn takes a suspended run up.
func (o *own) goOn(r *run) {
	r.state, r.why, r.returned, r.ended, r.took = StateRunning, "", true, time.Time{}, 0
	r.asked, r.deaths.doomed = o.now, false
	o.start(r, true)
	o.bury(r, Resumed)
	r.again.begin(o.now)
	o.order(Announce{r.m.Run})
}

// cancel ends a run for good. It is over when that is written down.
func (o *own) cancel(t Ticket, id RunID) {
	r, no := o.mine(id)
	switch {
	case no != nil:
		o.order(Reply{t, id, no})
	case r.own.what == cancelling:
		o.order(Reply{t, id, &Refusal{Refuse, "it is being cancelled already"}})
	case r.state.Ended() && r.state != StateSuspended && r.state != StateRefused:
		o.order(Reply{t, id, nil}) // left as it is
	default:
		if r.own.what != nothing {
			o.order(Reply{r.own.ticket, id, &Refusal{Refuse, "the run was cancelled in the meantime"}})
		}
		r.own.what, r.own.ticket = cancelling, t
		o.order(WriteCancelled{o.tombstone(r, Cancelled)})
	}
}

// cancelled goes on once that is written down, or could not be: then it is cancelled all the same, and whoever asked
// for it is told.
func (o *own) cancelled(r *run, trouble string) {
	if r.own.what != cancelling {
		return
	}
	t := r.own.ticket
	r.own.what = nothing
	if r.hash != nil && r.state.Ended() && r.state != StateRefused {
		o.order(Remove{CancelledFile, r.m.Run}, Reply{t, r.m.Run, nil}) // it was answered before
		return
	}
	o.giveUp(r, "cancelled by its owner")
	if trouble != "" {
		o.order(Reply{t, r.m.Run, &Refusal{Unavailable,
			"it is cancelled, but that cannot be written down, and it may come back with this peer: " + trouble}})
		return
	}
	o.order(Reply{t, r.m.Run, nil})
}

// giveUp ends an own run without an answer, everywhere.
func (o *own) giveUp(r *run, why string) {
	o.bury(r, Cancelled)
	o.order(Remove{OwnFile, r.m.Run})
	r.endOwn(o.table, StateCancelled, why, true)
}

// endOwn ends an own run, too, that was suspended or refused here: that is over as it is, but not for good.
func (r *run) endOwn(t *table, state State, why string, forGood bool) {
	if !r.state.Ended() {
		t.end(r, state, why, forGood)
		return
	}
	r.state, r.why, r.ended, r.m = state, why, t.now, r.m.head()
	if forGood {
		t.order(Discard{r.m.Run})
	}
}

// suspend collects what others have of a run, and then ends it until it is resumed.
func (o *own) suspend(t Ticket, id RunID) {
	r, no := o.mine(id)
	switch {
	case no != nil:
		o.order(Reply{t, id, no})
	case r.state.Ended():
		o.order(Reply{t, id, &Refusal{Refuse, fmt.Sprintf("run %x has ended already: it is %s", id[:], r.state)}})
	case r.own.what != nothing:
		o.order(Reply{t, id, &Refusal{Refuse, "another command about this run is not done yet"}})
	default:
		r.own.what, r.own.ticket = collecting, t
		o.order(Collect{id, o.confidants(r.m)})
	}
}

// expired is why a run ends that nobody has ended.
const expired = "its manifest has expired"

// collected goes on with that, or says why it is impossible.
func (o *own) collected(r *run, no *Refusal) {
	if r.own.what != collecting {
		return // it was cancelled
	}
	t := r.own.ticket
	r.own.what = nothing
	switch {
	case r.state.Ended():
		o.order(Reply{t, r.m.Run, &Refusal{Refuse, endedMeanwhile(r)}})
	case r.writing != nil:
		o.order(Reply{t, r.m.Run, &Refusal{Refuse, "the run has been answered this moment"}})
	case no != nil && t == 0 && no.Kind == Refuse: // nobody has asked, and nothing is kept of it
		o.giveUp(r, expired)
	case no != nil:
		o.order(Reply{t, r.m.Run, no})
	default:
		r.own.what, r.own.ticket = suspending, t
		o.writeDown(r, true)
	}
}

// resume takes a suspended run up, whose manifest was read again.
func (o *own) resume(t Ticket, m *Manifest) {
	r, no := o.mine(m.Run)
	if no == nil {
		no = o.mayResume(r)
	}
	if no == nil {
		if why := o.noRoom(); why != "" && r.state != StateSuspended {
			no = &Refusal{Refuse, why}
		}
	}
	if no != nil {
		o.order(Reply{t, m.Run, no})
		return
	}
	r.m, r.began = m, o.now
	r.own.what, r.own.ticket = resuming, t
	o.writeDown(r, false)
}

// mayResume says why a run cannot be taken up.
func (o *own) mayResume(r *run) *Refusal {
	running := 0
	for _, other := range o.runs {
		if other.mine && !other.state.Ended() {
			running++
		}
	}
	switch {
	case !r.state.Ended():
		return &Refusal{Refuse, fmt.Sprintf("run %x goes on: there is nothing to resume", r.m.Run[:])}
	case r.state != StateSuspended:
		return &Refusal{Refuse, fmt.Sprintf("run %x has ended: it is %s", r.m.Run[:], r.state)}
	case o.now.Unix() >= r.m.Expires:
		return &Refusal{Refuse, fmt.Sprintf("run %x was suspended for too long: resume the directory of its checkpoint, "+
			"and it becomes a new run", r.m.Run[:])}
	case r.own.what != nothing:
		return &Refusal{Refuse, "another command about this run is not done yet"}
	case running >= o.cfg.PerOwner:
		return &Refusal{Refuse, fmt.Sprintf(
			"%d runs of this peer are in progress, at most %d may be: wait for one, or cancel it", running,
			o.cfg.PerOwner)}
	}
	return nil
}

// mine finds a run of this peer's own.
func (o *own) mine(id RunID) (*run, *Refusal) {
	r := o.runs[id]
	switch {
	case r == nil || r.own.what == submitting:
		return nil, &Refusal{NotFound, fmt.Sprintf("there is no run %x here; 'satin-peer runs' lists those there are",
			id[:])}
	case !r.mine:
		return nil, &Refusal{NotFound, fmt.Sprintf("run %x belongs to %s: only its owner can do that", id[:],
			r.m.Owner)}
	}
	return r, nil
}

// tombstone is what this peer says next of its run.
func (o *own) tombstone(r *run, why Reason) Tombstone {
	s := Tombstone{Run: r.m.Run, Author: o.self, Reason: why, Seq: r.seq + 1, At: o.now.Unix(), Until: r.m.Expires}
	if s.Took = r.took; !r.state.Ended() {
		s.Took = o.took(r, r.answered)
	}
	switch why {
	case Finished:
		s.Hash = r.hash
	case Resumed: // since when its time counts, in all lives
		s.At = r.began.Unix()
	}
	s.Sealed = o.signer.Bury(&s)
	return s
}

// bury tells everybody what becomes of an own run.
func (o *own) bury(r *run, why Reason) {
	s := o.tombstone(r, why)
	r.seq++
	if s.Sealed == nil {
		o.warn(r.m.Run, "its tombstone cannot be signed")
		return
	}
	o.graves.say(&s)
	o.newest = append(o.newest, r.m.Run)
	o.newest = o.newest[max(0, len(o.newest)-o.cfg.Told):]
	o.order(Bury{s})
}

// repeat tells what has become of an own run to those who do not know.
func (o *own) repeat(r *run) {
	if s := o.graves.by(r.m.Run, o.self); s != nil {
		o.order(Bury{*s})
		return
	}
	switch r.state { // of an earlier life
	case StateDone, StateFailed:
		o.bury(r, Finished)
	case StateCancelled:
		o.bury(r, Cancelled)
	}
}
