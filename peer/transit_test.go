package peer

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer/statement"
)

// Whatever members have on its way, no more is held than may be, one of them leaves the others theirs, and all of it
// comes back.
func TestTransit(t *testing.T) {
	var road transit
	greedy := func(n int) (leave []func()) {
		for {
			f, ok := road.enter("greedy", n)
			if !ok {
				return leave
			}
			leave = append(leave, f)
		}
	}
	for _, c := range []struct{ size, most int }{{1 << 20, 16}, {transitPart, 1}, {9 << 20, 1}, {wire.MaxOutcome, 1}} {
		taken := greedy(c.size)
		if len(taken) != c.most {
			t.Errorf("one has %d of %d bytes, not %d", len(taken), c.size, c.most)
		}
		for _, size := range []int{transitPart, wire.MaxOutcome} {
			leave, ok := road.enter("honest", size)
			if !ok {
				t.Errorf("of %d bytes one keeps others from %d", c.size, size)
				continue
			}
			leave()
		}
		for _, f := range taken {
			f()
		}
	}
	one, _ := road.enter("a", wire.MaxOutcome)
	two, _ := road.enter("b", wire.MaxOutcome)
	if _, ok := road.enter("c", transitPart+1); ok {
		t.Error("three large ones are on their way")
	}
	if leave, ok := road.enter("c", transitPart); !ok {
		t.Error("large ones keep others out")
	} else {
		leave()
	}
	one()
	two()
	if len(road.of) > 0 || road.small+road.large > 0 {
		t.Errorf("left: %+v", road.of)
	}

	r := rand.New(rand.NewPCG(1, 1))
	sum, things := map[peer.ID]int{}, map[peer.ID]int{}
	var leave []func()
	for range 20000 {
		if i := len(leave); i > 0 && r.IntN(2) == 0 {
			i = r.IntN(i)
			leave[i]()
			leave[i] = leave[len(leave)-1]
			leave = leave[:len(leave)-1]
			continue
		}
		who, n := peer.ID(rune('a'+r.IntN(20))), 1<<(16+r.IntN(13))+1
		f, ok := road.enter(who, n)
		if !ok {
			continue
		}
		sum[who] += n
		things[who]++
		leave = append(leave, func() { f(); sum[who] -= n; things[who]-- })
		all := 0
		for id, of := range sum {
			if of > transitPart && things[id] > 1 {
				t.Fatalf("%s has %d bytes of %d things", id, of, things[id])
			}
			all += of
		}
		if all > transitSmall+transitLarge {
			t.Fatalf("all have %d bytes", all)
		}
	}
	for range 1000 {
		if _, ok := road.enter("free", transitFree); !ok {
			t.Fatal("what is small is refused")
		}
	}
}

// What can be had nowhere else waits for room, as long as it may.
func TestTransitIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var road transit
		leave, _ := road.enter("slow", transitPart)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := road.await(ctx, "slow", transitPart); err == nil {
			t.Error("one has twice what one may have")
		}
		time.AfterFunc(time.Minute, leave)
		ctx, cancel = context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		leave, err := road.await(ctx, "slow", transitPart)
		if err != nil {
			t.Fatal(err)
		}
		leave()
		if len(road.of) > 0 || road.small > 0 {
			t.Errorf("left: %+v", road.of)
		}
	})
}

// A streamTo takes what is written to a member.
type (
	streamTo struct{ network.Stream }
	connTo   struct{ network.Conn }
)

func (streamTo) Conn() network.Conn          { return connTo{} }
func (streamTo) Write(b []byte) (int, error) { return len(b), nil }
func (connTo) RemotePeer() peer.ID           { return "slow" }

// unsayable is a long answer that cannot be encoded.
type unsayable struct{ What func() }

func (unsayable) length() int { return transitPart }

// Guards that a member which asks for much at once, as for manifests of 16 MiB on many streams, has no more of it in
// memory here than it may, and that what is short needs no room: a manifest is told though others read slowly.
func TestLongAnswersWaitForRoom(t *testing.T) {
	var x switchboard
	a := &runAnswer{Manifest: make([]byte, 1<<20), Tombstone: make([]byte, statement.MaxTombstone),
		Answered: make([]byte, statement.MaxAnswered), Roster: make([]byte, statement.MaxRoster), RosterAge: 9,
		Led: true}
	if b, err := wire.Value().Encode(a); err != nil || len(b) > a.length() {
		t.Errorf("an answer of %d bytes says that it has %d: %v", len(b), a.length(), err)
	}
	leave, _ := x.road.enter("slow", transitPart)
	if err := x.tell(streamTo{}, unsayable{}); err != errBusy {
		t.Errorf("what there is no room for was encoded: %v", err)
	}
	leave()
	if err := x.tell(streamTo{}, a); err != nil || len(x.road.of) > 0 || x.road.small > 0 {
		t.Errorf("%v is left of an answer that was told: %v", x.road.of, err)
	}
	for i := range transitSmall / transitPart {
		x.road.enter(peer.ID(fmt.Sprint(i)), transitPart)
	}
	if err := x.tell(streamTo{}, &runAnswer{Manifest: make([]byte, transitFree-2*maxRest)}); err != nil {
		t.Errorf("a short answer is not told while others are read slowly: %v", err)
	}
}
