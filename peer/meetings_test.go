package peer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p"
	lp2p "github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/satin-peer/satin/peer/alarm"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/members"
	"github.com/satin-peer/satin/peer/places"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/switchboard"
)

// A meeting that failed is tried again, later each time, and not for ever.
func TestMeetingsAreTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, tries := time.Now(), 0
		untilMet(t.Context(), func() bool { tries++; return tries == 3 })
		if took := time.Since(began); tries != 3 || took != 3*alarm.TryAgain {
			t.Errorf("%d tries in %v", tries, took)
		}
		tries = 0
		untilMet(t.Context(), func() bool { tries++; return false })
		if tries != alarm.MaxTries {
			t.Errorf("who never meets is asked %d times", tries)
		}
		ctx, cancel := context.WithCancel(t.Context())
		tries = 0
		untilMet(ctx, func() bool { tries++; cancel(); return false })
		if tries != 1 {
			t.Errorf("after the end of a peer %d tries", tries)
		}
	})
}

// An elsewhere is a libp2p host whose connections all began on another network.
type (
	elsewhere        struct{ lp2p.Host }
	elsewhereNetwork struct{ network.Network }
	elsewhereConn    struct{ network.Conn }
)

func (h elsewhere) Network() network.Network { return elsewhereNetwork{h.Host.Network()} }

func (n elsewhereNetwork) ConnsToPeer(id peer.ID) (list []network.Conn) {
	for _, c := range n.Network.ConnsToPeer(id) {
		list = append(list, elsewhereConn{c})
	}
	return list
}

func (elsewhereConn) RemoteMultiaddr() multiaddr.Multiaddr {
	return multiaddr.StringCast("/ip4/198.51.100.1/udp/4001/quic-v1")
}

// connected are two libp2p hosts on the loopback interface, the first of which has connected to the second.
func connected(ctx context.Context, t *testing.T) (both [2]lp2p.Host) {
	t.Helper()
	for i := range both {
		h, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/udp/0/quic-v1"), libp2p.DisableMetrics())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.Close() })
		both[i] = h
	}
	if err := both[0].Connect(ctx, peer.AddrInfo{ID: both[1].ID(), Addrs: both[1].Addrs()}); err != nil {
		t.Fatal(err)
	}
	return both
}

// Guards that the cards which a peer tells, and the gateway that it names, are judged by where it is now, not by where
// its connection began.
func TestLinkLeadsWhereThePeerIsNow(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	both := connected(ctx, t)
	x := &meetings{board: &switchboard.Board{Net: elsewhere{both[0]}}}
	if at := x.linkTo(both[1].ID()); at == nil || !manet.IsIPLoopback(at) {
		t.Errorf("a peer of this machine is at %v", at)
	}
}

// Guards that of a member that comes too often nothing is read: a megabyte is what each of its streams may say.
func TestWhoMeetsTooOftenIsNotRead(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	both := connected(ctx, t)
	b := base.New(slog.New(slog.DiscardHandler), func() time.Time { return time.Now().Add(time.Hour) }, time.Minute)
	x := &meetings{Base: b, board: &switchboard.Board{Base: b, Net: both[0],
		Admitted: func(peer.ID) bool { return true }}}
	x.serve()
	for range meetBurst {
		x.greeted.again(both[1].ID(), x.Every, meetBurst, b.Now())
	}
	s, err := both[1].NewStream(ctx, both[0].ID(), meetProtocol)
	if err == nil {
		_ = s.SetReadDeadline(time.Now().Add(time.Minute))
		_, _ = s.Write([]byte{0})
		_, err = s.Read(make([]byte, 1))
	}
	if !errors.Is(err, network.ErrReset) {
		t.Errorf("it is listened to: %v", err)
	}
}

// A member that meets this peer again and again is heard so often and no more, whoever else is; how many are counted is
// bounded.
func TestMeetingsAreCounted(t *testing.T) {
	var g greeted
	now := time.Unix(1000, 0)
	times := func(id peer.ID) (n int) {
		for range 100 {
			if g.again(id, time.Second, meetBurst, now) {
				n++
			}
		}
		return n
	}
	if n := times("a"); n != meetBurst {
		t.Errorf("heard %d times at once", n)
	}
	now = now.Add(3 * time.Second)
	if a, b := times("a"), times("b"); a != 3 || b != meetBurst {
		t.Errorf("after three seconds heard %d times, another %d", a, b)
	}
	for i := range members.Most + 10 {
		g.again(peer.ID(fmt.Sprint("x", i)), time.Second, meetBurst, now)
	}
	if len(g.of) > members.Most {
		t.Errorf("%d are counted", len(g.of))
	}
}

// openHost is the host of a peer in an open swarm.
type openHost struct{}

func (openHost) SwarmName() string                                         { return "test" }
func (openHost) Vouch(peer.ID, []byte) ([]peer.ID, error)                  { return nil, nil }
func (openHost) Heard(peer.ID, []multiaddr.Multiaddr, multiaddr.Multiaddr) {}

// Guards that two members which meet again and again do not keep each other believing in one that has gone, and that
// this one is a member again as soon as it says so itself.
func TestWhoHasGoneIsForgotten(t *testing.T) {
	key, _ := newKey(t)
	third, err := (&statement.Card{Swarm: "test", Incarnation: 1, Seq: 7, Cluster: "a"}).Sign(key)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1000, 0)
	var both [2]*meetings
	for i, id := range []peer.ID{"one", "other"} {
		both[i] = &meetings{Base: &base.Base{Now: func() time.Time { return now }}, host: openHost{},
			swarm: &swarm{self: id, members: someMembers(0, time.Now()),
				places: &places.Places{Changed: func() {}}}}
	}
	hears := func(x *meetings, from peer.ID, b []byte) {
		if err := x.hearCard(b, from, nil); err != nil {
			t.Fatal(err)
		}
	}
	hears(both[0], third.Peer, third.Bytes)
	for range 60 {
		now = now.Add(time.Minute)
		for _, x := range both {
			x.swarm.members.Expire(now)
		}
		for i, x := range both {
			for _, c := range x.swarm.members.List() {
				hears(both[1-i], x.swarm.self, c.Bytes)
			}
		}
	}
	for _, x := range both {
		if n := x.swarm.members.Count(); n != 0 {
			t.Errorf("after an hour without a word from it %d are members", n)
		}
		if hears(x, third.Peer, third.Bytes); x.swarm.members.Count() != 1 {
			t.Error("it is there, and no member")
		}
	}
}
