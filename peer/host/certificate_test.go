package host

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	libp2pswarm "github.com/libp2p/go-libp2p/p2p/net/swarm"
	ma "github.com/multiformats/go-multiaddr"
	"pgregory.net/rapid"
)

// A chain proves the membership of its last subject, and nothing once any byte of it is changed.
func TestChains(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := byte(rapid.IntRange(1, maxChain).Draw(t, "length"))
		signer := keyOf(0)
		var chain []certificate
		for i := byte(1); i <= n; i++ {
			var err error
			if chain, err = certify(chain, signer, publicOf(0), mustID(i), true); err != nil {
				t.Fatal(err)
			}
			signer = keyOf(i)
		}
		if err := verifyChain(chain, publicOf(0), mustID(n), nobody); err != nil {
			t.Fatal(err)
		}
		for i := byte(1); i <= n; i++ {
			if verifyChain(chain, publicOf(0), mustID(n),
				func(id peer.ID, _ []certificate) bool { return id == mustID(i) }) == nil {
				t.Fatalf("peer %d was revoked and the chain through it still counts", i)
			}
		}
		if verifyChain(chain, publicOf(0), mustID(n+1), nobody) == nil ||
			verifyChain(chain, publicOf(7), mustID(n), nobody) == nil {
			t.Fatal("it proves the membership of another peer, or in another swarm")
		}
		c := &chain[rapid.IntRange(0, int(n)-1).Draw(t, "certificate")]
		switch rapid.IntRange(0, 4).Draw(t, "field") {
		case 0:
			c.Subject = []byte(mustID(9))
		case 1:
			c.Issuer = []byte(mustID(9))
		case 2:
			c.MayInvite = !c.MayInvite
		case 3:
			c.Signature = bytes.Clone(c.Signature)
			c.Signature[rapid.IntRange(0, len(c.Signature)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t,
				"bit")
		case 4:
			c.Swarm = publicOf(9)
		}
		if verifyChain(chain, publicOf(0), mustID(n), nobody) == nil {
			t.Fatal("a forged chain was accepted")
		}
	})
}

func mustID(n byte) peer.ID {
	id, err := peer.Decode("12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA")
	if err != nil {
		panic(err)
	}
	return peer.ID(string(id[:len(id)-32]) + string(publicOf(n))) // the ID of an Ed25519 key spells it out
}

// Nobody makes members without the right to, or gives itself that right, and a chain is bounded.
func TestWhoMayCertify(t *testing.T) {
	one, err := certify(nil, keyOf(0), publicOf(0), mustID(1), true)
	if err != nil {
		t.Fatal(err)
	}
	two, err := certify(one, keyOf(1), publicOf(0), mustID(2), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := verifyChain(two, publicOf(0), mustID(2), nobody); err != nil {
		t.Error(err)
	}
	if _, err := certify(two, keyOf(2), publicOf(0), mustID(3), false); !errors.Is(err, ErrMayNotInvite) {
		t.Errorf("one without the right to invite: %v", err)
	}
	third := certificate{Swarm: publicOf(0), Subject: []byte(mustID(3)), Issuer: []byte(mustID(2))}
	text, err := third.signed()
	if err != nil {
		t.Fatal(err)
	}
	third.Signature = ed25519.Sign(keyOf(2), text)
	if verifyChain(append(slices.Clone(two), third), publicOf(0), mustID(3), nobody) == nil {
		t.Error("a member without the right to invite made another")
	}
	two[1].MayInvite = true // a member that gives itself the right
	three := append(two, certificate{Swarm: publicOf(0), Subject: []byte(mustID(3)), Issuer: []byte(mustID(2))})
	if verifyChain(three, publicOf(0), mustID(3), nobody) == nil {
		t.Error("a right that a member gave itself")
	}
	long := chainOf(t, maxChain)
	if long[maxChain-1].MayInvite {
		t.Error("the last of the longest chain may invite")
	}
	if _, err := certify(long, keyOf(maxChain), publicOf(0), mustID(5), true); !errors.Is(err,
		ErrMayNotInvite) {
		t.Errorf("a chain too long: %v", err)
	}
}

// never is a clock that is not believed.
func never(int64) bool { return false }

// An invitation for two is used by two, over restarts too, and by the same two again while it lasts; no more than so
// many are open at once.
func TestTicketsAreCounted(t *testing.T) {
	now := time.Unix(1800000000, 0)
	path := filepath.Join(t.TempDir(), "invitations")
	book, err := openTicketBook(path, never)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := book.issue(ticket{Expires: now.Unix() + 60, Uses: 2})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		id  byte
		at  time.Duration
		bad bool
	}{{id: 1}, {id: 2}, {id: 3, bad: true}, {id: 1}, {id: 2, at: time.Minute},
		{id: 1, at: 61 * time.Second, bad: true}} {
		if book, err = openTicketBook(path, never); err != nil { // as after a restart
			t.Fatal(err)
		}
		if _, err := book.redeem(secret, mustID(c.id), now.Add(c.at)); (err != nil) != c.bad ||
			err != nil && !errors.Is(err, ErrInvitation) {
			t.Errorf("use %d: %v", i, err)
		}
	}
	if _, err := book.redeem(make([]byte, secretBytes), mustID(1), now); !errors.Is(err, ErrInvitation) {
		t.Errorf("a made-up secret: %v", err)
	}
	late := now.Add(48 * time.Hour)
	book.reached = func(at int64) bool { return late.Unix() >= at }
	if _, err := book.issue(ticket{Expires: late.Unix(), Uses: 1}); err != nil || len(book.all) != 1 {
		t.Errorf("%d invitations are open, %v; an old one should be forgotten", len(book.all), err)
	}
	book.all = slices.Repeat(book.all, maxTickets)
	if _, err := book.issue(ticket{Expires: late.Unix(), Uses: 1}); !errors.Is(err, ErrBusy) {
		t.Errorf("one too many: %v", err)
	}
}

