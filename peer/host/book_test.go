package host

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/record"
	ma "github.com/multiformats/go-multiaddr"
)

// tell has a peer tell of itself.
func (b *addrBook) tell(id peer.ID, addrs []ma.Multiaddr, record []byte, seq uint64) (news bool) {
	return b.learn(told{id, addrs, record, seq}, id)
}

// hostThatDialsNobody has no room to dial anybody of whom it hears.
func hostThatDialsNobody(t *testing.T) *Host {
	h, err := Open(t.Context(), Config{StateDir: t.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	for range seekDials {
		h.seeker.slots <- struct{}{}
	}
	return h
}

// Of however many peers one member tells, so many are kept: those of whom others told stay, and those who were met.
func TestToldByOne(t *testing.T) {
	h := hostThatDialsNobody(t)
	at := ma.StringCast("/ip4/192.0.2.1/tcp/4001")
	tell := func(id, by peer.ID) {
		h.exchange.learn(told{id: id, addrs: []ma.Multiaddr{at}, raw: []byte("signed"), seq: 1}, by, at)
	}
	for i := range maxToldBy / 2 {
		tell(mustID(byte(i)), mustID(200))
	}
	tell(mustID(201), mustID(202))
	h.book.meet(mustID(201), nil, time.Now())
	for i := range 2 * maxKnown {
		tell(peer.ID(fmt.Sprint(i)), mustID(202))
	}
	if len(h.book.all) != maxToldBy/2+1+maxToldBy || !h.book.met(mustID(201)) {
		t.Errorf("%d peers are known; one of them was met: %v", len(h.book.all), h.book.met(mustID(201)))
	}
	if got := h.inner.Peerstore().PeersWithAddrs(); len(got) > 1 {
		t.Errorf("libp2p has the addresses of %d peers", len(got))
	}
}

// Members that one has invented, and has come by, drive no others out of the book, nor out of what is remembered: of
// each branch the last that were met stay.
func TestInventedAreMet(t *testing.T) {
	book, at := &addrBook{all: map[peer.ID]*bookEntry{}}, ma.StringCast("/ip4/192.0.2.1/tcp/4001")
	meet := func(id peer.ID, branch string, when int64) {
		book.branch = func(peer.ID) string { return branch }
		book.meet(id, at, time.Unix(when, 0))
	}
	const honest = maxRemembered / 4
	for i := range honest {
		meet(mustID(byte(i)), "honest", int64(i))
	}
	for i := range 2 * maxKnown {
		meet(peer.ID(fmt.Sprint(i)), "liar", int64(honest+i))
	}
	written := formatAddrBook(book.all)
	for i := range honest {
		if id := mustID(byte(i)); !book.met(id) || !bytes.Contains(written, []byte(id.String())) {
			t.Fatalf("%d of %d is forgotten: met %v", i, honest, book.met(id))
		}
	}
	if last := peer.ID(fmt.Sprint(2*maxKnown - 1)); len(book.all) != maxKnown || !book.met(last) ||
		!bytes.Contains(written, []byte(last.String())) {
		t.Errorf("of %d the last one is not among them", len(book.all))
	}
}

// Whatever is on the local network has nobody dialed where members could not, and fills a part of the book only.
func TestNeighboursAreNotBelieved(t *testing.T) {
	h := hostThatDialsNobody(t)
	bad := []ma.Multiaddr{ma.StringCast("/dns4/victim.invalid/tcp/1"), ma.StringCast("/ip4/169.254.169.254/tcp/80")}
	h.seeker.found(mustID(1), bad)
	h.seeker.found(mustID(2), append(bad, oneAddr...))
	if got := h.book.addrs(mustID(2)); len(h.book.all) != 1 || len(got) != 1 || !got[0].Equal(oneAddr[0]) {
		t.Errorf("%d peers, one at %v", len(h.book.all), got)
	}
	for i := range 2 * maxToldBy {
		h.seeker.found(peer.ID(fmt.Sprint(i)), oneAddr)
	}
	if len(h.book.all) != maxToldBy {
		t.Errorf("%d peers", len(h.book.all))
	}
}

// A peer is dialed where the book has it, though libp2p has another address of it.
func TestDialedByTheBook(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	var both [2]*Host
	for i := range both {
		h, err := Open(ctx, Config{StateDir: t.TempDir(), Trust: TrustOpen, Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		both[i] = h
	}
	h, other := both[0], both[1]
	h.inner.Peerstore().AddAddrs(other.id, []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/1")}, time.Hour)
	h.book.tell(other.id, other.inner.Addrs(), nil, 0)
	if err := h.outer.Connect(ctx, peer.AddrInfo{ID: other.id}); err != nil {
		t.Error(err)
	}
}

// However many addresses are told, the book keeps so many, and members before strangers.
func TestAddrBookIsBoundedAndKeepsMembers(t *testing.T) {
	now := time.Unix(1800000000, 0)
	path := filepath.Join(t.TempDir(), "peers")
	book, err := openAddrBook(path, mustID(0), now)
	if err != nil {
		t.Fatal(err)
	}
	at := ma.StringCast("/ip4/192.0.2.1/tcp/4001")
	book.meet(mustID(1), at, now)
	book.tell(mustID(2), []ma.Multiaddr{at}, nil, 0)
	for i := range 3 * maxKnown {
		book.tell(peer.ID(fmt.Sprint(i)), []ma.Multiaddr{at}, nil, 0)
	}
	for i := range 3 * maxPeerAddrs {
		book.tell(mustID(1), []ma.Multiaddr{ma.StringCast(fmt.Sprintf("/ip4/192.0.2.1/tcp/%d", i+1))}, nil, 0)
	}
	book.tell(mustID(0), []ma.Multiaddr{at}, nil, 0)
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
	if behind, err := openAddrBook(path, mustID(0), time.Unix(0, 0)); err != nil || !behind.met(mustID(1)) {
		t.Errorf("where the clock has just begun nobody is known, %v", err)
	}
	if ahead, err := openAddrBook(path, mustID(0), now.AddDate(20, 0, 0)); err != nil || !ahead.met(mustID(1)) {
		t.Errorf("where the clock is years ahead nobody is known, %v", err)
	}
	book.meet(mustID(2), at, now.Add(2*rememberFor))
	if err := book.save(); err != nil {
		t.Fatal(err)
	}
	later, err := openAddrBook(path, mustID(0), now.Add(2*rememberFor))
	if err != nil || later.met(mustID(1)) || !later.met(mustID(2)) {
		t.Errorf("who was not met for %v is still known, %v", 2*rememberFor, err)
	}
}

// A newer record of a peer replaces the older one, with its addresses, and an old one that comes late changes nothing.
func TestRecordsReplaceOlderOnes(t *testing.T) {
	book := &addrBook{self: mustID(0), all: map[peer.ID]*bookEntry{}}
	one, two := ma.StringCast("/ip4/192.0.2.1/tcp/1"), ma.StringCast("/ip4/192.0.2.1/tcp/2")
	book.tell(mustID(1), []ma.Multiaddr{one}, []byte("a"), 5)
	if book.tell(mustID(1), []ma.Multiaddr{two}, []byte("b"), 5) || !book.addrs(mustID(1))[0].Equal(one) {
		t.Error("an old record was news")
	}
	if !book.tell(mustID(1), []ma.Multiaddr{two}, []byte("b"), 6) || len(book.addrs(mustID(1))) != 1 {
		t.Error("a newer record did not replace the older one")
	}
	if got := book.records(9, func(peer.ID) bool { return true }); len(got) != 1 || string(got[0]) != "b" {
		t.Errorf("passes on %q", got)
	}
}

// A peer that could not be reached is dialed again, after ever longer waits up to the longest.
func TestFailedDialsAreRetriedEverMoreSlowly(t *testing.T) {
	now := time.Unix(1800000000, 0)
	book := &addrBook{self: mustID(0), all: map[peer.ID]*bookEntry{}}
	book.tell(mustID(1), []ma.Multiaddr{ma.StringCast("/ip4/192.0.2.1/tcp/1")}, nil, 0)
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

// searchers are hosts with a Kademlia that have met the first of them, and are in each other's tables.
func searchers(ctx context.Context, t *testing.T, n int) (all []*Host) {
	t.Helper()
	for range n {
		h, err := Open(ctx, Config{StateDir: t.TempDir(), Trust: TrustOpen, DHT: true, MinPeers: 1,
			Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.Close() })
		all = append(all, h)
	}
	for _, h := range all[1:] {
		if err := h.Connect(ctx, all[0].Addrs()[0]); err != nil {
			t.Fatal(err)
		}
		for look := time.NewTicker(time.Millisecond); all[0].search.dht.RoutingTable().Find(h.id) == "" ||
			h.search.dht.RoutingTable().Find(all[0].id) == ""; <-look.C {
			if ctx.Err() != nil {
				t.Fatal("the tables do not fill")
			}
		}
	}
	return all
}

// Where a peer is by a member's answer to a search is dialed only if it may be: no names, and nothing link-local.
func TestSearchBelievesNobody(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	all := searchers(ctx, t, 2)
	h, liar := all[1], all[0]
	here := ma.StringCast("/ip4/127.0.0.1/tcp/1")
	liar.inner.Peerstore().AddAddrs(mustID(1), []ma.Multiaddr{here, ma.StringCast("/dns4/victim.invalid/tcp/1"),
		ma.StringCast("/ip4/169.254.169.254/tcp/80"), ma.StringCast("/ip4/0.0.0.0/tcp/1")}, time.Hour)
	err := h.outer.Connect(ctx, peer.AddrInfo{ID: mustID(1)})
	if got := h.inner.Peerstore().Addrs(mustID(1)); len(got) != 1 || !got[0].Equal(here) {
		t.Errorf("dialed %v: %v", got, err)
	}
}

// What no member tells of is found in the swarm's Kademlia.
func TestSearchAsksTheDHT(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	all := searchers(ctx, t, 3)
	b, c := all[1], all[2]
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

// What is told of peers counts only if a member tells it, not too often, and means something from here.
func TestWhatIsLearnedOfOthers(t *testing.T) {
	h, err := Open(t.Context(), Config{StateDir: t.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	here, there := ma.StringCast("/ip4/127.0.0.1/tcp/9"), ma.StringCast("/ip4/192.0.2.1/tcp/9")
	h.exchange.learn(told{mustID(1), []ma.Multiaddr{here, there}, []byte("a"), 1}, mustID(9), there)
	if got := h.book.addrs(mustID(1)); len(got) != 1 || !got[0].Equal(there) {
		t.Errorf("learned %v from another machine", got)
	}
	h.exchange.learn(told{mustID(2), []ma.Multiaddr{here}, []byte("a"), 1}, mustID(9), here)
	if got := h.book.addrs(mustID(2)); len(got) != 1 {
		t.Errorf("learned %v from this machine", got)
	}
	envelope, err := record.UnmarshalEnvelope(signedRecord(t, 3, 1, "/ip4/192.0.2.1/tcp/9"))
	if err != nil {
		t.Fatal(err)
	}
	h.exchange.identified(event.EvtPeerIdentificationCompleted{Peer: mustID(3), SignedPeerRecord: envelope})
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
