package driver

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
)

// What results name
//
// A job may make a shared value and return its handle. The value must not be lost with the peer that made it, so a
// result is *fetching* as a job is: the core does not hear of it, and so does not acknowledge it, before what it names
// is here. If its sender is lost meanwhile, the job is lost with it and is done again, as any other. So
//
//   - whoever holds a result that is not acknowledged has pinned what it names (sent);
//   - whoever has heard one has what it names, and pins it as long as the job runs whose frame got it (used): if that
//     one returns the handle, its result is one that names it;
//   - what cannot be had in time, or is more than this peer may hold, is no result: the core is told that it is
//     Unusable, and the job is done again;
//   - an outcome that was kept here, and whose values are not, is put back instead of being delivered;
//   - outcomes that are handed over wait for what they name, too; those for which it does not come are not kept;
//   - what kept outcomes name is retained as long as they are, within the bounds of sharedobj (kept);
//   - none is written to a disk: the values would not be there.

// results are the outcomes that wait for what they name, and what those name that were used or sent.
type results struct {
	held map[sharedobj.JobID]*heldBack
	last sharedobj.JobID
	used map[steal.SegmentID][]sharedobj.Digest
	sent map[sentResult][]sharedobj.Digest
	// short are the segments in which somebody may have failed for want of what is shared.
	short map[steal.SegmentID]bool

	saidLarge bool // the user was told of one that is more than this peer may hold
}

// heldBack is a message, or an order to deliver an outcome, that waits. It may name more than a job, so it waits as
// several.
type heldBack struct {
	in      input
	order   *steal.Order
	waiting int
	here    []sharedobj.JobID // of these all that they name is here
	why     error             // what another one names is not
}

// sentResult names one that is to be acknowledged.
type sentResult struct {
	to     steal.PeerID
	handle steal.Handle
}

// resultIDs tells results from segments in the core of what is shared.
const resultIDs = sharedobj.JobID(1) << 63

func newResults() results {
	return results{held: map[sharedobj.JobID]*heldBack{}, used: map[steal.SegmentID][]sharedobj.Digest{},
		sent: map[sentResult][]sharedobj.Digest{}, short: map[steal.SegmentID]bool{}}
}

// resultIn is the result that a message brings to its receiver, or takes from its sender.
func resultIn(m *steal.Message) (*steal.Message, *steal.Result) {
	if m.Relayed != nil {
		m = m.Relayed
	}
	return m, m.Result
}

// holdsBack says whether a message waits for what it names: it comes again as an input that is ready.
func (s *shared) holdsBack(in *input) bool {
	if s == nil || in.ready {
		return false
	}
	m, r := resultIn(in.message)
	var names []sharedobj.Digest
	switch {
	case r != nil:
		if names, _ = port.NamedBy(r.Outcome); len(names) == 0 || !s.d.core.Awaits(m) {
			return false
		}
		for _, h := range s.results.held {
			if h.order == nil {
				if o, q := resultIn(h.in.message); q != nil && o.From == m.From && q.Handle == r.Handle {
					return true // it was sent again
				}
			}
		}
	case m.HandOver != nil && m.Validate() == nil:
		switch wait, again := s.handsOver(m); {
		case again:
			return true
		case wait >= mostHandOvers: // as if what the others name did not come
			if m := s.without(in.message); m != nil {
				s.d.inputs.push(input{kind: stepped, now: in.now, message: m, ready: true})
			}
			return true
		}
		for i := range m.HandOver.Parts {
			more, _ := port.NamedBy(m.HandOver.Parts[i].Outcome)
			names = append(names, more...)
		}
		slices.SortFunc(names, sharedobj.Digest.Compare)
		names = slices.Compact(names)
	}
	if s.has(names) {
		return false
	}
	s.hold(in.now, &heldBack{in: *in}, names, m.From.Peer)
	return true
}

// mostHandOvers is how many of one peer wait for what they name: they are held whole.
const mostHandOvers = 64

// handsOver is how many of a message's sender wait, and whether this one does.
func (s *shared) handsOver(m *steal.Message) (n int, again bool) {
	var wait []*heldBack
	for _, h := range s.results.held {
		if h.order != nil || h.in.message.HandOver == nil || h.in.message.From != m.From || slices.Contains(wait, h) {
			continue
		}
		if h.in.message.HandOver.ID == m.HandOver.ID {
			return 0, true
		}
		wait = append(wait, h)
	}
	return len(wait), false
}

func (s *shared) has(names []sharedobj.Digest) bool {
	return !slices.ContainsFunc(names, func(d sharedobj.Digest) bool { return !s.core.Has(d) })
}

// hold has what is named fetched. What is too much to be fetched at once does not come.
func (s *shared) hold(now time.Duration, h *heldBack, names []sharedobj.Digest, from steal.PeerID) {
	for some := range slices.Chunk(names, port.MaxNeeds) {
		s.results.last++
		h.waiting++
		id := resultIDs | s.results.last
		s.results.held[id] = h
		needs := make([]sharedobj.Need, len(some))
		for i, d := range some {
			needs[i].Digest = d
		}
		s.absorb(s.core.JobCame(now, sharedobj.Job{ID: id, Victim: sharedobj.PeerID(from), Needs: needs}))
	}
}

