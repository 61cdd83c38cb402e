package gossip

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"pgregory.net/rapid"

	"github.com/satin-peer/satin/internal/wire"
)

// TestWindow compares the window with a set: it never takes a number twice, and takes every new one that is
// not too old.
func TestWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w window
		base := rapid.SampledFrom([]uint64{1, 1 << 32, 1<<64 - 10000}).Draw(t, "base")
		w.add(base)
		seen, top := map[uint64]bool{base: true}, base
		for range rapid.IntRange(1, 400).Draw(t, "steps") {
			step := rapid.OneOf(rapid.IntRange(-3*windowSize, 3*windowSize), rapid.IntRange(-3, 3)).Draw(t, "step")
			seq := top + uint64(step)
			if step < 0 && seq > top { // below zero
				continue
			}
			tooOld := top >= windowSize && seq <= top-windowSize
			if got, want := w.add(seq), !seen[seq] && !tooOld; got != want {
				t.Fatalf("add(%d) = %v with top %d, want %v", seq, got, top, want)
			}
			if !w.seen(seq) {
				t.Fatalf("%d is not seen right after it was added", seq)
			}
			seen[seq] = true
			top = max(top, seq)
		}
	})
}

// Nobody gets more through than a burst and the rate allow, also if clocks go back; and after a pause something
// always.
func TestBucket(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := Rate{PerSecond: float64(rapid.IntRange(1, 50).Draw(t, "rate")),
			Burst: rapid.IntRange(1, 50).Draw(t, "burst")}
		now, taken := time.Unix(1000, 0), 0
		var b bucket
		b.take(rate, now, 0)
		start := now
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(-5, 100).Draw(t, "ms")) * time.Millisecond) // clocks go back
			if b.take(rate, now, 1) {
				taken++
			}
		}
		// A step back hides at most what was taken twice: the bound is on the latest time seen.
		if most := float64(rate.Burst) + 1 + rate.PerSecond*b.last.Sub(start).Seconds(); float64(taken) > most {
			t.Fatalf("%d taken in %v at %+v", taken, b.last.Sub(start), rate)
		}
		if !b.take(rate, now.Add(time.Hour), 1) {
			t.Fatal("nothing after a long pause")
		}
	})
}

// Guards that who tells as much as it may of what jobs share can still tell of all else: a roster, a liar, who is out.
func TestKindsDoNotWaitForEachOther(t *testing.T) {
	cfg, err := Config{Admitted: func(peer.ID) bool { return true }}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	a, now := newAuthors(&cfg, "self", 0), time.Unix(1000, 0)
	for a.mayPublish(KindShared, now) {
	}
	for k := kindBeacon; k < kinds; k++ {
		if !a.mayPublish(k, now) {
			t.Errorf("kind %d is not to be told beside what jobs share", k)
		}
	}
}

// The table has the keys that were used last, as many as it may, and of each what was kept of it.
func TestRecent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 5).Draw(t, "most")
		r := newRecent[int, int](most)
		var order []int // the model: the most recent last
		value := map[int]int{}
		for range 100 {
			k := rapid.IntRange(0, 8).Draw(t, "key")
			at := slices.Index(order, k)
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				if got := r.peek(k); (got != nil) != (at >= 0) || got != nil && *got != value[k] {
					t.Fatalf("peek(%d)", k)
				}
			case 1:
				r.remove(k)
				if at >= 0 {
					order = slices.Delete(order, at, at+1)
				}
				delete(value, k)
			case 2:
				*r.get(k)++
				if at >= 0 {
					order = slices.Delete(order, at, at+1)
				} else if len(order) == most {
					delete(value, order[0])
					order = order[1:]
				}
				order = append(order, k)
				value[k]++
			}
			if r.len() != len(order) {
				t.Fatalf("%d kept, want %d", r.len(), len(order))
			}
		}
	})
}

func ids(n int) []peer.ID {
	list := make([]peer.ID, n)
	for i := range list {
		list[i] = peer.ID(fmt.Sprintf("p%04d", i))
	}
	return list
}

