package sharedobj

import (
	"container/list"
	"slices"
)

// droppedPart is the part of Config.MaxEntries that makes room at once.
const droppedPart = 16

// entry is what is known of one digest.
type entry struct {
	digest   Digest
	recipe   Recipe
	state    *Body    // nil: not here
	write    *Body    // of a version after the first
	holders  []PeerID // some who have it
	applying Ticket   // the engine is making its state
	from     PeerID   // has sent it unasked; "": it is this run's
	lent     bool     // its bytes came for a guest's job
	spoilt   bool     // its write, applied here, gives another state: only its snapshot will do
	place    *list.Element
}

// store holds versions within a bound. What is pinned stays. Of the rest, two versions of an object stay as long as
// there is room, with those that are retained (retain.go), and of older ones only their writes, as far as those are a
// shorter way than the newest state. When room is needed what was used longest ago goes first.
type store struct {
	most     uint64 // bytes
	entriesN int
	chain    int
	used     uint64 // bytes held
	reserved uint64 // bytes on their way here
	others   Room   // what other runs leave; nil: that is not counted
	must     bool   // what comes was made here: it is held whatever others leave
	entries  map[Digest]*entry
	pins     map[Digest]int // also of what is not known yet
	recent   list.List      // of *entry, the one used longest ago first
	bodies   map[Hash]*held
	senders  senders
	gone     []Digest // states dropped since the engine was told

	retained      map[Digest]*retention // also of what is not known yet: see Core.Retain
	retainedBytes uint64
}

// held is a blob that one or more entries have.
type held struct {
	body *Body
	n    int
}

func newStore(cfg *Config) *store {
	return &store{most: cfg.MaxBytes, others: cfg.Room, entriesN: cfg.MaxEntries, chain: cfg.MaxChain,
		entries: make(map[Digest]*entry), pins: make(map[Digest]int), bodies: make(map[Hash]*held),
		senders:  senders{of: make(map[PeerID]account), parcels: make(map[parcel]int), fetched: make(map[PeerID]debt)},
		retained: make(map[Digest]*retention)}
}

// find looks a digest up; nil if nothing is known of it.
func (s *store) find(d Digest) *entry { return s.entries[d] }

// state is a version's value, which counts as a use of it; nil if it is not here.
func (s *store) state(d Digest) *Body {
	e := s.entries[d]
	if e == nil || e.state == nil {
		return nil
	}
	s.recent.MoveToBack(e.place)
	return e.state
}

// body finds a blob that is held by its top alone.
func (s *store) body(top Hash) *Body {
	if h := s.bodies[top]; h != nil {
		return h.body
	}
	return nil
}

// blob is a blob that is held. A recipe may say another size of it, which a peer has made up.
func (s *store) blob(b Blob) *Body {
	if held := s.body(b.Top); held != nil && held.Size == b.Size {
		return held
	}
	return nil
}

// know enters a recipe; nil if there is no room even for that.
func (s *store) know(r *Recipe) *entry {
	d := r.Digest()
	if e := s.entries[d]; e != nil {
		return e
	}
	for len(s.entries) >= s.entriesN {
		if !s.dropOldest() {
			return nil
		}
	}
	e := &entry{digest: d, recipe: *r}
	e.place = s.recent.PushBack(e)
	s.entries[d] = e
	return e
}

// dropOldest forgets entries that nothing pins, those without bytes first, and then what was used longest ago: a part
// of what may be known at once, as finding them is a walk over all. It says whether there were any.
func (s *store) dropOldest() bool {
	most := max(1, s.entriesN/droppedPart)
	var bare, others []*entry
	for at := s.recent.Front(); at != nil && len(bare) < most; at = at.Next() {
		switch e := at.Value.(*entry); {
		case !s.free(e):
		case e.state == nil && e.write == nil:
			bare = append(bare, e)
		case len(others) < most:
			others = append(others, e)
		}
	}
	bare = append(bare, others...)
	for _, e := range bare[:min(most, len(bare))] {
		s.forget(e)
	}
	return len(bare) > 0
}

func (s *store) forget(e *entry) {
	s.dropState(e)
	s.dropWrite(e)
	s.own(e)
	s.recent.Remove(e.place)
	delete(s.entries, e.digest)
}

func (s *store) dropState(e *entry) {
	if e.state != nil {
		s.release(e.state)
		s.senders.refund(e.from, e.state.Size)
		if r := s.retained[e.digest]; r != nil && r.holds {
			r.holds = false
			s.retainedBytes -= e.state.Size
		}
		e.state = nil
		if !e.recipe.Kind.private() {
			s.gone = append(s.gone, e.digest)
		}
	}
}

