package peer

import (
	"bytes"
	"crypto/rand"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/checkpoint"
	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// voucherOf is the border of a new peer, which knows some members and has put out others.
func voucherOf(t *testing.T, members, out map[peer.ID]bool) *vouching {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	self, err := peer.IDFromPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return &vouching{base: newBase(slog.New(slog.DiscardHandler), time.Now, time.Second), key: key, self: self,
		member:  func(id peer.ID) bool { return members[id] },
		outcast: func(id peer.ID) bool { return out[id] }}
}

// computes makes an outcome of a peer's, of others.
func (v *vouching) computes(run job.RunID, path job.Path, of ...steal.Partial) steal.Partial {
	p := steal.Partial{Path: path, Identity: job.Identity{1}, Outcome: []byte("out")}
	o := &verify.Opening{Node: driver.NodeOf(path, p.Identity), Outcome: v.Digest(p.Outcome)}
	for i := range of {
		_, authors := v.Claim(verify.Node{}, verify.Hash{}, of[i].Voucher)
		o.Of.Join(&authors)
	}
	p.Voucher = v.Vouch(run, o)
	return p
}

// signed makes one that has left it.
func (v *vouching) signed(run job.RunID, path job.Path, of ...steal.Partial) steal.Partial {
	p := v.computes(run, path, of...)
	v.sign(run, &p)
	return p
}

// What was made of an outcast's outcome, at whatever remove, is not taken from a leaver, nor from a disk, nor made an
// outcome of another run; with a result that is awaited it is. Whoever stands for a tab is named, and not the tab.
func TestMadeOfOutcasts(t *testing.T) {
	run := job.RunID{3}
	members, out := map[peer.ID]bool{}, map[peer.ID]bool{}
	var all [4]*vouching
	for i := range all {
		all[i] = voucherOf(t, members, out)
		members[all[i].self] = true
	}
	here, liar, first, second, tab := all[0], all[1], all[2], all[3], voucherOf(t, nil, nil)
	borne := tab.signed(run, job.Path{1, 1, 1})
	if err := liar.restored(run, &borne); err != nil {
		t.Fatal(err)
	}
	lies := map[string]steal.Partial{"its own": liar.signed(run, job.Path{1, 1, 1}), "its tab's": borne}
	for name, lie := range lies {
		part := first.signed(run, job.Path{1, 1}, lie)
		above := second.signed(run, job.Path{1}, part, here.signed(run, job.Path{1, 2}))
		answer := here.signed(run, nil, above)
		r, err := openVoucher(run, &above)
		if err != nil {
			t.Fatal(err)
		}
		want := verify.Authors{}
		for _, v := range []*vouching{first, liar, here} {
			want.Add(string(v.self))
		}
		if of := r.Of(); !slices.Equal(of.Names, want.Names) {
			t.Errorf("%s: named are %q, want %q", name, of.Names, want.Names)
		}
		for _, isOut := range []bool{false, true} {
			out[liar.self] = isOut
			over := &steal.Message{Run: run, From: second.address(), To: here.address(),
				HandOver: &steal.HandOver{ID: 1, Parts: []steal.Partial{above}}}
			if here.receive(over) == isOut {
				t.Errorf("%s, out %v: handed over", name, isOut)
			}
			p := above
			if err := here.restored(run, &p); (err != nil) != isOut {
				t.Errorf("%s, out %v: on the disk: %v", name, isOut, err)
			}
			of, err := here.answered(run, &answer, here.self)
			if (err != nil) != isOut || len(of) != 3*32 {
				t.Errorf("%s, out %v: an answer of %d bytes of authors: %v", name, isOut, len(of), err)
			}
			p = above
			if here.again(job.RunID{4}, &p); here.theirs(p.Voucher) != isOut {
				t.Errorf("%s, out %v: in another run it is another's", name, isOut)
			}
			bring := func(p steal.Partial) (taken bool) {
				m := &steal.Message{Run: run, From: second.address(), To: here.address(), Result: &steal.Result{
					Path: p.Path, Identity: p.Identity, Outcome: p.Outcome, Voucher: p.Voucher}}
				here.receive(m)
				return m.Result != nil
			}
			if !bring(above) || bring(lie) == isOut {
				t.Errorf("%s, out %v: results that are awaited", name, isOut)
			}
		}
		out[liar.self] = false
	}
}

// Of what a leaver hands over that is kept for which a member answers: its author, or whoever has it from an earlier
// life.
func TestWhoIsBelieved(t *testing.T) {
	run := job.RunID{3}
	members, out := map[peer.ID]bool{}, map[peer.ID]bool{}
	here := voucherOf(t, members, out)
	member, stranger, outcast, leaver := voucherOf(t, nil, nil), voucherOf(t, nil, nil), voucherOf(t, nil, nil),
		voucherOf(t, nil, nil)
	members[member.self], members[outcast.self], out[outcast.self] = true, true, true
	borne, unknown, forged := stranger.signed(run, job.Path{3}), stranger.signed(run, job.Path{5}),
		member.signed(run, job.Path{6})
	if err := leaver.restored(run, &borne); err != nil {
		t.Fatal(err)
	}
	nobodys := stranger.signed(run, job.Path{4})
	if err := stranger.restored(run, &nobodys); err != nil {
		t.Fatal(err)
	}
	forged.Outcome = []byte("lie")
	m := &steal.Message{Run: run, From: steal.Address{Peer: steal.PeerID(leaver.self.String())},
		HandOver: &steal.HandOver{ID: 1, Parts: []steal.Partial{leaver.signed(run, job.Path{1}),
			member.signed(run, job.Path{2}), borne, nobodys, unknown, forged, outcast.signed(run, job.Path{7}),
			member.signed(job.RunID{4}, job.Path{8}), here.signed(run, job.Path{9}),
			member.signed(run, nil)}}}
	given := m.HandOver
	if !here.receive(m) {
		t.Fatal("nothing is left")
	}
	var kept []uint32
	for _, p := range m.HandOver.Parts {
		if len(p.Path) == 0 {
			t.Fatal("the root's outcome is kept")
		}
		kept = append(kept, p.Path[0])
	}
	if want := []uint32{1, 2, 3, 9}; len(kept) != 4 || kept[0] != 1 || kept[1] != 2 || kept[2] != 3 || kept[3] != 9 {
		t.Errorf("kept are %v, want %v", kept, want)
	}
	if len(given.Parts) != 10 {
		t.Error("the message as it came was changed")
	}
	m.HandOver = &steal.HandOver{ID: 2, Parts: []steal.Partial{forged}}
	if here.receive(m) {
		t.Error("a message of which nothing is left gets through")
	}
}

// What is computed here is signed in the moment in which it leaves, and is as long before; nobody else believes it
// sooner. What a peer passes on for others it does not sign, whatever name is under it.
func TestSignedOnLeaving(t *testing.T) {
	run := job.RunID{3}
	here, there, third := voucherOf(t, nil, nil), voucherOf(t, nil, nil), voucherOf(t, nil, nil)
	from := func(v *vouching, m *steal.Message) *steal.Message {
		m.Run, m.From, m.To = run, v.address(), there.address()
		return m
	}
	result := func(p *steal.Partial) *steal.Message {
		return from(here, &steal.Message{Result: &steal.Result{Handle: 7, Path: p.Path, Identity: p.Identity,
			Outcome: p.Outcome, Voucher: p.Voucher}})
	}
	p := here.computes(run, job.Path{1})
	if _, err := there.check(run, &p, here.self); err == nil {
		t.Error("what is not signed is believed")
	}
	if there.restored(run, &p) == nil || here.restored(run, &p) == nil {
		t.Error("what is not signed is believed of a disk")
	}
	theirs := there.signed(run, job.Path{2})
	parts := []steal.Partial{here.computes(run, job.Path{3}), theirs}
	over := from(here, &steal.Message{HandOver: &steal.HandOver{ID: 1, Parts: parts}})
	relayed := from(here, &steal.Message{Relayed: result(&p)})
	for name, m := range map[string]*steal.Message{"result": result(&p), "hand-over": over, "relayed": relayed} {
		size := m.Size()
		here.send(m)
		before := *m
		if !there.receive(m) || m.Return != nil || m.HandOver != nil && len(m.HandOver.Parts) != 2 || m.Size() != size {
			t.Errorf("%s: of %+v is left %+v", name, before, m)
		}
	}
	if !bytes.Equal(parts[0].Voucher, here.computes(run, job.Path{3}).Voucher) ||
		!bytes.Equal(over.HandOver.Parts[1].Voucher, theirs.Voucher) {
		t.Error("what was handed to the transport was changed, or what others have signed")
	}
	forged := from(third, &steal.Message{Relayed: result(&p)}) // on its way through here, in this peer's name
	forged.Relayed.From, forged.From = third.address(), here.address()
	here.send(forged)
	if !bytes.Equal(forged.Relayed.Result.Voucher, p.Voucher) {
		t.Error("a peer has another one's words signed")
	}
}

// A disk gets nothing unsigned, since it may be read by others; so what a run leaves is believed by whoever knows its
// author, and the answer of nobody but this peer and the owner.
func TestSignedOnDisk(t *testing.T) {
	here, there := voucherOf(t, nil, nil), voucherOf(t, nil, nil)
	m := &statement.Manifest{Swarm: "s", App: "a", Entry: "a.b", Nonce: statement.NewNonce(), Expires: 1}
	signed, err := m.Sign(here.key)
	if err != nil {
		t.Fatal(err)
	}
	c := &checkpoints{base: here.base, self: here.self, dir: t.TempDir(), every: time.Hour, vouch: here,
		most: 10, mostBytes: 1 << 20}
	k := c.ledger(signed.Run)
	if _, err := k.open(signed, nil); err != nil {
		t.Fatal(err)
	}
	p, root := here.computes(signed.Run, job.Path{1}), here.computes(signed.Run, nil)
	if !k.AppendOutcome(p.Path, p.Identity, p.Outcome, p.Voucher) {
		t.Fatal(k.Trouble())
	}
	answerIn := func(r steal.Partial) []byte {
		rec := checkpoint.Record{Kind: checkpoint.RootOutcome, Identity: r.Identity, Outcome: r.Outcome,
			Voucher: r.Voucher}
		k.sign(&rec)
		return c.contents(signed, func(yield func(checkpoint.Record, error) bool) { yield(rec, nil) }).answer
	}
	lie := here.signed(signed.Run, nil)
	lie.Outcome = []byte("lie")
	for name, r := range map[string]steal.Partial{"a member's": there.signed(signed.Run, nil), "another outcome": lie,
		"another run's": here.signed(job.RunID{9}, nil), "another peer's": there.computes(signed.Run, nil),
		"nobody's": {Identity: root.Identity, Outcome: root.Outcome}} {
		if answerIn(r) != nil {
			t.Errorf("%s is the answer", name)
		}
	}
	if answerIn(root) == nil {
		t.Error("this peer's own answer is not")
	}
	k.close(false)
	s, err := checkpoint.Read(k.dir, checkpoint.HeaderOf(signed.Run, signed.Bytes), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c.vouch = there
	if got := c.contents(signed, s.Records()); len(got.parts) != 1 {
		t.Errorf("%d of one outcome are believed", len(got.parts))
	}
}

func (v *vouching) address() steal.Address {
	return steal.Address{Peer: steal.PeerID(v.self.String()), Inc: 1}
}

// A result that a relay has altered is dropped, for the thief may be honest; one that comes straight gives the job
// back.
func TestAlteredResults(t *testing.T) {
	run := job.RunID{3}
	members := map[peer.ID]bool{}
	here, thief, relay := voucherOf(t, members, nil), voucherOf(t, nil, nil), voucherOf(t, nil, nil)
	members[relay.self] = true
	p := thief.signed(run, job.Path{1})
	result := func(outcome string) *steal.Message {
		return &steal.Message{Run: run, From: thief.address(), To: here.address(), Result: &steal.Result{Handle: 7,
			Path: p.Path, Identity: p.Identity, Outcome: []byte(outcome), Voucher: p.Voucher}}
	}
	through := func(m *steal.Message) *steal.Message {
		return &steal.Message{Run: run, From: relay.address(), To: here.address(), Relayed: m}
	}
	if m := result("out"); !here.receive(m) || m.Result == nil {
		t.Error("what was signed is refused")
	}
	if m := through(result("out")); !here.receive(m) || m.Relayed.Result == nil {
		t.Error("what was signed is refused on its way round")
	}
	if m := result("lie"); !here.receive(m) || m.Result != nil || m.Return == nil || m.Return.Handles[0] != 7 ||
		m.Validate() != nil {
		t.Errorf("an altered one becomes %+v", m)
	}
	if here.receive(through(result("lie"))) {
		t.Error("what a relay has altered gets through")
	}
	friend := relay.signed(run, job.Path{1})
	forged := result(string(friend.Outcome))
	forged.Result.Identity, forged.Result.Voucher = friend.Identity, friend.Voucher
	if here.receive(through(forged)) {
		t.Error("a relay's own outcome comes in the thief's place")
	}
	onward := through(result("lie"))
	onward.Relayed.To = relay.address()
	if !here.receive(onward) || onward.Relayed.Result == nil {
		t.Error("a relay looks into what is not for it")
	}
}
