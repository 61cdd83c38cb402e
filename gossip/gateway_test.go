package gossip_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/gossip"
)

// TestClusters is the ordinary case: a message gets to every member of every cluster, once.
func TestClusters(t *testing.T) {
	inSwarm(t, []int{6, 6, 6}, func(s *swarm) {
		s.openAll(gossip.Config{})
		for c := range 3 {
			if g := s.gateways(fmt.Sprint("c", c)); len(g) != 2 {
				t.Errorf("gateways of cluster %d: %v, want two", c, g)
			}
		}
		var want []string
		for i := range s.peers {
			s.publish(i, gossip.KindLoad, "x")
			want = append(want, fmt.Sprintf("%d:x", i))
		}
		time.Sleep(2 * time.Second)
		slices.Sort(want)
		for i := range s.peers {
			all := slices.DeleteFunc(slices.Clone(want), func(x string) bool { return x == fmt.Sprintf("%d:x", i) })
			if got := s.received(i); !slices.Equal(got, all) {
				t.Errorf("%d got %q, want %q", i, got, all)
			}
			if st := s.peers[i].Stats(); st.Flat || !st.Gateway && st.Topics != 1 || st.Gateway && st.Topics != 2 {
				t.Errorf("%d: %+v", i, st)
			}
		}
		if t.Failed() {
			for i, g := range s.peers {
				t.Logf("%d %s %+v", i, s.clusters[i], g.Stats())
			}
		}
	})
}

// expect publishes at a peer and checks that all of the others get it, once, within the time.
func (s *swarm) expect(from int, text string, within time.Duration, to []int) {
	s.t.Helper()
	s.publish(from, gossip.KindRun, text)
	time.Sleep(within)
	want := []string{fmt.Sprintf("%d:%s", from, text)}
	for _, i := range to {
		if got := s.received(i); i != from && !slices.Equal(got, want) {
			s.t.Errorf("%d (%s) got %q, want %q; %+v", i, s.clusters[i], got, want, s.peers[i].Stats())
		}
	}
}

// TestFailover kills gateways without a goodbye. What is published right after arrives all the same, and a
// new gateway takes the place of the dead one, so that the next death does no harm either.
func TestFailover(t *testing.T) {
	inSwarm(t, []int{6, 6, 6}, func(s *swarm) {
		cfg := gossip.Config{StandbyAfter: 300 * time.Millisecond, BeaconEvery: 2 * time.Second}
		s.openAll(cfg)
		var dead []int
		stoodIn := uint64(0)
		// of each cluster's gateways the one that was left: if the first death did not hit the first gateway,
		// the second does
		second := map[string]int{}
		for death := range 3 {
			for _, c := range []string{"c0", "c1"} { // on the sending and on a receiving side
				g := slices.DeleteFunc(s.gateways(c), func(i int) bool { return slices.Contains(dead, i) })
				if len(g) != 2 {
					t.Fatalf("before death %d cluster %s has gateways %v", death, c, g)
				}
				victim, left := g[0], g[1]
				if i, ok := second[c]; ok && i == left {
					victim, left = left, victim
				}
				second[c] = left
				stoodIn += s.peers[victim].Stats().StoodIn
				s.kill(victim)
				dead = append(dead, victim)
			}
			alive := s.others(dead...)
			s.expect(alive[0], fmt.Sprint("after death ", death), 3*time.Second, alive)
			time.Sleep(10 * time.Second) // three beacons are missed and somebody else is elected
		}
		for _, i := range s.others(dead...) {
			stoodIn += s.peers[i].Stats().StoodIn
		}
		if stoodIn == 0 {
			t.Error("no second gateway ever stood in: the first was never killed, or not needed")
		}
	})
}

// TestTransition has peers go from one topic for all to one for each cluster, and back, while they publish,
// and not all at the same time: each learns of the members when it does.
func TestTransition(t *testing.T) {
	inSwarm(t, []int{4, 4, 4}, func(s *swarm) {
		members := func(i int, fast bool) gossip.Members {
			m := gossip.Members{Cluster: s.clusters[i], Fast: fast}
			for j, h := range s.hosts {
				m.Peers = append(m.Peers, gossip.Member{ID: h.ID(), Cluster: s.clusters[j]})
			}
			return m
		}
		for i := range s.hosts {
			s.openOne(i, gossip.Config{Connect: s.dialer(i), FlatPeers: 8})
			s.peers[i].SetMembers(members(i, true))
		}
		time.Sleep(10 * time.Second)
		for _, fast := range []bool{false, true} {
			for k := range s.peers {
				i := k * 5 % len(s.peers) // all clusters in turn
				s.peers[i].SetMembers(members(i, fast))
				s.publish(i, gossip.KindRun, fmt.Sprint("before ", fast))
				time.Sleep(200 * time.Millisecond)
			}
			for i := range s.peers {
				s.publish(i, gossip.KindRun, fmt.Sprint("after ", fast))
			}
			time.Sleep(10 * time.Second)
			for i := range s.peers {
				if got, want := len(s.received(i)), 2*(len(s.peers)-1); got != want {
					t.Errorf("fast %v: %d got %d messages of %d: %+v", fast, i, got, want, s.peers[i].Stats())
				}
				if st := s.peers[i].Stats(); st.Flat != fast || fast && st.Topics != 1 {
					t.Errorf("fast %v: %d has %+v", fast, i, st)
				}
			}
		}
	})
}
