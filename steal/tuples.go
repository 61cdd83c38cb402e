package steal

import (
	"container/list"
	"slices"
	"time"

	"github.com/satin-peer/satin/job"
)

// tupleTable is what others have told of lost work: the papers' orphan table (fault tolerance paper, 3.2). One tuple a
// job and peer, of a few peers: one of them may be lost, which who does not know it never hears, and the others tell
// of what they have only once. What a peer has finished takes the place of what it works on, there and below. What it
// has finished below stays: all of it may come from a checkpoint, and who is in the middle of that job looks for its
// parts. When the table is full, whoever has most tuples in it loses the oldest, so that a peer that tells much, or
// lies, harms itself.
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

// maxHolders is of how many peers that have a job it is known.
const maxHolders = 3

// put enters a tuple; nil if it says nothing new.
func (t *tupleTable) put(u Tuple) *tupleEntry {
	of := func(e *tupleEntry) bool { return e.Holder.Peer == u.Holder.Peer }
	if !u.Done && t.index.above(u.Path, func(a *tupleEntry) bool { return a.Done && a.Holder == u.Holder }) {
		return nil
	}
	same := t.find(u.Path, u.Identity)
	if i := slices.IndexFunc(same, of); i >= 0 {
		if !u.betterThan(&same[i].Tuple) {
			return nil
		}
		t.remove(same[i])
	} else if len(same) >= maxHolders { // who has not finished it is worth least, then who told of it first
		i := max(0, slices.IndexFunc(same, func(e *tupleEntry) bool { return !e.Done }))
		t.remove(same[i])
		t.evicted++
	}
	if u.Done {
		t.evicted += t.dropBelow(u.Path, func(e *tupleEntry) bool { return of(e) && !e.Done })
	}
	for len(t.index) >= t.most {
		t.remove(t.holders[t.biggest()].Front().Value.(*tupleEntry))
		t.evicted++
	}
	e := &tupleEntry{Tuple: u}
	if !t.pay(e) {
		return nil
	}
	i, _ := t.index.find(u.Path, u.Identity)
	t.index = slices.Insert(t.index, i+len(t.find(u.Path, u.Identity)), e)
	l := t.holders[u.Holder.Peer]
	if l == nil {
		l = list.New()
		t.holders[u.Holder.Peer] = l
	}
	e.place = l.PushBack(e)
	t.touched.add(e.Path)
	return e
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

// dropBelow drops of what is strictly below a job whose outcome is known what fits, and says how much that was.
func (t *tupleTable) dropBelow(p job.Path, fits func(*tupleEntry) bool) (n uint64) {
	for _, d := range slices.Clone(t.index.below(p)) {
		if fits(d) {
			t.remove(d)
			n++
		}
	}
	return n
}

// betterThan compares two tuples of one job by one peer: a later life is better, then what is done.
func (u *Tuple) betterThan(old *Tuple) bool {
	if u.Holder.Inc != old.Holder.Inc {
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
	i, _ := t.index.find(e.Path, e.Identity)
	j := slices.Index(t.find(e.Path, e.Identity), e)
	if j < 0 {
		return
	}
	t.index = slices.Delete(t.index, i+j, i+j+1)
	t.purse.give(e.Holder.Peer, e.size())
	l := t.holders[e.Holder.Peer]
	if l.Remove(e.place); l.Len() == 0 {
		delete(t.holders, e.Holder.Peer)
	}
	t.touched.add(e.Path)
}

// find lists who is known to have a job, in the order in which they told of it.
func (t *tupleTable) find(p job.Path, id job.Identity) []*tupleEntry {
	first, _ := t.index.find(p, id)
	n := first
	for n < len(t.index) && t.index[n].Identity == id && slices.Equal(t.index[n].Path, p) {
		n++
	}
	return t.index[first:n]
}

// forget drops what a holder said of a job, because it was not so.
func (t *tupleTable) forget(p job.Path, id job.Identity, holder PeerID) {
	for _, e := range t.find(p, id) {
		if e.Holder.Peer == holder {
			t.remove(e)
			return
		}
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
