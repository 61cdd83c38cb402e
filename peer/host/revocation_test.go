package host

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/wire"
)

// banishment is what peer by, with a chain, says of peer whom.
func banishment(t *testing.T, chain []certificate, by, whom byte, number uint64, lifted bool) []byte {
	t.Helper()
	r := revocation{Swarm: publicOf(0), Subject: []byte(mustID(whom)), Author: chain, Number: number, Lifted: lifted}
	text, err := r.signed()
	if err != nil {
		t.Fatal(err)
	}
	r.Signature = ed25519.Sign(keyOf(by), text)
	return encode(t, r)
}

// bench has a founder, 1, who has invited 2 and 5, and 2 has invited 3 and that one 4. Only 4 and 5 may not invite.
func bench(t *testing.T) (chains map[byte][]certificate) {
	t.Helper()
	chains = map[byte][]certificate{}
	grant := func(to, by byte, may bool) {
		c, err := certify(chains[by], keyOf(by), publicOf(0), mustID(to), may)
		if err != nil {
			t.Fatal(err)
		}
		chains[to] = c
	}
	grant(1, 0, true)
	grant(2, 1, true)
	grant(3, 2, true)
	grant(4, 3, false)
	grant(5, 1, false)
	return chains
}

func book(t *testing.T, path string) *revocations {
	t.Helper()
	r, err := openRevocations(path, publicOf(0))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *revocations) hear(t *testing.T, b []byte) bool {
	t.Helper()
	v, err := openRevocation(b, publicOf(0))
	if err != nil {
		t.Fatal(err)
	}
	news, err := r.add(v, time.Unix(1e9, 0))
	if err != nil {
		t.Fatal(err)
	}
	return news
}

// member says whether a chain holds by what a book has.
func (r *revocations) member(chain []certificate, id byte) bool {
	return verifyChain(chain, publicOf(0), mustID(id), r.out) == nil
}

// Whoever may invite puts out those who are members by it, with all below them, and nobody beside or above it; the
// founder puts out everybody.
func TestRevocationsReachDownwards(t *testing.T) {
	chains := bench(t)
	for name, c := range map[string]struct {
		by, whom byte
		members  string // of 1 to 5
	}{
		"the founder a branch":         {1, 2, "15"},
		"the founder a leaf":           {1, 5, "1234"},
		"an inviter one below it":      {2, 3, "125"},
		"an inviter one at two steps":  {2, 4, "1235"},
		"an inviter one beside it":     {2, 5, "12345"},
		"an inviter the founder":       {2, 1, "12345"},
		"an inviter who invited it":    {3, 2, "12345"},
		"an inviter someone unrelated": {3, 5, "12345"},
	} {
		r := book(t, filepath.Join(t.TempDir(), "revocations"))
		r.hear(t, banishment(t, chains[c.by], c.by, c.whom, 1, false))
		got := ""
		for id := byte(1); id <= 5; id++ {
			if r.member(chains[id], id) {
				got += string('0' + rune(id))
			}
		}
		if got != c.members {
			t.Errorf("%s: members are %s, want %s", name, got, c.members)
		}
		if r.byFounder(mustID(c.whom)) != (c.by == 1) {
			t.Errorf("%s: by the founder?", name)
		}
	}
}

// Of an author that says to some that a peer is out, and to others that it is not, whoever hears both has it out.
func TestRevocationsForSomeAndOthers(t *testing.T) {
	chains := bench(t)
	say := [][]byte{banishment(t, chains[1], 1, 2, 1, false), banishment(t, chains[1], 1, 2, 1, true)}
	for _, order := range [][2]int{{0, 1}, {1, 0}} {
		r := book(t, filepath.Join(t.TempDir(), "revocations"))
		for _, i := range order {
			r.hear(t, say[i])
		}
		if r.member(chains[2], 2) {
			t.Errorf("it is in for whoever hears %v", order)
		}
	}
}

