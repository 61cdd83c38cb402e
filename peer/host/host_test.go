package host_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
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
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
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

// Whoever has an invitation becomes a member, also for those who never met who invited it; whoever has none does not.
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

// The volunteer tells its peer ID instead of getting a line; what is allowed once lasts over restarts of both.
func TestAllowedPeerBecomesAMember(t *testing.T) {
	dirs := []string{t.TempDir(), t.TempDir()}
	a, b := open(t, host.Config{StateDir: dirs[0], Swarm: "lab"}), open(t, host.Config{StateDir: dirs[1]})
	c := open(t, host.Config{})
	join(t, c, invite(t, a, host.InviteOptions{}))
	if err := a.Allow(b.ID()); err != nil {
		t.Fatal(err)
	}
	a.Close()
	a = open(t, host.Config{StateDir: dirs[0]})
	if err := b.Connect(patience(t), a.Addrs()[0]); err != nil {
		t.Fatal(err)
	}
	b.Close()
	b = open(t, host.Config{StateDir: dirs[1]})
	if b.SwarmName() != "lab" {
		t.Errorf("it is in the swarm %q after a restart", b.SwarmName())
	}
	if err := b.Connect(patience(t), c.Addrs()[0]); err != nil {
		t.Error(err) // c has never heard of b
	}
	wants(t, a.Allow("nobody"), host.ErrAddress)
	wants(t, a.Revoke(a.ID()), host.ErrSelf)
	wants(t, a.Allow(a.ID()), host.ErrSelf)
}

// A member that does not found swarms, and only knows another from its list, lets that one in, and nobody else does.
func TestAllowanceOfOneWithoutTheRightToInvite(t *testing.T) {
	a := open(t, host.Config{})
	line := invite(t, a, host.InviteOptions{Uses: 2})
	b, c := open(t, host.Config{}), open(t, host.Config{})
	join(t, b, line)
	join(t, c, line)
	x := open(t, host.Config{})
	join(t, open(t, host.Config{}), invite(t, x, host.InviteOptions{})) // x is settled elsewhere
	if err := b.Allow(x.ID()); err != nil {
		t.Fatal(err)
	}
	wants(t, x.Connect(patience(t), b.Addrs()[0]), host.ErrWrongSwarm) // b accepts x, but not x b
	if err := x.Allow(b.ID()); err != nil {
		t.Fatal(err)
	}
	if err := x.Connect(patience(t), b.Addrs()[0]); err != nil {
		t.Error(err)
	}
	wants(t, x.Connect(patience(t), c.Addrs()[0]), host.ErrWrongSwarm)
}

// In an open swarm whoever comes is in, unless it means one of another name; nobody can invite to it, and a peer that
// trusts only who is invited is not drawn into it.
func TestOpenSwarms(t *testing.T) {
	a := open(t, host.Config{Trust: host.TrustOpen, Swarm: "party"})
	b := open(t, host.Config{Trust: host.TrustOpen})
	c := open(t, host.Config{Trust: host.TrustOpen, Swarm: "funeral"})
	if err := b.Connect(patience(t), a.Addrs()[0]); err != nil {
		t.Fatal(err)
	}
	if b.SwarmName() != "party" {
		t.Errorf("who does not care is in the swarm %q", b.SwarmName())
	}
	wants(t, c.Connect(patience(t), a.Addrs()[0]), host.ErrWrongSwarm)
	_, err := a.Invite(t.Context(), host.InviteOptions{})
	wants(t, err, host.ErrMayNotInvite)
	careful := open(t, host.Config{Swarm: "party"})
	wants(t, careful.Connect(patience(t), a.Addrs()[0]), host.ErrNotInvited)
}

// Whoever holds the swarm's key is a founder: the key can be copied to a second machine.
func TestSecondFounder(t *testing.T) {
	dirs := []string{t.TempDir(), t.TempDir()}
	a := open(t, host.Config{StateDir: dirs[0], Swarm: "lab"})
	if err := os.WriteFile(filepath.Join(dirs[1], "swarm.key"), []byte(read(t, dirs[0], "swarm.key")),
		0o600); err != nil {
		t.Fatal(err)
	}
	b, c := open(t, host.Config{StateDir: dirs[1], Swarm: "lab"}), open(t, host.Config{})
	join(t, c, invite(t, b, host.InviteOptions{}))
	if err := c.Connect(patience(t), a.Addrs()[0]); err != nil {
		t.Error(err)
	}
}

// A closed host has no members any more, joins nobody, and may be closed again.
func TestClosedHost(t *testing.T) {
	a, b := open(t, host.Config{}), open(t, host.Config{})
	line := invite(t, a, host.InviteOptions{})
	join(t, b, line)
	b.Close()
	wants(t, b.Join(patience(t), line), host.ErrClosed)
	if err := b.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
	if b.Admitted(a.ID()) || len(b.Members()) != 0 {
		t.Error("members of a closed host")
	}
}
