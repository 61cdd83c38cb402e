package peer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/steal"
)

const author = peer.ID("somebody")

func tuples(n, depth int) (list []steal.Tuple) {
	from := steal.Address{Peer: steal.PeerID(author.String()), Inc: 7}
	for i := range n {
		path := make(job.Path, depth)
		for d := range path {
			path[d] = 1 << 30
		}
		list = append(list, steal.Tuple{Path: path, Identity: job.Identity{byte(i), byte(i >> 8)}, Holder: from,
			Done: i%2 == 0})
	}
	return list
}

// News that are too long for a message go in several; nothing is lost but a tuple that fits in none.
func TestNewsAreSplit(t *testing.T) {
	from := steal.Address{Peer: steal.PeerID(author.String()), Inc: 7}
	for _, c := range []struct{ tuples, depth, kept, least int }{
		{0, 0, 0, 1}, {3, 4, 3, 1}, {256, 10, 256, 1}, {256, 200, 256, 8}, {2, 4000, 2, 1}, {1, 8000, 0, 1},
		{3, 8000, 0, 1},
	} {
		n := &steal.News{Run: job.RunID{1}, From: from, Tuples: tuples(c.tuples, c.depth),
			Master: &steal.Beacon{Seq: 3}}
		parts := splitNews(n, maxNews)
		seen, masters := map[job.Identity]bool{}, 0
		for _, part := range parts {
			got, err := readNews(author, encode(part))
			if err != nil {
				t.Fatalf("%d tuples of depth %d: a part is refused: %v", c.tuples, c.depth, err)
			}
			for _, tu := range got.Tuples {
				seen[tu.Identity] = true
			}
			if got.Master != nil {
				masters++
			}
		}
		if len(seen) != c.kept || masters != 1 || len(parts) < c.least {
			t.Errorf("%d tuples of depth %d: %d are kept, in %d parts, %d with the beacon", c.tuples, c.depth,
				len(seen), len(parts), masters)
		}
	}
}

// News are refused that are not their author's, are malformed, or too long.
func TestHostileNews(t *testing.T) {
	from := steal.Address{Peer: steal.PeerID(author.String()), Inc: 7}
	good := &steal.News{Run: job.RunID{1}, From: from, Master: &steal.Beacon{Seq: 3}}
	if err := checkNews(author, encode(good)); err != nil {
		t.Errorf("good news: %v", err)
	}
	if err := checkNews("another", encode(good)); err == nil || !strings.Contains(err.Error(), "from") {
		t.Errorf("somebody else's: %v", err)
	}
	for what, b := range map[string][]byte{
		"nothing":      nil,
		"garbage":      []byte("garbage"),
		"empty":        encode(&steal.News{Run: job.RunID{1}, From: from}),
		"no life":      encode(&steal.News{From: steal.Address{Peer: from.Peer}, Master: &steal.Beacon{Seq: 1}}),
		"no number":    encode(&steal.News{From: from, Master: &steal.Beacon{}}),
		"no holder":    encode(&steal.News{From: from, Tuples: []steal.Tuple{{}}}),
		"too long":     encode(&steal.News{From: from, Tuples: tuples(300, 100)}),
		"long garbage": []byte(strings.Repeat("\xa1\x01", maxNews)),
	} {
		if err := checkNews(author, b); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}

// News that came and is passed on in parts keeps to the bound of a part, whatever is in it.
func FuzzNews(f *testing.F) {
	f.Add(encode(&steal.News{Run: job.RunID{1}, From: steal.Address{Peer: steal.PeerID(author.String()), Inc: 7},
		Tuples: tuples(2, 3)}))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := readNews(author, b)
		if err != nil {
			return
		}
		for _, part := range splitNews(n, 1<<10) {
			if got := len(encode(part)); got > 1<<10 {
				t.Error(fmt.Errorf("a part of %d bytes", got))
			}
		}
	})
}

// A card shows that its author is a member by a certificate of the swarm, and not by anything else; where everybody is
// one, as in an open swarm, it shows nothing.
func TestCardsShowMembers(t *testing.T) {
	open := func(trust host.Trust) *host.Host {
		h, err := host.Open(t.Context(), host.Config{StateDir: t.TempDir(), Trust: trust, Swarm: "lab",
			Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.Close() })
		return h
	}
	here, member, stranger, anybody := open(host.TrustInvite), open(host.TrustInvite), open(host.TrustInvite),
		open(host.TrustOpen)
	line, err := here.Invite(t.Context(), host.InviteOptions{})
	if err == nil {
		err = member.Join(t.Context(), line)
	}
	if err != nil {
		t.Fatal(err)
	}
	card := func(of *host.Host, proof []byte) []byte {
		c, err := (&statement.Card{Swarm: "lab", Incarnation: 1, Seq: 1, Proof: proof}).Sign(
			of.Network().Peerstore().PrivKey(of.ID()))
		if err != nil {
			t.Fatal(err)
		}
		return c.Bytes
	}
	for name, c := range map[string]struct {
		at, author *host.Host
		card       []byte
		want       bool
	}{
		"a member's":         {here, member, card(member, member.Proof()), true},
		"a stranger's":       {here, stranger, card(stranger, stranger.Proof()), false},
		"by another's proof": {here, stranger, card(stranger, member.Proof()), false},
		"another's":          {here, stranger, card(member, member.Proof()), false},
		"no card":            {here, member, []byte("much"), false},
		"in an open swarm":   {anybody, member, card(member, member.Proof()), false},
	} {
		if got := showsMember(c.at.Roll(), c.author.ID(), c.card); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
