package library

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// Runs of a few members that name modules that nobody has leave places for others' and, always, for the user: who has
// fewer gets one when a module was asked for in vain. What nobody can take a place from stays.
func TestMissingModulesMakeWay(t *testing.T) {
	c, err := New(DefaultConfig(256<<20), "me", rand.New(rand.NewPCG(1, 2)), nil)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Second
	want := func(h Hash, owner PeerID) bool {
		c.Want(now, h, fmt.Sprint("run of ", owner, h[1]), owner)
		if len(c.wanted) > c.cfg.Wanted {
			t.Fatalf("%d are fetched at once", len(c.wanted))
		}
		return c.Wanted(h)
	}
	for i := range c.cfg.Wanted {
		want(Hash{1 + byte(i%2), byte(i)}, PeerID(fmt.Sprint("liar ", i%2)))
	}
	if want(Hash{9}, "honest") {
		t.Error("what is being asked for makes way")
	}
	now += c.cfg.Objects.ReadPatience
	c.Tick(now) // all were in vain
	if !want(Hash{9}, "honest") || !want(Hash{8}, "honest") {
		t.Error("another member's has no place")
	}
	for range 3600 {
		now += time.Second
		for i := range 2 * c.cfg.Wanted {
			want(Hash{1 + byte(i%2), byte(i)}, PeerID(fmt.Sprint("liar ", i%2)))
		}
		c.Tick(now)
	}
	if !c.Wanted(Hash{9}) || !c.Wanted(Hash{8}) {
		t.Error("who has most takes places from who has fewer")
	}
	want(Hash{9}, "")
	for i := range c.cfg.Wanted - 1 {
		if !want(Hash{7, byte(i)}, "") {
			t.Fatalf("the user's own has no place, %d have", i)
		}
	}
	if want(Hash{6}, "honest") || want(Hash{7, 200}, "") || !c.Wanted(Hash{9}) {
		t.Error("the user's own makes way")
	}
}
