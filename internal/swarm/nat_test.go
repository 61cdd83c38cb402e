//go:build swarm

package swarm_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/swarm"
	"github.com/satin-peer/satin/peer/control"
)

// Guards the promise to volunteers at home: two peers behind routers of their own, which nobody can connect to, find
// each other through a member that relays, and steal from each other: over a direct connection where the routers can be
// punched, through the relay where they cannot.
func TestBehindRouters(t *testing.T) {
	if _, err := exec.LookPath("iptables"); err != nil {
		t.Skip("there is no iptables: make test-nat installs it")
	}
	for name, symmetric := range map[string]bool{"plain": false, "symmetric": true} {
		t.Run(name, func(t *testing.T) { behindRouters(t, symmetric) })
	}
}

func behindRouters(t *testing.T, symmetric bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	lab, err := swarm.OpenLab(ctx)
	if err != nil {
		t.Skip(err)
	}
	defer lab.Close()
	lab.Public, lab.Homes = true, map[int]*swarm.Home{}
	for i := 1; i <= 2; i++ {
		h, err := lab.Home(ctx, i, symmetric)
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		lab.Homes[i] = h
	}
	s := &swarm.Swarm{Binary: binary, Dir: t.TempDir(), Lab: lab,
		Settings: []string{"SATIN_LOG_LEVEL=debug", "SATIN_NAT=true", "SATIN_RELAY=true"}}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		for i, p := range s.Peers {
			if t.Failed() {
				t.Logf("peer %d:\n%s", i, p.Log())
			}
		}
	}()
	for range 3 {
		if _, err := s.Start(ctx); err != nil {
			t.Fatal(err)
		}
	}
	relay, a, b := s.Peers[0], s.Peers[1], s.Peers[2]
	if err := relay.Client().Pause(ctx, 0); err != nil { // it only relays
		t.Fatal(err)
	}
	until(t, ctx, "they are connected", func() bool {
		p := sees(t, ctx, a, b)
		return p.Connected && p.Relayed == symmetric
	})
	workTogether(t, ctx, s, a, b)
	findings, err := b.Client().Doctor(ctx)
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	for _, f := range findings {
		if f.Check == "reachable" {
			said = f.Text
		}
	}
	if !strings.Contains(said, "relay") {
		t.Errorf("the doctor says %q", said)
	}
}

// workTogether runs something on a until b has had a part in it.
func workTogether(t *testing.T, ctx context.Context, s *swarm.Swarm, a, b *swarm.Process) {
	t.Helper()
	want := sequential(t, ctx, "nqueens", "15")
	for ctx.Err() == nil {
		if out, err := s.Run(ctx, a, "nqueens", "15"); err != nil || out != want {
			t.Fatalf("got %q, %v", out, err)
		}
		st, err := b.Client().Status(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if st.Work.Taken > 0 {
			return
		}
	}
	t.Error("the one behind the other router stole nothing")
}

// sees is what one peer knows of another.
func sees(t *testing.T, ctx context.Context, at, other *swarm.Process) control.PeerInfo {
	t.Helper()
	st, err := other.Client().Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	peers, err := at.Client().Peers(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range peers {
		if p.Peer == st.Peer {
			return p
		}
	}
	return control.PeerInfo{}
}

// until waits for something that is only seen by asking.
func until(t *testing.T, ctx context.Context, what string, is func() bool) {
	t.Helper()
	for !is() {
		select {
		case <-ctx.Done():
			t.Fatal("it never was so: " + what)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
