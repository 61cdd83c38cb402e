package steal

import (
	"slices"
	"time"
)

// Whoever begins a lost job again may hear that a part of it is at work here before this peer has noticed that the
// owner is lost, who may be alive as well. So the part is neither given away at once nor refused: a refusal would have
// it begun anew, to its end, beside the one that is here. It gets its new owner when the old one is believed silent,
// and is refused when that one is heard, or after as much time as that takes.

// maxLater is how many such adoptions are kept, and maxLaterEach those of one peer.
const (
	maxLater     = 256
	maxLaterEach = maxLater / 4
)

// lateAdoption is an adoption that waits.
type lateAdoption struct {
	from  *peer
	life  Incarnation // of from
	job   Adoption
	heard time.Duration // when the owner had been heard last
	until time.Duration
}

// keepForLater keeps an adoption of what runs here for another peer; false if it is none.
func (ad *adoption) keepForLater(p *peer, j *Adoption) bool {
	each := 0
	for i := range ad.later {
		switch l := &ad.later[i]; {
		case l.from != p:
		case l.job.Handle == j.Handle:
			return true
		default:
			each++
		}
	}
	owner := ad.waitedForBy(j)
	if owner == nil || owner == p || len(ad.later) >= maxLater || each >= maxLaterEach {
		return false
	}
	ad.later = append(ad.later, lateAdoption{p, p.inc, *j, owner.heard, ad.now + ad.partners.silence(owner)})
	return true
}

// waitedForBy is who waits for a job that runs here; nil: nobody but a frame here.
func (ad *adoption) waitedForBy(j *Adoption) *peer {
	held := func(s *segment) bool { return s.state == running && s.heldAs() != nil }
	s := ad.segments.oldest(j.Path, j.Identity, held)
	if s == nil {
		return nil
	}
	return s.heldAs().owner
}

// awaitedBy says whether an adoption of a peer waits here.
func (ad *adoption) awaitedBy(p *peer) bool {
	return slices.ContainsFunc(ad.later, func(l lateAdoption) bool { return l.from == p })
}

// adoptLater carries out those adoptions for which it is time, and refuses those for which it will not be.
func (ad *adoption) adoptLater() {
	ad.later = slices.DeleteFunc(ad.later, func(l lateAdoption) bool {
		if l.from.lost || l.from.inc != l.life {
			return true
		}
		if _, held := l.from.findHeld(l.job.Handle); held || ad.adoptOne(l.from, &l.job) {
			return true
		}
		owner := ad.waitedForBy(&l.job)
		if owner != nil && owner != l.from && owner.heard <= l.heard && ad.now < l.until {
			return false
		}
		ad.send(l.from, &Message{Return: &Return{Handles: []Handle{l.job.Handle}}})
		return true
	})
}

// nextLater is when adoptLater has something to do by itself; 0 is never.
func (ad *adoption) nextLater() (at time.Duration) {
	for i := range ad.later {
		if t := ad.later[i].until; at == 0 || t < at {
			at = t
		}
	}
	return at
}
