package runs

import (
	"slices"
	"time"
)

// Answers to own runs: from the root job that ended here, or fetched from the peer that had it.

// rootEnded takes in the outcome of the root job that ended here.
func (o *own) rootEnded(r *run, out Outcome) {
	switch {
	case r.own.what == cancelling, r.state == StateCancelled, r.state == StateSuspended:
	case r.hash != nil:
		o.compare(r, out, nil)
	case r.writing != nil && r.writing.Claim == nil:
		// this peer's own, already
	case r.writing != nil: // another's answer is on its way to the disk: what was computed here is as good
		o.compareWritten(r, out)
	default:
		o.conclude(r, out, nil)
	}
}

// conclude writes an answer down; it is told when it is on the disk.
func (o *own) conclude(r *run, out Outcome, by *Claim) {
	r.writing = &Answer{Manifest: r.m.Sealed, Outcome: out, Ended: o.now.Unix(), Elapsed: int64(o.took(r, by)),
		Claim: by}
	o.order(WriteAnswer{AnswerFile, r.m.Run, r.writing})
}

// answerWritten accepts the answer that is on the disk now, or could not be put there.
func (o *own) answerWritten(r *run, trouble string) {
	a := r.writing
	r.writing = nil
	switch {
	case a == nil:
		return
	case a == r.unkept: // it was told already
		if r.stored, r.refused = trouble, o.now; trouble == "" {
			r.unsaved, r.unkept = nil, nil
			o.order(Remove{OwnFile, r.m.Run}, Discard{r.m.Run})
		}
		return
	}
	if r.own.what == cancelling || r.state == StateCancelled {
		o.order(Remove{AnswerFile, r.m.Run})
		return
	}
	r.accept(a.Outcome.Hash, a.Claim)
	if r.stored = trouble; trouble != "" {
		r.unsaved, r.unkept, r.refused = &a.Outcome, a, o.now
		o.warn(r.m.Run, "the answer could not be kept on the disk: %s", trouble)
	} else {
		o.order(Remove{OwnFile, r.m.Run})
	}
	o.bury(r, Finished)
	state := StateDone
	if a.Outcome.Failure != "" {
		state = StateFailed
	}
	if r.state == StateRefused { // answered by those who can
		r.state, r.why, r.ended, r.took, r.m = state, a.Outcome.Failure, o.now, o.took(r, a.Claim), r.m.head()
		if trouble == "" {
			o.order(Discard{r.m.Run})
		}
		o.order(Over{r.m.Run})
		return
	}
	o.end(r, state, a.Outcome.Failure, trouble == "") // else the next life goes on from what is on the disk
}

// rewriteEvery is how often an answer that the disk has refused is tried again: room is made there, and a daemon lasts.
const rewriteEvery = time.Minute

// compare keeps an outcome that differs from the answer, which stays as it is: which of them is wrong, or whether the
// jobs are no functions of their arguments, only a person can find out.
func (o *own) compare(r *run, out Outcome, by *Claim) {
	if !r.differs(out.Hash) {
		return
	}
	if r.second != nil { // there is one already: the disk is not for everybody's inventions
		o.warn(r.m.Run, "there is a third answer, which is not kept")
		return
	}
	r.second, r.disputed = &out.Hash, o.self
	if by != nil {
		r.disputed = by.Author
	}
	o.warn(r.m.Run, "the run is disputed: %s has another answer", r.disputed)
	o.order(WriteAnswer{DisputeFile, r.m.Run, &Answer{Manifest: r.m.Sealed, Outcome: out, Ended: o.now.Unix(),
		Elapsed: int64(r.took), Claim: by}})
}

// compareWritten is about an outcome of the own root that comes while another's is being written.
func (o *own) compareWritten(r *run, out Outcome) {
	h := r.writing.Outcome.Hash
	r.hash = &h
	o.compare(r, out, nil)
	r.hash = nil
}

