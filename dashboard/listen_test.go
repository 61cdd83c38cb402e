package dashboard

import (
	"net"
	"testing"
)

// TestAutoListen: servers that are to be at the usual port get one each, from that on.
func TestAutoListen(t *testing.T) {
	seen := map[int]bool{}
	for range autoPorts + 2 {
		l, err := listenAt(AutoListen)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		at := l.Addr().(*net.TCPAddr)
		if !at.IP.IsLoopback() || seen[at.Port] {
			t.Errorf("%v is not on this machine only, or not free", at)
		}
		seen[at.Port] = true
	}
	if err := CheckListen(AutoListen); err != nil {
		t.Error(err)
	}
	// whoever holds the first ports, at least one of ours was not among them
	outside := 0
	for port := range seen {
		if port < autoPort || port >= autoPort+autoPorts {
			outside++
		}
	}
	if outside < 2 {
		t.Errorf("of %d servers only %d are outside of %d ports", len(seen), outside, autoPorts)
	}
}
