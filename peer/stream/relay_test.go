package stream_test

import (
	"testing"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/client"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
	"github.com/multiformats/go-multiaddr"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/steal"
)

// Guards that work goes on between two that only a relay brings together, and goes the direct way as soon as there is
// one, in order.
func TestWorkGoesByRelayUntilThereIsADirectWay(t *testing.T) {
	var hosts []host.Host
	for range 3 {
		h, err := libp2p.New(libp2p.ListenAddrStrings(overTCP), libp2p.EnableRelay(), libp2p.DisableMetrics(),
			libp2p.ResourceManager(&network.NullResourceManager{}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { h.Close() })
		hosts = append(hosts, h)
	}
	between, a, b := hosts[0], hosts[1], hosts[2]
	service, err := relay.New(between)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { service.Close() })
	ctx := untilDeadline(t)
	where := peer.AddrInfo{ID: between.ID(), Addrs: between.Addrs()}
	for _, h := range []host.Host{a, b} {
		if err := h.Connect(ctx, where); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.Reserve(ctx, b, where); err != nil {
		t.Fatal(err)
	}
	circuit, err := multiaddr.NewMultiaddr("/p2p/" + between.ID().String() + "/p2p-circuit")
	if err != nil {
		t.Fatal(err)
	}
	a.Peerstore().AddAddr(b.ID(), circuit, peerstore.PermanentAddrTTL)
	box := newInbox()
	from := start(t, a, noDeadlines(), newInbox().handler())
	start(t, b, noDeadlines(), box.handler())
	const each = 20
	seq := uint64(0)
	send := func() (got []*steal.Message) {
		for range each {
			seq++
			from.Send(heartbeat(a, b, seq))
		}
		return box.messages(int(seq))
	}
	send()
	if c := a.Network().Connectedness(b.ID()); c != network.Limited {
		t.Fatalf("the connection is %v", c)
	}
	directly := network.WithForceDirectDial(ctx, "test")
	if err := a.Connect(directly, peer.AddrInfo{ID: b.ID(), Addrs: b.Addrs()}); err != nil {
		t.Fatal(err)
	}
	for i, m := range send() {
		if m.Heartbeat.Seq != uint64(i+1) {
			t.Fatalf("message %d is number %d", i, m.Heartbeat.Seq)
		}
	}
	if !goesDirectly(a, b) {
		t.Error("work still goes through the relay")
	}
}

// goesDirectly says whether there is a stream of work without a relay.
func goesDirectly(a, b host.Host) bool {
	for _, c := range a.Network().ConnsToPeer(b.ID()) {
		for _, s := range c.GetStreams() {
			if !c.Stat().Limited && s.Protocol() == wire.StealProtocol {
				return true
			}
		}
	}
	return false
}
