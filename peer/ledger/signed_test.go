package ledger

import (
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/checkpoint"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/vouching/vouchtest"
	"github.com/satin-peer/satin/steal"
)

// A disk gets nothing unsigned, since it may be read by others; so what a run leaves is believed by whoever knows its
// author, and the answer of nobody but this peer and the owner.
func TestSignedOnDisk(t *testing.T) {
	here, there := vouchtest.New(t, nil, nil), vouchtest.New(t, nil, nil)
	signed := aRunOf(t, here.Key)
	b := standing()
	c := &Store{Base: b, Self: here.Self, Dir: t.TempDir(), Within: time.Hour, Vouch: here,
		Most: 10, MostBytes: 1 << 20}
	k := c.Ledger(signed.Run)
	if _, err := k.Open(signed, nil); err != nil {
		t.Fatal(err)
	}
	p, root := vouchtest.Computes(here, signed.Run, job.Path{1}), vouchtest.Computes(here, signed.Run, nil)
	if !k.AppendOutcome(p.Path, p.Identity, p.Outcome, p.Voucher) {
		t.Fatal(k.Trouble())
	}
	answerIn := func(r steal.Partial) []byte {
		rec := checkpoint.Record{Kind: checkpoint.RootOutcome, Identity: r.Identity, Outcome: r.Outcome,
			Voucher: r.Voucher}
		k.sign(&rec)
		return c.Read(signed, func(yield func(checkpoint.Record, error) bool) { yield(rec, nil) }).Answer
	}
	lie := vouchtest.Signed(here, signed.Run, nil)
	lie.Outcome = []byte("lie")
	for name, r := range map[string]steal.Partial{"a member's": vouchtest.Signed(there, signed.Run, nil),
		"another outcome": lie, "another run's": vouchtest.Signed(here, job.RunID{9}, nil),
		"another peer's": vouchtest.Computes(there, signed.Run, nil),
		"nobody's":       {Identity: root.Identity, Outcome: root.Outcome}} {
		if answerIn(r) != nil {
			t.Errorf("%s is the answer", name)
		}
	}
	if answerIn(root) == nil {
		t.Error("this peer's own answer is not")
	}
	k.Close(false)
	s, err := checkpoint.Read(k.Dir, checkpoint.HeaderOf(signed.Run, signed.Bytes), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c.Vouch = there
	if got := c.Read(signed, s.Records()); len(got.Parts) != 1 {
		t.Errorf("%d of one outcome are believed", len(got.Parts))
	}
}
