package steal

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// withGuests adds guests to a membership, in the first member's cluster.
func withGuests(m *Members, n int) *Members {
	list := []Member{}
	for i := range m.Len() {
		list = append(list, m.At(i))
	}
	for i := range n {
		list = append(list, Member{ID: PeerID(fmt.Sprint("guest", i)), Cluster: list[0].Cluster, Guest: true})
	}
	return NewMembers(list)
}

// Guests are stolen from, and a master that is lost is replaced as soon as without them: they never take its place.
func TestGuestsAreNoMasters(t *testing.T) {
	began := func(guests int) time.Duration {
		c := masterCore(t, "x", false)
		c.SetMembers(0, withGuests(c.members, guests))
		at, _ := c.until(t, time.Minute, Tell)
		return at
	}
	if with, without := began(100), began(0); with != without || without == 0 {
		t.Errorf("the root is restarted after %v, without guests after %v", with, without)
	}
}

// What a leaver knows goes to members, though a guest has less to do.
func TestNothingIsHandedOverToGuests(t *testing.T) {
	c := salvageCore(t, nil)
	for _, busy := range []PeerID{"b", "c", "d", "e", "f", "g"} {
		c.Step(c.now, &Message{From: living(busy), To: c.self, Hunger: &Hunger{Seq: 1, Queued: 50}})
	}
	c.SetMembers(c.now, withGuests(c.members, 5))
	for i := range 100 {
		c.Keep(c.now, []Partial{partAt(2000, uint32(i+1))})
	}
	for _, m := range c.Leave(c.now, time.Second).Messages {
		if m.HandOver == nil {
			continue
		}
		if to, ok := c.members.Find(m.To.Peer); !ok || to.Guest {
			t.Errorf("%d outcomes are handed over to %s", len(m.HandOver.Parts), m.To.Peer)
		}
	}
	if !slices.ContainsFunc(c.departure.transfers, func(u *transfer) bool { return len(u.parts) > 0 }) {
		t.Error("nothing is handed over")
	}
}
