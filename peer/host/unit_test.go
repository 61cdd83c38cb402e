package host

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/record"
	libp2pswarm "github.com/libp2p/go-libp2p/p2p/net/swarm"
	ma "github.com/multiformats/go-multiaddr"
	"pgregory.net/rapid"
)

// A chain proves the membership of its last subject, and nothing once any byte of it is changed.
func TestChains(t *testing.T) {
	now := time.Unix(1800000000, 0)
	rapid.Check(t, func(t *rapid.T) {
		n := byte(rapid.IntRange(1, maxChain).Draw(t, "length"))
		signer := keyOf(0)
		var chain []certificate
		for i := byte(1); i <= n; i++ {
			var err error
			if chain, err = certify(chain, signer, publicOf(0), mustID(i), true, time.Time{}); err != nil {
				t.Fatal(err)
			}
			signer = keyOf(i)
		}
		if err := verifyChain(chain, publicOf(0), mustID(n), now, nobody); err != nil {
			t.Fatal(err)
		}
		for i := byte(1); i <= n; i++ {
			if verifyChain(chain, publicOf(0), mustID(n), now,
				func(id peer.ID, _ []certificate) bool { return id == mustID(i) }) == nil {
				t.Fatalf("peer %d was revoked and the chain through it still counts", i)
			}
		}
		if verifyChain(chain, publicOf(0), mustID(n+1), now, nobody) == nil ||
			verifyChain(chain, publicOf(7), mustID(n), now, nobody) == nil {
			t.Fatal("it proves the membership of another peer, or in another swarm")
		}
		c := &chain[rapid.IntRange(0, int(n)-1).Draw(t, "certificate")]
		switch rapid.IntRange(0, 5).Draw(t, "field") {
		case 0:
			c.Subject = []byte(mustID(9))
		case 1:
			c.Issuer = []byte(mustID(9))
		case 2:
			c.MayInvite = !c.MayInvite
		case 3:
			c.NotAfter++
		case 4:
			c.Signature = bytes.Clone(c.Signature)
			c.Signature[rapid.IntRange(0, len(c.Signature)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t,
				"bit")
		case 5:
			c.Swarm = publicOf(9)
		}
		if verifyChain(chain, publicOf(0), mustID(n), now, nobody) == nil {
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

func TestWhoMayCertify(t *testing.T) {
	end := time.Unix(1800000000, 0)
	one, err := certify(nil, keyOf(0), publicOf(0), mustID(1), true, end)
	if err != nil {
		t.Fatal(err)
	}
	two, err := certify(one, keyOf(1), publicOf(0), mustID(2), false, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if two[1].NotAfter != end.Unix() {
		t.Error("a membership outlasts that of the inviter")
	}
	for after, want := range map[time.Duration]bool{-time.Second: true, time.Second: false} {
		if err := verifyChain(two, publicOf(0), mustID(2), end.Add(after), nobody); (err == nil) != want {
			t.Errorf("%v after its end: %v", after, err)
		}
	}
	if _, err := certify(two, keyOf(2), publicOf(0), mustID(3), false, time.Time{}); !errors.Is(err, ErrMayNotInvite) {
		t.Errorf("one without the right to invite: %v", err)
	}
	third := certificate{Swarm: publicOf(0), Subject: []byte(mustID(3)), Issuer: []byte(mustID(2))}
	text, err := third.signed()
	if err != nil {
		t.Fatal(err)
	}
	third.Signature = ed25519.Sign(keyOf(2), text)
	if verifyChain(append(slices.Clone(two), third), publicOf(0), mustID(3), end, nobody) == nil {
		t.Error("a member without the right to invite made another")
	}
	two[1].MayInvite = true // a member that gives itself the right
	three := append(two, certificate{Swarm: publicOf(0), Subject: []byte(mustID(3)), Issuer: []byte(mustID(2))})
	if verifyChain(three, publicOf(0), mustID(3), end, nobody) == nil {
		t.Error("a right that a member gave itself")
	}
	long := chainOf(t, maxChain)
	if long[maxChain-1].MayInvite {
		t.Error("the last of the longest chain may invite")
	}
	if _, err := certify(long, keyOf(maxChain), publicOf(0), mustID(5), true, time.Time{}); !errors.Is(err,
		ErrMayNotInvite) {
		t.Errorf("a chain too long: %v", err)
	}
}

func TestAttemptsAreLimited(t *testing.T) {
	g := &gater{attempts: map[peer.ID]bucket{}}
	now := time.Unix(1800000000, 0)
	try := func(id peer.ID) (n int) {
		for g.mayTry(id, now) {
			n++
		}
		return n
	}
	if n := try(mustID(1)); n != attemptBurst {
		t.Errorf("%d attempts at once, want %d", n, attemptBurst)
	}
	if n := try(mustID(2)); n != attemptBurst {
		t.Errorf("another peer has %d attempts", n)
	}
	now = now.Add(3 * attemptEvery)
	if n := try(mustID(1)); n != 3 {
		t.Errorf("%d attempts after the time of 3", n)
	}
	for i := range 3 * maxCounted {
		g.mayTry(peer.ID(fmt.Sprint(i)), now)
	}
	if len(g.attempts) > maxCounted {
		t.Errorf("%d buckets", len(g.attempts))
	}
}

func TestAddrBookIsBoundedAndKeepsMembers(t *testing.T) {
	now := time.Unix(1800000000, 0)
	path := filepath.Join(t.TempDir(), "peers")
	book, err := openAddrBook(path, mustID(0), now)
	if err != nil {
		t.Fatal(err)
	}
	at := ma.StringCast("/ip4/192.0.2.1/tcp/4001")
	book.meet(mustID(1), at, now)
	book.learn(mustID(2), []ma.Multiaddr{at}, nil, 0)
	for i := range 3 * maxKnown {
		book.learn(peer.ID(fmt.Sprint(i)), []ma.Multiaddr{at}, nil, 0)
	}
	for i := range 3 * maxPeerAddrs {
		book.learn(mustID(1), []ma.Multiaddr{ma.StringCast(fmt.Sprintf("/ip4/192.0.2.1/tcp/%d", i+1))}, nil, 0)
	}
	book.learn(mustID(0), []ma.Multiaddr{at}, nil, 0)
	if len(book.all) != maxKnown || !book.met(mustID(1)) || book.all[mustID(0)] != nil ||
		len(book.addrs(mustID(1))) != maxPeerAddrs {
		t.Errorf("%d peers, %d addresses", len(book.all), len(book.addrs(mustID(1))))
	}
	if err := book.save(); err != nil {
		t.Fatal(err)
	}
	again, err := openAddrBook(path, mustID(0), now)
	if err != nil {
		t.Fatal(err)
	}
	if len(again.all) != 1 || !again.met(mustID(1)) || len(again.addrs(mustID(1))) != maxPeerAddrs {
		t.Errorf("remembered %d peers", len(again.all))
	}
	if later, err := openAddrBook(path, mustID(0), now.Add(2*rememberFor)); err != nil || len(later.all) != 0 {
		t.Errorf("%d peers are still known after %v, %v", len(later.all), 2*rememberFor, err)
	}
}

func TestRecordsReplaceOlderOnes(t *testing.T) {
	book := &addrBook{self: mustID(0), all: map[peer.ID]*bookEntry{}}
	one, two := ma.StringCast("/ip4/192.0.2.1/tcp/1"), ma.StringCast("/ip4/192.0.2.1/tcp/2")
	book.learn(mustID(1), []ma.Multiaddr{one}, []byte("a"), 5)
	if book.learn(mustID(1), []ma.Multiaddr{two}, []byte("b"), 5) || !book.addrs(mustID(1))[0].Equal(one) {
		t.Error("an old record was news")
	}
	if !book.learn(mustID(1), []ma.Multiaddr{two}, []byte("b"), 6) || len(book.addrs(mustID(1))) != 1 {
		t.Error("a newer record did not replace the older one")
	}
	if got := book.records(9, func(peer.ID) bool { return true }); len(got) != 1 || string(got[0]) != "b" {
		t.Errorf("passes on %q", got)
	}
}

func TestFailedDialsAreRetriedEverMoreSlowly(t *testing.T) {
	now := time.Unix(1800000000, 0)
	book := &addrBook{self: mustID(0), all: map[peer.ID]*bookEntry{}}
	book.learn(mustID(1), []ma.Multiaddr{ma.StringCast("/ip4/192.0.2.1/tcp/1")}, nil, 0)
	due := func() bool {
		infos, _ := book.candidates(9, now, func(peer.ID, *bookEntry) bool { return false })
		return len(infos) == 1
	}
	for tries := 1; tries < 12; tries++ {
		if !due() {
			t.Fatalf("not due before try %d", tries)
		}
		book.failed(mustID(1), false, now)
		least := min(longestRetry, firstRetry<<(tries-1)) / 2
		if now = now.Add(least - time.Second/10); due() {
			t.Fatalf("due %v after failure %d", least-time.Second/10, tries)
		}
		if _, next := book.candidates(9, now, func(peer.ID, *bookEntry) bool { return false }); next.IsZero() {
			t.Fatal("the next try is never")
		}
		now = now.Add(least + time.Second)
	}
}

// A record that another peer signed is refused, whoever sends it.
func TestForgedRecordsAreRefused(t *testing.T) {
	good := signedRecord(t, 1, 1, "/ip4/192.0.2.1/tcp/4001")
	if r, err := decodeRecord(good); err != nil || r.id != mustID(1) || len(r.addrs) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	theirs := signedRecord(t, 2, 1, "/ip4/192.0.2.1/tcp/4001")
	swapped := bytes.Replace(theirs, []byte(mustID(2)), []byte(mustID(1)), -1)
	if bytes.Equal(swapped, theirs) {
		t.Fatal("the record does not hold the ID")
	}
	if _, err := decodeRecord(swapped); err == nil {
		t.Error("addresses of one peer signed by another")
	}
	if _, err := decodeRecord(recordSignedBy(t, 2, 1, 1, "/ip4/192.0.2.1/tcp/4001")); err == nil {
		t.Error("addresses of one peer, signed by another as though it were that one")
	}
	if _, err := decodePeerList(encode(t, peerList{Records: [][]byte{good, swapped}})); err == nil {
		t.Error("a list with a forged record")
	}
}

// The peer keeps the port of its first start when it was not told one, so that addresses that others know stay true.
func TestPortStaysTheSame(t *testing.T) {
	state, err := openState(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer state.close()
	h := &Host{state: state}
	first, err := h.port()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := h.port(); err != nil || again != first {
		t.Errorf("port %d, then %d, %v", first, again, err)
	}
	addrs, err := h.listenAddrs()
	if err != nil || len(addrs) != 4 {
		t.Errorf("%v, %v", addrs, err)
	}
}

// What no member tells of is found in the swarm's Kademlia.
func TestSearchAsksTheDHT(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var all []*Host
	for range 3 {
		h, err := Open(ctx, Config{StateDir: t.TempDir(), Trust: TrustOpen, DHT: true, MinPeers: 1,
			Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		all = append(all, h)
	}
	a, b, c := all[0], all[1], all[2]
	for _, h := range []*Host{b, c} {
		if err := h.Connect(ctx, a.Addrs()[0]); err != nil {
			t.Fatal(err)
		}
	}
	for look := time.NewTicker(time.Millisecond); a.dht.RoutingTable().Find(c.id) == "" ||
		b.dht.RoutingTable().Find(a.id) == ""; <-look.C {
		if ctx.Err() != nil {
			t.Fatal("the tables do not fill")
		}
	}
	b.Disconnect(c.id)
	b.inner.Peerstore().ClearAddrs(c.id)
	b.book.mu.Lock()
	delete(b.book.all, c.id)
	b.book.mu.Unlock()
	// Kademlia answers for c when a has stored c's addresses, which may be after it entered c in its table.
	for look := time.NewTicker(time.Millisecond); ; <-look.C {
		err := b.outer.Connect(ctx, peer.AddrInfo{ID: c.id})
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
	if b.inner.Network().Connectedness(c.id) != network.Connected {
		t.Error("not connected")
	}
}

// When strangers crowd the door, members and those who are allowed still get in.
func TestCrowdKeepsOutStrangersOnly(t *testing.T) {
	h := &Host{book: &addrBook{all: map[peer.ID]*bookEntry{}},
		allowed: &idList{ids: map[peer.ID]string{mustID(2): ""}}, revoked: &idList{}}
	h.roll = Roll{host: h, banned: &revocations{}}
	h.visitors = &visitors{host: h, outside: maxOutside}
	h.book.meet(mustID(1), nil, time.Unix(1800000000, 0))
	g := &gater{host: h, attempts: map[peer.ID]bucket{}}
	for id, want := range map[peer.ID]bool{mustID(1): true, mustID(2): true, mustID(3): false} {
		if got := g.InterceptSecured(network.DirInbound, id, nil); got != want {
			t.Errorf("%s may come in: %v, want %v", id, got, want)
		}
	}
	if h.visitors.outside--; !g.InterceptSecured(network.DirInbound, mustID(3), nil) {
		t.Error("a stranger is kept out though there is room")
	}
}

// A connectionFrom is all that visitors look at of a connection.
type connectionFrom struct {
	network.Conn
	id peer.ID
	at ma.Multiaddr
}

func (c *connectionFrom) RemotePeer() peer.ID           { return c.id }
func (c *connectionFrom) RemoteMultiaddr() ma.Multiaddr { return c.at }
func (c *connectionFrom) Stat() network.ConnStats {
	return network.ConnStats{Stats: network.Stats{Direction: network.DirInbound}}
}

// Strangers that open connections and say nothing lose their places to those who come later: first those who are many
// from one address, and of them who has waited longest.
func TestIdlersMakeRoom(t *testing.T) {
	h, err := Open(t.Context(), Config{StateDir: t.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	come := func(from string) peer.ID {
		public, _, err := ed25519.GenerateKey(nil)
		if err != nil {
			t.Fatal(err)
		}
		id := peer.ID(string(mustID(1)[:6]) + string(public))
		h.visitors.opened(&connectionFrom{id: id, at: ma.StringCast("/ip4/" + from + "/tcp/1")})
		return id
	}
	early := come("192.0.2.1")
	var crowd []peer.ID
	for range 3 * maxOutside {
		crowd = append(crowd, come("198.51.100.1"))
	}
	late := come("192.0.2.2")
	if h.visitors.crowded() {
		t.Error("nobody is let in any more")
	}
	for name, id := range map[string]peer.ID{"from elsewhere before": early, "from elsewhere afterwards": late,
		"the last of the crowd": crowd[len(crowd)-1]} {
		if h.visitors.find(id) == nil {
			t.Errorf("the stranger %s was put out", name)
		}
	}
	if h.visitors.find(crowd[0]) != nil {
		t.Error("the first of the crowd is still there")
	}
}

func TestRefusalsCrossTheNetwork(t *testing.T) {
	for _, sentinel := range refusals[1:] {
		w := encodeRefusal(fmt.Errorf("%w: because\nof %s", sentinel, "\x1b[2J"))
		if err := w.refusal(); !errors.Is(err, sentinel) || printable(err.Error()) != err.Error() {
			t.Errorf("%v became %v", sentinel, err)
		}
	}
	if w := encodeRefusal(errors.New("disk full")); !errors.Is(w.refusal(), ErrHello) {
		t.Errorf("an error of our own became %v", w.refusal())
	}
	if w := encodeRefusal(fmt.Errorf("%w: %s", ErrBusy, bytes.Repeat([]byte("é"), 999))); len(w.Reason) > maxReason {
		t.Errorf("a reason of %d bytes", len(w.Reason))
	}
}

func TestTicketsAreCounted(t *testing.T) {
	now := time.Unix(1800000000, 0)
	path := filepath.Join(t.TempDir(), "invitations")
	book, err := openTicketBook(path)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := book.issue(ticket{Expires: now.Unix() + 60, Uses: 2}, now)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		id  byte
		at  time.Duration
		bad bool
	}{{id: 1}, {id: 2}, {id: 3, bad: true}, {id: 1}, {id: 2, at: time.Minute},
		{id: 1, at: 61 * time.Second, bad: true}} {
		if book, err = openTicketBook(path); err != nil { // as after a restart
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
	if _, err := book.issue(ticket{Expires: late.Unix(), Uses: 1}, late); err != nil || len(book.all) != 1 {
		t.Errorf("%d invitations are open, %v; an old one should be forgotten", len(book.all), err)
	}
	book.all = slices.Repeat(book.all, maxTickets)
	if _, err := book.issue(ticket{Expires: late.Unix(), Uses: 1}, late); !errors.Is(err, ErrBusy) {
		t.Errorf("one too many: %v", err)
	}
}

// What is told of peers counts only if a member tells it, not too often, and means something from here.
func TestWhatIsLearnedOfOthers(t *testing.T) {
	h, err := Open(t.Context(), Config{StateDir: t.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	here, there := ma.StringCast("/ip4/127.0.0.1/tcp/9"), ma.StringCast("/ip4/192.0.2.1/tcp/9")
	h.learn(told{id: mustID(1), addrs: []ma.Multiaddr{here, there}, raw: []byte("a"), seq: 1}, there)
	if got := h.book.addrs(mustID(1)); len(got) != 1 || !got[0].Equal(there) {
		t.Errorf("learned %v from another machine", got)
	}
	h.learn(told{id: mustID(2), addrs: []ma.Multiaddr{here}, raw: []byte("a"), seq: 1}, here)
	if got := h.book.addrs(mustID(2)); len(got) != 1 {
		t.Errorf("learned %v from this machine", got)
	}
	envelope, err := record.UnmarshalEnvelope(signedRecord(t, 3, 1, "/ip4/192.0.2.1/tcp/9"))
	if err != nil {
		t.Fatal(err)
	}
	h.identified(event.EvtPeerIdentificationCompleted{Peer: mustID(3), SignedPeerRecord: envelope})
	if got := h.book.addrs(mustID(3)); len(got) != 0 {
		t.Errorf("learned %v from a stranger", got)
	}
	now := time.Unix(1800000000, 0)
	vs := &visitors{all: map[peer.ID]*visitor{mustID(1): {}}}
	for i, want := range []bool{true, false, true} {
		if got := vs.mayTell(mustID(1), now.Add(time.Duration(i)*exchangeFloor*6/10)); got != want {
			t.Errorf("list %d is read: %v, want %v", i, got, want)
		}
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
	if _, err := h.judge(id, said); err != nil {
		t.Fatalf("before: %v", err)
	}
	at := ma.StringCast("/ip4/127.0.0.1/tcp/1")
	if err := h.Allow(id); err != nil {
		t.Fatal(err)
	}
	if err := h.Revoke(id); err != nil {
		t.Fatal(err)
	}
	if _, err := h.judge(id, said); !errors.Is(err, ErrNotInvited) {
		t.Errorf("in an open swarm it is let in: %v", err)
	}
	if err := h.Connect(t.Context(), at.String()+"/p2p/"+id.String()); !errors.Is(err, ErrNotInvited) {
		t.Errorf("it is dialed when it is named: %v", err)
	}
	if err := h.inner.Connect(t.Context(), peer.AddrInfo{ID: id, Addrs: []ma.Multiaddr{at}}); !errors.Is(err,
		libp2pswarm.ErrGaterDisallowedConnection) {
		t.Errorf("it is dialed for libp2p: %v", err)
	}
	h.learn(told{id: id, addrs: []ma.Multiaddr{at}}, at)
	h.seeker.found(id, []ma.Multiaddr{at})
	if known := h.book.addrs(id); len(known) != 0 {
		t.Errorf("it is looked for at %v", known)
	}
	h.book.learn(id, []ma.Multiaddr{at}, nil, 0) // known from before
	if !h.seeker.useless(id) {
		t.Error("it is looked for")
	}
	h.cfg.Trust = TrustInvite
	key := h.swarm.standing().public
	if err := h.accept(id, &hello{Swarm: "lab"}, &welcome{Hello: &hello{Swarm: "lab", Key: key,
		Protocol: h.cfg.Protocol, Oldest: h.cfg.OldestProtocol}}, nil); !errors.Is(err, ErrNotInvited) {
		t.Errorf("it lets this peer in, and is in: %v", err)
	}
}