// TestElection steps through deaths and returns as one member sees them.
func TestElection(t *testing.T) {
	p := ids(5)
	now := time.Unix(1000, 0)
	e := newElection(p[4], 6*time.Second)
	e.setMembers(p, p)
	expect := func(what string, want ...peer.ID) {
		t.Helper()
		if got := e.gateways(now); !slices.Equal(got, want) {
			t.Errorf("%s: gateways %v, want %v", what, got, want)
		}
	}
	pass := func(d time.Duration, alive ...peer.ID) {
		for end := now.Add(d); now.Before(end); now = now.Add(time.Second) {
			for _, id := range alive {
				e.hear(id, now)
			}
			e.gateways(now)
		}
	}
	expect("nobody was heard yet", p[0], p[1])
	pass(20*time.Second, p[0], p[1])
	expect("both are heard", p[0], p[1])
	pass(7*time.Second, p[1])
	expect("the first is silent", p[1], p[2])
	pass(5*time.Second, p[1])
	expect("the new one may be silent for a while", p[1], p[2])
	pass(20*time.Second, p[1])
	expect("but not for ever", p[1], p[4])
	e.hear(p[0], now)
	expect("the first is back", p[0], p[1])
	pass(100 * time.Second)
	if got := e.gateways(now); !slices.Contains(got, p[4]) {
		t.Errorf("who hears nobody does not help itself: %v", got)
	}
	e.setMembers([]peer.ID{p[2], p[4]}, []peer.ID{p[2], p[4]})
	if got, _ := e.standing(now); got == standingNone {
		t.Errorf("standing %v in a cluster of two", got)
	}
}

// TestElectionAgrees: members with the same list who hear the same have the same gateways, whatever the list's order,
// and there are two of them if there are two members.
func TestElectionAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "members")
		var members []Member
		for i, id := range ids(n) {
			members = append(members, Member{ID: id, Cluster: "c",
				Reachable: rapid.Bool().Draw(t, fmt.Sprint("reachable ", i))})
		}
		now := time.Unix(1000, 0)
		var all []*election
		for _, m := range members {
			e := newElection(m.ID, 6*time.Second)
			list := rapid.Permutation(members).Draw(t, "order")
			e.setMembers(rank("c", list), turn("c", list, 17))
			all = append(all, e)
		}
		for range 20 {
			now = now.Add(time.Second)
			heard := rapid.SliceOfDistinct(rapid.IntRange(0, n-1), rapid.ID).Draw(t, "heard")
			for i, e := range all {
				e.gateways(now)
				for _, j := range heard {
					if j != i {
						e.hear(members[j].ID, now)
					}
				}
			}
		}
		for _, m := range members { // all are heard again
			for _, e := range all {
				e.hear(m.ID, now)
			}
		}
		first := all[0].gateways(now)
		if len(first) != min(n, 2) {
			t.Fatalf("gateways %v of %d members", first, n)
		}
		for i, e := range all {
			if got := e.gateways(now); !slices.Equal(got, first) {
				t.Fatalf("%d has gateways %v, 0 has %v", i, got, first)
			}
		}
	})
}

// TestWantedHoldsTogether: the connections that peers look for connect each cluster, and the clusters; and
// are few. Also with one gateway of each cluster gone.
func TestWantedHoldsTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "peers")
		clusters := rapid.IntRange(1, 12).Draw(t, "clusters")
		flat := rapid.Bool().Draw(t, "flat")
		var all []Member
		for i, id := range ids(n) {
			all = append(all, Member{ID: id, Cluster: fmt.Sprint("c",
				rapid.IntRange(0, clusters-1).Draw(t, fmt.Sprint("cluster ", i)))})
		}
		gone := map[peer.ID]bool{}
		gateways := map[peer.ID]bool{}
		for c := range clusters {
			there := elected(fmt.Sprint("c", c), all, 17)
			for i, id := range there {
				gateways[id] = true
				if i == 0 && len(there) > 1 && !flat {
					gone[id] = true
				}
			}
		}
		union := map[peer.ID]peer.ID{}
		var root func(peer.ID) peer.ID
		root = func(id peer.ID) peer.ID {
			if up, ok := union[id]; ok && up != id {
				return root(up)
			}
			return id
		}
		for _, p := range all {
			w := wanted(p.ID, Members{Cluster: p.Cluster, Peers: all}, flat, gateways[p.ID], 17)
			if len(w) > maxWanted {
				t.Fatalf("%d neighbours", len(w))
			}
			if slices.Contains(w, p.ID) {
				t.Fatalf("%s is its own neighbour", p.ID)
			}
			for _, q := range w {
				if !gone[p.ID] && !gone[q] {
					union[root(p.ID)] = root(q)
				}
			}
		}
		alive := slices.DeleteFunc(slices.Clone(all), func(m Member) bool { return gone[m.ID] })
		for _, p := range alive {
			if root(p.ID) != root(alive[0].ID) {
				t.Fatalf("%s and %s are not connected", p.ID, alive[0].ID)
			}
		}
	})
}

