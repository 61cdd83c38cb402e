package statement_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/verify"
)

func vouched(t testing.TB) (b []byte, run job.RunID, c verify.Claim, author, bearer peer.ID) {
	t.Helper()
	k, other := key(t), key(t)
	run = job.RunID{7}
	c = (&verify.Opening{Node: verify.Node{Path: "\x00\x00\x00\x01", Identity: [16]byte{2}}, Outcome: verify.Hash{3},
		Children: []verify.Claim{{Nodes: 2}}}).Claim()
	b, err := statement.Vouch(k, run, &c)
	if err != nil {
		t.Fatal(err)
	}
	v, err := statement.OpenVoucher(b, run, c.Node, c.Outcome)
	if err != nil || v.Bearer != "" {
		t.Fatal(v, err)
	}
	if b, err = v.StandFor(other, run); err != nil {
		t.Fatal(err)
	}
	author, _ = peer.IDFromPrivateKey(k)
	bearer, _ = peer.IDFromPrivateKey(other)
	return b, run, c, author, bearer
}

// A voucher says who has computed an outcome, from what, and who stands for that; it is good for one job of one run
// and one outcome, and nobody's name can be put in its place.
func TestVoucher(t *testing.T) {
	b, run, c, author, bearer := vouched(t)
	v, err := statement.OpenVoucher(b, run, c.Node, c.Outcome)
	if err != nil || v.Claim != c || v.Author != author || v.Bearer != bearer {
		t.Fatalf("read is %+v, %v", v, err)
	}
	for name, f := range map[string]func(b []byte, run *job.RunID, c *verify.Claim) []byte{
		"run":      func(b []byte, run *job.RunID, _ *verify.Claim) []byte { run[0]++; return b },
		"path":     func(b []byte, _ *job.RunID, c *verify.Claim) []byte { c.Node.Path = ""; return b },
		"identity": func(b []byte, _ *job.RunID, c *verify.Claim) []byte { c.Node.Identity[0]++; return b },
		"outcome":  func(b []byte, _ *job.RunID, c *verify.Claim) []byte { c.Outcome[0]++; return b },
		"tree": func(b []byte, _ *job.RunID, c *verify.Claim) []byte {
			return bytes.Replace(b, c.Tree[:], make([]byte, 32), 1)
		},
		"author": func(b []byte, _ *job.RunID, _ *verify.Claim) []byte {
			return bytes.Replace(b, []byte(author), []byte(bearer), 1)
		},
		"bearer": func(b []byte, _ *job.RunID, _ *verify.Claim) []byte {
			return bytes.Replace(b, []byte(bearer), []byte(author), 1)
		},
		"nothing": func([]byte, *job.RunID, *verify.Claim) []byte { return nil },
		"length":  func(b []byte, _ *job.RunID, _ *verify.Claim) []byte { return append(b, make([]byte, 512)...) },
	} {
		r, x := run, c
		changed := f(bytes.Clone(b), &r, &x)
		if _, err := statement.OpenVoucher(changed, r, x.Node, x.Outcome); !errors.Is(err, statement.ErrStatement) {
			t.Errorf("another %s: %v", name, err)
		}
	}
}

func FuzzVoucher(f *testing.F) {
	b, run, c, _, _ := vouched(f)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := statement.OpenVoucher(b, run, c.Node, c.Outcome)
		if err != nil && !errors.Is(err, statement.ErrStatement) || err == nil && v.Claim.Node != c.Node {
			t.Errorf("%+v, an error of another kind: %v", v, err)
		}
	})
}

// What it costs to sign a segment's outcome, and to check one.
func BenchmarkVoucher(b *testing.B) {
	k := key(b)
	_, run, c, _, _ := vouched(b)
	b.Run("sign", func(b *testing.B) {
		for b.Loop() {
			_, _ = statement.Vouch(k, run, &c)
		}
	})
	signed, _ := statement.Vouch(k, run, &c)
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			_, _ = statement.OpenVoucher(signed, run, c.Node, c.Outcome)
		}
	})
}
