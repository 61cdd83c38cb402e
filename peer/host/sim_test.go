package host_test

import (
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p"
	libp2phost "github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/marcopolo/simnet"

	"github.com/satin-peer/satin/internal/virtualnet"
	"github.com/satin-peer/satin/peer/host"
)

// A world is a simulated network in virtual time: sleeping costs nothing and is exact.
type world struct {
	t   *testing.T
	net *virtualnet.Net
}

func inWorld(t *testing.T, test func(t *testing.T, w *world)) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, net: virtualnet.New(simnet.StaticLatency(10 * time.Millisecond))}
		w.net.Start()
		defer w.net.Close()
		test(t, w)
	})
}

// A line is a peer's cable, which can be cut, or lose what goes to some addresses.
type line struct {
	mu   sync.Mutex
	cut  bool
	lost []string // IP addresses
}

func (l *line) set(cut bool, lost ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut, l.lost = cut, lost
}

func (l *line) loses(to net.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut || slices.Contains(l.lost, to.(*net.UDPAddr).IP.String())
}

type cable struct {
	net.PacketConn
	line *line
}

func (c cable) WriteTo(b []byte, to net.Addr) (int, error) {
	if c.line.loses(to) {
		return len(b), nil
	}
	return c.PacketConn.WriteTo(b, to)
}

// at opens a host at an address of the world.
func (w *world) at(ip string, port int, cfg host.Config) *host.Host {
	h, _ := w.on(&line{}, ip, port, cfg)
	return h
}

func (w *world) on(l *line, ip string, port int, cfg host.Config) (*host.Host, *line) {
	w.t.Helper()
	if cfg.StateDir == "" {
		cfg.StateDir = w.t.TempDir()
	}
	cfg.Listen = []string{fmt.Sprintf("/ip4/%s/udp/%d/quic-v1", ip, port)}
	onLine := func(c net.PacketConn, _ *net.UDPAddr) net.PacketConn { return cable{c, l} }
	cfg.Options = []libp2p.Option{w.net.QUIC(net.ParseIP(ip).To4(), onLine), virtualnet.Quiet()}
	h, err := host.Open(w.t.Context(), cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.net.Later(func() { h.Close() })
	return h, l
}

// stranger is a libp2p host that knows nothing of us.
func (w *world) stranger(ip string, port int) libp2phost.Host {
	w.t.Helper()
	x, err := libp2p.New(
		libp2p.ListenAddrStrings(fmt.Sprintf("/ip4/%s/udp/%d/quic-v1", ip, port)),
		w.net.QUIC(net.ParseIP(ip).To4(), nil), virtualnet.Quiet(), libp2p.DisableMetrics(),
		libp2p.ResourceManager(&network.NullResourceManager{}),
	)
	if err != nil {
		w.t.Fatal(err)
	}
	w.net.Later(func() { x.Close() })
	return x
}

func info(h *host.Host) peer.AddrInfo { return peer.AddrInfo{ID: h.ID(), Addrs: h.Network().Addrs()} }

// Peers that know one of them become a swarm in which all know each other.
func TestSixteenPeersBecomeASwarm(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		founder := w.at("1.0.0.1", 4001, host.Config{Swarm: "lab"})
		line := invite(t, founder, host.InviteOptions{Uses: 15})
		all := []*host.Host{founder}
		for i := range 15 {
			all = append(all, w.at(fmt.Sprintf("1.0.1.%d", i+1), 4001,
				host.Config{Bootstrap: []string{line}, MinPeers: 5}))
		}
		time.Sleep(20 * time.Second)
		founder.Close()
		time.Sleep(2 * time.Minute)
		for i, h := range all[1:] {
			if n := len(h.Members()); n < 5 || h.SwarmName() != "lab" {
				t.Errorf("peer %d is connected to %d members of %q without the founder, want at least 5", i+1, n,
					h.SwarmName())
			}
		}
	})
}

