package gossip_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/gossip"
)

// say has one host say to another by hand what pubsub says.
func (s *swarm) say(i, j int, calls ...*pb.RPC) network.Stream {
	s.t.Helper()
	stream, err := s.hosts[i].NewStream(s.t.Context(), s.hosts[j].ID(), gossip.Protocol)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, call := range calls {
		b, err := call.Marshal()
		if err == nil {
			_, err = stream.Write(append(binary.AppendUvarint(nil, uint64(len(b))), b...))
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
	return stream
}

// Calls that are lists of nothing are read seldom: pubsub makes a hundred times as much of each, and the time of it is
// that of all neighbours.
func TestListsOfNothing(t *testing.T) {
	inSwarm(t, []int{2}, func(s *swarm) {
		g := s.openOne(0, gossip.Config{})
		s.connect(1, 0)
		const things = 60_000
		b, err := (&pb.RPC{Publish: slices.Repeat([]*pb.Message{{}}, things)}).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		stream, said := s.say(1, 0), make(chan struct{})
		go func() {
			defer close(said)
			for range 100 {
				if _, err := stream.Write(append(binary.AppendUvarint(nil, uint64(len(b))), b...)); err != nil {
					return
				}
			}
		}()
		time.Sleep(20 * time.Second)
		if calls := g.Stats().Flooded / things; calls > 15 {
			t.Errorf("%d are read in 20 s", calls)
		}
		_ = stream.Reset()
		<-said
	})
}

// What neighbours that are gone wanted no copies of is not kept: pubsub has no end of that, by the peer.
func TestUnwantedIsNotKept(t *testing.T) {
	inSwarm(t, []int{2}, func(s *swarm) {
		g := s.openOne(0, gossip.Config{})
		s.connect(1, 0)
		before := heap()
		for second := range 3 {
			var calls []*pb.RPC
			for i := range 1000 {
				unwanted := &pb.ControlIDontWant{}
				for k := range 10 {
					unwanted.MessageIDs = append(unwanted.MessageIDs, fmt.Sprintf("%020d", second*10000+i*10+k))
				}
				calls = append(calls, &pb.RPC{Control: &pb.ControlMessage{Idontwant: []*pb.ControlIDontWant{unwanted}}})
			}
			s.say(1, 0, calls...).Close()
			time.Sleep(time.Second)
		}
		s.hosts[1].Close()
		time.Sleep(5 * time.Minute)
		if kept := heap() - before; kept > 1<<20 {
			t.Errorf("%d KB of it are kept", kept>>10)
		}
		heeded := 0
		for i := range 2 * gossip.MaxHeeded {
			if g.Heeds(peer.ID(fmt.Sprint(i))) {
				heeded++
			}
		}
		if heeded != gossip.MaxHeeded-1 || !g.Heeds(s.hosts[1].ID()) {
			t.Errorf("%d are heeded beside the first", heeded)
		}
	})
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// asked is how many bytes a neighbour is asked for that offers messages, list after list of names, and has none.
func asked(t *testing.T, lists ...[]string) (n int64) {
	t.Helper()
	inSwarm(t, []int{2}, func(s *swarm) {
		s.openOne(0, gossip.Config{})
		var told atomic.Int64
		s.hosts[1].SetStreamHandler(gossip.Protocol, func(stream network.Stream) {
			n, _ := io.Copy(io.Discard, stream)
			told.Add(n)
		})
		s.connect(1, 0)
		time.Sleep(time.Second) // there is a stream to ask on
		topic := gossip.WideTopic("test")
		for _, names := range lists {
			s.say(1, 0, &pb.RPC{Control: &pb.ControlMessage{Ihave: []*pb.ControlIHave{{TopicID: &topic,
				MessageIDs: names}}}})
			time.Sleep(2 * time.Second)
		}
		s.peers[0].Close()
		time.Sleep(time.Second)
		n = told.Load()
	})
	return n
}

// A neighbour offers messages by names that are none, as long as may be. Nobody asks for them: the questions would wait
// in memory for as long as the neighbour does not read them.
func TestNamesThatAreNone(t *testing.T) {
	var lists [][]string
	for i := range 5 {
		lists = append(lists, []string{strings.Repeat(fmt.Sprint(i), 100_000)})
	}
	if n := asked(t, lists...); n > 4<<10 {
		t.Errorf("it is asked for %d KB", n>>10)
	}
}

// A neighbour is asked for all that it may have passed on in the last heartbeats, and not for more: whoever is not in
// its mesh has no other way to it.
func TestAllThatMayBeThereIsAskedFor(t *testing.T) {
	const name, most = 20, 1200
	for _, n := range []int{most, 4 * most} {
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf("%0*d", name, i)
		}
		if got := asked(t, names); got < most*name || got > most*(name+2)+4<<10 {
			t.Errorf("of %d messages it is asked for %d bytes", n, got)
		}
	}
}

// A neighbour that takes this peer out of its mesh says that this is for thirty years: so long nobody remembers it.
func TestOutOfTheMeshForEver(t *testing.T) {
	inSwarm(t, []int{2}, func(s *swarm) {
		g := s.openOne(0, gossip.Config{})
		var told atomic.Int64
		s.hosts[1].SetStreamHandler(gossip.Protocol, func(stream network.Stream) {
			for b := make([]byte, 4096); ; {
				n, err := stream.Read(b)
				if err != nil {
					return
				}
				told.Add(int64(n))
			}
		})
		s.connect(1, 0)
		topic, in, long := gossip.WideTopic("test"), true, uint64(1e9)
		s.say(1, 0, &pb.RPC{
			Subscriptions: []*pb.RPC_SubOpts{{Topicid: &topic, Subscribe: &in}},
			Control:       &pb.ControlMessage{Prune: []*pb.ControlPrune{{TopicID: &topic, Backoff: &long}}},
		})
		time.Sleep(10 * time.Second)
		before := told.Load()
		time.Sleep(5 * time.Minute)
		if g.PeersIn(topic) != 1 || told.Load() == before {
			t.Error("it is never asked into the mesh again")
		}
	})
}

// A neighbour says that it is in the topics of ever more clusters of the swarm. The last eight count: there may be
// 65,536 of them, and pubsub would keep for each who is in it.
func TestTopicsOfANeighbour(t *testing.T) {
	inSwarm(t, []int{2}, func(s *swarm) {
		g := s.openOne(0, gossip.Config{})
		s.hosts[1].SetStreamHandler(gossip.Protocol, func(network.Stream) {})
		s.connect(1, 0)
		var calls []*pb.RPC
		var topics []string
		in := true
		for i := range 40 {
			topics = append(topics, gossip.NearTopic("test", fmt.Sprint(i)))
			calls = append(calls, &pb.RPC{Subscriptions: []*pb.RPC_SubOpts{{Topicid: &topics[i], Subscribe: &in}}})
		}
		defer s.say(1, 0, append(calls, calls[:2]...)...).Close()
		time.Sleep(time.Second)
		for i, topic := range topics {
			if here := g.PeersIn(topic) > 0; here != (i < 2 || i >= 34) {
				t.Errorf("in topic %d: %v", i, here)
			}
		}
	})
}
