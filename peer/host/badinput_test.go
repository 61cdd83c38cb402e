package host_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	libp2phost "github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/satin-peer/satin/peer/host"
)

// Every wrong address gives one clear error, and what it is about is in it.
func TestConnectToWrongAddresses(t *testing.T) {
	a, b := open(t, host.Config{Trust: host.TrustOpen}), open(t, host.Config{Trust: host.TrustOpen})
	where := func(transport string) string {
		for _, addr := range b.Addrs() {
			if strings.Contains(addr, transport) {
				return strings.TrimSuffix(addr, "/p2p/"+b.ID().String())
			}
		}
		t.Fatal("no address for " + transport)
		return ""
	}
	stranger := open(t, host.Config{Trust: host.TrustOpen})
	dead := stranger.Addrs()
	stranger.Close()
	nobody := "/p2p/" + stranger.ID().String()
	for _, c := range []struct {
		name, addr string
		want       error
		says       string
	}{
		{"no peer ID", where("tcp"), host.ErrAddress, "/p2p/"},
		{"no address", "/p2p/" + b.ID().String(), host.ErrAddress, "where"},
		{"garbage", "hello there", host.ErrAddress, "hello there"},
		{"empty", "", host.ErrAddress, "looks like"},
		{"half a peer ID", where("tcp") + "/p2p/12D3KooW", host.ErrAddress, "12D3KooW"},
		{"very long", "/ip4/127.0.0.1/tcp/" + strings.Repeat("1", 5000), host.ErrAddress, "letters"},
		{"an unknown transport", "/ip4/127.0.0.1/tcp/1/ws" + nobody, host.ErrAddress, "QUIC and TCP"},
		{"itself", a.Addrs()[0], host.ErrSelf, a.ID().String()},
		{"another peer, QUIC", where("quic") + nobody, host.ErrWrongPeer, b.ID().String()},
		{"another peer, TCP", where("tcp") + nobody, host.ErrWrongPeer, b.ID().String()},
		{"dead, TCP", pick(dead, "tcp"), host.ErrUnreachable, "refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := a.Connect(patience(t), c.addr)
			wants(t, err, c.want)
			if !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("the message does not name %q in one line: %v", c.says, err)
			}
		})
	}
}

func pick(addrs []string, transport string) string {
	for _, a := range addrs {
		if strings.Contains(a, transport) {
			return a
		}
	}
	return ""
}

// A peer of another swarm, of another version, or without an invitation is refused on both sides, and told the reason
// and what to do.
func TestConnectToOtherSwarms(t *testing.T) {
	// Settled peers: each has let somebody in.
	founder := func(name string) *host.Host {
		h := open(t, host.Config{Swarm: name})
		join(t, open(t, host.Config{}), invite(t, h, host.InviteOptions{}))
		return h
	}
	a, twin, other := founder("lab"), founder("lab"), founder("elsewhere")
	for _, c := range []struct {
		name string
		from *host.Host
		want error
		says string
	}{
		{"of another name", other, host.ErrWrongSwarm, `"elsewhere"`},
		{"of the same name with another key", twin, host.ErrWrongSwarm, "another key"},
		{"open, of the same name", open(t, host.Config{Swarm: "lab", Trust: host.TrustOpen}), host.ErrNotInvited,
			"not invited"},
		{"new here", open(t, host.Config{Swarm: "lab"}), host.ErrNotInvited, "satin-peer invite prints"},
		{"new here, without a name", open(t, host.Config{}), host.ErrNotInvited, "satin-peer invite prints"},
		{"new here, of another name", open(t, host.Config{Swarm: "mine"}), host.ErrNotInvited,
			`satin-peer invite prints, or to allow the peer ID`},
		{"newer", open(t, host.Config{Swarm: "lab", Protocol: 3, OldestProtocol: 2}), host.ErrVersion, "update"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.from.Connect(patience(t), a.Addrs()[0])
			wants(t, err, c.want)
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("the message does not say %q: %v", c.says, err)
			}
			if a.Admitted(c.from.ID()) || c.from.Admitted(a.ID()) {
				t.Error("admitted all the same")
			}
		})
	}
	wants(t, other.Join(patience(t), invite(t, a, host.InviteOptions{})), host.ErrWrongSwarm)
	wants(t, twin.Join(patience(t), invite(t, a, host.InviteOptions{})), host.ErrWrongSwarm)
	newer := open(t, host.Config{Swarm: "lab", Protocol: 3, OldestProtocol: 2})
	wants(t, open(t, host.Config{Swarm: "lab"}).Connect(patience(t), newer.Addrs()[0]), host.ErrVersion)
	both := open(t, host.Config{Swarm: "lab", Protocol: 2, OldestProtocol: 1}) // speaks the older one too
	if err := both.Join(patience(t), invite(t, a, host.InviteOptions{})); err != nil || !a.Admitted(both.ID()) {
		t.Errorf("a newer one that speaks this version, too, is not admitted: %v", err)
	}
	wants(t, a.Join(patience(t), invite(t, a, host.InviteOptions{})), host.ErrSelf)
}

