package vouching_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/vouching"
	"github.com/satin-peer/satin/peer/vouching/vouchtest"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

var border, computes, signed = vouchtest.New, vouchtest.Computes, vouchtest.Signed

// What was made of an outcast's outcome, at whatever remove, is not taken from a leaver, nor from a disk, nor made an
// outcome of another run; with a result that is awaited it is. Whoever stands for a tab is named, and not the tab.
func TestMadeOfOutcasts(t *testing.T) {
	run := job.RunID{3}
	members, out := map[peer.ID]bool{}, map[peer.ID]bool{}
	var all [4]*vouching.Border
	for i := range all {
		all[i] = border(t, members, out)
		members[all[i].Self] = true
	}
	here, liar, first, second, tab := all[0], all[1], all[2], all[3], border(t, nil, nil)
	borne := signed(tab, run, job.Path{1, 1, 1})
	if err := liar.Restored(run, &borne); err != nil {
		t.Fatal(err)
	}
	lies := map[string]steal.Partial{"its own": signed(liar, run, job.Path{1, 1, 1}), "its tab's": borne}
	for name, lie := range lies {
		part := signed(first, run, job.Path{1, 1}, lie)
		above := signed(second, run, job.Path{1}, part, signed(here, run, job.Path{1, 2}))
		answer := signed(here, run, nil, above)
		node := driver.NodeOf(above.Path, above.Identity)
		r, err := statement.OpenVoucher(above.Voucher, run, node, here.Digest(above.Outcome))
		if err != nil {
			t.Fatal(err)
		}
		want := verify.Authors{}
		for _, v := range []*vouching.Border{first, liar, here} {
			want.Add(string(v.Self))
		}
		if of := r.Of(); !slices.Equal(of.Names, want.Names) {
			t.Errorf("%s: named are %q, want %q", name, of.Names, want.Names)
		}
		for _, isOut := range []bool{false, true} {
			out[liar.Self] = isOut
			over := &steal.Message{Run: run, From: addressOf(second), To: addressOf(here),
				HandOver: &steal.HandOver{ID: 1, Parts: []steal.Partial{above}}}
			if here.Receive(over) == isOut {
				t.Errorf("%s, out %v: handed over", name, isOut)
			}
			p := above
			if err := here.Restored(run, &p); (err != nil) != isOut {
				t.Errorf("%s, out %v: on the disk: %v", name, isOut, err)
			}
			of, err := here.Answered(run, &answer, here.Self)
			if (err != nil) != isOut || len(of) != 3*32 {
				t.Errorf("%s, out %v: an answer of %d bytes of authors: %v", name, isOut, len(of), err)
			}
			p = above
			if here.Again(job.RunID{4}, &p); here.Outcasts().Theirs(p.Voucher) != isOut {
				t.Errorf("%s, out %v: in another run it is another's", name, isOut)
			}
			bring := func(p steal.Partial) (taken bool) {
				m := &steal.Message{Run: run, From: addressOf(second), To: addressOf(here), Result: &steal.Result{
					Path: p.Path, Identity: p.Identity, Outcome: p.Outcome, Voucher: p.Voucher}}
				here.Receive(m)
				return m.Result != nil
			}
			if !bring(above) || bring(lie) == isOut {
				t.Errorf("%s, out %v: results that are awaited", name, isOut)
			}
		}
		out[liar.Self] = false
	}
}

