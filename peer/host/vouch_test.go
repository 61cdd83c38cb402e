package host

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

// The owner of a run is a member by what came with the run, or by what it has shown here since, unless it was put out.
func TestShown(t *testing.T) {
	h, one, two := hostWithTwo(t)
	public := h.swarm.standing().public
	old, err := certify(one, keyOf(1), public, mustID(5), false)
	if err != nil {
		t.Fatal(err)
	}
	anew, err := h.swarm.grant(mustID(5), false)
	if err != nil {
		t.Fatal(err)
	}
	is := func(what string, id peer.ID, proof, want []byte, bad error) {
		t.Helper()
		got, err := h.Roll().Shown(id, proof)
		if !errors.Is(err, bad) || !bytes.Equal(got, want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	is("by a proof", mustID(2), encode(t, two), encode(t, two), nil)
	is("by an old one", mustID(5), encode(t, old), encode(t, old), nil)
	is("by none", mustID(2), nil, nil, ErrNotInvited)
	is("by another's", mustID(3), encode(t, two), nil, ErrNotInvited)
	is("by garbage", mustID(2), []byte("garbage"), nil, ErrNotInvited)
	is("itself", h.id, nil, nil, nil)
	if err := h.Allow(mustID(3)); err != nil {
		t.Fatal(err)
	}
	is("let in by its ID", mustID(3), nil, nil, nil)
	if err := h.Revoke(mustID(1)); err != nil {
		t.Fatal(err)
	}
	is("by one who is out", mustID(2), encode(t, two), nil, ErrOut)
	is("by one who is out, some time ago", mustID(5), encode(t, old), nil, ErrOut)
	if _, err := h.Vouch(mustID(5), encode(t, anew)); err != nil {
		t.Fatal(err)
	}
	is("by another since", mustID(5), encode(t, old), encode(t, anew), nil)
	h.cfg.Trust = TrustOpen
	is("in an open swarm", mustID(2), nil, nil, nil)
	is("out of an open swarm", mustID(1), nil, nil, ErrOut)
}

// hostWithTwo is a host, a member that it has admitted and that may invite, and one whom that member has.
func hostWithTwo(t *testing.T) (h *Host, one, two []certificate) {
	t.Helper()
	h, err := Open(t.Context(), Config{StateDir: t.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	if one, err = h.swarm.grant(mustID(1), true); err != nil {
		t.Fatal(err)
	}
	if two, err = certify(one, keyOf(1), h.swarm.standing().public, mustID(2), false); err != nil {
		t.Fatal(err)
	}
	return h, one, two
}

// Members that this peer is not connected to prove that they are members, and by whom.
func TestVouch(t *testing.T) {
	h, one, two := hostWithTwo(t)
	if by, err := h.Vouch(mustID(2), encode(t, two)); err != nil || !slices.Equal(by, []peer.ID{mustID(1)}) {
		t.Errorf("a member by another: by %v, %v", by, err)
	}
	if by, err := h.Vouch(mustID(1), encode(t, one)); err != nil || len(by) != 0 {
		t.Errorf("a member by the founder: by %v, %v", by, err)
	}
	if by, err := h.Vouch(h.id, h.Proof()); err != nil || len(by) != 0 {
		t.Errorf("the founder: by %v, %v", by, err)
	}
	for name, c := range map[string]struct {
		id    peer.ID
		proof []byte
	}{
		"no proof":        {mustID(2), nil},
		"another's":       {mustID(3), encode(t, two)},
		"garbage":         {mustID(2), []byte("garbage")},
		"an empty chain":  {mustID(2), []byte{0x80}},
		"a long proof":    {mustID(2), make([]byte, MaxProof+1)},
		"half a chain":    {mustID(2), encode(t, two[1:])},
		"its own founder": {mustID(4), encode(t, chainOf(t, 1))},
	} {
		if _, err := h.Vouch(c.id, c.proof); !errors.Is(err, ErrNotInvited) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !h.Roll().StillMember(mustID(2)) || h.Roll().StillMember(mustID(3)) {
		t.Error("who has shown that it is a member is one when it is away, and nobody else")
	}
	if err := h.Revoke(mustID(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Vouch(mustID(2), encode(t, two)); !errors.Is(err, ErrNotInvited) {
		t.Errorf("a member by one that was revoked: %v", err)
	}
	h.cfg.Trust = TrustOpen
	if _, err := h.Vouch(mustID(3), nil); err != nil || h.Proof() != nil {
		t.Errorf("in an open swarm: %v", err)
	}
	if _, err := h.Vouch(mustID(1), nil); !errors.Is(err, ErrNotInvited) {
		t.Errorf("one that was revoked, in an open swarm: %v", err)
	}
}

// An address that others tell reaches nothing that it does not mean to them.
func TestReaches(t *testing.T) {
	h, err := Open(t.Context(), Config{StateDir: t.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	own := []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(192, 168, 1, 7)}
	via := func(text string) ma.Multiaddr {
		if text == "" {
			return nil
		}
		return ma.StringCast(text + "/tcp/1")
	}
	for _, c := range []struct {
		ip, via string
		want    bool
	}{
		{"192.0.2.1", "/ip4/198.51.100.1", true},
		{"192.0.2.1", "/ip4/192.168.1.9", true},
		{"192.0.2.1", "", true},
		{"127.0.0.1", "/ip4/127.0.0.1", true},
		{"127.0.0.1", "/ip6/::1", true},
		{"127.0.0.1", "/ip4/198.51.100.1", false},
		{"127.0.0.1", "/ip4/192.168.1.9", false},
		{"::1", "/ip4/192.168.1.9", false},
		{"::ffff:127.0.0.1", "/ip4/192.168.1.9", false},
		{"127.0.0.1", "", true}, // this peer listens there and nowhere else
		{"192.168.1.1", "/ip4/192.168.1.9", true},
		{"192.168.9.1", "/ip4/192.168.1.9", true},
		{"192.168.1.1", "/ip4/127.0.0.1", true},
		{"192.168.1.1", "/ip4/198.51.100.1", false},
		{"192.168.1.1", "/ip4/10.0.0.1", false},
		{"::ffff:192.168.1.1", "/ip4/198.51.100.1", false},
		{"10.0.0.1", "/ip4/10.0.0.2", false}, // this peer has no address in that network
		{"10.0.0.1", "", false},
		{"fd00::1", "/ip6/fd00::2", false},
		{"192.168.1.1", "", true},
		{"169.254.169.254", "/ip4/192.168.1.9", false},
		{"fe80::1", "/ip6/fe80::2", false},
		{"0.0.0.0", "/ip4/127.0.0.1", false},
		{"224.0.0.1", "/ip4/192.168.1.9", false},
		{"ff02::1", "/ip4/192.168.1.9", false},
		{"255.255.255.255", "/ip4/192.168.1.9", false},
	} {
		if got := reaches(net.ParseIP(c.ip), via(c.via), own, h.inner.Addrs); got != c.want {
			t.Errorf("%s told over %q may be dialed: %v, want %v", c.ip, c.via, got, c.want)
		}
	}
	var many []ma.Multiaddr
	for _, port := range []string{"1", "2", "3", "4", "5", "6"} {
		many = append(many, ma.StringCast("/ip4/192.0.2.1/tcp/"+port))
	}
	many = append(many, ma.StringCast("/dns4/victim.example/tcp/80"), ma.StringCast("/ip4/192.0.2.2/tcp/1"))
	if got := h.Dialable(many, nil); len(got) != mostPorts+1 || !got[mostPorts].Equal(many[7]) {
		t.Errorf("of many ports and a name are left %v", got)
	}
	for i := range 2 * maxPeerAddrs {
		many = append(many, ma.StringCast(fmt.Sprintf("/ip4/192.0.2.%d/tcp/1", i)))
	}
	if got := h.Dialable(many, nil); len(got) != maxPeerAddrs {
		t.Errorf("%d addresses are left", len(got))
	}
}