// libp2p's own limit is 8 connections with one address that is not loopback; 60 peers of an institute behind
// one NAT must get in.
func TestSixtyPeersBehindOneAddress(t *testing.T) {
	peers := 60
	if testing.Short() {
		peers = 12
	}
	inWorld(t, func(t *testing.T, w *world) {
		hub := w.at("1.0.0.1", 4001, host.Config{})
		line := invite(t, hub, host.InviteOptions{Uses: peers})
		var all []*host.Host
		for i := range peers {
			all = append(all, w.at("2.0.0.1", 5000+i, host.Config{Bootstrap: []string{line}, MinPeers: 1}))
		}
		time.Sleep(10 * time.Second)
		for i, h := range all {
			if !hub.Admitted(h.ID()) || !h.Admitted(hub.ID()) {
				t.Errorf("peer %d of %d did not get in", i, peers)
			}
		}
	})
}

// Who connects and says nothing, or says it a byte at a time, is put out after 10 seconds, and no protocol of
// ours hears of it.
func TestSlowStrangersArePutOut(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		a := w.at("1.0.0.1", 4001, host.Config{})
		a.Network().SetStreamHandler("/satin/test/1", func(network.Stream) { t.Error("a stranger's stream arrived") })
		silent, loris, knocker := w.stranger("1.0.0.2", 4001), w.stranger("1.0.0.3", 4001), w.stranger("1.0.0.4", 4001)
		for _, x := range []libp2phost.Host{silent, loris, knocker} {
			if err := x.Connect(t.Context(), info(a)); err != nil {
				t.Fatal(err)
			}
		}
		s, err := loris.NewStream(t.Context(), a.ID(), "/satin/hello/1")
		if err != nil {
			t.Fatal(err)
		}
		knock, err := knocker.NewStream(t.Context(), a.ID(), "/satin/test/1")
		if err != nil {
			t.Fatal(err)
		}
		knock.Write([]byte("let me in"))
		for i := range 15 {
			if _, err := s.Write([]byte{0, 0, 1, 0, 0xa9, 1, 1}[min(i, 6):][:1]); err != nil {
				break
			}
			time.Sleep(time.Second)
		}
		time.Sleep(5 * time.Second)
		for name, x := range map[string]libp2phost.Host{"silent": silent, "slow": loris, "knocking": knocker} {
			if n := len(x.Network().ConnsToPeer(a.ID())); n > 0 {
				t.Errorf("the %s stranger is still connected", name)
			}
		}
	})
}

// A peer that dies and starts again is let in at once as the new one, while the old connection still looks alive.
func TestRestartIsNoticedBeforeTheOldConnectionDies(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		dir := t.TempDir()
		a := w.at("1.0.0.1", 4001, host.Config{})
		told := make(chan bool, 8)
		a.OnPeer(func(_ peer.ID, up bool) { told <- up })
		b, cable := w.on(&line{}, "1.0.0.2", 4001, host.Config{StateDir: dir})
		join(t, b, invite(t, a, host.InviteOptions{}))
		time.Sleep(time.Second)
		cable.set(true) // what it says when it closes is lost, as when it is killed
		b.Close()
		b = w.at("1.0.0.2", 4002, host.Config{StateDir: dir})
		if err := b.Connect(t.Context(), a.Addrs()[0]); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if at := a.Network().Network().ConnsToPeer(b.ID()); a.Life(b.ID()) != 2 || len(at) != 1 {
			t.Errorf("after the restart: life %d, %v", a.Life(b.ID()), at)
		}
		for i, want := range []bool{true, false, true} {
			if got := <-told; got != want {
				t.Errorf("told %v as number %d", got, i)
			}
		}
	})
}

