package switchboard

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
)

// Whatever members have on its way, no more is held than may be, one of them leaves the others theirs, and all of it
// comes back.
func TestTransit(t *testing.T) {
	var road Transit
	greedy := func(n int) (leave []func()) {
		for {
			f, ok := road.Enter("greedy", n)
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
			leave, ok := road.Enter("honest", size)
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
	one, _ := road.Enter("a", wire.MaxOutcome)
	two, _ := road.Enter("b", wire.MaxOutcome)
	if _, ok := road.Enter("c", transitPart+1); ok {
		t.Error("three large ones are on their way")
	}
	if leave, ok := road.Enter("c", transitPart); !ok {
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
		f, ok := road.Enter(who, n)
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
		if _, ok := road.Enter("free", transitFree); !ok {
			t.Fatal("what is small is refused")
		}
	}
}

// What can be had nowhere else waits for room, as long as it may.
func TestTransitIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var road Transit
		leave, _ := road.Enter("slow", transitPart)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := road.Await(ctx, "slow", transitPart); err == nil {
			t.Error("one has twice what one may have")
		}
		time.AfterFunc(time.Minute, leave)
		ctx, cancel = context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		leave, err := road.Await(ctx, "slow", transitPart)
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

type (
	// unsayable is a long answer that cannot be encoded, sayable one that can.
	unsayable struct{ What func() }
	sayable   []byte
)

func (unsayable) Length() int { return transitPart }
func (s sayable) Length() int { return len(s) + 16 }

// Guards that a member which asks for much at once, as for manifests of 16 MiB on many streams, has no more of it in
// memory here than it may, and that what is short needs no room: a manifest is told though others read slowly.
func TestLongAnswersWaitForRoom(t *testing.T) {
	var x Board
	a := sayable(make([]byte, 1<<20))
	leave, _ := x.Road.Enter("slow", transitPart)
	if err := x.Tell(streamTo{}, unsayable{}); err != ErrBusy {
		t.Errorf("what there is no room for was encoded: %v", err)
	}
	leave()
	if err := x.Tell(streamTo{}, a); err != nil || len(x.Road.of) > 0 || x.Road.small > 0 {
		t.Errorf("%v is left of an answer that was told: %v", x.Road.of, err)
	}
	for i := range transitSmall / transitPart {
		x.Road.Enter(peer.ID(fmt.Sprint(i)), transitPart)
	}
	if err := x.Tell(streamTo{}, sayable(make([]byte, transitFree-1<<10))); err != nil {
		t.Errorf("a short answer is not told while others are read slowly: %v", err)
	}
}