func (s *store) dropWrite(e *entry) {
	if e.write != nil {
		s.release(e.write)
		s.senders.refund(e.from, e.write.Size)
		e.write = nil
	}
}

func (s *store) hold(b *Body) *Body {
	h := s.bodies[b.Top]
	if h == nil {
		h = &held{body: b}
		s.bodies[b.Top] = h
		s.used += b.Size
	}
	h.n++
	return h.body
}

func (s *store) release(b *Body) {
	h := s.bodies[b.Top]
	if h.n--; h.n == 0 {
		delete(s.bodies, b.Top)
		s.used -= b.Size
	}
}

// room makes room for so many bytes more by dropping what is not pinned or in keep; false if there is not
// enough of that, or of what other runs leave.
func (s *store) room(n uint64, keep ...*entry) bool {
	enough := func() bool { return s.fits(n) && s.tell(n, false) }
	return n <= s.most && (s.thin(enough, anyEntry, keep...) || s.must && s.fits(n))
}

// fits says whether so many bytes more are within this run's own bound.
func (s *store) fits(n uint64) bool { return s.used+s.reserved+n <= s.most }

// tell says that so many bytes more are held; see Room.
func (s *store) tell(more uint64, must bool) bool {
	return s.others == nil || s.others.Hold(s.used+s.reserved+more, must)
}

func anyEntry(*entry) bool { return true }

// thin drops what some entries have, those that are not pinned or in keep, until that is enough, what was used longest
// ago first.
func (s *store) thin(enough func() bool, of func(*entry) bool, keep ...*entry) bool {
	for pass := 0; pass < 2; pass++ { // values first: writes are small, and the way to others' values
		for at := s.recent.Front(); at != nil; at = at.Next() {
			e := at.Value.(*entry)
			if e.state == nil && (pass == 0 || e.write == nil) || !of(e) || !s.free(e) || slices.Contains(keep, e) {
				continue
			}
			if enough() {
				return true
			}
			if s.dropState(e); pass == 1 {
				s.dropWrite(e)
			}
		}
	}
	return enough()
}

// putState enters a version's value; false if there is no room.
func (s *store) putState(e *entry, b *Body) bool {
	if e.state != nil {
		return true
	}
	if !s.fitsIn(e, b) {
		return false
	}
	e.state = s.hold(b)
	s.recent.MoveToBack(e.place)
	s.counts(e)
	s.trim(e)
	return true
}

// putWrite enters the write that leads to a version; false if there is no room.
func (s *store) putWrite(e *entry, b *Body) bool {
	if e.write != nil {
		return true
	}
	if !s.fitsIn(e, b) {
		return false
	}
	e.write = s.hold(b)
	return true
}

// fitsIn makes room for more of an entry, and has its sender pay for that.
func (s *store) fitsIn(e *entry, b *Body) bool {
	if !s.allows(e.from, b.Size, e) || s.bodies[b.Top] == nil && !s.room(b.Size, e) {
		return false
	}
	s.senders.bill(e.from, b.Size)
	return true
}

// trim drops what is older than the version before e: states, and writes that are no shorter way any more.
func (s *store) trim(e *entry) {
	way := uint64(0)
	n := 0
	for v := e; !v.recipe.First(); n++ {
		if way += v.recipe.Write.Size; (n >= s.chain || way >= e.recipe.State.Size) && s.free(v) && v != e {
			s.dropWrite(v)
		}
		parent := s.entries[v.recipe.Parent]
		if parent == nil || n > 2*s.chain {
			return
		}
		if v = parent; n > 0 && s.free(v) && !s.retains(v) {
			s.dropState(v)
		}
	}
}

// pin keeps a version, which need not be known yet, until it has been unpinned as often.
func (s *store) pin(ds ...Digest) {
	for _, d := range ds {
		s.pins[d]++
	}
}

func (s *store) unpin(ds ...Digest) {
	for _, d := range ds {
		if s.pins[d]--; s.pins[d] <= 0 {
			delete(s.pins, d)
		}
	}
}

// done is unpin for whoever has needed it for a job: of an argument nobody has a use any more.
func (s *store) done(d Digest) {
	s.unpin(d)
	if e := s.entries[d]; e != nil && e.recipe.Kind == Argument && s.free(e) {
		s.forget(e)
	}
}

// free says whether an entry may be dropped.
func (s *store) free(e *entry) bool { return s.pins[e.digest] == 0 }