// A peer whose inviter is not there yet joins when it comes, within minutes.
func TestBootstrapIsRetriedUntilTheInviterIsThere(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		dir := t.TempDir()
		a := w.at("1.0.0.1", 4001, host.Config{StateDir: dir})
		line := invite(t, a, host.InviteOptions{})
		a.Close()
		b := w.at("1.0.0.2", 4001, host.Config{Bootstrap: []string{line}})
		time.Sleep(10 * time.Minute)
		if len(b.Members()) != 0 {
			t.Fatal("a member without an inviter")
		}
		a = w.at("1.0.0.1", 4001, host.Config{StateDir: dir})
		time.Sleep(6 * time.Minute) // the longest wait between two attempts is 5
		if !a.Admitted(b.ID()) {
			t.Error("not joined")
		}
	})
}

// Whoever is put out goes at once, with those it has invited, and none of them comes back but by being allowed itself.
func TestRevokedAndWhomTheyInvitedAreOut(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		a, b, c := w.at("1.0.0.1", 4001, host.Config{}), w.at("1.0.0.2", 4001, host.Config{MinPeers: 1}),
			w.at("1.0.0.3", 4001, host.Config{MinPeers: 1})
		join(t, b, invite(t, a, host.InviteOptions{MayInvite: true}))
		join(t, c, invite(t, b, host.InviteOptions{}))
		if err := c.Connect(t.Context(), a.Addrs()[0]); err != nil {
			t.Fatal(err)
		}
		if err := a.Revoke(b.ID()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if a.Admitted(b.ID()) || a.Admitted(c.ID()) || b.Admitted(a.ID()) {
			t.Error("still in")
		}
		wants(t, c.Connect(patience(t), a.Addrs()[0]), host.ErrNotInvited)
		wants(t, a.Connect(patience(t), b.Addrs()[0]), host.ErrNotInvited)
		if err := a.Allow(c.ID()); err != nil {
			t.Fatal(err)
		}
		if err := c.Connect(t.Context(), a.Addrs()[0]); err != nil {
			t.Error(err) // by its own ID now
		}
	})
}

// A member is given more by a second invitation, whether it is connected or not.
func TestSecondInvitationGivesTheRightToInvite(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		a, b := w.at("1.0.0.1", 4001, host.Config{}), w.at("1.0.0.2", 4001, host.Config{MinPeers: 1})
		first := invite(t, a, host.InviteOptions{For: time.Minute})
		join(t, b, first)
		_, err := b.Invite(t.Context(), host.InviteOptions{})
		wants(t, err, host.ErrMayNotInvite)
		join(t, b, invite(t, a, host.InviteOptions{MayInvite: true}))
		c := w.at("1.0.0.3", 4001, host.Config{MinPeers: 1})
		join(t, c, invite(t, b, host.InviteOptions{}))
		if err := c.Connect(t.Context(), a.Addrs()[0]); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Hour)
		join(t, b, first) // expired, but whoever comes is a member
	})
}

// Two halves that have enough members each find together again when the network does.
func TestSplitSwarmMends(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var all []*host.Host
		var lines []*line
		var invitation string
		for i := range 4 {
			l := &line{}
			h, _ := w.on(l, fmt.Sprintf("1.0.0.%d", i+1), 4001, host.Config{MinPeers: 1})
			if i == 0 {
				invitation = invite(t, h, host.InviteOptions{Uses: 3})
			} else {
				join(t, h, invitation)
			}
			all, lines = append(all, h), append(lines, l)
		}
		if err := all[2].Connect(t.Context(), all[3].Addrs()[0]); err != nil {
			t.Fatal(err)
		}
		half := func(cut bool) {
			for i, l := range lines {
				var lost []string
				for j := range lines {
					if cut && i/2 != j/2 {
						lost = append(lost, fmt.Sprintf("1.0.0.%d", j+1))
					}
				}
				l.set(false, lost...)
			}
		}
		half(true)
		time.Sleep(3 * time.Minute)
		for i, h := range all {
			if len(h.Members()) != 1 {
				t.Fatalf("peer %d is connected to %d while the network is split", i, len(h.Members()))
			}
		}
		half(false)
		time.Sleep(20 * time.Minute)
		if !all[0].Admitted(all[2].ID()) && !all[0].Admitted(all[3].ID()) && !all[1].Admitted(all[2].ID()) &&
			!all[1].Admitted(all[3].ID()) {
			t.Error("still two halves")
		}
	})
}

