package runs

import "github.com/satin-peer/satin/internal/calendar"

// tombstones are what was said of the end of runs, by run and author: whoever hears one may not know yet whose
// run it is. Of each author there are at most so many, and the oldest gives way, so that nobody can drive out what
// others have said; half of all may be this peer's own, and stay. What authors have said who are no members makes room
// for what members say: anybody can make up authors.
type tombstones struct {
	self       PeerID
	most, each int
	member     func(PeerID) bool
	of         map[grave]buried
	next       uint64
}

type grave struct {
	run    RunID
	author PeerID
}

type buried struct {
	*Tombstone
	order  uint64 // of its coming
	member bool   // its author was one
	said   bool   // by this peer, in this life
}

func newTombstones(self PeerID, most, each int, member func(PeerID) bool) *tombstones {
	return &tombstones{self: self, most: most, each: each, member: member, of: map[grave]buried{}}
}

// put takes one in and says whether it was news.
func (t *tombstones) put(s *Tombstone) bool {
	at := grave{s.Run, s.Author}
	if old, ok := t.of[at]; ok {
		again := old.Reason.Final() || !s.Reason.Final() && s.Seq <= old.Seq
		if !s.Supersedes(old.Tombstone) || old.said && again { // this peer knows better what it has said
			return false
		}
	}
	if order, ok := t.place(at); ok { // else it has its effect, and is not remembered
		t.of[at] = buried{s, order, at.author == t.self || t.member(at.author), t.of[at].said}
	}
	return true
}

// place is where in the order of their coming one stands; a new one gets room, or there is none.
func (t *tombstones) place(at grave) (order uint64, ok bool) {
	if old, known := t.of[at]; known {
		return old.order, true
	}
	most := t.each
	if at.author == t.self {
		most = t.most / 2 // they do not expire, and what others say needs room as well
	}
	if t.count(at.author) >= most {
		t.dropOldest(func(_ buried, author PeerID) bool { return author == at.author })
	}
	if len(t.of) >= t.most {
		own, member := at.author == t.self, t.member(at.author)
		if !t.dropOldest(func(b buried, _ PeerID) bool { return own || member && !b.member }) {
			return 0, false
		}
	}
	t.next++
	return t.next, true
}

// say puts one of this peer's own, which replaces whatever was heard of what it said in earlier lives.
func (t *tombstones) say(s *Tombstone) {
	at := grave{s.Run, t.self}
	order, _ := t.place(at)
	t.of[at] = buried{s, order, true, true}
}

// said says whether this peer has spoken of the end of a run in this life, and not only heard what it said before.
func (t *tombstones) said(run RunID) bool { return t.of[grave{run, t.self}].said }

func (t *tombstones) count(author PeerID) (n int) {
	for at := range t.of {
		if at.author == author {
			n++
		}
	}
	return n
}

// dropOldest makes room, of those that may give way; false if there are none.
func (t *tombstones) dropOldest(may func(b buried, author PeerID) bool) bool {
	var oldest grave
	order := t.next + 1
	for at, b := range t.of {
		if b.order < order && may(b, at.author) {
			oldest, order = at, b.order
		}
	}
	delete(t.of, oldest)
	return order <= t.next
}

// by is what an author said of a run; nil if it said nothing.
func (t *tombstones) by(run RunID, author PeerID) *Tombstone {
	return t.of[grave{run, author}].Tombstone
}

// over says whether a run does not go on, by its owner's word.
func (t *tombstones) over(run RunID, owner PeerID) bool {
	s := t.by(run, owner)
	return s != nil && s.over()
}

// expire drops those that nobody needs any more. This peer's own are few enough to stay.
func (t *tombstones) expire(day *calendar.Calendar) {
	for at, b := range t.of {
		if at.author != t.self && day.Reached(b.Until+1) {
			delete(t.of, at)
		}
	}
}

// any is what somebody said of a run whose owner is not known.
func (t *tombstones) any(id RunID) (found *Tombstone) {
	var order uint64
	for at, b := range t.of {
		if at.run == id && (found == nil || b.order < order) {
			found, order = b.Tombstone, b.order
		}
	}
	return found
}
