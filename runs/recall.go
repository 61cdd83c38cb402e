package runs

import (
	"slices"
	"time"
)

// What the disk has of earlier lives of this peer.
type (
	// RecalledOwn is an own run that was written down without an answer.
	RecalledOwn struct {
		Own
		Unfit string // why this peer cannot take part any more
	}
	// RecalledAnswer is the answer to an own run, with the second one if there is.
	RecalledAnswer struct {
		Manifest    *Manifest // its head
		Args        []string
		Hash        Hash
		Failure     string
		Ended, Took int64 // seconds since 1970; nanoseconds
		Claim       *Claim
		Second      *Hash
		SecondBy    PeerID
	}
	// RecalledHeld is an answer that is kept for a run's owner.
	RecalledHeld struct {
		File     File
		Manifest *Manifest // its head
		Claim    Claim
		Size     int64
		Since    time.Time
		Took     int64
	}
	// Recalled is all of it.
	Recalled struct {
		Cancelled []*Tombstone
		Answers   []RecalledAnswer
		Own       []RecalledOwn
		Held      []RecalledHeld
		Refused   []Refused
	}
)

// Recall takes in what the disk has. It comes before all other inputs. Own runs without an answer are taken part in
// again, as an ordinary peer does: another one may hold the root job by now.
func (c *Core) Recall(now time.Time, d *Recalled) []Order {
	return c.do(now, func() {
		for _, what := range d.Refused[:min(len(d.Refused), c.cfg.Refused)] {
			c.refusals.of[what] = true
		}
		for _, s := range d.Cancelled {
			c.graves.put(s)
		}
		for i := range d.Answers {
			c.own.recallAnswer(&d.Answers[i])
		}
		for _, h := range d.Held {
			c.kept.recall(h)
		}
		for _, o := range d.Own {
			c.own.recall(&o.Own, o.Unfit)
		}
		c.forget()
	})
}

// Dormant takes in the manifest of a checkpoint of somebody's run.
func (c *Core) Dormant(now time.Time, m *Manifest, unfit string) []Order {
	return c.do(now, func() {
		r := c.runs[m.Run]
		switch {
		case r != nil && (!r.state.Ended() || r.mine && r.state == StateSuspended):
		case m.Owner == c.self && r == nil && !c.graves.over(m.Run, c.self) && !c.day.Reached(m.Expires):
			c.own.takeUp(m, unfit, false) // what was written down of it is lost
		case m.Owner == c.self, c.day.Reached(m.Expires), c.kept.of[m.Run] != nil:
			c.order(Discard{m.Run})
		default:
			c.dormant.found(m, unfit)
		}
	})
}

// recall takes up an own run of an earlier life.
func (o *own) recall(d *Own, unfit string) {
	m := d.Manifest
	s, old := o.graves.by(m.Run, o.self), o.runs[m.Run]
	switch {
	case old != nil && old.hash == nil:
		return // it was heard of already
	case old != nil, s != nil && s.Reason.Final():
		o.order(Remove{OwnFile, m.Run}, Discard{m.Run})
		return
	}
	r := &run{m: m, mine: true, returned: true, args: d.Args, began: time.Unix(0, d.Began), seq: d.Seq,
		state: StateRunning}
	o.set(r.m.Run, r)
	if d.Seq > 0 { // for those who have not heard, as if it ended before it told, and against what was said before
		why := Resumed
		if d.Suspended {
			why = Suspended
		}
		r.seq--
		if s := o.tombstone(r, why); s.Sealed != nil {
			o.graves.say(&s)
		}
		r.seq++
	}
	switch {
	case d.Suspended:
		o.sleep(r)
	case unfit != "":
		o.refuse(r, unfit)
	default:
		o.note(m.Run, "own run of an earlier life goes on")
		o.start(r, false)
	}
}

// sleep has a run be suspended from the beginning.
func (o *own) sleep(r *run) {
	r.state, r.why, r.ended, r.m = StateSuspended, "suspended: satin-peer resume goes on with it", o.now, r.m.head()
	o.order(Over{r.m.Run})
}

