package gossip_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/satin-peer/satin/gossip"
)

// An attacker speaks the protocol without any of the checks.
type attacker struct {
	s     *swarm
	id    peer.ID
	key   crypto.PrivKey
	ps    *pubsub.PubSub
	topic *pubsub.Topic
	seen  chan []byte // what it was sent
}

// attack makes the host an attacker that is in the flat topic.
func (s *swarm) attack(i int) *attacker {
	s.t.Helper()
	features := func(f pubsub.GossipSubFeature, _ protocol.ID) bool { return f != pubsub.GossipSubFeatureExtensions }
	ps, err := pubsub.NewGossipSub(s.t.Context(), s.hosts[i],
		pubsub.WithGossipSubProtocols([]protocol.ID{gossip.Protocol}, features),
		pubsub.WithMessageSignaturePolicy(pubsub.StrictNoSign), pubsub.WithNoAuthor(), pubsub.WithFloodPublish(true),
		pubsub.WithMessageIdFn(gossip.Identity),
		pubsub.WithPeerOutboundQueueSize(20000), pubsub.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		s.t.Fatal(err)
	}
	topic, err := ps.Join(gossip.WideTopic("test"))
	if err != nil {
		s.t.Fatal(err)
	}
	sub, err := topic.Subscribe()
	if err != nil {
		s.t.Fatal(err)
	}
	a := &attacker{s, s.hosts[i].ID(), s.hosts[i].Peerstore().PrivKey(s.hosts[i].ID()), ps, topic,
		make(chan []byte, 1000)}
	go func() {
		for {
			m, err := sub.Next(s.t.Context())
			if err != nil {
				return
			}
			if m.ReceivedFrom != a.id {
				a.seen <- m.Data
			}
		}
	}()
	return a
}

func (a *attacker) send(b []byte) {
	a.s.t.Helper()
	if err := a.topic.Publish(a.s.t.Context(), b); err != nil {
		a.s.t.Fatal(err)
	}
}

func (a *attacker) seal(swarm string, key crypto.PrivKey, author peer.ID, seq uint64, kind gossip.Kind,
	payload string) []byte {
	a.s.t.Helper()
	b, err := gossip.Seal(swarm, key, author, seq, kind, []byte(payload))
	if err != nil {
		a.s.t.Fatal(err)
	}
	return b
}

// withAttacker opens two peers and an attacker that is connected to the first.
func withAttacker(t *testing.T, cfg gossip.Config, test func(s *swarm, a *attacker)) {
	inSwarm(t, []int{3}, func(s *swarm) {
		s.openOne(0, cfg)
		s.openOne(1, cfg)
		a := s.attack(2)
		s.connect(0, 1)
		s.connect(2, 0)
		time.Sleep(2 * time.Second)
		test(s, a)
	})
}