// Whoever was revoked is refused whatever it shows, and not dialed: neither when the user names it, nor by libp2p for
// whatever reason, nor when others or the local network tell where it is.
func TestRevoked(t *testing.T) {
	h, err := Open(t.Context(), Config{StateDir: t.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"},
		Trust: TrustOpen,
		Swarm: "lab", MinPeers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	id := mustID(1)
	said := &hello{Swarm: "lab", Protocol: h.cfg.Protocol, Oldest: h.cfg.OldestProtocol}
	if _, err := h.admission.judge(id, said); err != nil {
		t.Fatalf("before: %v", err)
	}
	at := ma.StringCast("/ip4/127.0.0.1/tcp/1")
	if err := h.Allow(id); err != nil {
		t.Fatal(err)
	}
	if err := h.Revoke(id); err != nil {
		t.Fatal(err)
	}
	if _, err := h.admission.judge(id, said); !errors.Is(err, ErrNotInvited) {
		t.Errorf("in an open swarm it is let in: %v", err)
	}
	if err := h.Connect(t.Context(), at.String()+"/p2p/"+id.String()); !errors.Is(err, ErrNotInvited) {
		t.Errorf("it is dialed when it is named: %v", err)
	}
	if err := h.inner.Connect(t.Context(), peer.AddrInfo{ID: id, Addrs: []ma.Multiaddr{at}}); !errors.Is(err,
		libp2pswarm.ErrGaterDisallowedConnection) {
		t.Errorf("it is dialed for libp2p: %v", err)
	}
	h.exchange.learn(told{id: id, addrs: []ma.Multiaddr{at}}, mustID(9), at)
	h.seeker.found(id, []ma.Multiaddr{at})
	if known := h.book.addrs(id); len(known) != 0 {
		t.Errorf("it is looked for at %v", known)
	}
	h.book.tell(id, []ma.Multiaddr{at}, nil, 0) // known from before
	if !h.seeker.useless(id) {
		t.Error("it is looked for")
	}
	h.cfg.Trust = TrustInvite
	key := h.swarm.standing().public
	if err := h.admission.accept(id, &hello{Swarm: "lab"}, &welcome{Hello: &hello{Swarm: "lab", Key: key,
		Protocol: h.cfg.Protocol, Oldest: h.cfg.OldestProtocol}}, nil); !errors.Is(err, ErrNotInvited) {
		t.Errorf("it lets this peer in, and is in: %v", err)
	}
}
