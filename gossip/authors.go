package gossip

import (
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// A class of topics: an envelope goes through a topic of each.
type class int

const (
	near class = iota // of a cluster
	wide              // of the gateways, or of everybody while the swarm is flat
	classes
)

// An author is what is kept of one who signs messages.
type author struct {
	passed    [classes]window // what was taken in, by class of topic
	delivered window          // what was delivered here, whichever topic it came through
	rate      bucket
	kinds     [kinds + 1]bucket // of each kind; the last is of KindShared and of those that are not known here
}

func (k Kind) bucket() Kind { return min(k, kinds) }

const (
	maxMemberAuthors   = 4096
	maxStrangerAuthors = 1024
	// sizeUnit is how many bytes of an envelope cost as much as an envelope.
	sizeUnit = 4 << 10
)

// authors keeps sequence numbers and rates. Members and strangers have tables of their own, so that invented authors
// cannot push members out.
type authors struct {
	cfg *Config

	mu        sync.Mutex
	self      peer.ID
	me        author
	isMember  map[peer.ID]bool
	members   *recent[peer.ID, author]
	strangers *recent[peer.ID, author]
}

func newAuthors(cfg *Config, self peer.ID, firstSeq uint64) *authors {
	a := &authors{cfg: cfg, self: self, isMember: make(map[peer.ID]bool),
		members:   newRecent[peer.ID, author](maxMemberAuthors),
		strangers: newRecent[peer.ID, author](maxStrangerAuthors)}
	// What this peer signed before it was started anew is old.
	for c := range a.me.passed {
		a.me.passed[c].add(firstSeq)
	}
	a.me.delivered.add(firstSeq)
	return a
}

// setMembers says who is not a stranger. What is known of the authors is kept.
func (a *authors) setMembers(ids []peer.ID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	was := a.isMember
	a.isMember = make(map[peer.ID]bool, len(ids))
	for _, id := range ids {
		a.isMember[id] = true
		if !was[id] {
			move(a.strangers, a.members, id)
		}
	}
	for id := range was {
		if !a.isMember[id] {
			move(a.members, a.strangers, id)
		}
	}
}

func (a *authors) member(id peer.ID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.isMember[id]
}

func move(from, to *recent[peer.ID, author], id peer.ID) {
	if known := from.peek(id); known != nil {
		to.put(id, *known)
		from.remove(id)
	}
}

// of returns an author's entry, made if make is set, else nil if there is none. a.mu is held.
func (a *authors) of(id peer.ID, make bool) *author {
	table := a.strangers
	switch {
	case id == a.self:
		return &a.me
	case a.isMember[id]:
		table = a.members
	}
	if make {
		return table.get(id)
	}
	return table.peek(id)
}

// passed says whether an envelope was taken in before through a topic of the class.
func (a *authors) passed(id peer.ID, c class, seq uint64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.of(id, false)
	return known != nil && known.passed[c].seen(seq)
}

// pass notes that an envelope was taken in, or sent, through a topic of the class, and says whether that is new.
func (a *authors) pass(id peer.ID, c class, seq uint64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.of(id, true).passed[c].add(seq)
}

// deliver notes that an envelope is delivered here, and says whether that is new.
func (a *authors) deliver(id peer.ID, seq uint64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.of(id, true).delivered.add(seq)
}

// charge takes what an envelope costs from its author's rates, and says whether there was that much. Only the first
// copy of an envelope costs. A stranger's costs from the given bucket as well, if there is one, which those share who
// came by the same neighbour; the caller guards it.
func (a *authors) charge(id peer.ID, e *envelope, bytes int, strangers *bucket, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if known := a.of(id, false); known != nil && (known.passed[near].seen(e.Seq) || known.passed[wide].seen(e.Seq)) {
		return true
	}
	cost := 1 + float64(bytes)/sizeUnit
	if id != a.self && !a.isMember[id] && strangers != nil && !strangers.take(a.cfg.StrangerRate, now, cost) {
		return false
	}
	known := a.of(id, true)
	if !known.rate.take(a.cfg.AuthorRate, now, cost) {
		return false
	}
	for _, it := range e.Items {
		if !known.kinds[it.Kind.bucket()].take(a.cfg.kindRate(it.Kind), now, 1) {
			return false
		}
	}
	return true
}

// mayPublish takes one message of a kind from this peer's own rate, and says whether there was one. It stays below
// what others take, whose clocks and networks jitter.
func (a *authors) mayPublish(k Kind, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.me.kinds[k.bucket()].take(a.cfg.kindRate(k).below(), now, 1)
}

// maySend does the same for a combined message.
func (a *authors) maySend(bytes int, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.me.rate.take(a.cfg.AuthorRate.below(), now, 1+float64(bytes)/sizeUnit)
}

// below is three quarters of a rate.
func (r Rate) below() Rate {
	return Rate{PerSecond: r.PerSecond * 3 / 4, Burst: max(1, r.Burst*3/4)}
}
