package gossip_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/gossip"
)

// Both gateways of a cluster pass nothing on, for as long as they stay. In the next epoch in which another one is the
// second, the cluster is heard and hears.
func TestLyingGateways(t *testing.T) {
	inSwarm(t, []int{6, 6, 6}, func(s *swarm) {
		const every = time.Minute
		first, second, author := s.roles(0, every)
		for i := range s.hosts {
			if i != first && i != second {
				s.openOne(i, gossip.Config{BeaconEvery: time.Hour, TurnEvery: every, Connect: s.dialer(i)})
			}
		}
		s.attack(first)
		s.attack(second)
		s.meet()
		time.Sleep(15 * time.Second)
		s.publish(author, gossip.KindRun, "unheard")
		s.publish(6, gossip.KindRun, "unheard")
		time.Sleep(3 * time.Second)
		for _, i := range s.others(author, 6) {
			if got := s.received(i); len(got) != 1 { // of those who are not in their own cluster nothing
				t.Errorf("%d (%s) got %q: the gateways do not lie", i, s.clusters[i], got)
			}
		}
		for next := second; next == second; { // it is drawn again at times
			time.Sleep(every)
			_, next, _ = s.roles(0, every)
		}
		s.received(author)
		s.received(6)
		s.expect(author, "said in c0", 3*time.Second, s.others())
		s.expect(6, "said in c1", 3*time.Second, s.others())
	})
}

// The second gateways change again and again, and in the same moment a first one dies: nothing is lost or heard twice.
func TestTurnsLoseNothing(t *testing.T) {
	inSwarm(t, []int{4, 4, 4}, func(s *swarm) {
		const every = 12 * time.Second
		s.openAll(gossip.Config{TurnEvery: every, FlatPeers: 8})
		first, second, _ := s.roles(0, every)
		var want []string
		alive, turns := s.others(), 0
		for k := 0; turns < 2; k++ {
			time.Sleep(every / 60)
			if _, now, _ := s.roles(0, every); now != second {
				second = now
				if turns++; turns == 1 {
					s.kill(first)
					alive = s.others(first)
				}
			}
			author := alive[k*7%len(alive)]
			s.publish(author, gossip.KindLoad, fmt.Sprint(k))
			want = append(want, fmt.Sprint(author, ":", k))
		}
		time.Sleep(3 * time.Second)
		for _, i := range alive {
			all := slices.DeleteFunc(slices.Clone(want), func(x string) bool {
				var author, k int
				_, err := fmt.Sscanf(x, "%d:%d", &author, &k)
				return err != nil || author == i
			})
			slices.Sort(all)
			if got := s.received(i); !slices.Equal(got, all) {
				t.Errorf("%d (%s) got %d of %d, %+v", i, s.clusters[i], len(got), len(all), s.peers[i].Stats())
			}
		}
	})
}
