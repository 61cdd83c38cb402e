//go:build swarm

package swarm_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/swarm"
)

// Guards networks without IPv4: two peers at addresses of IPv6, of this machine or unique and local ones on a switch,
// find each other and work together.
func TestSix(t *testing.T) {
	t.Run("loopback", func(t *testing.T) {
		six(t, &swarm.Swarm{Settings: []string{"SATIN_LISTEN=/ip6/::1/udp/0/quic-v1,/ip6/::1/tcp/0"}})
	})
	for name, roaming := range map[string]bool{"one address": false, "all addresses": true} {
		t.Run(name, func(t *testing.T) {
			lab, err := swarm.OpenLab(t.Context())
			if err != nil {
				t.Skip(err)
			}
			t.Cleanup(func() { _ = lab.Close() })
			lab.Six, lab.Roaming = true, roaming
			six(t, &swarm.Swarm{Lab: lab})
		})
	}
}

func six(t *testing.T, s *swarm.Swarm) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	a, b := pair(t, ctx, s)
	if p := sees(t, ctx, a, b); !p.Connected || !strings.HasPrefix(p.Address, "/ip6/") {
		t.Errorf("they are connected: %v, by %q", p.Connected, p.Address)
	}
	workTogether(t, ctx, s, a, b)
}

// pair starts two peers.
func pair(t *testing.T, ctx context.Context, s *swarm.Swarm) (a, b *swarm.Process) {
	t.Helper()
	s.Binary, s.Dir = binary, t.TempDir()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		for i, p := range s.Peers {
			if t.Failed() {
				t.Logf("peer %d:\n%s", i, p.Log())
			}
		}
	})
	for range 2 {
		if _, err := s.Start(ctx); err != nil {
			t.Fatal(err)
		}
	}
	return s.Peers[0], s.Peers[1]
}

// Guards a laptop: it comes to another network, where it has another address, awake or asleep; the others find it there
// without anybody's help, and it works with them as before. A process that is stopped until the others have given it up
// stands for one of eight hours of sleep; what these cost a run is seen in virtual time (internal/sim, TestAsleep).
func TestLaptop(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	lab, err := swarm.OpenLab(ctx)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = lab.Close() })
	lab.Roaming = true
	s := &swarm.Swarm{Lab: lab, Settings: []string{"SATIN_LOG_LEVEL=debug"}}
	a, b := pair(t, ctx, s)
	workTogether(t, ctx, s, a, b)
	signal := func(what syscall.Signal) {
		if err := b.Signal(what); err != nil {
			t.Fatal(err)
		}
	}
	id, err := b.Client().Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i, asleep := range []bool{false, true} {
		if asleep {
			signal(syscall.SIGSTOP)
			until(t, ctx, "it is given up", func() bool {
				peers, err := a.Client().Peers(ctx)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range peers {
					if p.Peer == id.Peer {
						return !p.Alive
					}
				}
				return true
			})
		}
		if err := lab.Move(b, 50+i); err != nil {
			t.Fatal(err)
		}
		if asleep {
			signal(syscall.SIGCONT)
		}
		until(t, ctx, "it is found at its new address", func() bool {
			p := sees(t, ctx, a, b)
			return p.Alive && strings.Contains(p.Address, fmt.Sprintf(".%d/", 51+i))
		})
		before, err := b.Client().Status(ctx)
		if err != nil {
			t.Fatal(err)
		}
		until(t, ctx, "it steals again", func() bool {
			if _, err := s.Run(ctx, a, "nqueens", "15"); err != nil {
				t.Fatal(err)
			}
			now, err := b.Client().Status(ctx)
			return err == nil && now.Work.Taken > before.Work.Taken
		})
	}
}
