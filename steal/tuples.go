package steal

import (
	"container/list"
	"slices"
	"time"

	"github.com/satin-peer/satin/job"
)

// tupleTable is what others have told of lost work: the papers' orphan table (fault tolerance paper, 3.2).
// One tuple a job; a finished one takes the place of one that is being worked on, and of all below it. When
// it is full, whoever has most tuples in it loses the oldest, so that a peer that tells much, or lies, harms
// itself.
type tupleTable struct {
	index   byPath[*tupleEntry]
	holders map[PeerID]*list.List // of *tupleEntry, oldest first
	most    int
	evicted uint64
	purse   *purse
	refused uint64
	touched touched
}

type tupleEntry struct {
	Tuple
	since time.Duration // when its holder began, by the clock here, or later
	place *list.Element
}

func (e *tupleEntry) name() (job.Path, job.Identity) { return e.Path, e.Identity }

func newTupleTable(most int, u *purse) tupleTable {
	return tupleTable{holders: make(map[PeerID]*list.List), most: most, purse: u, touched: touched{many: true}}
}

// put enters a tuple; false if it says nothing new.
func (t *tupleTable) put(u Tuple) bool {
	if t.index.above(u.Path, func(a *tupleEntry) bool { return a.Done }) {
		return false
	}
	if i, there := t.index.find(u.Path, u.Identity); there {
		if !u.betterThan(&t.index[i].Tuple) {
			return false
		}
		t.remove(t.index[i])
	}
	if u.Done {
		t.evicted += t.dropBelow(u.Path)
	}
	for len(t.index) >= t.most {
		t.remove(t.holders[t.biggest()].Front().Value.(*tupleEntry))
		t.evicted++
	}
	e := &tupleEntry{Tuple: u}
	if !t.pay(e) {
		return false
	}
	i, _ := t.index.find(u.Path, u.Identity)
	t.index = slices.Insert(t.index, i, e)
	l := t.holders[u.Holder.Peer]
	if l == nil {
		l = list.New()
		t.holders[u.Holder.Peer] = l
	}
	e.place = l.PushBack(e)
	t.touched.add(e.Path)
	return true
}

// pay has what an entry takes set aside; its holder's oldest make room for it.
func (t *tupleTable) pay(e *tupleEntry) bool {
	for !t.purse.take(e.Holder.Peer, e.size(), false) {
		l := t.holders[e.Holder.Peer]
		if l == nil {
			t.refused++
			return false
		}
		t.remove(l.Front().Value.(*tupleEntry))
		t.evicted++
	}
	return true
}

// size is what a tuple takes of the room.
func (e *tupleEntry) size() int { return 4*len(e.Path) + tupleOverhead }

// tupleOverhead is about what an entry takes besides its path.
const tupleOverhead = 256

// dropBelow drops what is strictly below a job whose outcome is known, and says how much that was.
func (t *tupleTable) dropBelow(p job.Path) uint64 {
	below := slices.Clone(t.index.below(p))
	for _, d := range below {
		t.remove(d)
	}
	return uint64(len(below))
}

// betterThan compares two tuples of one job: what is done is better, then a later life of the same peer.
func (u *Tuple) betterThan(old *Tuple) bool {
	if u.Holder.Peer == old.Holder.Peer && u.Holder.Inc != old.Holder.Inc {
		return u.Holder.Inc > old.Holder.Inc
	}
	return u.Done && !old.Done
}

// biggest is who has most tuples here.
func (t *tupleTable) biggest() (id PeerID) {
	n := -1
	for h, l := range t.holders { // in any order: ties are broken by name
		if l.Len() > n || l.Len() == n && h < id {
			id, n = h, l.Len()
		}
	}
	return id
}

func (t *tupleTable) remove(e *tupleEntry) {
	i, ok := t.index.find(e.Path, e.Identity)
	if !ok || t.index[i] != e {
		return
	}
	t.index = slices.Delete(t.index, i, i+1)
	t.purse.give(e.Holder.Peer, e.size())
	l := t.holders[e.Holder.Peer]
	if l.Remove(e.place); l.Len() == 0 {
		delete(t.holders, e.Holder.Peer)
	}
	t.touched.add(e.Path)
}

// find looks a job up; nil if nobody is known to have it.
func (t *tupleTable) find(p job.Path, id job.Identity) *tupleEntry {
	if i, ok := t.index.find(p, id); ok {
		return t.index[i]
	}
	return nil
}

// forget drops what a holder said of a job, because it was not so.
func (t *tupleTable) forget(p job.Path, id job.Identity, holder PeerID) {
	if e := t.find(p, id); e != nil && e.Holder.Peer == holder {
		t.remove(e)
	}
}

// dropHolder drops the tuples of a peer's lives before that one: with them went what they held.
func (t *tupleTable) dropHolder(id PeerID, before Incarnation) {
	l := t.holders[id]
	if l == nil {
		return
	}
	for e := l.Front(); e != nil; {
		next := e.Next()
		if entry := e.Value.(*tupleEntry); entry.Holder.Inc < before {
			t.remove(entry)
			t.evicted++
		}
		e = next
	}
}