// A peer that speaks no handshake of ours, or only a newer one, is refused with an error that says which of both.
func TestWhoSpeaksAnotherHandshake(t *testing.T) {
	a := open(t, host.Config{})
	stranger, newer := bare(t), bare(t)
	newer.SetStreamHandler("/satin/hello/2", func(s network.Stream) { s.Reset() })
	for x, says := range map[libp2phost.Host]string{stranger: "no satin peer", newer: "/satin/hello/2"} {
		err := a.Connect(patience(t), x.Addrs()[0].String()+"/p2p/"+x.ID().String())
		wants(t, err, host.ErrVersion)
		if !strings.Contains(err.Error(), says) {
			t.Errorf("the message does not say %q: %v", says, err)
		}
	}
}

// The reason that the first try found is told, though the peer says nothing but goodbye from then on, or has gone.
func TestFirstReasonIsTold(t *testing.T) {
	for name, after := range map[string]func(libp2phost.Host, network.Conn){
		"hangs up":   func(_ libp2phost.Host, c network.Conn) { c.Close() },
		"is closing": func(x libp2phost.Host, _ network.Conn) { x.Network().Close() },
	} {
		t.Run(name, func(t *testing.T) {
			a, x := open(t, host.Config{}), bareAt(t, "/ip4/127.0.0.1/tcp/0") // a closed port says so
			var visits atomic.Int32
			x.Network().Notify(&network.NotifyBundle{ConnectedF: func(_ network.Network, c network.Conn) {
				if visits.Add(1) > 1 {
					go after(x, c)
				}
			}})
			err := a.Connect(patience(t), x.Addrs()[0].String()+"/p2p/"+x.ID().String())
			wants(t, err, host.ErrVersion)
			if n := visits.Load(); n < 2 {
				t.Errorf("it was tried %d times", n)
			}
		})
	}
}

// bare is a libp2p host that knows nothing of us.
func bare(t *testing.T) libp2phost.Host {
	t.Helper()
	return bareAt(t, loopback...)
}

func bareAt(t *testing.T, listen ...string) libp2phost.Host {
	t.Helper()
	x, err := libp2p.New(libp2p.ListenAddrStrings(listen...), libp2p.DisableMetrics())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

// Whatever a stranger sends instead of a hello, it is put out, and members do not notice.
func TestHostileHellos(t *testing.T) {
	a := open(t, host.Config{})
	frame := func(b []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...) }
	for name, bytes := range map[string][]byte{
		"garbage":         []byte("GET / HTTP/1.1\r\n\r\n"),
		"a huge frame":    {0xff, 0xff, 0xff, 0xff},
		"an empty frame":  frame(nil),
		"cut off":         {0, 0, 1, 0, 0xa1},
		"deeply nested":   frame([]byte(strings.Repeat("\x81", 5000))),
		"not a map":       frame([]byte{0x83, 1, 2, 3}),
		"unknown fields":  frame([]byte{0xa1, 0x18, 0x63, 1}),
		"repeated fields": frame([]byte{0xa2, 1, 1, 1, 1}),
		"a long array":    frame([]byte{0xa1, 5, 0x9a, 0x7f, 0xff, 0xff, 0xff}),
	} {
		t.Run(name, func(t *testing.T) {
			x := bare(t)
			ctx := patience(t)
			if err := x.Connect(ctx, peer.AddrInfo{ID: a.ID(), Addrs: a.Network().Addrs()}); err != nil {
				t.Fatal(err)
			}
			s, err := x.NewStream(ctx, a.ID(), "/satin/hello/1")
			if err != nil {
				t.Fatal(err)
			}
			deadline, _ := ctx.Deadline()
			s.SetDeadline(deadline)
			if _, err := s.Write(bytes); err != nil {
				t.Fatal(err)
			}
			s.CloseWrite()
			io.Copy(io.Discard, s) // ends when the other hangs up
			s.Close()
			if errors.Is(ctx.Err(), context.DeadlineExceeded) || a.Admitted(x.ID()) {
				t.Error("the stranger was not put out")
			}
		})
	}
}