// takeUp is about an own run of an earlier life of which this peer knows nothing: either it is over and was
// not written down any more, or what was written down is lost. Only what has been cancelled or has an answer
// is remembered for long, so the run is taken up again. So is one that this peer has finished in an earlier life, whose
// answer its disk refused: if another answer is kept elsewhere, that is the one there is.
func (o *own) takeUp(m *Manifest, unfit string, kept bool) {
	s := o.graves.by(m.Run, o.self)
	lost := kept && s != nil && s.Reason == Finished && !o.graves.said(m.Run)
	if s != nil && s.Reason.Final() && !lost {
		o.order(Bury{*s}) // whoever has sent the manifest has not heard
		return
	}
	if o.day.Reached(m.Expires) || len(o.runs) >= o.cfg.Active+2*o.cfg.Ended+o.cfg.Answers+o.cfg.Own {
		return
	}
	o.warn(m.Run, "what was written down of an own run is lost; it goes on")
	// Whatever was said of it in an earlier life has a lower number.
	r := &run{m: m, mine: true, returned: true, began: time.Unix(m.Created, 0), seq: o.cfg.first(),
		state: StateRunning}
	o.set(r.m.Run, r)
	asleep := s != nil && s.Reason == Suspended
	if asleep {
		o.bury(r, Suspended) // somebody may have heard that it was resumed
	}
	o.writeDown(r, asleep)
	switch {
	case asleep:
		o.sleep(r)
	case unfit != "":
		o.refuse(r, unfit)
	default:
		o.start(r, false)
	}
}

// remembered is about what this peer itself has said of its run in an earlier life, and has forgotten.
func (o *own) remembered(r *run, s *Tombstone) {
	r.seq = max(r.seq, s.Seq)
	switch {
	case r.state.Ended() && r.state != StateRefused && r.state != StateSuspended:
	case s.Reason == Cancelled:
		o.order(Remove{OwnFile, r.m.Run})
		r.endOwn(o.table, StateCancelled, "it was cancelled by its owner", true)
	case s.Reason == Suspended && r.state != StateSuspended:
		o.bury(r, Suspended) // as in takeUp
		o.writeDown(r, true)
		r.endOwn(o.table, StateSuspended, "satin-peer resume goes on with it", false)
	}
}

func (o *own) recallAnswer(a *RecalledAnswer) {
	r := &run{m: a.Manifest.head(), mine: true, args: a.Args, began: time.Unix(a.Manifest.Created, 0), state: StateDone,
		ended: time.Unix(a.Ended, 0), took: time.Duration(a.Took), returned: true}
	r.accept(a.Hash, a.Claim)
	if a.Failure != "" {
		r.state, r.why = StateFailed, a.Failure
	}
	r.second, r.disputed = a.Second, a.SecondBy
	o.set(r.m.Run, r)
	if s := o.tombstone(r, Finished); s.Sealed != nil { // for those who have not heard
		o.graves.say(&s)
	}
}

func (k *kept) recall(h RecalledHeld) {
	m := h.Manifest
	n := k.of[m.Run]
	if n == nil {
		n = &keptRun{owner: m.Owner}
		k.of[m.Run] = n
	}
	n.answers = append(n.answers, keptAnswer{Claim: h.Claim, file: h.File, size: h.Size, since: h.Since,
		found: k.now, written: true})
	slices.SortStableFunc(n.answers, func(a, b keptAnswer) int { return int(a.file) - int(b.file) })
	if k.runs[m.Run] == nil {
		c := h.Claim
		r := &run{m: m.head(), began: time.Unix(m.Created, 0), state: StateDone, ended: time.Unix(c.At, 0),
			took: time.Duration(h.Took), why: "this peer keeps the answer for its owner", onlyKept: c.Author != k.self}
		r.accept(c.Hash, &c)
		k.set(r.m.Run, r)
	}
}
