package host

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

// One peer may try so often at once, and then every few seconds; the others are not held up by it.
func TestAttemptsAreLimited(t *testing.T) {
	g := &gate{attempts: map[peer.ID]bucket{}}
	now := time.Unix(1800000000, 0)
	try := func(id peer.ID) (n int) {
		for g.mayTry(id, now) {
			n++
		}
		return n
	}
	if n := try(mustID(1)); n != attemptBurst {
		t.Errorf("%d attempts at once, want %d", n, attemptBurst)
	}
	if n := try(mustID(2)); n != attemptBurst {
		t.Errorf("another peer has %d attempts", n)
	}
	now = now.Add(3 * attemptEvery)
	if n := try(mustID(1)); n != 3 {
		t.Errorf("%d attempts after the time of 3", n)
	}
	for i := range 3 * maxCounted {
		g.mayTry(peer.ID(fmt.Sprint(i)), now)
	}
	if len(g.attempts) > maxCounted {
		t.Errorf("%d buckets", len(g.attempts))
	}
}

// The peer keeps the port of its first start when it was not told one, so that addresses that others know stay true.
func TestPortStaysTheSame(t *testing.T) {
	state, err := openState(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer state.close()
	first, err := listenPort(state)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := listenPort(state); err != nil || again != first {
		t.Errorf("port %d, then %d, %v", first, again, err)
	}
	addrs, err := listenAddrs(nil, state)
	if err != nil || len(addrs) != 4 {
		t.Errorf("%v, %v", addrs, err)
	}
}

// When strangers crowd the door, members and those who are allowed still get in.
func TestCrowdKeepsOutStrangersOnly(t *testing.T) {
	h := &Host{book: &addrBook{all: map[peer.ID]*bookEntry{}}, membership: membership{
		allowed: &idList{ids: map[peer.ID]string{mustID(2): ""}}, revoked: &idList{}}}
	h.roll = Roll{host: h, banned: &revocations{}}
	h.visitors = &visitors{host: h, outside: maxOutside}
	h.book.meet(mustID(1), nil, time.Unix(1800000000, 0))
	g := &gate{host: h, attempts: map[peer.ID]bucket{}}
	for id, want := range map[peer.ID]bool{mustID(1): true, mustID(2): true, mustID(3): false} {
		if got := g.InterceptSecured(network.DirInbound, id, nil); got != want {
			t.Errorf("%s may come in: %v, want %v", id, got, want)
		}
	}
	if h.visitors.outside--; !g.InterceptSecured(network.DirInbound, mustID(3), nil) {
		t.Error("a stranger is kept out though there is room")
	}
}

// A connectionFrom is all that visitors look at of a connection.
type connectionFrom struct {
	network.Conn
	id peer.ID
	at ma.Multiaddr
}

func (c *connectionFrom) RemotePeer() peer.ID { return c.id }

func (c *connectionFrom) RemoteMultiaddr() ma.Multiaddr { return c.at }

func (c *connectionFrom) Stat() network.ConnStats {
	return network.ConnStats{Stats: network.Stats{Direction: network.DirInbound}}
}

// Strangers that open connections and say nothing lose their places to those who come later: first those who are many
// from one address, and of them who has waited longest.
func TestIdlersMakeRoom(t *testing.T) {
	h, err := Open(t.Context(), Config{StateDir: t.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	come := func(from string) peer.ID {
		public, _, err := ed25519.GenerateKey(nil)
		if err != nil {
			t.Fatal(err)
		}
		id := peer.ID(string(mustID(1)[:6]) + string(public))
		h.visitors.opened(&connectionFrom{id: id, at: ma.StringCast("/ip4/" + from + "/tcp/1")})
		return id
	}
	early := come("192.0.2.1")
	var crowd []peer.ID
	for range 3 * maxOutside {
		crowd = append(crowd, come("198.51.100.1"))
	}
	late := come("192.0.2.2")
	if h.visitors.crowded() {
		t.Error("nobody is let in any more")
	}
	for name, id := range map[string]peer.ID{"from elsewhere before": early, "from elsewhere afterwards": late,
		"the last of the crowd": crowd[len(crowd)-1]} {
		if h.visitors.find(id) == nil {
			t.Errorf("the stranger %s was put out", name)
		}
	}
	if h.visitors.find(crowd[0]) != nil {
		t.Error("the first of the crowd is still there")
	}
}

// What kind of refusal it is, is the same at the other end, and the reason is short and fit for a terminal there;
// trouble of this peer's own is a bad handshake.
func TestRefusalsCrossTheNetwork(t *testing.T) {
	for _, sentinel := range refusals[1:] {
		w := encodeRefusal(fmt.Errorf("%w: because\nof %s", sentinel, "\x1b[2J"))
		if err := w.refusal(); !errors.Is(err, sentinel) || printable(err.Error()) != err.Error() {
			t.Errorf("%v became %v", sentinel, err)
		}
	}
	if w := encodeRefusal(errors.New("disk full")); !errors.Is(w.refusal(), ErrHello) {
		t.Errorf("an error of our own became %v", w.refusal())
	}
	if w := encodeRefusal(fmt.Errorf("%w: %s", ErrBusy, bytes.Repeat([]byte("é"), 999))); len(w.Reason) > maxReason {
		t.Errorf("a reason of %d bytes", len(w.Reason))
	}
}
