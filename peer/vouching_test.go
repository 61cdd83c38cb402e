package peer

import (
	"crypto/rand"
	"log/slog"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/job"
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

// sign makes an outcome of a peer's.
func (v *vouching) sign(run job.RunID, path job.Path) steal.Partial {
	p := steal.Partial{Path: path, Identity: job.Identity{1}, Outcome: []byte("out")}
	p.Voucher = v.Vouch(run, &verify.Opening{Node: driver.NodeOf(path, p.Identity), Outcome: v.Digest(p.Outcome)})
	return p
}

// Of what a leaver hands over that is kept for which a member answers: its author, or who has it from an earlier life.
func TestWhoIsBelieved(t *testing.T) {
	run := job.RunID{3}
	members, out := map[peer.ID]bool{}, map[peer.ID]bool{}
	here := voucherOf(t, members, out)
	member, stranger, outcast, leaver := voucherOf(t, nil, nil), voucherOf(t, nil, nil), voucherOf(t, nil, nil),
		voucherOf(t, nil, nil)
	members[member.self], members[outcast.self], out[outcast.self] = true, true, true
	borne, unknown, forged := stranger.sign(run, job.Path{3}), stranger.sign(run, job.Path{5}),
		member.sign(run, job.Path{6})
	if err := leaver.restored(run, &borne); err != nil {
		t.Fatal(err)
	}
	nobodys := stranger.sign(run, job.Path{4})
	if err := stranger.restored(run, &nobodys); err != nil {
		t.Fatal(err)
	}
	forged.Outcome = []byte("lie")
	m := &steal.Message{Run: run, From: steal.Address{Peer: steal.PeerID(leaver.self.String())},
		HandOver: &steal.HandOver{ID: 1, Parts: []steal.Partial{leaver.sign(run, job.Path{1}),
			member.sign(run, job.Path{2}), borne, nobodys, unknown, forged, outcast.sign(run, job.Path{7}),
			member.sign(job.RunID{4}, job.Path{8}), here.sign(run, job.Path{9})}}}
	given := m.HandOver
	if !here.receive(m) {
		t.Fatal("nothing is left")
	}
	var kept []uint32
	for _, p := range m.HandOver.Parts {
		kept = append(kept, p.Path[0])
	}
	if want := []uint32{1, 2, 3, 9}; len(kept) != 4 || kept[0] != 1 || kept[1] != 2 || kept[2] != 3 || kept[3] != 9 {
		t.Errorf("kept are %v, want %v", kept, want)
	}
	if len(given.Parts) != 9 {
		t.Error("the message as it came was changed")
	}
	m.HandOver = &steal.HandOver{ID: 2, Parts: []steal.Partial{forged}}
	if here.receive(m) {
		t.Error("a message of which nothing is left gets through")
	}
}

// A result that a relay has altered is dropped, for the thief may be honest; one that comes straight gives the job
// back.
func TestAlteredResults(t *testing.T) {
	run := job.RunID{3}
	here, thief, relay := voucherOf(t, nil, nil), voucherOf(t, nil, nil), voucherOf(t, nil, nil)
	address := func(v *vouching) steal.Address { return steal.Address{Peer: steal.PeerID(v.self.String()), Inc: 1} }
	p := thief.sign(run, job.Path{1})
	result := func(outcome string) *steal.Message {
		return &steal.Message{Run: run, From: address(thief), To: address(here), Result: &steal.Result{Handle: 7,
			Path: p.Path, Identity: p.Identity, Outcome: []byte(outcome), Voucher: p.Voucher}}
	}
	through := func(m *steal.Message) *steal.Message {
		return &steal.Message{Run: run, From: address(relay), To: address(here), Relayed: m}
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
	onward := through(result("lie"))
	onward.Relayed.To = address(relay)
	if !here.receive(onward) || onward.Relayed.Result == nil {
		t.Error("a relay looks into what is not for it")
	}
}