// Of what a leaver hands over that is kept for which a member answers: its author, or whoever has it from an earlier
// life.
func TestWhoIsBelieved(t *testing.T) {
	run := job.RunID{3}
	members, out := map[peer.ID]bool{}, map[peer.ID]bool{}
	here := border(t, members, out)
	member, stranger, outcast, leaver := border(t, nil, nil), border(t, nil, nil), border(t, nil, nil),
		border(t, nil, nil)
	members[member.Self], members[outcast.Self], out[outcast.Self] = true, true, true
	borne, unknown, forged := signed(stranger, run, job.Path{3}), signed(stranger, run, job.Path{5}),
		signed(member, run, job.Path{6})
	if err := leaver.Restored(run, &borne); err != nil {
		t.Fatal(err)
	}
	nobodys := signed(stranger, run, job.Path{4})
	if err := stranger.Restored(run, &nobodys); err != nil {
		t.Fatal(err)
	}
	forged.Outcome = []byte("lie")
	m := &steal.Message{Run: run, From: steal.Address{Peer: steal.PeerID(leaver.Self.String())},
		HandOver: &steal.HandOver{ID: 1, Parts: []steal.Partial{signed(leaver, run, job.Path{1}),
			signed(member, run, job.Path{2}), borne, nobodys, unknown, forged, signed(outcast, run, job.Path{7}),
			signed(member, job.RunID{4}, job.Path{8}), signed(here, run, job.Path{9}),
			signed(member, run, nil)}}}
	given := m.HandOver
	if !here.Receive(m) {
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
	if here.Receive(m) {
		t.Error("a message of which nothing is left gets through")
	}
}

// What is computed here is signed in the moment in which it leaves, and is as long before; nobody else believes it
// sooner. What a peer passes on for others it does not sign, whatever name is under it.
func TestSignedOnLeaving(t *testing.T) {
	run := job.RunID{3}
	here, there, third := border(t, nil, nil), border(t, nil, nil), border(t, nil, nil)
	from := func(v *vouching.Border, m *steal.Message) *steal.Message {
		m.Run, m.From, m.To = run, addressOf(v), addressOf(there)
		return m
	}
	result := func(p *steal.Partial) *steal.Message {
		return from(here, &steal.Message{Result: &steal.Result{Handle: 7, Path: p.Path, Identity: p.Identity,
			Outcome: p.Outcome, Voucher: p.Voucher}})
	}
	p := computes(here, run, job.Path{1})
	if there.CheckKept(run, &p, here.Self) == nil {
		t.Error("what is not signed is believed")
	}
	if there.Restored(run, &p) == nil || here.Restored(run, &p) == nil {
		t.Error("what is not signed is believed of a disk")
	}
	theirs := signed(there, run, job.Path{2})
	parts := []steal.Partial{computes(here, run, job.Path{3}), theirs}
	over := from(here, &steal.Message{HandOver: &steal.HandOver{ID: 1, Parts: parts}})
	relayed := from(here, &steal.Message{Relayed: result(&p)})
	for name, m := range map[string]*steal.Message{"result": result(&p), "hand-over": over, "relayed": relayed} {
		size := m.Size()
		here.Send(m)
		before := *m
		if !there.Receive(m) || m.Return != nil || m.HandOver != nil && len(m.HandOver.Parts) != 2 || m.Size() != size {
			t.Errorf("%s: of %+v is left %+v", name, before, m)
		}
	}
	if !bytes.Equal(parts[0].Voucher, computes(here, run, job.Path{3}).Voucher) ||
		!bytes.Equal(over.HandOver.Parts[1].Voucher, theirs.Voucher) {
		t.Error("what was handed to the transport was changed, or what others have signed")
	}
	forged := from(third, &steal.Message{Relayed: result(&p)}) // on its way through here, in this peer's name
	forged.Relayed.From, forged.From = addressOf(third), addressOf(here)
	here.Send(forged)
	if !bytes.Equal(forged.Relayed.Result.Voucher, p.Voucher) {
		t.Error("a peer has another one's words signed")
	}
}

// A result that a relay has altered is dropped, for the thief may be honest; one that comes straight gives the job
// back.
func TestAlteredResults(t *testing.T) {
	run := job.RunID{3}
	members := map[peer.ID]bool{}
	here, thief, relay := border(t, members, nil), border(t, nil, nil), border(t, nil, nil)
	members[relay.Self] = true
	p := signed(thief, run, job.Path{1})
	result := func(outcome string) *steal.Message {
		return &steal.Message{Run: run, From: addressOf(thief), To: addressOf(here), Result: &steal.Result{Handle: 7,
			Path: p.Path, Identity: p.Identity, Outcome: []byte(outcome), Voucher: p.Voucher}}
	}
	through := func(m *steal.Message) *steal.Message {
		return &steal.Message{Run: run, From: addressOf(relay), To: addressOf(here), Relayed: m}
	}
	if m := result("out"); !here.Receive(m) || m.Result == nil {
		t.Error("what was signed is refused")
	}
	if m := through(result("out")); !here.Receive(m) || m.Relayed.Result == nil {
		t.Error("what was signed is refused on its way round")
	}
	if m := result("lie"); !here.Receive(m) || m.Result != nil || m.Return == nil || m.Return.Handles[0] != 7 ||
		m.Validate() != nil {
		t.Errorf("an altered one becomes %+v", m)
	}
	if here.Receive(through(result("lie"))) {
		t.Error("what a relay has altered gets through")
	}
	friend := signed(relay, run, job.Path{1})
	forged := result(string(friend.Outcome))
	forged.Result.Identity, forged.Result.Voucher = friend.Identity, friend.Voucher
	if here.Receive(through(forged)) {
		t.Error("a relay's own outcome comes in the thief's place")
	}
	onward := through(result("lie"))
	onward.Relayed.To = addressOf(relay)
	if !here.Receive(onward) || onward.Relayed.Result == nil {
		t.Error("a relay looks into what is not for it")
	}
}

func addressOf(v *vouching.Border) steal.Address {
	return steal.Address{Peer: steal.PeerID(v.Self.String()), Inc: 1}
}