// One topic is enough for one cluster, for few peers and where all links are fast; between few and many it stays as it
// was, so that it does not change to and fro.
func TestFlat(t *testing.T) {
	list := func(n, clusters int) (m Members) {
		m.Cluster = "c0"
		for i, id := range ids(n) {
			m.Peers = append(m.Peers, Member{ID: id, Cluster: fmt.Sprint("c", i%clusters)})
		}
		return m
	}
	fast := list(100, 2)
	fast.Fast = true
	for _, c := range []struct {
		name string
		m    Members
		was  bool
		want bool
	}{
		{"one cluster", list(100, 1), false, true},
		{"few peers", list(16, 3), true, true},
		{"many", list(17, 3), true, false},
		{"a few less", list(13, 3), false, false},
		{"much less", list(11, 3), false, true},
		{"fast", fast, false, true},
	} {
		if got := isFlat(c.m, 16, c.was); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// The list of members has this peer with what it is now, nobody twice or without a name, is in order, and no longer
// than it may be.
func TestNormal(t *testing.T) {
	m := Members{Cluster: "mine"}
	for i := range maxMembers + 10 {
		m.Peers = append(m.Peers, Member{ID: peer.ID(fmt.Sprintf("%06d", maxMembers+10-i)), Cluster: "x"})
	}
	m.Peers = append(m.Peers, m.Peers[0], Member{ID: ""}, Member{ID: "me", Cluster: "stale", Reachable: true})
	got := normal("me", m)
	if len(got) != maxMembers {
		t.Errorf("%d members", len(got))
	}
	if !slices.IsSortedFunc(got, func(a, b Member) int { return cmp.Compare(a.ID, b.ID) }) {
		t.Error("not sorted")
	}
	if me := got[len(got)-1]; me != (Member{"me", "mine", true}) {
		t.Errorf("%+v", me)
	}
}

// TestTopicNames: whatever clusters are called, the names of their topics are from a bounded set, and of this
// swarm only.
func TestTopicNames(t *testing.T) {
	a, b := namesOf("a"), namesOf("b")
	rapid.Check(t, func(t *rapid.T) {
		cluster := rapid.String().Draw(t, "cluster")
		if name := a.near(cluster); !a.CanSubscribe(name) || b.CanSubscribe(name) {
			t.Fatalf("topic %q", name)
		}
		if name := rapid.String().Draw(t, "name"); a.CanSubscribe(name) {
			t.Fatalf("anything is a topic: %q", name)
		}
	})
	if !a.CanSubscribe(a.wide) || b.CanSubscribe(a.wide) || a.CanSubscribe(a.wide+"x") || a.CanSubscribe(a.wide+"\n") {
		t.Error("the wide topic")
	}
}

// What a gateway's next beacon is counted from is no time of the clock on the wall: when that went back an hour, the
// cluster did not hear the gateway for an hour.
func TestBeaconsAndTheWallClock(t *testing.T) {
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := Config{Admitted: func(peer.ID) bool { return true }}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	g := &Gossip{key: key, codec: wire.Control(), authors: newAuthors(&cfg, "self", 0)}
	g.send([]item{{Kind: kindBeacon}})
	if last := g.beaconed.Load(); last == nil || !strings.Contains(last.String(), " m=") {
		t.Errorf("it was sent at %v", last)
	}
}
