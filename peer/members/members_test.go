package members

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/peer/statement"
)

// crowded are the members that a peer of cluster a knows, who have come one a second.
type crowded struct {
	*Members
	now time.Time
}

func newCrowded() *crowded {
	return &crowded{now: time.Unix(1000, 0), Members: New(slog.New(slog.DiscardHandler),
		func() string { return "a" }, func() {})}
}

func (x *crowded) come(cluster string, from, to int, by ...peer.ID) {
	for i := from; i < to; i++ {
		x.now = x.now.Add(time.Second)
		x.Learn(&statement.SignedCard{Peer: peer.ID(fmt.Sprintf("%s%d", cluster, i)),
			Card: statement.Card{Cluster: cluster, Seq: 1}}, by, x.now)
	}
}

// What all members tell of themselves does not grow with the swarm: the more there are, the rarer each renews its card,
// and the longer cards are believed.
func TestCardsArePaced(t *testing.T) {
	for n, every := range map[int]time.Duration{0: CardEvery, 400: CardEvery, 2_000: 100 * time.Second,
		Most: Most * time.Second / 20} {
		x := newCrowded()
		x.come("b", 0, n)
		if got := x.Every(); got != every {
			t.Errorf("%d members renew their cards every %v, want %v", n, got, every)
		}
		for i := range n {
			x.cards[peer.ID(fmt.Sprintf("b%d", i))].Heard = x.now
		}
		if x.Expire(x.now.Add(every * 4)); x.Count() != n {
			t.Errorf("%d of %d are left after four turns", x.Count(), n)
		}
		if x.Expire(x.now.Add(every * 5)); x.Count() != 0 {
			t.Errorf("%d of %d are left after five turns", x.Count(), n)
		}
	}
}

// Whoever knows few forgets soon, and still gets to know all: it hears of more than it forgets.
func TestNewcomersGetToKnowAll(t *testing.T) {
	x := newCrowded()
	const n = 4_000 // each of which is heard once in 200 s
	for second := range 1_200 {
		for i := range 20 {
			x.Learn(&statement.SignedCard{Peer: peer.ID(fmt.Sprint((20*second + i) % n)),
				Card: statement.Card{Seq: uint64(second + 1)}}, nil, x.now)
		}
		x.now = x.now.Add(time.Second)
		x.Expire(x.now)
	}
	if x.Count() < n*9/10 {
		t.Errorf("%d of %d are known after %v", x.Count(), n, x.now.Sub(time.Unix(1000, 0)))
	}
}

// Where there is no more room, whoever comes to this peer's own cluster makes the one go that was not heard for the
// longest time of the others.
func TestMembersAreBounded(t *testing.T) {
	x := newCrowded()
	x.come("a", 0, 10)
	x.come("b", 10, Most)
	if x.come("c", 0, 1); x.Get("c0") != nil || x.Count() != Most {
		t.Errorf("of %d one is %v", x.Count(), x.Get("c0"))
	}
	if x.come("a", 10, 12); x.Get("a10") == nil || x.Get("a11") == nil || x.Get("b10") != nil || x.Get("b11") != nil ||
		x.Get("a0") == nil || x.Count() != Most {
		t.Errorf("of %d its own are not there, or the wrong ones went", x.Count())
	}
	if x.come("a", 12, 12+maxIntroduced+5, "inviter"); x.Get(peer.ID(fmt.Sprintf("a%d", 12+maxIntroduced))) != nil {
		t.Error("one inviter takes all the room")
	}
	another := peer.ID(fmt.Sprintf("a%d", 12+maxIntroduced+5))
	x.come("a", 12+maxIntroduced+5, 12+maxIntroduced+6, "second")
	for id, want := range map[peer.ID]bool{another: false, "a12": true} { // who is a member by it already may renew
		if got := x.Learn(&statement.SignedCard{Peer: id, Card: statement.Card{Cluster: "a", Seq: 2}},
			[]peer.ID{"inviter"}, x.now); got != want {
			t.Errorf("a card of %s, as a member by one that has introduced as many as it may, is news: %t", id, got)
		}
	}
}
