package places

import (
	"bytes"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	lp2p "github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	mocknet "github.com/libp2p/go-libp2p/p2p/net/mock"
	"github.com/libp2p/go-libp2p/p2p/protocol/ping"

	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/locality"
	"github.com/satin-peer/satin/peer/members"
	"github.com/satin-peer/satin/peer/switchboard"
)

// measuring gives places beside one other member, which is connected and answers no pings yet.
func measuring(t *testing.T) (s *Places, other lp2p.Host) {
	t.Helper()
	swarm, err := mocknet.FullMeshConnected(2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = swarm.Close() })
	b := base.New(slog.New(slog.DiscardHandler), time.Now, time.Second)
	t.Cleanup(func() { b.End(func() {}) })
	s = &Places{Base: b, Board: &switchboard.Board{Base: b, Net: swarm.Hosts()[0]}, Changed: func() {},
		Members: members.New(b.Log, func() string { return "a" }, func() {})}
	if err := s.Open(swarm.Hosts()[0].ID(), "a"); err != nil {
		t.Fatal(err)
	}
	other = swarm.Hosts()[1]
	s.m.SetMembers([]locality.Member{{ID: other.ID().String(), Cluster: "a"}})
	return s, other
}

// pass is what is done in a second: it returns when what was measured in it is known.
func (s *Places) pass(idle bool) {
	for s.KeepUp(s.Now(), idle); s.measuring.Load() > 0; {
		runtime.Gosched()
	}
}

// Guards the batteries of an idle swarm: while there is no run members are measured in one of three seconds.
func TestIdlePeersMeasureLess(t *testing.T) {
	s, other := measuring(t)
	var pings atomic.Int32
	other.SetStreamHandler(ping.ID, func(stream network.Stream) {
		pings.Add(1)
		_, _ = io.Copy(stream, stream)
	})
	for _, x := range []struct {
		idle bool
		want int32
	}{{true, 4}, {false, 12}} {
		pings.Store(0)
		for range 12 {
			s.pass(x.idle)
		}
		if got := pings.Load(); got != x.want {
			t.Errorf("idle %v: %d pings in 12 seconds, want %d", x.idle, got, x.want)
		}
	}
}

// Guards that the connection to a member that does not answer is given up, so that it can be dialed when it is there
// again, though a message to it was found to be lost before three pings were; and that the log says both.
func TestSilentAfterALostMessage(t *testing.T) {
	s, other := measuring(t)
	var log bytes.Buffer
	s.Log = slog.New(slog.NewTextHandler(&log, nil))
	var cut atomic.Int32
	s.Disconnect = func(peer.ID) error {
		cut.Add(1)
		return nil
	}
	s.Lost(other.ID())
	for range pingMisses + 1 {
		s.pass(false)
	}
	s.End(func() {}) // which waits for what was begun
	if n := cut.Load(); n != 1 || !s.Silent(other.ID()) {
		t.Errorf("it was disconnected %d times, silent %v", n, s.Silent(other.ID()))
	}
	if s.Heard(other.ID()); s.Silent(other.ID()) {
		t.Error("it was heard, and is silent")
	}
	if s.Heard(other.ID()); strings.Count(log.String(), "not answer") != 1 ||
		strings.Count(log.String(), "heard again") != 1 {
		t.Errorf("the log:\n%s", &log)
	}
}
