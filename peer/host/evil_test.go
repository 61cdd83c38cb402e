package host

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/wire"
)

// evil is a peer with key n that answers every hello as it likes.
func evil(t *testing.T, n byte, answer func(m *hello) *welcome) host.Host {
	t.Helper()
	key, err := crypto.UnmarshalEd25519PrivateKey(keyOf(n))
	if err != nil {
		t.Fatal(err)
	}
	x, err := libp2p.New(libp2p.Identity(key), libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"),
		libp2p.DisableMetrics())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	x.SetStreamHandler(helloProtocol, func(s network.Stream) {
		defer s.Close()
		b, err := wire.ReadFrame(s, nil, maxHelloFrame)
		if err != nil {
			return
		}
		if m, err := decodeHello(b); err == nil {
			writeMessage(s, answer(m))
		}
	})
	return x
}

// certified makes a chain of one certificate.
func certified(t *testing.T, root byte, id peer.ID) []certificate {
	t.Helper()
	chain, err := certify(nil, keyOf(root), publicOf(root), id, true)
	if err != nil {
		t.Fatal(err)
	}
	return chain
}

// An inviter that cheats, or another than the one that made the invitation, gets nobody into its swarm.
func TestCheatingInviters(t *testing.T) {
	const inviter = 1
	for _, c := range []struct {
		name   string
		answer func(t *testing.T, victim *Host) *welcome
		want   error
	}{
		{"the true one", func(t *testing.T, v *Host) *welcome {
			granted, err := certify(certified(t, 0, mustID(inviter)), keyOf(inviter), publicOf(0), v.id, false)
			if err != nil {
				t.Fatal(err)
			}
			return &welcome{Hello: &hello{Key: publicOf(0), Chain: certified(t, 0, mustID(inviter))}, Granted: granted}
		}, nil},
		{"into its own swarm", func(t *testing.T, v *Host) *welcome {
			return &welcome{Hello: &hello{Key: publicOf(5), Chain: certified(t, 5, mustID(inviter))},
				Granted: certified(t, 5, v.id)}
		}, ErrWrongSwarm},
		{"no member itself", func(t *testing.T, v *Host) *welcome {
			return &welcome{Hello: &hello{Key: publicOf(0)}, Granted: certified(t, 0, v.id)}
		}, ErrNotInvited},
		{"with the certificate of another", func(t *testing.T, v *Host) *welcome {
			return &welcome{Hello: &hello{Key: publicOf(0), Chain: certified(t, 0, mustID(inviter))},
				Granted: certified(t, 0, mustID(7))}
		}, ErrHello},
		{"with nothing", func(t *testing.T, v *Host) *welcome {
			return &welcome{Hello: &hello{Key: publicOf(0), Chain: certified(t, 0, mustID(inviter))}}
		}, ErrWrongSwarm},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := Open(t.Context(), Config{StateDir: t.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
			if err != nil {
				t.Fatal(err)
			}
			defer v.Close()
			x := evil(t, inviter, func(m *hello) *welcome {
				w := c.answer(t, v)
				w.Hello.Protocol, w.Hello.Oldest, w.Hello.Swarm = 1, 1, m.Swarm
				return w
			})
			invitation := &Invitation{Swarm: "lab", Key: publicOf(0), Inviter: x.ID(),
				Expires: time.Now().Add(time.Hour), secret: make([]byte, secretBytes), infos: x.Addrs()}
			line, err := invitation.line()
			if err != nil {
				t.Fatal(err)
			}
			err = v.Join(t.Context(), line)
			if joined := bytes.Equal(v.swarm.standing().public, publicOf(0)); joined != (c.want == nil) ||
				!errors.Is(err, c.want) || v.Admitted(x.ID()) != joined {
				t.Errorf("joined: %v, admitted: %v, %v; want %v", joined, v.Admitted(x.ID()), err, c.want)
			}
		})
	}
}

// A certificate that the user did not ask for changes nothing, and another name is refused even if nobody has
// to prove anything.
func TestCheatingMembers(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	for trust, want := range map[Trust]error{TrustInvite: ErrWrongSwarm, TrustOpen: ErrWrongSwarm} {
		v, err := Open(ctx, Config{StateDir: t.TempDir(), Trust: trust, Swarm: "lab",
			Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		x := evil(t, 1, func(m *hello) *welcome {
			if m.Joins {
				t.Error("it would join though nobody asked it to")
			}
			name := m.Swarm
			if trust == TrustOpen {
				name = "elsewhere"
			}
			w := &welcome{Hello: &hello{Protocol: 1, Oldest: 1, Swarm: name}}
			if trust == TrustInvite {
				w.Hello.Key, w.Hello.Chain, w.Granted = publicOf(5), certified(t, 5, mustID(1)), certified(t, 5, v.id)
			}
			return w
		})
		before := v.swarm.standing()
		err = v.outer.Connect(ctx, peer.AddrInfo{ID: x.ID(), Addrs: x.Addrs()})
		if after := v.swarm.standing(); !errors.Is(err, want) || after.name != before.name ||
			!bytes.Equal(after.public, before.public) || v.Admitted(x.ID()) {
			t.Errorf("%s: %v, now in %q", trust, err, after.name)
		}
	}
}

// A secret is of no use with the key of another swarm, and is not used up by it.
func TestTicketWithAnotherKey(t *testing.T) {
	v, err := Open(t.Context(), Config{StateDir: t.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	line, err := v.Invite(t.Context(), InviteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	invitation, err := ParseInvitation(line)
	if err != nil {
		t.Fatal(err)
	}
	say := func(key ed25519.PublicKey) error {
		_, err := v.admission.judge(mustID(1), &hello{Protocol: 1, Oldest: 1, Swarm: DefaultSwarm, Key: key,
			Ticket: invitation.secret, Joins: true})
		return err
	}
	if err := say(publicOf(5)); !errors.Is(err, ErrWrongSwarm) {
		t.Errorf("with another key: %v", err)
	}
	if used := v.tickets.all[0].Used; len(used) > 0 {
		t.Errorf("used by %v", used)
	}
	if err := say(invitation.Key); err != nil {
		t.Errorf("with the right key: %v", err)
	}
}