// came goes on with what has waited; why is nil if all that it names is here, and stays until it was made use of.
func (s *shared) came(id sharedobj.JobID, why error) {
	h := s.results.held[id]
	if h == nil {
		return
	}
	delete(s.results.held, id)
	if h.why = cmp.Or(h.why, why); why == nil {
		h.here = append(h.here, id)
	}
	if h.waiting--; h.waiting > 0 {
		return
	}
	why = h.why
	now := s.d.now
	switch {
	case h.order != nil && why == nil:
		s.uses(h.order)
		s.d.deliver(h.order)
	case h.order != nil:
		s.d.isBack(h.order.Ref)
		s.d.order = port.Order{Kind: port.PutBack, Ref: h.order.Ref, Restarted: true}
		s.d.cfg.Engine.Do(&s.d.order)
	case why == nil:
		h.in.ready, h.in.now = true, now
		s.d.inputs.push(h.in)
	case h.in.message.HandOver != nil:
		if m := s.without(h.in.message); m != nil {
			s.d.inputs.push(input{kind: stepped, now: now, message: m, ready: true})
		}
	case sharedobj.Refused(why): // it will be sent again
	default:
		m, _ := resultIn(h.in.message)
		s.d.inputs.push(input{kind: unusable, now: now, message: m, on: s.useless("a job is done again: ", why)})
	}
	for _, id := range h.here {
		s.d.inputs.push(input{kind: resultUsed, now: now, result: id})
	}
}

// kept has what an outcome names be here as long as the outcome is kept, as far as there is room.
func (s *shared) kept(outcome []byte, here bool) {
	names, _ := port.NamedBy(outcome)
	if here {
		s.core.Retain(names...)
	} else {
		s.core.Forgo(names...)
	}
}

// useless tells the user why what a job has come to is of no use, and says whether it is too large. Of these only the
// first is told of: it has fellows, as a rule.
func (s *shared) useless(what string, why error) (tooLarge bool) {
	var large *sharedobj.TooLarge
	tooLarge = errors.As(why, &large)
	if s != nil && !(tooLarge && s.results.saidLarge) {
		s.results.saidLarge = s.results.saidLarge || tooLarge
		s.out.Note(what + why.Error())
	}
	return tooLarge
}

// without is a hand-over without the outcomes whose values are not here; nil if there are no others.
func (s *shared) without(m *steal.Message) *steal.Message {
	over := *m.HandOver
	over.Parts = nil
	for _, p := range m.HandOver.Parts {
		if names, _ := port.NamedBy(p.Outcome); s.has(names) {
			over.Parts = append(over.Parts, p)
		}
	}
	if len(over.Parts) == 0 {
		return nil
	}
	left := *m
	left.HandOver = &over
	return &left
}

// delays says whether an outcome is delivered later, or not at all: it was kept here, and what it names was not.
func (s *shared) delays(o *steal.Order) bool {
	if s == nil {
		return false
	}
	names, _ := port.NamedBy(o.Outcome)
	if _, there := s.d.given[o.Ref]; !there || s.has(names) {
		s.uses(o)
		return false
	}
	later := *o
	s.hold(s.d.now, &heldBack{order: &later}, names, "")
	return true
}

// uses has what a job's outcome names stay as long as the segment runs that awaits it.
func (s *shared) uses(o *steal.Order) {
	_, names, _ := port.Referred(o.Outcome)
	id := s.d.given[o.Ref].segment
	if _, runs := s.d.segments[id]; runs && len(names) > 0 {
		s.core.Pin(names...)
		s.results.used[id] = append(s.results.used[id], names...)
	}
}

// ended unpins what the results named that the frames of a segment got.
func (s *shared) ended(id steal.SegmentID) {
	if s != nil {
		s.unpin(s.results.used[id])
		delete(s.results.used, id)
		delete(s.results.short, id)
	}
}

// failed notes that a job here is to fail, as what it reads cannot be had, or what it has made cannot be held: which
// one is not known.
func (s *shared) failed() {
	for id := range s.d.segments {
		s.results.short[id] = true
	}
}

// lacked says whether what a segment has come to says nothing of what its job comes to elsewhere. Where results are
// compared nobody is to sign that: its job goes back.
func (s *shared) lacked(id steal.SegmentID) bool {
	return s != nil && s.d.cfg.Commit != nil && s.results.short[id]
}

// sends pins what a result names until it is acknowledged.
func (s *shared) sends(m *steal.Message) {
	if s == nil {
		return
	}
	m, r := resultIn(m)
	if r == nil || m.From.Peer != s.d.core.Self().Peer {
		return
	}
	key := sentResult{m.To.Peer, r.Handle}
	if names, _ := port.NamedBy(r.Outcome); len(names) > 0 && s.results.sent[key] == nil {
		s.core.Pin(names...)
		s.results.sent[key] = names
	}
}

// sweep unpins what is named by results that were acknowledged, or are not wanted any more.
func (s *shared) sweep() {
	for key, names := range s.results.sent { // in any order: nothing is said
		if !s.d.core.Unacked(key.to, key.handle) {
			s.unpin(names)
			delete(s.results.sent, key)
		}
	}
}
