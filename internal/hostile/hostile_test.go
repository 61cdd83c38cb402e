package hostile

import (
	"context"
	"encoding/binary"
	"flag"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	lpeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/host"
)

const swarmName = "attacked"

// briefly is how long a peer leaves undone what is due.
const briefly = 50 * time.Millisecond

var patient = flag.Duration("patience", 8*time.Minute, "how long a test waits for what should come")

// patience bounds what a test waits for; it is long because the machine may be busy, and mutants have it shorter.
func patience(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), *patient)
	t.Cleanup(cancel)
	return ctx
}

func hostConfig(t *testing.T) host.Config {
	return host.Config{StateDir: t.TempDir(), Swarm: swarmName, Listen: []string{"/ip4/127.0.0.1/tcp/0"}}
}

// victim is a peer that has founded a swarm by invitation.
func victim(t *testing.T) *peer.Peer {
	t.Helper()
	p, err := peer.Open(t.Context(), peer.Config{Host: hostConfig(t), Workers: 1, Every: briefly}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// A rogue is a member of the victim's swarm that speaks by hand.
type rogue struct {
	*host.Host
	victim lpeer.ID
}

func invited(t *testing.T, v *peer.Peer) *rogue {
	t.Helper()
	return invitedAs(t, v, control.Invitation{})
}

func invitedAs(t *testing.T, v *peer.Peer, i control.Invitation) *rogue {
	t.Helper()
	made, err := v.Invite(patience(t), i)
	if err != nil {
		t.Fatal(err)
	}
	invitation, err := host.ParseInvitation(made.Line)
	if err != nil {
		t.Fatal(err)
	}
	h, err := host.Open(t.Context(), hostConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	if err := h.Join(patience(t), made.Line); err != nil {
		t.Fatal(err)
	}
	return &rogue{h, invitation.Inviter}
}

// say sends a message on a protocol, and gives the victim's answer to it.
func (r *rogue) say(t *testing.T, proto protocol.ID, what, answer any) error {
	t.Helper()
	s, err := r.Network().NewStream(network.WithNoDial(patience(t), "connected"), r.victim, proto)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Reset()
	b, err := wire.Value().Encode(what)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)); err != nil {
		return err
	}
	if b, err = wire.ReadFrame(s, nil, wire.MaxValue); err != nil {
		return err
	}
	return wire.Value().Decode(b, answer)
}

func mustDecode(t *testing.T, id string) lpeer.ID {
	t.Helper()
	p, err := lpeer.Decode(id)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// newKey makes an identity.
func newKey(t *testing.T) crypto.PrivKey {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(nil)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
