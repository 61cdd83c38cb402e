package steal

import (
	"container/list"
	"slices"
	"time"

	"github.com/satin-peer/satin/job"
)

// store keeps the outcomes of finished jobs in case they are needed again (fault tolerance paper, 3.2 and
// 3.3): of stolen jobs, after their results went home, because the owner may die with them; of long jobs that
// ran in place here; what others handed over.
//
// It is bounded in entries and bytes. An outcome is no use where an ancestor's is kept: that one takes its
// place. What is handed over is another's word, so it can neither displace what was computed here nor take
// more than half of the room.
type store struct {
	index   byPath[*kept]
	age     [keptClasses]list.List // oldest first
	bytes   [keptClasses]int
	most    int
	room    int
	purse   *purse
	refused uint64
	// displaced counts what this peer had, and perhaps nobody else has, for which there was no room.
	displaced uint64
	touched   touched
	onKept    *func(outcome []byte, kept bool)
}

// kept is one outcome.
type kept struct {
	Partial
	class  keptClass
	owner  PeerID // settled, copied: who had it
	copied bool   // its owner has it, too
	from   PeerID // whose bytes they are: who had it, or has handed it over
	inPart bool   // of a job that ran in place, perhaps under a segment that still runs
	told   bool
	toldAt time.Duration
	place  *list.Element
}

func (k *kept) name() (job.Path, job.Identity) { return k.Path, k.Identity }

// keptClass says what is lost with an outcome; the least is dropped first.
type keptClass uint8

const (
	settled  keptClass = iota // its owner has had it
	handed                    // from a peer that left
	restored                  // from a checkpoint
	own                       // nobody else has it
	keptClasses
)

func newStore(s *shared, entries, bytes int) store {
	return store{most: entries, room: bytes, purse: s.purse, touched: touched{many: true}, onKept: &s.onKept}
}

// put keeps an outcome, or raises the class of one that is kept; nil if it is neither, because there is no
// room or an ancestor is there. New says whether it was not there before.
func (s *store) put(p Partial, class keptClass, owner PeerID) (k *kept, isNew bool) {
	i, there := s.index.find(p.Path, p.Identity)
	if there {
		k = s.index[i]
		if class > k.class {
			s.unlink(k)
			k.class, k.copied = class, false
			s.link(k)
		}
		if class == settled {
			k.owner = owner
		}
		return k, false
	}
	k = &kept{Partial: p, class: class, owner: owner, from: owner}
	if s.index.above(p.Path, func(a *kept) bool { return a.covers(k) }) {
		return nil, false
	}
	if !s.makeRoom(k) || !s.pay(k) {
		if class > handed {
			s.displaced++
		}
		return nil, false
	}
	for _, d := range slices.Clone(s.index.below(p.Path)) {
		if k.covers(d) {
			s.remove(d)
		}
	}
	i, _ = s.index.find(p.Path, p.Identity)
	s.index = slices.Insert(s.index, i, k)
	s.link(k)
	s.touched.add(k.Path)
	s.tell(k, true)
	return k, true
}

// computedHere says whether it is of jobs that this peer has finished.
func (c keptClass) computedHere() bool { return c == settled || c == own }

// tell tells whoever wants to know that an outcome is kept, or is no more.
func (s *store) tell(k *kept, here bool) {
	if f := *s.onKept; f != nil {
		f(k.Outcome, here)
	}
}

// covers says whether k makes an outcome below it useless. What was computed here needs nothing below it any more. What
// comes from elsewhere may be of a job in the middle of which the workers are: they look for its descendants.
func (k *kept) covers(below *kept) bool {
	return k.class.computedHere() || below.class == handed || below.class == k.class
}

// size is what an outcome takes of the room.
func (k *kept) size() int { return len(k.Outcome) + len(k.Voucher) + 4*len(k.Path) + keptOverhead }

// keptOverhead is about what an entry takes besides path and outcome.
const keptOverhead = 192

// makeRoom drops what is worth less than k, or as little and older, until k fits. If it cannot fit it says
// false and drops nothing.
func (s *store) makeRoom(k *kept) bool {
	size, number, bytes := k.size(), 0, 0
	for c := k.class + 1; c < keptClasses; c++ {
		number, bytes = number+s.age[c].Len(), bytes+s.bytes[c]
	}
	switch {
	case number >= s.most || bytes+size > s.room,
		k.class == settled && size > s.room/4, // one must not drive out all others
		k.class == handed && (s.most < 2 || size > s.room/2):
		return false
	}
	if k.class == handed {
		for s.age[handed].Len() >= s.most/2 || s.bytes[handed]+size > s.room/2 {
			s.dropOldest(handed)
		}
	}
	for c := settled; c <= k.class; c++ {
		for s.age[c].Len() > 0 && !s.fits(k) {
			s.dropOldest(c)
		}
	}
	return s.fits(k)
}

// pay has what k takes set aside. If whoever it is from has too much here already, that peer's oldest make room, as far
// as they are worth no more.
func (s *store) pay(k *kept) bool {
	for c := settled; ; {
		if s.purse.take(k.from, k.size(), false) {
			return true
		}
		e := s.age[c].Front()
		for e != nil && e.Value.(*kept).from != k.from {
			e = e.Next()
		}
		switch {
		case e != nil:
			s.drop(e)
		case c < k.class:
			c++
		default:
			s.refused++
			return false
		}
	}
}

func (s *store) fits(k *kept) bool { return len(s.index) < s.most && s.total()+k.size() <= s.room }

func (s *store) total() (n int) {
	for _, b := range s.bytes {
		n += b
	}
	return n
}

func (s *store) dropOldest(c keptClass) { s.drop(s.age[c].Front()) }

// drop removes one for want of room.
func (s *store) drop(e *list.Element) {
	k := e.Value.(*kept)
	if k.class != settled && !k.copied {
		s.displaced++
	}
	s.remove(k)
}

func (s *store) link(k *kept) {
	k.place = s.age[k.class].PushBack(k)
	s.bytes[k.class] += k.size()
}

func (s *store) unlink(k *kept) {
	s.age[k.class].Remove(k.place)
	s.bytes[k.class] -= k.size()
}

func (s *store) remove(k *kept) {
	if i, ok := s.index.find(k.Path, k.Identity); ok {
		s.index = slices.Delete(s.index, i, i+1)
		s.unlink(k)
		s.purse.give(k.from, k.size())
		s.touched.add(k.Path)
		s.tell(k, false)
	}
}

// dropCopies drops what others have, too, of jobs below one whose outcome has come.
func (s *store) dropCopies(p job.Path) {
	for _, k := range slices.Clone(s.index.below(p)) {
		if k.copied {
			s.remove(k)
		}
	}
}

// dropCopy drops what others had, too, and hand over.
func (s *store) dropCopy(p Partial) {
	if k := s.find(p.Path, p.Identity); k != nil && k.copied {
		s.remove(k)
	}
}

// find looks an outcome up; nil if it is not kept.
func (s *store) find(p job.Path, id job.Identity) *kept {
	if i, ok := s.index.find(p, id); ok {
		return s.index[i]
	}
	return nil
}