// Members that are known by their cards alone are dialed when nobody is here, and in the next life, too.
func TestHeardOfAreFoundWhenAllOthersAreGone(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		dirs := []string{t.TempDir(), t.TempDir()}
		cfg := func(i int) host.Config { return host.Config{StateDir: dirs[i], MinPeers: 4} }
		a, toA := w.on(&line{}, "1.0.0.1", 4001, host.Config{MinPeers: 4})
		invitation := invite(t, a, host.InviteOptions{Uses: 2})
		b := w.at("1.0.0.2", 4001, cfg(0))
		join(t, b, invitation)
		atB := b.Network().Addrs()
		b.Close()
		c := w.at("1.0.0.3", 4001, cfg(1))
		join(t, c, invitation)
		c.Heard(b.ID(), atB, nil)
		toA.set(false, "1.0.0.2") // or a would tell of b
		b = w.at("1.0.0.2", 4001, cfg(0))
		time.Sleep(10 * time.Minute)
		if !c.Admitted(a.ID()) || c.Admitted(b.ID()) {
			t.Error("whoever has others dials those who are only heard of")
		}
		b.Close()
		c.Close()
		a.Close()
		b = w.at("1.0.0.2", 4001, cfg(0))
		c = w.at("1.0.0.3", 4002, cfg(1)) // where b does not look for it
		time.Sleep(10 * time.Second)
		if !c.Admitted(b.ID()) {
			t.Error("a member that was heard of is not found in the next life")
		}
	})
}

// Peers that have found each other by other means, and refuse each other at the moment of the invitation, do
// not spoil it.
func TestJoinWhileOtherHandshakesFail(t *testing.T) {
	for after := time.Duration(0); after <= 100*time.Millisecond; after += 10 * time.Millisecond {
		inWorld(t, func(t *testing.T, w *world) {
			a, b := w.at("1.0.0.1", 4001, host.Config{}), w.at("1.0.0.2", 4001, host.Config{})
			line := invite(t, a, host.InviteOptions{})
			go a.Network().Connect(t.Context(), info(b))
			go b.Network().Connect(t.Context(), info(a))
			time.Sleep(after)
			if err := b.Join(patience(t), line); err != nil {
				t.Errorf("%v after the others: %v", after, err)
			}
			time.Sleep(time.Minute)
			if !a.Admitted(b.ID()) || !b.Admitted(a.ID()) {
				t.Errorf("%v after the others: not admitted", after)
			}
		})
	}
}

// However many come, there are never more than twice MaxConns connections, and protected partners stay.
func TestConnectionsAreBounded(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		const most = 4
		hub := w.at("1.0.0.1", 4001, host.Config{MaxConns: most, MinPeers: 1})
		line := invite(t, hub, host.InviteOptions{Uses: 20})
		partner := w.at("1.0.0.2", 4001, host.Config{MinPeers: 1})
		join(t, partner, line)
		hub.Protect(partner.ID(), "test")
		for i := range 12 {
			w.at(fmt.Sprintf("1.0.1.%d", i+1), 4001, host.Config{Bootstrap: []string{line}, MinPeers: 1})
		}
		for range 60 {
			time.Sleep(2 * time.Second)
			if n := len(hub.Network().Network().Conns()); n > 2*most {
				t.Fatalf("%d connections, want at most %d", n, 2*most)
			}
		}
		if !hub.Admitted(partner.ID()) {
			t.Error("a protected partner was disconnected")
		}
	})
}