// What was said first, later or again, in whatever order it comes and through whatever restart, gives the same.
func TestRevocationsAreMonotone(t *testing.T) {
	chains := bench(t)
	path := filepath.Join(t.TempDir(), "revocations")
	out, back := banishment(t, chains[1], 1, 2, 1, false), banishment(t, chains[1], 1, 2, 2, true)
	r := book(t, path)
	for i, step := range []struct {
		say    []byte
		news   bool
		member bool
	}{{out, true, false}, {out, false, false}, {back, true, true}, {out, false, true},
		{banishment(t, chains[1], 1, 2, 3, false), true, false}, {back, false, false}} {
		if news := r.hear(t, step.say); news != step.news || r.member(chains[2], 2) != step.member {
			t.Errorf("step %d: news %v, a member %v", i, news, r.member(chains[2], 2))
		}
		if r = book(t, path); r.member(chains[2], 2) != step.member {
			t.Errorf("step %d: another after a restart", i)
		}
	}
	if err := os.WriteFile(path, []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openRevocations(path, publicOf(0)); !errors.Is(err, ErrState) {
		t.Errorf("a damaged file: %v", err)
	}
	elsewhere := book(t, filepath.Join(t.TempDir(), "revocations"))
	elsewhere.hear(t, out)
	elsewhere.only(publicOf(7))
	if !elsewhere.member(chains[2], 2) {
		t.Error("what was said in another swarm counts")
	}
}

// A flood by one that may invite, and by all that it invents, leaves room for others: for the founder, for whoever
// invited it, and for what is said of those who are members by whoever says it.
func TestRevocationsAreBounded(t *testing.T) {
	chains := bench(t)
	r := book(t, filepath.Join(t.TempDir(), "revocations"))
	r.above = func(author, subject peer.ID) bool { return author == mustID(3) && subject == mustID(4) }
	add := func(by, whom byte) error {
		v, err := openRevocation(banishment(t, chains[by], by, whom, 1, false), publicOf(0))
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.put(v, time.Unix(1e9, 0))
		return err
	}
	for i := range branchRevocations {
		if err := add(3, byte(100+i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := add(3, 99); !errors.Is(err, errRevocation) {
		t.Errorf("one more than a branch may have: %v", err)
	}
	if !r.spare(chains[2]) || r.spare(chains[3]) {
		t.Error("one below takes the room of one above, or leaves none to itself")
	}
	if err := add(3, 4); err != nil || r.of[banned{mustID(3), mustID(100 + branchRevocations - 1)}] != nil {
		t.Errorf("one that counts, in the place of the newest that does not: %v", err)
	}
	for i := range branchRevocations - 1 {
		if err := add(2, byte(1+i)); err != nil {
			t.Errorf("one by whoever invited it: %v", err)
		}
	}
	counts := banned{mustID(3), mustID(4)}
	if err := add(2, 99); !errors.Is(err, errRevocation) || len(r.of) != branchRevocations || r.of[counts] == nil {
		t.Errorf("what counts for nobody, when there is nothing less: %v, %d are kept", err, len(r.of))
	}
	for i := range founderRevocations {
		v := &ban{author: mustID(1), subject: peer.ID(rune(i))}
		if r.spare(chains[1]) != (i < founderRevocations/2) {
			t.Fatalf("of the founder's %d, half of the room is left: %v", i, r.spare(chains[1]))
		}
		if _, err := r.put(v, time.Unix(1e9, 0)); err != nil {
			t.Fatalf("the founder's: %v", err)
		}
	}
	if err := add(1, 99); !errors.Is(err, errRevocation) {
		t.Errorf("one more than the founder may have: %v", err)
	}
}

// Some branches that say all they may leave room to another, up to as much as they have themselves.
func TestRevocationsOfManyBranches(t *testing.T) {
	r := book(t, filepath.Join(t.TempDir(), "revocations"))
	put := func(branch, whom int) bool {
		v := &ban{author: mustID(byte(branch)), subject: peer.ID(rune(whom)), branch: mustID(byte(branch))}
		is, _ := r.put(v, time.Unix(1e9, 0))
		return is
	}
	const loud = (maxRevocations - founderRevocations) / branchRevocations
	for branch := range loud {
		for i := range branchRevocations {
			if !put(10+branch, i) {
				t.Fatalf("branch %d, statement %d: no room", branch, i)
			}
		}
	}
	n := 0
	for i := range branchRevocations {
		if put(100, i) {
			n++
		}
	}
	if fair := (maxRevocations - founderRevocations) / (loud + 1); n != fair || len(r.of) != loud*branchRevocations {
		t.Errorf("another branch has %d, not %d, of %d", n, fair, len(r.of))
	}
}

// Whoever takes back and says again who is out, as often as it likes, has the others write it a few times in an hour.
// The founder is always heard, and what is said again costs nothing.
func TestChangesOfMind(t *testing.T) {
	chains := bench(t)
	for by, most := range map[byte]int{1: 50, 2: 1 + maxChanges} {
		path := filepath.Join(t.TempDir(), "revocations")
		r, now, news := book(t, path), time.Unix(1e9, 0), 0
		say := func(n uint64) bool {
			v := &ban{author: mustID(by), subject: mustID(3), bytes: []byte{byte(n)}}
			v.Number, v.Author = n, chains[by]
			if by != 1 {
				v.branch = mustID(by)
			}
			is, _ := r.add(v, now)
			return is
		}
		for n := range uint64(50) {
			if say(n + 1) {
				news++
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
			if say(n + 1) {
				t.Fatal("the same is news twice")
			}
			if _, err := os.Stat(path); err == nil {
				t.Fatal("what is no news is written")
			}
		}
		if news != most {
			t.Errorf("%d are heard of %d, want %d", news, by, most)
		}
		if now = now.Add(changesTime); !say(100) {
			t.Errorf("%d is not heard again", by)
		}
	}
}

// What says that a peer is out counts only as its author has signed it, for this swarm, and if that author may put
// anybody out.
func TestBadRevocations(t *testing.T) {
	chains := bench(t)
	good := banishment(t, chains[2], 2, 3, 1, false)
	if _, err := openRevocation(good, publicOf(0)); err != nil {
		t.Fatal(err)
	}
	changed := func(f func(r *revocation)) []byte {
		var r revocation
		if err := wire.Control().Decode(good, &r); err != nil {
			t.Fatal(err)
		}
		f(&r)
		return encode(t, r)
	}
	for name, b := range map[string][]byte{
		"nothing":                   nil,
		"garbage":                   []byte("garbage"),
		"too long":                  make([]byte, MaxRevocation+1),
		"by one that may not":       banishment(t, chains[5], 5, 3, 1, false),
		"by another's right":        banishment(t, chains[2], 5, 3, 1, false),
		"by nobody's right":         banishment(t, nil, 2, 3, 1, false),
		"by a chain that is broken": banishment(t, chains[3][1:], 3, 4, 1, false),
		"of another subject":        changed(func(r *revocation) { r.Subject = []byte(mustID(5)) }),
		"of another number":         changed(func(r *revocation) { r.Number++ }),
		"lifted by another":         changed(func(r *revocation) { r.Lifted = true }),
		"of no peer":                changed(func(r *revocation) { r.Subject = []byte("x") }),
		"of another swarm":          changed(func(r *revocation) { r.Swarm = publicOf(9) }),
		"in another form":           slices.Concat([]byte{0xb8, good[0] & 0x1f}, good[1:]),
	} {
		if _, err := openRevocation(b, publicOf(0)); !errors.Is(err, errRevocation) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whoever was heard of once is known to be out when one above it is, also while it is away.
func TestOutcast(t *testing.T) {
	h, _, two := hostWithTwo(t)
	if _, err := h.Vouch(mustID(2), encode(t, two)); err != nil {
		t.Fatal(err)
	}
	if err := h.Revoke(mustID(1)); err != nil {
		t.Fatal(err)
	}
	if !h.roll.Outcast(mustID(1)) || !h.roll.Outcast(mustID(2)) || h.roll.Outcast(mustID(3)) || len(h.roll.Own()) != 1 {
		t.Error("who was revoked, or is a member by it, is not out")
	}
	if err := h.Allow(mustID(1)); err != nil {
		t.Fatal(err)
	}
	if h.roll.Outcast(mustID(1)) || h.roll.Outcast(mustID(2)) || len(h.roll.Told(64, 0)) != 1 {
		t.Error("it cannot be taken back")
	}
}

// Whoever may invite, and makes up members without end, has forgotten nobody by another, nor itself, nor whom this peer
// has met.
func TestLinesAreBounded(t *testing.T) {
	l := &lines{}
	met := func(id peer.ID) bool { return id == "met" }
	note := func(ids ...peer.ID) {
		var chain []certificate
		for _, id := range ids {
			chain = append(chain, certificate{Subject: []byte(id)})
		}
		l.note(ids[len(ids)-1], chain, met)
	}
	kept := []peer.ID{"founder", "outcast", "by the outcast", "flooder", "met"}
	note(kept[0])
	note(kept[0], kept[1])
	note(kept[0], kept[1], "between", kept[2])
	note(kept[0], kept[3])
	note(kept[0], kept[3], "between", kept[4])
	for i := range 2 * maxLines {
		note(kept[0], kept[3], peer.ID(fmt.Sprint(i)))
		note(kept[0]) // again
	}
	if len(l.by) != maxLines {
		t.Errorf("%d lines are remembered", len(l.by))
	}
	for _, id := range kept {
		if l.of(id) == nil {
			t.Errorf("that of %q is forgotten", id)
		}
	}
}

// What a peer says of who has let it in counts only if it is proved: else one would be as many hands as it likes, in an
// open swarm, and where it is let in by its ID.
func TestInventedHands(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	for _, trust := range []Trust{TrustOpen, TrustInvite} {
		var both [2]*Host
		for i := range both {
			h, err := Open(ctx, Config{StateDir: t.TempDir(), Trust: trust, Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			both[i] = h
		}
		h, liar := both[0], both[1]
		if trust == TrustInvite {
			if err := errors.Join(h.Allow(liar.id), liar.Allow(h.id)); err != nil {
				t.Fatal(err)
			}
			liar.swarm.settled = true // it does not ask for a certificate
		}
		liar.swarm.chain = []certificate{{Subject: []byte("anybody")}, {Subject: []byte("a hand")}}
		if err := liar.Connect(ctx, h.Addrs()[0]); err != nil {
			t.Fatal(err)
		}
		if got := h.Branch(liar.id); got != "" {
			t.Errorf("%s: it is by %x", trust, got)
		}
	}
	h, one, two := hostWithTwo(t)
	is := func(what string, chain []certificate, want string) {
		t.Helper()
		h.visitors.admit(&visitor{id: mustID(2)}, &hello{Chain: chain}, nil)
		if got := h.Branch(mustID(2)); got != want {
			t.Errorf("%s: it is by %q, not %q", what, got, want)
		}
	}
	is("by another's certificates", one, "")
	h.cfg.Trust = TrustOpen
	is("by its own, in an open swarm", two, "")
	h.cfg.Trust = TrustInvite
	is("by its own", two, mustID(1).String())
	is("by none, later", nil, mustID(1).String())
	if got := h.Branch(h.id); got != h.id.String() {
		t.Errorf("the founder is by %q", got)
	}
	h.swarm.chain = two // as if it had joined with that
	if got := h.Branch(h.id); got != mustID(1).String() {
		t.Errorf("this peer is by %q, not by whom the founder has let in", got)
	}
	h.cfg.Trust = TrustOpen
	if got := h.Branch(h.id); got != "" {
		t.Errorf("in an open swarm this peer is by %q", got)
	}
}

// A liar is told of by those alone by whom it is known to be a member, as long as that leaves room for what people say.
func TestCondemned(t *testing.T) {
	h, _, _ := hostWithTwo(t)
	chains := bench(t)
	own, err := certify(chains[1], keyOf(1), publicOf(0), h.id, true)
	if err != nil {
		t.Fatal(err)
	}
	h.swarm.public, h.swarm.chain = publicOf(0), own // as if it had joined with that
	condemned := func(id byte, told bool) {
		t.Helper()
		if is, err := h.roll.Condemn(mustID(id)); err != nil || is != told || !h.roll.Outcast(mustID(id)) {
			t.Errorf("%d is out, %v: told %v, want %v, %v", id, h.roll.Outcast(mustID(id)), is, told, err)
		}
	}
	h.roll.lines.note(mustID(2), chains[2], h.book.met)
	condemned(2, false)
	condemned(3, false) // of which nothing is known
	for i := range byte(branchRevocations/2 + 1) {
		id := 100 + i
		below, err := certify(own, h.swarm.key, publicOf(0), mustID(id), false)
		if err != nil {
			t.Fatal(err)
		}
		h.roll.lines.note(mustID(id), below, h.book.met)
		condemned(id, i < branchRevocations/2)
	}
	if r := h.revoked.ids[mustID(100)]; r != aLiar+" by "+h.Branch(mustID(100)) || h.revoked.ids[mustID(3)] != aLiar {
		t.Errorf("of a liar of its branch it is remarked %q, of another %q", r, h.revoked.ids[mustID(3)])
	}
	if err := h.Revoke(mustID(2)); err != nil || len(h.roll.Own()) != branchRevocations/2+1 {
		t.Errorf("what its user says is not told: %v, %d are", err, len(h.roll.Own()))
	}
}

// Liars that somebody makes up leave room in a peer's own list, for those of others and for whom its user puts there:
// of them one makes way for the next.
func TestLiarsLeaveRoom(t *testing.T) {
	made := func(i int) peer.ID { return peer.ID(fmt.Sprint(i)) }
	l := &idList{path: filepath.Join(t.TempDir(), "list"), ids: map[peer.ID]string{}}
	for i := range maxLiars - 1 {
		l.ids[made(i)] = aLiar
	}
	for id, remark := range map[byte]string{201: aLiar + " by somebody", 202: aLiar, 203: aLiar + " by somebody"} {
		if err := l.add(mustID(id), remark); err != nil {
			t.Fatal(err)
		}
	}
	if !l.has(mustID(201)) || !l.has(mustID(203)) || len(l.ids) != maxLiars {
		t.Errorf("of %d the liars of others are forgotten", len(l.ids))
	}
	for i := range maxListed - maxLiars {
		l.ids[made(maxListed+i)] = ""
	}
	if err := l.set(mustID(204), true); err != nil || !l.has(mustID(204)) || len(l.ids) != maxListed {
		t.Errorf("of %d none makes way for one that is put there by hand: %v", len(l.ids), err)
	}
	if err := l.set(mustID(201), true); err != nil || l.ids[mustID(201)] != "" {
		t.Errorf("who is put there by hand stays %q: %v", l.ids[mustID(201)], err)
	}
}
