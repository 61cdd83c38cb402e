package gossip

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"pgregory.net/rapid"
)

// Each member is second in about its part of the epochs, whatever it is called and says of itself: nobody can choose a
// name that is so in all.
func TestTurnsAreShared(t *testing.T) {
	const n, epochs = 8, 2000
	var members []Member
	for i, id := range ids(n) {
		members = append(members, Member{ID: id, Cluster: "c", Reachable: i < 2})
	}
	first, times := rank("c", members)[0], map[peer.ID]int{}
	for epoch := range int64(epochs) {
		g := elected("c", members, epoch-epochs/2)
		if len(g) != 2 || g[0] != first || g[1] == first {
			t.Fatalf("epoch %d has %v, the first is %s", epoch, g, first)
		}
		times[g[1]]++
	}
	for id, k := range times {
		if k < epochs/n/2 || k > 2*epochs/n || len(times) != n-1 {
			t.Errorf("%s is second in %d of %d epochs, %d are it at times", id, k, epochs, len(times))
		}
	}
}

// A town is a cluster whose members hear each other's beacons at once, each with a clock of its own.
type town struct {
	members []Member
	views   []*election
	epochs  []int64
	clocks  []time.Duration // how far each one is ahead
	beacons []time.Time
	now     time.Time
}

const townTurn = 10 * time.Minute

func newTown(n int) *town {
	w := &town{epochs: make([]int64, n), clocks: make([]time.Duration, n), beacons: make([]time.Time, n),
		now: time.Unix(1_000_000_000, 0)}
	for _, id := range ids(n) {
		w.members = append(w.members, Member{ID: id, Cluster: "c"})
		w.views = append(w.views, newElection(id, 6*time.Second))
	}
	return w
}

// second passes one, and returns who acts as first and who as second.
func (w *town) second() (acting [3][]int) {
	w.now = w.now.Add(time.Second)
	for i, e := range w.views {
		if at := w.now.Add(w.clocks[i]).UnixNano() / int64(townTurn); at != w.epochs[i] {
			w.epochs[i] = at
			e.setMembers(rank("c", w.members), turn("c", w.members, at))
		}
		s, gateway := e.standing(w.now)
		acting[s] = append(acting[s], i)
		if gateway && w.now.Sub(w.beacons[i]) >= 2*time.Second {
			w.beacons[i] = w.now
			for j, other := range w.views {
				if j != i {
					other.hear(w.members[i].ID, w.now)
				}
			}
		}
	}
	return acting
}

// While clocks differ by seconds there is one second gateway, and for a minute of each epoch two, however often each
// member was it before.
func TestTurnsCostLittle(t *testing.T) {
	w, sum := newTown(6), 0
	for i := range w.clocks {
		w.clocks[i] = time.Duration(i) * 700 * time.Millisecond
	}
	w.second()
	const seconds = 12000
	for s := range seconds {
		acting := w.second()
		sum += len(acting[standingSecond])
		if len(acting[standingFirst]) != 1 || len(acting[standingSecond]) > 2 {
			t.Fatalf("after %d s: %v", s, acting)
		}
	}
	if sum > seconds*112/100 {
		t.Errorf("%d seconds of second gateways in %d", sum, seconds)
	}
}

// Whatever clocks say, and if they jump, a cluster always has one first gateway, always the same, and a second: what
// clocks do costs no message.
func TestClocksCostNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 8).Draw(t, "members")
		w := newTown(n)
		anyClock := rapid.SampledFrom([]time.Duration{0, 0, 0, time.Second, -30 * time.Second, 3 * time.Minute,
			-20 * time.Minute, 5 * time.Hour, -30 * 365 * 24 * time.Hour})
		for i := range w.clocks {
			w.clocks[i] = anyClock.Draw(t, fmt.Sprint("clock ", i))
		}
		first := w.second()[standingFirst]
		for s := range 3000 {
			if s%50 == 0 && rapid.IntRange(0, 3).Draw(t, "jump") == 0 {
				w.clocks[rapid.IntRange(0, n-1).Draw(t, "whose")] = anyClock.Draw(t, "to")
			}
			acting := w.second()
			if !slices.Equal(acting[standingFirst], first) || s > 60 && len(acting[standingSecond]) == 0 {
				t.Fatalf("after %d s: first %v, second %v; clocks %v", s, acting[standingFirst],
					acting[standingSecond], w.clocks)
			}
		}
	})
}

// Only a beacon says that its author is there as a gateway: by other words one that is none, as its clock is wrong,
// would put off again and again whoever stands in for it.
func TestOnlyBeaconsAreHeard(t *testing.T) {
	cfg, err := Config{Admitted: func(peer.ID) bool { return true }}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	p := ids(2)
	synctest.Test(t, func(t *testing.T) {
		g := &Gossip{authors: newAuthors(&cfg, p[1], 0), election: newElection(p[1], 6*time.Second)}
		g.election.setMembers(p, p)
		for i, c := range []struct {
			say  Kind
			want []peer.ID
		}{{KindCard, p}, {KindCard, p[1:]}, {kindBeacon, p}} {
			g.take(near, nil, &received{envelope{Seq: uint64(i + 1), Items: []item{{Kind: c.say}}}, p[0]})
			if got := g.election.gateways(time.Now()); !slices.Equal(got, c.want) {
				t.Errorf("gateways %v after %d, want %v", got, i, c.want)
			}
			time.Sleep(7 * time.Second)
		}
	})
}
