package host_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/satin-peer/satin/peer/host"
)

var loopback = []string{"/ip4/127.0.0.1/udp/0/quic-v1", "/ip4/127.0.0.1/tcp/0"}

// open opens a host on loopback and closes it when the test ends.
func open(t *testing.T, cfg host.Config) *host.Host {
	t.Helper()
	if cfg.StateDir == "" {
		cfg.StateDir = t.TempDir()
	}
	if cfg.Listen == nil {
		cfg.Listen = loopback
	}
	h, err := host.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// patience bounds what a test waits for.
func patience(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func invite(t *testing.T, h *host.Host, o host.InviteOptions) string {
	t.Helper()
	line, err := h.Invite(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

func join(t *testing.T, h *host.Host, line string) {
	t.Helper()
	if err := h.Join(patience(t), line); err != nil {
		t.Fatal(err)
	}
}

func wants(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error is %v, want %v", err, want)
	}
	t.Log(err)
}

func TestInvitationMakesAMember(t *testing.T) {
	a, b, c := open(t, host.Config{Swarm: "lab"}), open(t, host.Config{}), open(t, host.Config{})
	join(t, b, invite(t, a, host.InviteOptions{}))
	if !a.Admitted(b.ID()) || !b.Admitted(a.ID()) || b.SwarmName() != "lab" {
		t.Fatal("not admitted")
	}
	wants(t, c.Connect(patience(t), a.Addrs()[0]), host.ErrNotInvited)
	join(t, c, invite(t, a, host.InviteOptions{}))
	a.Close()
	if err := c.Connect(patience(t), b.Addrs()[0]); err != nil {
		t.Fatal(err) // b and c never met and who invited them is gone
	}
}
