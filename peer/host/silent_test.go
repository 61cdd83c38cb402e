package host

import (
	"net"
	"net/netip"
	"testing"
	"time"
)

// However many connections from wherever say nothing, whoever comes later has a place: the oldest from where most are
// loses its own. Those that libp2p has given up take nobody's.
func TestSilentMakeRoom(t *testing.T) {
	var s silents
	now := time.Unix(1800000000, 0)
	come := func(from string) (conn, out net.Conn) {
		c, _ := net.Pipe()
		t.Cleanup(func() { _ = c.Close() })
		return c, s.add(silent{c, netip.MustParsePrefix(from + "/32"), now})
	}
	early, _ := come("192.0.2.1")
	var crowd []net.Conn
	for len(crowd) < maxSilent-1 {
		c, out := come([]string{"198.51.100.1", "198.51.100.2", "198.51.100.3"}[len(crowd)%3])
		if out != nil {
			t.Fatal("one is put out while there are places")
		}
		crowd = append(crowd, c)
	}
	if _, out := come("203.0.113.1"); out != crowd[0] && out != crowd[1] {
		t.Error("another than the oldest from where most are is put out")
	}
	for range 3 * maxSilent {
		if _, out := come("198.51.100.4"); out == nil || out == early {
			t.Fatal("nobody of the crowd is put out")
		}
	}
	if len(s.list) != maxSilent {
		t.Errorf("%d are here", len(s.list))
	}
	now = now.Add(silentFor)
	if _, out := come("192.0.2.2"); out != nil || len(s.list) != 1 {
		t.Errorf("of those that have been given up %d are here", len(s.list)-1)
	}
}