// claimed takes in the claim that an own run is answered; endorsed says that whoever passed it on has ended the run by
// it.
func (o *own) claimed(r *run, c *Claim, from PeerID, endorsed bool) {
	switch {
	case !o.credible(r, c.Author, from):
		o.note(c.Run, "%s says that it has answered it, and is no member", c.Author)
	case r.state == StateCancelled || r.state == StateSuspended, r.hash != nil && *r.hash == c.Hash:
		o.repeat(r) // its author has not heard
	case r.second != nil:
		// it is known to be disputed
	case r.hash == nil && !r.returned && !r.m.isDeputy(c.Author):
		o.note(c.Run, "%s says that it has answered it, and is none of its deputies", c.Author)
	case !r.claims.add(r.m, c, from, endorsed, o.now, o.cfg.Claims):
		o.note(c.Run, "%d others say that they have answered it", len(r.claims.list))
	default:
		o.pursue(r)
	}
}

// pursue fetches the answer of a claim that counts, one at a time.
func (o *own) pursue(r *run) {
	if r.writing != nil || r.own.what == cancelling || o.asking >= o.cfg.AnswerFetches {
		return // later
	}
	for i := range r.claims.list {
		if r.claims.list[i].pursued {
			return
		}
	}
	// The one that was tried the longest ago comes first: an author may be slow, and have nothing in the end.
	slices.SortStableFunc(r.claims.list, func(a, b pendingClaim) int { return a.tried.Compare(b.tried) })
	for i := range r.claims.list {
		p := &r.claims.list[i]
		if r.holdsRoot {
			p.clear = o.now
		}
		if r.hash == nil {
			o.seek(r, p)
			if !r.claims.ownerBelieves(r.m, p, r.holdsRoot, r.returned, r.asking == 0, o.now, &o.cfg) {
				continue
			}
		}
		if !p.tried.IsZero() && o.now.Sub(p.tried) < o.cfg.AskEvery {
			continue
		}
		p.pursued, p.tried, p.tries = true, o.now, p.tries+1
		o.asking++
		list := []PeerID{p.Author}
		if p.from != p.Author && p.from != o.self && p.from != "" {
			list = append(list, p.from)
		}
		o.order(FetchAnswer{p.Claim, list})
		return
	}
}

// seek has an owner that was away ask others what they know of a claim: its own beacons have not been there to hear.
// While it has the root, it asks only after a deputy's, until one of them goes on.
func (o *own) seek(r *run, p *pendingClaim) {
	if !r.returned || r.holdsRoot && (p.against || !r.m.isDeputy(p.Author)) || r.asking > 0 ||
		o.now.Sub(p.sought) < o.cfg.WeighEvery {
		return
	}
	p.sought, p.against = o.now, false
	list := o.confidants(r.m)
	if o.view.Alive(p.from) && p.from != o.self && !slices.Contains(list, p.from) {
		list = append([]PeerID{p.from}, list...)
	}
	list = slices.DeleteFunc(list, func(id PeerID) bool { return id == p.Author })
	switch {
	case len(list) > 0:
		p.alone = time.Time{}
	case p.alone.IsZero():
		p.alone = o.now
	}
	for _, id := range list[:min(len(list), o.cfg.Keepers)] {
		o.ask(r, id)
	}
}

// maxTries is how often an answer is asked for before its claim is forgotten.
const maxTries = 5

// fetched takes in an outcome that a claim promised; trouble says why there is none.
func (o *own) fetched(r *run, c *Claim, out Outcome, trouble string) {
	o.asking--
	if r == nil {
		return
	}
	for i := range r.claims.list {
		if p := &r.claims.list[i]; p.Author == c.Author {
			p.pursued = false
			if trouble != "" && p.tries >= maxTries {
				r.claims.drop(c.Author) // it will say so again
				break
			}
		}
	}
	if trouble != "" {
		o.note(c.Run, "the answer of %s is not to be had: %s", c.Author, trouble)
		return
	}
	r.claims.drop(c.Author)
	switch {
	case r.own.what == cancelling || r.state == StateCancelled || r.state == StateSuspended:
	case r.hash != nil:
		o.compare(r, out, c)
		if *r.hash == out.Hash {
			o.repeat(r)
		}
	case r.writing != nil && r.writing.Outcome.Hash == out.Hash:
	case r.writing != nil: // this peer has come to another one itself
		h := r.writing.Outcome.Hash
		r.hash = &h
		o.compare(r, out, c)
		r.hash = nil
	default:
		o.conclude(r, out, c)
	}
}
