package peer

import (
	"fmt"
	"time"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/sharedobj"
)

// What the jobs of runs share is bounded like what others give else (see memory), by a setting of its own: an own run
// may have a half of it, and so may another's, and all those of one owner; all others' together may have all of it. A
// run that may have no more has those beside it drop what they need no more, and tries again. What its jobs make here
// is held in any case, since their run would fail without it; but a run that is for some time beyond what it may have
// goes on elsewhere. What senders have here before a job names it is bounded over all runs, own ones too, and what one
// of them has by a half of that: it is fetched ahead, to spare a job the wait, and asked for anyway when one names it.

// objects bounds what the jobs of one run share here.
func (q *memory) objects() sharedobj.Config {
	with := sharedobj.Default()
	if q.shareable > 0 {
		with.MaxBytes = uint64(q.shareable / memoryPart)
	}
	return with
}

// roomToShare is the memory as the core of what a run's jobs share sees it. The run has been entered.
func (q *memory) roomToShare(run job.RunID, now func() time.Time) sharedobj.Room {
	q.mu.Lock()
	defer q.mu.Unlock()
	if h := q.of[run]; h != nil && q.shareable > 0 {
		return shareRoom{q, h, now}
	}
	return nil
}

// overShared says which bound is broken by what is shared in others' runs if this one has so many bytes; "" if none.
// The mutex is held.
func (q *memory) overShared(h *holding, has int64) string {
	all, owners := has, has
	for _, other := range q.of {
		if other == h || other.own {
			continue
		}
		all += other.shared
		if other.owner == h.owner {
			owners += other.shared
		}
	}
	says := func(whose string, most int64) string {
		return fmt.Sprintf("what jobs share in %s would be more than %d MiB of this peer's memory: "+
			"the setting objects_memory", whose, most>>20)
	}
	switch {
	case owners > q.shareable/memoryPart:
		return says("its owner's runs", q.shareable/memoryPart)
	case all > q.shareable:
		return says("others' runs", q.shareable)
	}
	return ""
}

// excessPatience is how long a run may have more than it may: the others beside it have dropped what they can by then.
const excessPatience = 10 * time.Second

// excess names a run whose jobs have made more than it may have, for too long, the one that has most, and says why;
// false if there is none. One that was within its bounds when it took what it has does not pay for others.
func (q *memory) excess(now time.Time) (run job.RunID, why string, found bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	most := int64(0)
	for id, h := range q.of {
		if h.beyond.IsZero() {
			continue
		}
		over := q.overShared(h, h.shared)
		switch {
		case over == "":
			h.beyond = time.Time{}
		case now.Sub(h.beyond) >= excessPatience && h.shared > most:
			run, why, found, most = id, over, true, h.shared
		}
	}
	return run, why, found
}

// A shareRoom is what the memory leaves to one run.
type shareRoom struct {
	q *memory
	h *holding

	now func() time.Time
}

// Hold implements sharedobj.Room.
func (r shareRoom) Hold(bytes uint64, must bool) bool {
	if r.h.own {
		return true
	}
	n := int64(bytes)
	r.q.mu.Lock()
	why := ""
	if n > r.h.shared {
		why = r.q.overShared(r.h, n)
	}
	first := why != "" && !must && r.h.refused == ""
	if why == "" || must {
		r.h.shared = n
	}
	if why != "" {
		r.h.refused = why
		if must && r.h.beyond.IsZero() {
			r.h.beyond = r.now()
		}
		for _, other := range r.q.of {
			other.wanted = other.wanted || other != r.h && !other.own
		}
	}
	r.q.mu.Unlock()
	if first && r.h.say != nil {
		r.h.say(why)
	}
	return why == ""
}

// unasked is how many bytes what nobody has named may take at most, whatever the setting; else a half of that.
const unasked = 32 << 20

// Sent implements sharedobj.Room.
func (r shareRoom) Sent(from sharedobj.PeerID, bytes uint64, must bool) bool {
	r.q.mu.Lock()
	defer r.q.mu.Unlock()
	n, has := int64(bytes), r.h.sent[from]
	all := n - has
	for _, h := range r.q.of {
		all += h.sent[from]
	}
	most := min(unasked, r.q.shareable/2)
	if from != "" {
		most /= 2
	}
	fits := n <= has || all <= most
	switch {
	case !fits && !must:
	case n > 0:
		r.h.sent[from] = n
	default:
		delete(r.h.sent, from)
	}
	return fits
}

// Wanted implements sharedobj.Room.
func (r shareRoom) Wanted() bool {
	r.q.mu.Lock()
	defer r.q.mu.Unlock()
	wanted := r.h.wanted
	r.h.wanted = false
	return wanted
}

// leaveExcess has a run leave that has more than it may.
func (t *conductor) leaveExcess(now time.Time) {
	if id, why, found := t.crew.memory.excess(now); found {
		t.input(func(c *runs.Core, now time.Time) []runs.Order { return c.NotStarted(now, id, why) })
	}
}
