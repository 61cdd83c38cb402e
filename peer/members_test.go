package peer

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/statement"
)

// crowded are the members that a peer of cluster a knows, who have come one a second.
type crowded struct {
	members
	now time.Time
}

func newCrowded() *crowded {
	return &crowded{now: time.Unix(1000, 0), members: members{cards: map[peer.ID]*memberCard{},
		once: map[peer.ID]cardNumber{}, log: slog.New(slog.DiscardHandler), changed: func() {},
		mine: func() string { return "a" }}}
}

func (x *crowded) come(cluster string, from, to int, by ...peer.ID) {
	for i := from; i < to; i++ {
		x.now = x.now.Add(time.Second)
		x.learn(&statement.SignedCard{Peer: peer.ID(fmt.Sprintf("%s%d", cluster, i)),
			Card: statement.Card{Cluster: cluster, Seq: 1}}, by, x.now)
	}
}

// What all members tell of themselves does not grow with the swarm: the more there are, the rarer each renews its card,
// and the longer cards are believed.
func TestCardsArePaced(t *testing.T) {
	for n, every := range map[int]time.Duration{0: cardEvery, 400: cardEvery, 2_000: 100 * time.Second,
		maxMembers: maxMembers * time.Second / 20} {
		x := newCrowded()
		x.come("b", 0, n)
		if got := x.every(); got != every {
			t.Errorf("%d members renew their cards every %v, want %v", n, got, every)
		}
		for i := range n {
			x.cards[peer.ID(fmt.Sprintf("b%d", i))].heard = x.now
		}
		if x.expire(x.now.Add(every * 4)); x.count() != n {
			t.Errorf("%d of %d are left after four turns", x.count(), n)
		}
		if x.expire(x.now.Add(every * 5)); x.count() != 0 {
			t.Errorf("%d of %d are left after five turns", x.count(), n)
		}
	}
}

// Whoever knows few forgets soon, and still gets to know all: it hears of more than it forgets.
func TestNewcomersGetToKnowAll(t *testing.T) {
	x := newCrowded()
	const n = 4_000 // each of which is heard once in 200 s
	for second := range 1_200 {
		for i := range 20 {
			x.learn(&statement.SignedCard{Peer: peer.ID(fmt.Sprint((20*second + i) % n)),
				Card: statement.Card{Seq: uint64(second + 1)}}, nil, x.now)
		}
		x.now = x.now.Add(time.Second)
		x.expire(x.now)
	}
	if x.count() < n*9/10 {
		t.Errorf("%d of %d are known after %v", x.count(), n, x.now.Sub(time.Unix(1000, 0)))
	}
}

// Where there is no more room, whoever comes to this peer's own cluster makes the one go that was not heard for the
// longest time of the others.
func TestMembersAreBounded(t *testing.T) {
	x := newCrowded()
	x.come("a", 0, 10)
	x.come("b", 10, maxMembers)
	if x.come("c", 0, 1); x.get("c0") != nil || x.count() != maxMembers {
		t.Errorf("of %d one is %v", x.count(), x.get("c0"))
	}
	if x.come("a", 10, 12); x.get("a10") == nil || x.get("a11") == nil || x.get("b10") != nil || x.get("b11") != nil ||
		x.get("a0") == nil || x.count() != maxMembers {
		t.Errorf("of %d its own are not there, or the wrong ones went", x.count())
	}
	if x.come("a", 12, 12+maxIntroduced+5, "inviter"); x.get(peer.ID(fmt.Sprintf("a%d", 12+maxIntroduced))) != nil {
		t.Error("one inviter takes all the room")
	}
	another := peer.ID(fmt.Sprintf("a%d", 12+maxIntroduced+5))
	x.come("a", 12+maxIntroduced+5, 12+maxIntroduced+6, "second")
	for id, want := range map[peer.ID]bool{another: false, "a12": true} { // who is a member by it already may renew
		if got := x.learn(&statement.SignedCard{Peer: id, Card: statement.Card{Cluster: "a", Seq: 2}},
			[]peer.ID{"inviter"}, x.now); got != want {
			t.Errorf("a card of %s, as a member by one that has introduced as many as it may, is news: %t", id, got)
		}
	}
}

// In a large swarm each tells rarely what it does for a run, and is believed until it may tell again.
func TestLoadsOfLargeSwarms(t *testing.T) {
	for n, every := range map[int]time.Duration{0: time.Second, 2_000: 200 * time.Second} {
		x := newCrowded()
		x.come("b", 0, n)
		c := &conductor{base: &base{now: func() time.Time { return x.now }, every: time.Second},
			outside: outside{swarm: &swarm{members: &x.members}}, parts: map[job.RunID]*part{{}: {}}}
		c.hearLoad("b1", encode(&load{Workers: 2, Busy: 1}))
		for after, want := range map[time.Duration]int{every: 1, 2 * every: 1, max(loadLife, 3*every): 0} {
			if _, workers, _ := (&part{final: new(report.RunStats), loads: c.parts[job.RunID{}].loads}).taking(
				x.now.Add(after)); workers != 2*want {
				t.Errorf("of %d members: %v after it was heard %d workers take part", n, after, workers)
			}
		}
		if got := x.loadEvery(time.Second); got != every {
			t.Errorf("of %d members each tells every %v", n, got)
		}
	}
}