// A port that another program has is an error that names it, although other addresses would be free.
func TestListenOnTakenPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	_, err = host.Open(t.Context(), host.Config{StateDir: t.TempDir(),
		Listen: []string{"/ip4/127.0.0.1/udp/0/quic-v1", fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", port)}})
	wants(t, err, host.ErrListen)
	if !strings.Contains(err.Error(), strconv.Itoa(port)) || !strings.Contains(err.Error(), "in use") {
		t.Errorf("the message does not name the port and the cause: %v", err)
	}
}

// libp2p would share the port of a running peer, of the same address or of one that covers it.
func TestListenOnThePortOfAnotherPeer(t *testing.T) {
	for running, taken := range map[string]string{"127.0.0.1": "0.0.0.0", "0.0.0.0": "127.0.0.1"} {
		for _, ip := range []string{running, taken} {
			a := open(t, host.Config{Listen: []string{"/ip4/" + running + "/tcp/0"}})
			at, err := multiaddr.NewMultiaddr(pick(a.Addrs(), "/tcp/"))
			if err != nil {
				t.Fatal(err)
			}
			port, err := at.ValueForProtocol(multiaddr.P_TCP)
			if err != nil {
				t.Fatal(err)
			}
			addr := "/ip4/" + ip + "/tcp/" + port
			_, err = host.Open(t.Context(), host.Config{StateDir: t.TempDir(), Listen: []string{addr}})
			wants(t, err, host.ErrListen)
			if !strings.Contains(err.Error(), addr) || !strings.Contains(err.Error(), "in use") ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("the message does not name the address and the cause in one line: %v", err)
			}
			a.Close()
			open(t, host.Config{Listen: []string{addr}}).Close() // free again
		}
	}
}

// A configuration that makes no sense does not open a host, and the error tells of what kind it is.
func TestBadConfigurations(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  host.Config
		want error
	}{
		"nonsense to listen on":   {host.Config{Listen: []string{"port 4001"}}, host.ErrAddress},
		"a name to listen on":     {host.Config{Listen: []string{"/dns4/example.org/tcp/x"}}, host.ErrAddress},
		"nonsense to bootstrap":   {host.Config{Bootstrap: []string{"example.org"}}, host.ErrAddress},
		"a torn invitation":       {host.Config{Bootstrap: []string{"satin-invite-1:abc"}}, host.ErrInvitation},
		"a swarm with a space":    {host.Config{Swarm: "my lab"}, host.ErrConfig},
		"a swarm with a long tag": {host.Config{Swarm: strings.Repeat("x", 65)}, host.ErrConfig},
		"a negative number":       {host.Config{MaxConns: -1}, host.ErrConfig},
		"versions upside down":    {host.Config{Protocol: 1, OldestProtocol: 2}, host.ErrConfig},
		"unknown trust":           {host.Config{Trust: 7}, host.ErrConfig},
		"no state directory":      {host.Config{}, host.ErrState},
	} {
		t.Run(name, func(t *testing.T) {
			if c.want != host.ErrState {
				c.cfg.StateDir = t.TempDir()
			}
			_, err := host.Open(t.Context(), c.cfg)
			wants(t, err, c.want)
		})
	}
}

// A state directory that is damaged, is another peer's, or whose key others can read does not open a host; one short
// line says which file it is.
func TestBadStateDirectories(t *testing.T) {
	made := func(t *testing.T) string { // the directory of a peer that ran once
		dir := t.TempDir()
		open(t, host.Config{StateDir: dir}).Close()
		return dir
	}
	put := func(t *testing.T, dir, name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	for name, c := range map[string]struct {
		dir  func(t *testing.T) string
		says string
	}{
		"a file in its place": {func(t *testing.T) string {
			return filepath.Join(put(t, t.TempDir(), "x", "",
				0o600), "x")
		}, "x"},
		"no place for it": {func(*testing.T) string { return "/proc/satin" }, "/proc/satin"},
		"a key others can read": {func(t *testing.T) string {
			dir := made(t)
			if err := os.Chmod(filepath.Join(dir, "peer.key"), 0o644); err != nil {
				t.Fatal(err)
			}
			return dir
		}, "chmod 600"},
		"a key that is none": {func(t *testing.T) string {
			return put(t, made(t), "peer.key", "garbage",
				0o600)
		}, "peer.key"},
		"an empty key": {func(t *testing.T) string { return put(t, made(t), "peer.key", "", 0o600) },
			"peer.key"},
		"a damaged incarnation": {func(t *testing.T) string {
			return put(t, made(t), "incarnation", "many",
				0o600)
		}, "incarnation"},
		"an incarnation for which gossip has no room": {func(t *testing.T) string {
			return put(t, made(t), "incarnation", "99999999", 0o600)
		}, "below 8388608"},
		"a long damaged incarnation": {func(t *testing.T) string {
			return put(t, made(t), "incarnation", strings.Repeat("\xff7", 200<<10), 0o600)
		}, "409600 bytes"},
		"a key that is a directory": {func(t *testing.T) string {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "peer.key"), 0o755); err != nil {
				t.Fatal(err)
			}
			return dir
		}, "is a directory"},
		"a damaged swarm": {func(t *testing.T) string { return put(t, made(t), "swarm", "{}", 0o600) },
			"swarm"},
		"another swarm's key": {func(t *testing.T) string {
			return put(t, made(t), "swarm.key",
				read(t, made(t), "swarm.key"), 0o600)
		}, "swarm.key"},
		"damaged invitations": {func(t *testing.T) string {
			return put(t, made(t), "invitations", "[{}]",
				0o600)
		}, "invitations"},
		"a damaged allow-list": {func(t *testing.T) string {
			return put(t, made(t), "allowed", "# fine\nbad\n",
				0o600)
		}, "line 2"},
		"a very long allow-list": {func(t *testing.T) string {
			return put(t, made(t), "allowed",
				strings.Repeat("#\n", 1<<20), 0o600)
		}, "longer"},
		"somebody else's swarm key": {func(t *testing.T) string {
			return put(t, t.TempDir(), "swarm.key", "-",
				0o600)
		}, "swarm.key"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := c.dir(t)
			_, err := host.Open(t.Context(), host.Config{StateDir: dir, Listen: loopback})
			wants(t, err, host.ErrState)
			if says := err.Error(); !strings.Contains(says, c.says) || strings.Contains(says, "\n") ||
				len(says) > 1000 {
				t.Errorf("the message does not say %q in one short line: %.1000v", c.says, err)
			}
		})
	}
}

