package host_test

import (
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/client"

	"github.com/satin-peer/satin/peer/host"
)

// A member that relays brings together two that cannot reach each other, and serves nobody else.
func TestMembersAreRelayedAndStrangersAreNot(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.at("1.0.0.1", 4001, host.Config{Relay: true})
		invitation := invite(t, r, host.InviteOptions{Uses: 2})
		a, _ := w.on(&line{lost: []string{"1.0.0.3"}}, "1.0.0.2", 4001, host.Config{MinPeers: 1})
		b, _ := w.on(&line{lost: []string{"1.0.0.2"}}, "1.0.0.3", 4001, host.Config{MinPeers: 1})
		join(t, a, invitation)
		join(t, b, invitation)
		if _, err := client.Reserve(t.Context(), b.Network(), info(r)); err != nil {
			t.Fatal(err)
		}
		err := a.Connect(patience(t), b.Addrs()[0])
		wants(t, err, host.ErrUnreachable)
		if err := a.Connect(patience(t), r.Addrs()[0]+"/p2p-circuit/p2p/"+b.ID().String()); err != nil {
			t.Fatal(err)
		}
		direct := func(c network.Conn) bool { return !c.Stat().Limited }
		here, there := a.Network().Network().ConnsToPeer(b.ID()), b.Network().Network().ConnsToPeer(a.ID())
		if !a.Admitted(b.ID()) || slices.ContainsFunc(here, direct) {
			t.Errorf("seen from here: %v", here)
		}
		if !b.Admitted(a.ID()) || slices.ContainsFunc(there, direct) ||
			there[0].Stat().Direction != network.DirInbound {
			t.Errorf("seen from there: %v", there)
		}
		heard := make(chan bool, 1)
		b.Network().SetStreamHandler("/satin/test/1", func(s network.Stream) {
			_, err := s.Read(make([]byte, 1))
			heard <- err == nil
			s.Reset()
		})
		s, err := a.Network().NewStream(network.WithAllowLimitedConn(patience(t), "test"), b.ID(), "/satin/test/1")
		if err != nil {
			t.Fatal(err)
		}
		s.Write([]byte("x"))
		if !<-heard {
			t.Error("nothing came through the relay")
		}

		x := w.stranger("1.0.0.4", 4001)
		if err := x.Connect(t.Context(), info(r)); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Reserve(t.Context(), x, info(r)); err == nil {
			t.Error("a stranger got a reservation")
		}
		time.Sleep(time.Minute) // the stranger is put out, the members stay
		if !a.Admitted(r.ID()) || !b.Admitted(r.ID()) || len(x.Network().ConnsToPeer(r.ID())) > 0 {
			t.Error("the relay put out the wrong ones")
		}
	})
}
