package statement_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"pgregory.net/rapid"

	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
)

func key(t testing.TB) crypto.PrivKey {
	t.Helper()
	k, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func manifest() *statement.Manifest {
	return &statement.Manifest{
		Swarm: "lab", App: "nqueens", Entry: "nqueens.search", Arg: []byte{1, 2, 3}, Nonce: [16]byte{9},
		Created: 1_700_000_000, Expires: 1_700_086_400, Deputies: []string{"a", "b"}, Title: "18 queens",
	}
}

// A statement has one form. Whoever passes a card on could else make a newer one of it, and so keep a member known that
// is long gone.
func TestOnlyTheAuthorWrites(t *testing.T) {
	k := key(t)
	card := &statement.Card{Swarm: "lab", Incarnation: 1, Seq: 1, Cluster: "a"}
	signed, err := card.Sign(k)
	if err != nil {
		t.Fatal(err)
	}
	b, name, signature := signed.Bytes, signed.Peer.String(), 3+64
	if string(b[:4]) != "\xa3\x01\x78"+string(rune(len(name))) || string(b[4:4+len(name)]) != name {
		t.Fatalf("a statement begins with %x", b[:4])
	}
	cid := peer.ToCid(signed.Peer).String()
	for what, forged := range map[string][]byte{
		"a longer head": slices.Concat(b[:2], []byte{0x79, 0, byte(len(name))}, b[4:]),
		"another order": slices.Concat(b[:1], b[len(b)-signature:], b[1:len(b)-signature]),
		"another name":  slices.Concat(b[:3], []byte{byte(len(cid))}, []byte(cid), b[4+len(name):]),
	} {
		if c, err := statement.OpenCard(forged); !errors.Is(err, statement.ErrStatement) {
			t.Errorf("%s: %v; newer than the author's: %v", what, err, c != nil && c.Newer(signed))
		}
	}
}

// A manifest that was signed is read as it was written, with its owner and its run's name.
func TestManifestComesBack(t *testing.T) {
	k := key(t)
	signed, err := manifest().Sign(k)
	if err != nil {
		t.Fatal(err)
	}
	again, err := statement.OpenManifest(signed.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if again.Run != signed.Run || again.Owner != signed.Owner || again.Title != "18 queens" ||
		!bytes.Equal(again.Arg, []byte{1, 2, 3}) {
		t.Errorf("got %+v", again)
	}
	if id, _ := peer.IDFromPrivateKey(k); again.Owner != id {
		t.Errorf("owner %s, want %s", again.Owner, id)
	}
}

// Beside a manifest there may be a proof, which is no part of what is signed; beside other statements nothing.
func TestBesides(t *testing.T) {
	k, m := key(t), manifest()
	plain, err := m.Sign(k)
	if err != nil {
		t.Fatal(err)
	}
	m.Proof = []byte("proof")
	signed, err := m.Sign(k)
	if err != nil || string(signed.Proof) != "proof" || signed.Run != plain.Run {
		t.Fatalf("got %+v, %v", signed, err)
	}
	if got := statement.Unbacked(signed.Bytes); !bytes.Equal(got, plain.Bytes) {
		t.Errorf("without the proof it is %x, want %x", got, plain.Bytes)
	}
	m.Proof = make([]byte, statement.MaxCardProof+1)
	if _, err := m.Sign(k); !errors.Is(err, statement.ErrStatement) {
		t.Errorf("a proof that is too long: %v", err)
	}
	stone, err := (&statement.Tombstone{Run: plain.Run, Reason: runs.Cancelled, At: 1, Until: 2}).Sign(k)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := statement.OpenTombstone(stone); err != nil {
		t.Fatal(err)
	}
	more, err := statement.Backed(stone, []byte("proof"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := statement.OpenTombstone(more); !errors.Is(err, statement.ErrStatement) {
		t.Errorf("a tombstone with a proof beside it: %v", err)
	}
}

// The run's ID is a hash of owner, application, version, entry, argument and nonce: each changes it, nothing
// else does.
func TestRunIDDependsOnWhatIsComputed(t *testing.T) {
	k := key(t)
	sign := func(k crypto.PrivKey, change func(*statement.Manifest)) string {
		m := manifest()
		change(m)
		s, err := m.Sign(k)
		if err != nil {
			t.Fatal(err)
		}
		return string(s.Run[:])
	}
	base := sign(k, func(*statement.Manifest) {})
	if base != sign(k, func(m *statement.Manifest) { m.Title, m.Policy, m.Created = "other", "rs", m.Created+1 }) {
		t.Error("title, policy or time change the run's ID")
	}
	for what, id := range map[string]string{
		"owner":    sign(key(t), func(*statement.Manifest) {}),
		"app":      sign(k, func(m *statement.Manifest) { m.App = "tsp" }),
		"version":  sign(k, func(m *statement.Manifest) { m.Version[0]++ }),
		"entry":    sign(k, func(m *statement.Manifest) { m.Entry += "x" }),
		"argument": sign(k, func(m *statement.Manifest) { m.Arg = []byte{1, 2} }),
		"nonce":    sign(k, func(m *statement.Manifest) { m.Nonce[3]++ }),
		"border":   sign(k, func(m *statement.Manifest) { m.App, m.Entry = m.App+"n", m.Entry[1:] }),
	} {
		if id == base {
			t.Errorf("another %s gives the same run ID", what)
		}
	}
}

// A manifest that would show a terminal's commands, live for ever, name somebody twice or be too large is not even
// signed.
func TestRefused(t *testing.T) {
	for name, change := range map[string]func(*statement.Manifest){
		"no entry":        func(m *statement.Manifest) { m.Entry = "" },
		"long title":      func(m *statement.Manifest) { m.Title = strings.Repeat("x", 300) },
		"many deputies":   func(m *statement.Manifest) { m.Deputies = strings.Split("a b c d e f g h i", " ") },
		"a deputy twice":  func(m *statement.Manifest) { m.Deputies = []string{"a", "b", "a"} },
		"a nameless one":  func(m *statement.Manifest) { m.Deputies = []string{""} },
		"escape sequence": func(m *statement.Manifest) { m.Title = "18\x1b]0;queens\a" },
		"a line break":    func(m *statement.Manifest) { m.Title = "18\nqueens" },
		"text backwards":  func(m *statement.Manifest) { m.App = "n\u202equeens" },
		"expired at once": func(m *statement.Manifest) { m.Expires = m.Created - 1 },
		"lives for ever":  func(m *statement.Manifest) { m.Expires = m.Created + 101*24*3600 },
		"negative cores":  func(m *statement.Manifest) { m.MaxCores = -1 },
		"huge argument":   func(m *statement.Manifest) { m.Arg = make([]byte, statement.MaxArg+1) },
	} {
		m := manifest()
		change(m)
		if _, err := m.Sign(key(t)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// Plain texts remain, others can be signed afterwards.
func TestPlain(t *testing.T) {
	for text, want := range map[string]string{"18 queens": "18 queens", "größte Tür": "größte Tür", "a\x1b[2J": "a?[2J",
		"a\nb": "a?b", "\xff\xfe": "??", "": "", "\u202e\u200b": "??"} {
		m := manifest()
		if m.Title = plain.Name(text); m.Title != want {
			t.Errorf("%q becomes %q, want %q", text, m.Title, want)
		}
		if _, err := m.Sign(key(t)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// No text of a card reaches a terminal that could do more than be read.
func TestCardTexts(t *testing.T) {
	bad := "x\x1b[2J"
	for name, change := range map[string]func(*statement.Card){
		"label": func(c *statement.Card) { c.Label = bad }, "name": func(c *statement.Card) { c.Name = bad },
		"long name": func(c *statement.Card) { c.Name = strings.Repeat("x", statement.MaxCardName+1) },
		"cluster":   func(c *statement.Card) { c.Cluster = bad },
		"why":       func(c *statement.Card) { c.Why = bad }, "software": func(c *statement.Card) { c.Software = bad },
		"reach": func(c *statement.Card) { c.Reachable = bad }, "swarm": func(c *statement.Card) { c.Swarm = bad },
		"address":     func(c *statement.Card) { c.Addrs = []string{bad} },
		"application": func(c *statement.Card) { c.Apps = []statement.App{{Name: bad}} },
		"proof":       func(c *statement.Card) { c.Proof = make([]byte, statement.MaxCardProof+1) },
	} {
		c := &statement.Card{Swarm: "lab", Incarnation: 1, Seq: 1}
		if _, err := c.Sign(key(t)); err != nil {
			t.Fatal(err)
		}
		change(c)
		if _, err := c.Sign(key(t)); !errors.Is(err, statement.ErrStatement) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// One kind of statement is never another one, whatever its bytes.
func TestKindsAreApart(t *testing.T) {
	k := key(t)
	tomb, err := (&statement.Tombstone{Reason: runs.Cancelled, At: 5, Until: 9, Took: 1500}).Sign(k)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := statement.OpenCard(tomb); !errors.Is(err, statement.ErrStatement) {
		t.Errorf("a tombstone as a card: %v", err)
	}
	if _, err := statement.OpenManifest(tomb); !errors.Is(err, statement.ErrStatement) {
		t.Errorf("a tombstone as a manifest: %v", err)
	}
	if got, author, err := statement.OpenTombstone(tomb); err != nil || got.Reason != runs.Cancelled ||
		got.Took != 1500 ||
		author == "" {
		t.Errorf("got %v %v %v", got, author, err)
	}
}

// What a holder of an answer says comes back as it was signed, by whom it was signed, and is not taken for another
// statement; what cannot be is not signed.
func TestAnsweredComesBack(t *testing.T) {
	k := key(t)
	outcome := []byte("the answer")
	signed, err := (&statement.Answered{Run: job.RunID{7}, Hash: statement.HashOutcome(outcome), At: 5,
		Until: 9}).Sign(k)
	if err != nil {
		t.Fatal(err)
	}
	again, err := statement.OpenAnswered(signed.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if id, _ := peer.IDFromPrivateKey(k); again.Author != id || !reflect.DeepEqual(again.Answered, signed.Answered) ||
		again.Hash == statement.HashOutcome(nil) {
		t.Errorf("got %+v", again)
	}
	if _, err := (&statement.Answered{Of: make([]byte, 33+1)}).Sign(k); !errors.Is(err, statement.ErrStatement) {
		t.Errorf("authors that are none: %v", err)
	}
	if _, err := (&statement.Answered{At: -1}).Sign(k); !errors.Is(err, statement.ErrStatement) {
		t.Errorf("a time before 1970: %v", err)
	}
	if _, _, err := statement.OpenTombstone(signed.Bytes); !errors.Is(err, statement.ErrStatement) {
		t.Errorf("an answered statement as a tombstone: %v", err)
	}
}

// No change of a single byte passes.
func TestEveryByteIsSigned(t *testing.T) {
	signed, err := (&statement.Card{Swarm: "lab", Incarnation: 3, Seq: 4, Cluster: "a",
		Addrs: []string{"/ip4/127.0.0.1/tcp/1"}}).Sign(key(t))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		b := bytes.Clone(signed.Bytes)
		b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= byte(rapid.IntRange(1, 255).Draw(t, "flip"))
		if _, err := statement.OpenCard(b); !errors.Is(err, statement.ErrStatement) {
			t.Fatalf("accepted: %v", err)
		}
	})
}

// Of two cards with one number everybody who hears both has the same.
func TestNewerCard(t *testing.T) {
	twin := func(text string) *statement.SignedCard {
		return &statement.SignedCard{Card: statement.Card{Incarnation: 1, Seq: 1}, Bytes: []byte(text)}
	}
	card := func(inc, seq uint64) *statement.SignedCard {
		return &statement.SignedCard{Card: statement.Card{Incarnation: inc, Seq: seq}}
	}
	for _, c := range []struct {
		a, b *statement.SignedCard
		want bool
	}{
		{card(1, 2), card(1, 1), true}, {card(1, 1), card(1, 1), false}, {card(2, 1), card(1, 9), true},
		{card(1, 9), card(2, 1), false}, {twin("b"), twin("a"), true}, {twin("a"), twin("b"), false},
		{twin("a"), twin("a"), false}, {card(1, 2), twin("b"), true},
	} {
		if got := c.a.Newer(c.b); got != c.want {
			t.Errorf("%v newer than %v: %t", c.a.Card, c.b.Card, got)
		}
	}
}

// A roster comes back as it was signed; one that is out of bounds, or was changed on its way, is refused.
func TestRosterIsChecked(t *testing.T) {
	k := key(t)
	good := func() *statement.Roster {
		return &statement.Roster{Number: 3, Wanted: 9, Out: []statement.Outsider{{Cluster: "b", Rate: 1e5},
			{Cluster: "a", Peer: "p", Left: 2, Times: 1}}, Log: []statement.RosterEntry{{At: 1, Text: "why"}}, Until: 9}
	}
	b, err := good().Sign(k)
	if err != nil {
		t.Fatal(err)
	}
	r, author, err := statement.OpenRoster(b)
	if id, _ := peer.IDFromPrivateKey(k); err != nil || author != id || !reflect.DeepEqual(r, good()) {
		t.Fatalf("%+v of %s: %v", r, author, err)
	}
	b[len(b)/2] ^= 1
	if _, _, err := statement.OpenRoster(b); !errors.Is(err, statement.ErrStatement) {
		t.Errorf("one that was changed: %v", err)
	}
	for what, change := range map[string]func(*statement.Roster){
		"wanted":  func(r *statement.Roster) { r.Wanted = -1 },
		"out":     func(r *statement.Roster) { r.Out = make([]statement.Outsider, runs.MaxOutsiders+1) },
		"name":    func(r *statement.Roster) { r.Out[0].Cluster = "\x1b[2J" },
		"rate":    func(r *statement.Roster) { r.Out[0].Rate = -1 },
		"left":    func(r *statement.Roster) { r.Out[1].Left = -1 },
		"times":   func(r *statement.Roster) { r.Out[1].Times = 1 << 40 },
		"entries": func(r *statement.Roster) { r.Log = make([]statement.RosterEntry, runs.MaxRosterLog+1) },
		"text":    func(r *statement.Roster) { r.Log[0].Text = strings.Repeat("x", runs.MaxRosterText+1) },
	} {
		r := good()
		change(r)
		b, err := r.Sign(k)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := statement.OpenRoster(b); !errors.Is(err, statement.ErrStatement) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Whatever bytes are taken for a statement of whatever kind are one or are refused as none.
func FuzzOpen(f *testing.F) {
	k := key(f)
	m, err := manifest().Sign(k)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(m.Bytes)
	f.Add([]byte{0xa3})
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, err := range []error{
			second(statement.OpenManifest(b)), second(statement.OpenCard(b)), third(statement.OpenTombstone(b)),
			second(statement.OpenAnswered(b)), second(statement.OpenDeposited(b)), third(statement.OpenRoster(b)),
		} {
			if err != nil && !errors.Is(err, statement.ErrStatement) {
				t.Errorf("an error of another kind: %v", err)
			}
		}
	})
}

func second[A any](_ A, err error) error        { return err }
func third[A, B any](_ A, _ B, err error) error { return err }

// A nonce that was drawn for a run which goes on with what another one left is known for that, and no other is.
func TestNonceAfter(t *testing.T) {
	left, other := job.RunID{1}, job.RunID{2}
	n := statement.NonceAfter(left)
	if !statement.IsAfter(n, left) || statement.IsAfter(n, other) ||
		statement.IsAfter(statement.NewNonce(), left) || n == statement.NonceAfter(left) {
		t.Errorf("%x does not go on with %s alone", n, left.Hex())
	}
}
