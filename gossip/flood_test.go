package gossip_test

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/gossip"
)

// invent sends what an author says that is made up for it, correctly signed.
func (a *attacker) invent(payload string) {
	a.s.t.Helper()
	key, pub, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		a.s.t.Fatal(err)
	}
	id, err := peer.IDFromPublicKey(pub)
	if err != nil {
		a.s.t.Fatal(err)
	}
	a.send(a.seal("test", key, id, 1, gossip.KindRun, payload))
}

// hearsMembers looks whether a flood hurts peer 1, which has a rate of its own: 0 is to hear it.
func (s *swarm) hearsMembers() {
	s.t.Helper()
	s.publish(1, gossip.KindRun, "true")
	time.Sleep(time.Second)
	if got := s.received(0); !slices.Contains(got, "1:true") {
		s.t.Errorf("0 got %q", got)
	}
}

// TestFlood floods with announcements of runs that do not exist, correctly signed.
func TestFlood(t *testing.T) {
	withAttacker(t, gossip.Config{}, func(s *swarm, a *attacker) {
		const seconds = 4
		for second := range seconds {
			for i := range 500 {
				a.send(a.seal("test", a.key, a.id, uint64(1+500*second+i), gossip.KindRun, "fake"))
			}
			time.Sleep(time.Second)
		}
		most := 64 + 4*(seconds+1)
		for i := range 2 {
			if got := len(s.received(i)); got == 0 || got > most {
				t.Errorf("%d was delivered %d fake runs, want at most %d", i, got, most)
			}
		}
		st := s.peers[0].Stats()
		if st.Throttled+st.Flooded < 500*seconds-uint64(most) {
			t.Errorf("%+v", st)
		}
		s.hearsMembers()
	})
}

// TestFloodOfAuthors floods with messages of ever new authors, correctly signed: each has a rate of its own, but
// strangers share what their neighbour may bring.
func TestFloodOfAuthors(t *testing.T) {
	withAttacker(t, gossip.Config{}, func(s *swarm, a *attacker) {
		s.peers[0].SetMembers(gossip.Members{Peers: []gossip.Member{{ID: s.hosts[1].ID()}}})
		const authors, seconds = 1200, 4
		for i := range authors {
			a.invent(fmt.Sprint(i))
			time.Sleep(seconds * time.Second / authors)
		}
		if got, most := len(s.received(0)), 200+20*(seconds+1); got == 0 || got > most {
			t.Errorf("%d of %d delivered, want at most %d", got, authors, most)
		}
		if _, strangers, _ := s.peers[0].Kept(); strangers > gossip.MaxStrangerAuthors {
			t.Errorf("%d strangers are kept", strangers)
		}
		s.hearsMembers()
	})
}

// Invented authors come by way of several neighbours, each of which passes on as many as it may. A newcomer that shows
// that it is a member is heard all the same, by whoever does not know it yet.
func TestNewcomersBesideInvented(t *testing.T) {
	inSwarm(t, []int{7}, func(s *swarm) {
		const newcomer, cards = 6, 8
		shown := func(author peer.ID, _ []byte) bool { return author == s.hosts[newcomer].ID() }
		for _, i := range []int{0, 1, newcomer} {
			s.openOne(i, gossip.Config{Shown: shown})
		}
		for _, i := range []int{0, 1} {
			s.peers[i].SetMembers(gossip.Members{Peers: []gossip.Member{{ID: s.hosts[1-i].ID()}}})
		}
		s.connect(0, 1)
		s.connect(newcomer, 1)
		var all []*attacker
		for i := 2; i < newcomer; i++ {
			all = append(all, s.attack(i))
			s.connect(i, 1)
		}
		time.Sleep(2 * time.Second)
		for second := range 10 + cards {
			for i := range 25 * len(all) {
				all[i%len(all)].invent("x")
			}
			if second >= 10 {
				s.publish(newcomer, gossip.KindCard, fmt.Sprint(second))
			}
			time.Sleep(time.Second)
			for _, a := range all {
				for len(a.seen) > 0 {
					<-a.seen
				}
			}
		}
		heard := slices.DeleteFunc(s.received(0), func(text string) bool { return !strings.HasPrefix(text, "6:") })
		if len(heard) != cards {
			t.Errorf("of %d cards %q come", cards, heard)
		}
	})
}

// TestFloodOfNeighbour has a neighbour send more than is even looked at.
func TestFloodOfNeighbour(t *testing.T) {
	withAttacker(t, gossip.Config{NeighbourRate: gossip.Rate{PerSecond: 10, Burst: 20}}, func(s *swarm, a *attacker) {
		for i := range 200 {
			a.send(a.seal("test", a.key, a.id, uint64(1+i), gossip.KindRun, "fake"))
		}
		time.Sleep(time.Second)
		if st := s.peers[0].Stats(); st.Flooded < 200-20-10*2 || st.Delivered == 0 {
			t.Errorf("%+v", st)
		}
	})
}