func read(t *testing.T, dir, name string) string {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A second process with the same directory is refused, and told who has it; after a restart the peer is the same one
// in its next life.
func TestStateDirectoryIsForOneProcess(t *testing.T) {
	dir := t.TempDir()
	a := open(t, host.Config{StateDir: dir})
	_, err := host.Open(t.Context(), host.Config{StateDir: dir, Listen: loopback})
	wants(t, err, host.ErrInUse)
	wants(t, err, host.ErrState)
	if !strings.Contains(err.Error(), fmt.Sprintf("pid %d", os.Getpid())) {
		t.Errorf("the message does not name the process: %v", err)
	}
	a.Close()
	if b := open(t, host.Config{StateDir: dir}); b.ID() != a.ID() || b.Incarnation() != a.Incarnation()+1 {
		t.Errorf("after a restart %s in its life %d, was %s in its life %d", b.ID(), b.Incarnation(), a.ID(),
			a.Incarnation())
	}
	if info, err := os.Stat(filepath.Join(dir, "peer.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the key file: %v, %v", info.Mode(), err)
	}
}

// flip changes one letter.
func flip(line string) string {
	b := []byte(line)
	if i := len(b) - 20; b[i] == 'A' {
		b[i] = 'B'
	} else {
		b[i] = 'A'
	}
	return string(b)
}

// An invitation lets in as many as it says, as long as it says, and nobody once a letter of it is missing or changed;
// whoever may not invite makes none.
func TestInvitationsEnd(t *testing.T) {
	a := open(t, host.Config{})
	once := invite(t, a, host.InviteOptions{})
	b := open(t, host.Config{})
	join(t, b, once)
	join(t, b, once) // a member that starts again with the same line
	c := open(t, host.Config{})
	wants(t, c.Join(patience(t), once), host.ErrInvitation)
	wants(t, c.Join(patience(t), invite(t, a, host.InviteOptions{For: time.Nanosecond})), host.ErrInvitation)
	wants(t, c.Join(patience(t), once[:len(once)-3]), host.ErrInvitation)
	wants(t, c.Join(patience(t), flip(once)), host.ErrInvitation)
	old := invite(t, a, host.InviteOptions{For: time.Nanosecond})
	_, err := host.Open(t.Context(), host.Config{StateDir: t.TempDir(), Bootstrap: []string{old}})
	wants(t, err, host.ErrInvitation)
	_, err = host.Open(t.Context(), host.Config{StateDir: t.TempDir(), Swarm: "elsewhere", Bootstrap: []string{once}})
	wants(t, err, host.ErrWrongSwarm)
	if _, err := b.Invite(t.Context(), host.InviteOptions{}); !errors.Is(err, host.ErrMayNotInvite) {
		t.Errorf("a member without the right to invite: %v", err)
	}
	for _, o := range []host.InviteOptions{{Uses: -1}, {Uses: 1001}, {For: -1}, {For: 9000 * time.Hour}} {
		if _, err := a.Invite(t.Context(), o); !errors.Is(err, host.ErrInvitation) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
