package peer

import (
	"io"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	mocknet "github.com/libp2p/go-libp2p/p2p/net/mock"
	"github.com/libp2p/go-libp2p/p2p/protocol/ping"

	"github.com/satin-peer/satin/peer/locality"
)

// Guards the batteries of an idle swarm: while there is no run members are measured in one of three seconds.
func TestIdlePeersMeasureLess(t *testing.T) {
	swarm, err := mocknet.FullMeshConnected(2)
	if err != nil {
		t.Fatal(err)
	}
	defer swarm.Close()
	here, other := swarm.Hosts()[0], swarm.Hosts()[1]
	var pings atomic.Int32
	other.SetStreamHandler(ping.ID, func(s network.Stream) {
		pings.Add(1)
		_, _ = io.Copy(s, s)
	})
	b, clock := standing()
	s := &places{base: b, board: &switchboard{base: b, net: here}, changed: func() {}, missed: map[peer.ID]int{}}
	if err := s.open("a"); err != nil {
		t.Fatal(err)
	}
	s.m.SetMembers([]locality.Member{{ID: other.ID().String(), Cluster: "a"}})
	for _, x := range []struct {
		idle bool
		want int32
	}{{true, 4}, {false, 12}} {
		pings.Store(0)
		for range 12 {
			clock.forward(time.Second)
			for s.keepUp(clock.now(), x.idle); s.measuring.Load() > 0; {
				runtime.Gosched()
			}
		}
		if got := pings.Load(); got != x.want {
			t.Errorf("idle %v: %d pings in 12 seconds, want %d", x.idle, got, x.want)
		}
	}
	b.end(func() {})
}