// Envelopes that their author did not sign, or signed for another swarm, reach nobody.
func TestRefusesForgeries(t *testing.T) {
	withAttacker(t, gossip.Config{}, func(s *swarm, a *attacker) {
		victim := s.hosts[1].ID()
		good := a.seal("test", a.key, a.id, 1, gossip.KindRun, "good")
		changed := slices.Clone(good)
		changed[len(changed)-1] ^= 1
		huge := a.seal("test", a.key, a.id, 2, gossip.KindRun, string(make([]byte, 80<<10)))
		_, pub, err := crypto.GenerateSecp256k1Key(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		foreign, err := peer.IDFromPublicKey(pub)
		if err != nil {
			t.Fatal(err)
		}
		steps := []struct {
			name  string
			bytes []byte
			want  gossip.Stats // of the counters of what is dropped
		}{
			{"signed by another than the author", a.seal("test", a.key, victim, 1<<63, gossip.KindRun, "forged"),
				gossip.Stats{Forged: 1}},
			{"changed after it was signed", changed, gossip.Stats{Forged: 2}},
			{"of another swarm", a.seal("other", a.key, a.id, 3, gossip.KindRun, "other"), gossip.Stats{Forged: 3}},
			{"by a key of another type", a.seal("test", a.key, foreign, 4, gossip.KindRun, "x"),
				gossip.Stats{Forged: 4}},
			{"too large", huge, gossip.Stats{Forged: 4, Malformed: 1}},
			{"garbage", []byte("garbage"), gossip.Stats{Forged: 4, Malformed: 2}},
			{"an envelope cut short", good[:len(good)-3], gossip.Stats{Forged: 4, Malformed: 3}},
			{"nothing", nil, gossip.Stats{Forged: 4, Malformed: 4}},
		}
		for _, c := range steps {
			a.send(c.bytes)
			time.Sleep(time.Second)
			st := s.peers[0].Stats()
			if st.Forged != c.want.Forged || st.Malformed != c.want.Malformed || st.Delivered != 0 {
				t.Errorf("%s: %+v", c.name, st)
			}
		}
		if got := s.received(1); len(got) != 0 {
			t.Errorf("passed on: %q", got)
		}
		// None of it has spoiled the true ones, by the attacker or by the one it tried to speak for.
		a.send(good)
		s.publish(1, gossip.KindRun, "true")
		time.Sleep(time.Second)
		if got := s.received(0); !slices.Equal(got, []string{"1:true", "2:good"}) {
			t.Errorf("0 got %q", got)
		}
		if got := s.received(1); !slices.Equal(got, []string{"2:good"}) {
			t.Errorf("1 got %q", got)
		}
	})
}

// A message that was captured is not delivered again, however long after.
func TestRefusesReplay(t *testing.T) {
	withAttacker(t, gossip.Config{}, func(s *swarm, a *attacker) {
		s.publish(1, gossip.KindRun, "once")
		time.Sleep(time.Second)
		if got := s.received(0); !slices.Equal(got, []string{"1:once"}) {
			t.Fatalf("0 got %q", got)
		}
		captured := <-a.seen
		for range 3 { // longer apart than pubsub remembers messages
			time.Sleep(5 * time.Minute)
			a.send(captured)
			time.Sleep(time.Second)
		}
		if got := append(s.received(0), s.received(1)...); len(got) != 0 {
			t.Errorf("delivered again: %q", got)
		}
		if st := s.peers[0].Stats(); st.Replayed == 0 {
			t.Errorf("the replay did not get through to the check: %+v", st)
		}
	})
}

// TestRestart is about a peer that comes back: its sequence numbers go on above the old ones, and old
// messages of its own do not come back to it. Nothing that others had opened to it before is left.
func TestRestart(t *testing.T) {
	withAttacker(t, gossip.Config{Incarnation: 7}, func(s *swarm, a *attacker) {
		s.publish(1, gossip.KindRun, "before")
		time.Sleep(time.Second)
		captured := <-a.seen
		s.peers[1].Close()
		time.Sleep(time.Second)
		for _, c := range s.hosts[1].Network().Conns() {
			if n := len(c.GetStreams()); n > 0 {
				t.Errorf("%d streams to %s are left", n, c.RemotePeer())
			}
		}
		s.openOne(1, gossip.Config{Incarnation: 8})
		time.Sleep(5 * time.Second)
		s.publish(1, gossip.KindRun, "after")
		time.Sleep(time.Second)
		if got := s.received(0); !slices.Equal(got, []string{"1:after", "1:before"}) {
			t.Errorf("0 got %q", got)
		}
		s.connect(2, 1)
		time.Sleep(5 * time.Minute)
		a.send(captured)
		time.Sleep(time.Second)
		if st := s.peers[1].Stats(); st.Replayed != 1 || st.Delivered != 0 {
			t.Errorf("%+v", st)
		}
	})
}

// TestGarbageIsIgnored sends what no honest peer does, until nothing is taken from the neighbour any more.
func TestGarbageIsIgnored(t *testing.T) {
	withAttacker(t, gossip.Config{}, func(s *swarm, a *attacker) {
		for i := range 2000 {
			a.send(fmt.Appendf(nil, "garbage %d", i))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		st := s.peers[0].Stats()
		if st.Malformed > 100 || st.Ignored == 0 {
			t.Errorf("%+v", st)
		}
		good := a.seal("test", a.key, a.id, 1, gossip.KindRun, "while ignored")
		a.send(good)
		time.Sleep(2 * time.Minute)
		a.send(a.seal("test", a.key, a.id, 2, gossip.KindRun, "later"))
		time.Sleep(time.Second)
		if got := s.received(0); !slices.Equal(got, []string{"2:later"}) {
			t.Errorf("got %q", got)
		}
	})
}

// TestNotAdmitted has a peer that never passes the handshake: nothing goes to it, and nothing comes from it.
func TestNotAdmitted(t *testing.T) {
	var outsider atomic.Value
	outsider.Store(peer.ID(""))
	cfg := gossip.Config{Admitted: func(id peer.ID) bool { return id != outsider.Load() }}
	inSwarm(t, []int{3}, func(s *swarm) {
		outsider.Store(s.hosts[2].ID())
		s.openOne(0, cfg)
		s.openOne(1, cfg)
		a := s.attack(2)
		s.connect(0, 1)
		s.connect(2, 0)
		time.Sleep(time.Minute)
		s.publish(1, gossip.KindRun, "secret")
		a.send(a.seal("test", a.key, a.id, 1, gossip.KindRun, "from outside"))
		time.Sleep(time.Second)
		if got := s.received(0); !slices.Equal(got, []string{"1:secret"}) {
			t.Errorf("0 got %q", got)
		}
		select {
		case b := <-a.seen:
			t.Errorf("the outsider got %q", b)
		default:
		}
		if st := s.peers[0].Stats(); st.NotAdmitted == 0 || st.Neighbours != 1 {
			t.Errorf("%+v", st)
		}
	})
}

// TestNoMoreAdmitted has a peer lose its membership while its streams are open: nothing is taken from it any more.
func TestNoMoreAdmitted(t *testing.T) {
	var out atomic.Bool
	inSwarm(t, []int{2}, func(s *swarm) {
		s.openOne(0, gossip.Config{Admitted: func(id peer.ID) bool { return !out.Load() || id != s.hosts[1].ID() }})
		s.openOne(1, gossip.Config{Admitted: func(peer.ID) bool { return true }})
		s.connect(0, 1)
		time.Sleep(time.Second)
		s.publish(1, gossip.KindRun, "before")
		time.Sleep(time.Second)
		out.Store(true)
		s.publish(1, gossip.KindRun, "after")
		time.Sleep(time.Second)
		if got := s.received(0); !slices.Equal(got, []string{"1:before"}) {
			t.Errorf("0 got %q", got)
		}
	})
}

// TestAdmittedLate has the handshake end some time after the connection is there and pubsub has noticed.
func TestAdmittedLate(t *testing.T) {
	var late [2]atomic.Bool
	inSwarm(t, []int{2}, func(s *swarm) {
		for i := range 2 {
			s.openOne(i, gossip.Config{Admitted: func(peer.ID) bool { return late[i].Load() }})
		}
		s.connect(0, 1)
		time.Sleep(time.Second)
		late[0].Store(true) // one side is done before the other
		time.Sleep(time.Second)
		late[1].Store(true)
		time.Sleep(2 * time.Second)
		s.hearEachOther(time.Second, "admitted after two seconds")
	})
}

// TestRefusedByHandler is about messages that only their handler can tell from good ones.
func TestRefusedByHandler(t *testing.T) {
	withAttacker(t, gossip.Config{}, func(s *swarm, a *attacker) {
		for i := range 2 {
			s.peers[i].Handle(gossip.KindRun, func(author peer.ID, payload []byte) error {
				if string(payload) == "bad" {
					return errors.New("bad")
				}
				return nil
			}, func(author peer.ID, payload []byte) { s.got[i] <- string(payload) })
		}
		a.send(a.seal("test", a.key, a.id, 1, gossip.KindRun, "bad"))
		a.send(a.seal("test", a.key, a.id, 2, gossip.KindRun, "good"))
		time.Sleep(time.Second)
		for i := range 2 {
			if got := s.received(i); !slices.Equal(got, []string{"good"}) {
				t.Errorf("%d got %q", i, got)
			}
		}
		if st := s.peers[0].Stats(); st.Refused != 1 {
			t.Errorf("%+v", st)
		}
	})
}

// TestHostileStreams speaks the protocol's framing wrongly: what claims to be huge, never ends, is cut short,
// or is not what is inside a frame.
func TestHostileStreams(t *testing.T) {
	for name, bytes := range map[string][]byte{
		"a frame of a gigabyte":    {0x80, 0x80, 0x80, 0x80, 0x04, 1, 2, 3},
		"a length that never ends": slices.Repeat([]byte{0xff}, 100),
		"a frame that never ends":  {100, 1, 2, 3},
		"not a frame's content":    {3, 0xff, 0xff, 0xff},
		"nothing":                  {},
	} {
		t.Run(name, func(t *testing.T) {
			inSwarm(t, []int{3}, func(s *swarm) {
				s.openOne(0, gossip.Config{})
				s.openOne(1, gossip.Config{})
				s.connect(0, 1)
				s.connect(2, 0)
				for range 50 {
					stream, err := s.hosts[2].NewStream(s.t.Context(), s.hosts[0].ID(), gossip.Protocol)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := stream.Write(bytes); err != nil {
						continue // it was refused already
					}
				}
				time.Sleep(2 * time.Second)
				s.publish(0, gossip.KindRun, "a")
				s.publish(1, gossip.KindRun, "b")
				time.Sleep(time.Second)
				if a, b := s.received(0), s.received(1); !slices.Equal(a, []string{"1:b"}) ||
					!slices.Equal(b, []string{"0:a"}) {
					t.Errorf("got %q and %q", a, b)
				}
			})
		})
	}
}

// TestHostileTopics subscribes to ever new topics, which pubsub would all keep.
func TestHostileTopics(t *testing.T) {
	inSwarm(t, []int{2}, func(s *swarm) {
		g := s.openOne(0, gossip.Config{})
		a := s.attack(1)
		s.connect(0, 1)
		time.Sleep(time.Second)
		for i := range 500 {
			topic, err := a.ps.Join(fmt.Sprint("topic ", i))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := topic.Subscribe(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
		}
		if got := g.PeersIn("topic 7"); got != 0 {
			t.Errorf("%d peers are known in a topic that is not the swarm's", got)
		}
		if got := g.PeersIn(gossip.WideTopic("test")); got != 1 {
			t.Errorf("%d peers are known in the wide topic", got)
		}
	})
}

// A cluster's first gateway passes nothing on, and has the second one believe that it does, by repeating to it alone
// what the cluster says. The others hear it all the same.
func TestWhisperingGateway(t *testing.T) {
	inSwarm(t, []int{6, 6, 6}, func(s *swarm) {
		first, second, author := s.roles(0, time.Hour)
		for i := range s.hosts {
			if i != first {
				dial := s.dialer(i)
				// so what the first one publishes it says to the second one alone
				connect := func(ctx context.Context, id peer.ID) error {
					if id == s.hosts[first].ID() && i != second {
						return errors.New("it is not to be dialed")
					}
					return dial(ctx, id)
				}
				s.openOne(i, gossip.Config{BeaconEvery: time.Minute, Connect: connect})
			}
		}
		a := s.attack(first)
		near, err := a.ps.Join(gossip.NearTopic("test", "c0"))
		if err != nil {
			t.Fatal(err)
		}
		heard, err := near.Subscribe()
		if err != nil {
			t.Fatal(err)
		}
		s.connect(first, second)
		s.meet()
		time.Sleep(15 * time.Second)
		go func() {
			for {
				m, err := heard.Next(s.t.Context())
				if err != nil {
					return
				}
				_ = a.topic.Publish(s.t.Context(), m.Data)
			}
		}()
		s.expect(author, "said in c0", 3*time.Second, s.others())
	})
}
