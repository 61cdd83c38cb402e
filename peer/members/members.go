// Package members keeps the cards of the other members of a swarm, the newest of each.
//
// How many there are is bounded, and of those that are members by one other's word as well; the more there are, the
// rarer each renews its card, so that what all tell of themselves does not grow with the swarm. Nothing here waits,
// and nothing asks for the time: what depends on it is told it.
package members

import (
	"cmp"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/peer/statement"
)

const (
	// CardEvery is how often a peer signs its card anew although nothing has changed, unless there are many: see
	// [Members.Every].
	CardEvery = report.CardEvery
	// Most bounds the members that a peer knows. Beyond it, those of its own cluster make others go, and cards of
	// other strangers are dropped.
	Most = 8192
	// maxIntroduced bounds those of them that are members by one other member, at whatever remove: whoever may invite
	// can make as many as it likes.
	maxIntroduced = 512
)

// Members are the cards of the others, the newest of each. Nothing here says that a member is alive: partners
// of a run find that out by heartbeats (package steal). Its methods may be called at the same time.
type Members struct {
	mu      sync.Mutex
	cards   map[peer.ID]*Card
	once    map[peer.ID]cardNumber // of who was here, the last: what they have computed may still come
	log     *slog.Logger
	changed func()
	mine    func() string
}

// New makes them for a peer whose cluster is mine. Changed is called, without the mutex, after a member came, went or
// changed what matters.
func New(log *slog.Logger, mine func() string, changed func()) *Members {
	return &Members{cards: map[peer.ID]*Card{}, once: map[peer.ID]cardNumber{}, log: log, changed: changed,
		mine: mine}
}

// A Card is what a member last told of itself, with what this peer knows of it. Nobody changes one.
type Card struct {
	*statement.SignedCard
	Joined time.Time // when this peer first heard of the member
	Heard  time.Time // when the card came
	by     []peer.ID // by whom it is a member, the founder not among them
}

// A cardNumber is when a card was signed, in its peer's own count.
type cardNumber struct{ incarnation, seq uint64 }

// IsStale says whether a card is one of which this peer has heard and that it has forgotten. Others may have it for
// longer, to whom this peer itself may have told it: they would keep each other believing in a member that has gone.
func (m *Members) IsStale(c *statement.SignedCard) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	last, was := m.once[c.Peer]
	return was && m.cards[c.Peer] == nil &&
		cmp.Or(cmp.Compare(c.Incarnation, last.incarnation), cmp.Compare(c.Seq, last.seq)) <= 0
}

// Learn takes a card in, of one who is a member by certain others, and says whether it was news.
func (m *Members) Learn(c *statement.SignedCard, by []peer.ID, now time.Time) bool {
	near := c.Cluster == m.mine()
	m.mu.Lock()
	old := m.cards[c.Peer]
	switch {
	case old != nil && !c.Newer(old.SignedCard):
		m.mu.Unlock()
		return false
	case m.crowd(by, old), old == nil && (c.Leaving || len(m.cards) >= Most && !(near && m.makeRoom(c.Cluster))):
		m.mu.Unlock()
		return false
	}
	next := &Card{c, now, now, by}
	if old != nil {
		next.Joined = old.Joined
	}
	m.cards[c.Peer] = next
	if len(m.once) >= 2*Most {
		clear(m.once) // costs work done again at most
	}
	m.once[c.Peer] = cardNumber{c.Incarnation, c.Seq}
	matters := old == nil || !sameMember(&old.Card, &c.Card)
	m.mu.Unlock()
	switch {
	case old == nil:
		m.log.Info("member found", "peer", c.Peer, "cluster", plain.Clip(c.Cluster))
	case c.Leaving && !old.Leaving:
		m.log.Info("member left", "peer", c.Peer)
	}
	if matters {
		m.changed()
	}
	return true
}

// Every is how often members renew their cards. They are believed four and a half times as long, by whoever knows as
// many members; whoever knows few believes them for a short time, and so hears of more before they have gone.
func (m *Members) Every() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.pace()
}

