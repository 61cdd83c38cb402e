package hostile

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/host"
)

// allProtocols are those that members speak.
var allProtocols = []string{"/satin/hello/1", "/satin/meet/1", "/satin/run/1", "/satin/run/2", "/satin/keep/1",
	"/satin/answer/1", "/satin/collect/1", "/satin/watch/1", "/satin/peers/1", "/satin/steal/1", "/satin/bulk/1", "/satin/gossip/1",
	"/satin/shared/1", "/satin/pieces/1", receiptProtocol}

// door is where a peer listens for TCP.
func door(t *testing.T, addrs []string) string {
	t.Helper()
	for _, a := range addrs {
		m, err := ma.NewMultiaddr(strings.Split(a, "/p2p/")[0])
		if err != nil {
			t.Fatal(err)
		}
		if at, err := manet.ToNetAddr(m); err == nil && at.Network() == "tcp" {
			return at.String()
		}
	}
	t.Fatalf("no TCP address in %v", addrs)
	return ""
}

// Whoever opens connections and says nothing, or garbage, keeps nobody out who was invited: more than there are
// places, as from several addresses, for those on loopback are not counted.
func TestHalfOpenConnections(t *testing.T) {
	v := victim(t)
	st, err := v.Status(patience(t))
	if err != nil {
		t.Fatal(err)
	}
	at := door(t, st.Addresses)
	hold := func(say string, n int) {
		for range n {
			c, err := net.DialTimeout("tcp", at, 10*time.Second)
			if err != nil {
				return // it lets no more in, which is as well
			}
			t.Cleanup(func() { _ = c.Close() })
			_, _ = io.WriteString(c, say)
		}
	}
	hold("", 500)
	hold("\x13/multistream/1.0.0\n", 60)
	hold("GET / HTTP/1.1\r\n\r\n", 60)
	made, err := v.Invite(patience(t), control.Invitation{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := host.Open(t.Context(), hostConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	if err := h.Join(patience(t), made.Line); err != nil {
		t.Errorf("who was invited: %v", err)
	}
}

// Frames that are begun and not ended, are longer than they may be, or are noise cost their sender the stream, and the
// victim nothing else: it answers the next one.
func TestHalfSentFrames(t *testing.T) {
	v := victim(t)
	r := invited(t, v)
	for _, proto := range allProtocols {
		for _, b := range []string{
			"\x00\x00\x00\x09\x01", "\x00\x00\x00\x00", "\xff\xff\xff\xff\x01\x02", // begun, empty, huge
			"\x00\x00\x00\x40" + strings.Repeat("\xff\x9f", 32),
			"\x00\x00\x04\x00" + strings.Repeat("\x81", 1024),      // deep
			"\x00\x00\x00\x09\x9b\xff\xff\xff\xff\xff\xff\xff\xff", // a list of 2^64-1
		} {
			for range 4 {
				s, err := r.Network().NewStream(network.WithNoDial(patience(t), "connected"), r.victim,
					protocol.ID(proto))
				if err != nil {
					break // it refuses more for a while, which is as well
				}
				_, _ = io.WriteString(s, b)
				t.Cleanup(func() { _ = s.Reset() })
			}
		}
	}
	until(t, "it answers others", func() bool {
		other := invited(t, v)
		return other.say(t, "/satin/meet/1", &meeting{}, &meeting{}) == nil
	})
	if _, err := v.Status(patience(t)); err != nil {
		t.Error(err)
	}
}