func (m *Members) pace() time.Duration {
	return report.Every(len(m.cards), report.CardsPerSecond, CardEvery)
}

// makeRoom has the member of another cluster that was not heard for the longest time go, for one of this cluster: its
// neighbours are whom a peer has most to do with. The mutex is held.
func (m *Members) makeRoom(cluster string) bool {
	var oldest *Card
	for _, c := range m.cards {
		if c.Cluster != cluster && (oldest == nil || c.Heard.Before(oldest.Heard)) {
			oldest = c
		}
	}
	if oldest != nil {
		delete(m.cards, oldest.Peer)
	}
	return oldest != nil
}

// crowd says whether one of those has as many members here by it as it may, besides one that was known to be. The
// mutex is held.
func (m *Members) crowd(by []peer.ID, besides *Card) bool {
	for _, inviter := range by {
		if besides != nil && slices.Contains(besides.by, inviter) {
			continue
		}
		n := 0
		for _, c := range m.cards {
			if slices.Contains(c.by, inviter) {
				n++
			}
		}
		if n >= maxIntroduced {
			return true
		}
	}
	return false
}

// sameMember says whether two cards of a peer mean the same for runs and clusters.
func sameMember(a, b *statement.Card) bool {
	return a.Incarnation == b.Incarnation && a.Leaving == b.Leaving && a.Label == b.Label && a.Cluster == b.Cluster &&
		(a.Cores > 0) == (b.Cores > 0) && slices.Equal(a.Apps, b.Apps) &&
		slices.Equal(a.Networks, b.Networks) && slices.Equal(a.Addrs, b.Addrs)
}

// Review forgets those who are no members any more.
func (m *Members) Review(member func(*statement.SignedCard) bool) {
	m.mu.Lock()
	all := maps.Clone(m.cards)
	m.mu.Unlock()
	maps.DeleteFunc(all, func(_ peer.ID, c *Card) bool { return member(c.SignedCard) }) // which takes its time
	m.mu.Lock()
	before := len(m.cards)
	maps.DeleteFunc(m.cards, func(id peer.ID, c *Card) bool { return all[id] == c })
	gone := len(m.cards) < before
	m.mu.Unlock()
	if gone {
		m.changed()
	}
}

// Expire forgets cards that were not renewed.
func (m *Members) Expire(now time.Time) {
	m.mu.Lock()
	gone, every := false, m.pace()
	for id, c := range m.cards {
		life := every * 9 / 2
		if c.Leaving {
			life = 2 * CardEvery // long enough that an older card of it, still on its way, is not taken for news
		}
		if now.Sub(c.Heard) > life {
			delete(m.cards, id)
			gone = true
			if !c.Leaving {
				m.log.Info("member not heard of any more", "peer", id)
			}
		}
	}
	m.mu.Unlock()
	if gone {
		m.changed()
	}
}

// List gives the members that have not said goodbye, by ID.
func (m *Members) List() []*Card {
	m.mu.Lock()
	list := make([]*Card, 0, len(m.cards))
	for _, c := range m.cards {
		if !c.Leaving {
			list = append(list, c)
		}
	}
	m.mu.Unlock()
	slices.SortFunc(list, func(a, b *Card) int {
		switch {
		case a.Peer < b.Peer:
			return -1
		case a.Peer > b.Peer:
			return 1
		}
		return 0
	})
	return list
}

// Get finds a member that has not said goodbye; nil if there is none.
func (m *Members) Get(id peer.ID) *Card {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.cards[id]; c != nil && !c.Leaving {
		return c
	}
	return nil
}

// Knew says whether a peer has been a member as long as this one remembers.
func (m *Members) Knew(id peer.ID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, was := m.once[id]
	return was
}

// Count is the number of members that have not said goodbye.
func (m *Members) Count() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.cards {
		if !c.Leaving {
			n++
		}
	}
	return n
}
