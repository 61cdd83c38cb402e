package statement_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
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
		Time: 12345, Children: []verify.Claim{{Nodes: 2}}}).Claim()
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
		"time": func(b []byte, _ *job.RunID, _ *verify.Claim) []byte {
			return bytes.Replace(b, []byte("\x07\x19\x30\x39"), []byte("\x07\x19\x30\x3a"), 1)
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

// A voucher names those whose outcomes it was made of: nobody can take one out, or put one in, and a bearer stands for
// all of it.
func TestVoucherNames(t *testing.T) {
	k := key(t)
	_, run, c, _, _ := vouched(t)
	var of verify.Authors
	for range verify.MaxAuthors + 1 {
		id, err := peer.IDFromPrivateKey(key(t))
		if err != nil {
			t.Fatal(err)
		}
		of.Add(string(id))
	}
	self, err := peer.IDFromPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	b, err := statement.Unsigned(self, &c, &of)
	if err != nil || !statement.IsUnsigned(b) || statement.IsOwn(b) {
		t.Fatal("a voucher that nobody has signed: ", err)
	}
	if alone, err := statement.Unsigned(self, &c, &verify.Authors{}); err != nil || !statement.IsOwn(alone) {
		t.Error("one that names nobody: ", err)
	}
	u, err := statement.ReadVoucher(b, c.Node, c.Outcome)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := u.Sign(k, run)
	if err != nil || len(signed) != len(b) || statement.IsUnsigned(signed) {
		t.Fatalf("%d bytes are %d with the signature, %v", len(b), len(signed), err)
	}
	again, err := statement.VouchMade(k, run, &c, &of)
	if err != nil || !bytes.Equal(again, signed) {
		t.Error("it is another one when it is signed at once: ", err)
	}
	v, err := statement.OpenVoucher(signed, run, c.Node, c.Outcome)
	if err != nil {
		t.Fatal(err)
	}
	borne, err := v.StandFor(key(t), run)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{signed, borne} {
		v, err := statement.OpenVoucher(b, run, c.Node, c.Outcome)
		if err != nil {
			t.Fatal(err)
		}
		if got := v.Of(); !slices.Equal(got.Names, of.Names) || !got.More || got.None() {
			t.Errorf("named are %d, more: %v", len(got.Names), got.More)
		}
		keyOf := func(i int) string { return of.Names[i][len(of.Names[i])-32:] }
		first, last := keyOf(0), keyOf(63)
		for what, forged := range map[string][]byte{
			"another name": bytes.Replace(b, []byte(last), bytes.Repeat([]byte{255}, 32), 1),
			"one twice":    bytes.Replace(b, []byte(last), []byte(keyOf(62)), 1),
			"no order":     bytes.Replace(b, []byte(first), []byte(last), 1),
			"no more":      bytes.Replace(b, []byte(last+"\x01"), []byte(last+"\x00"), 1),
		} {
			_, err := statement.OpenVoucher(forged, run, c.Node, c.Outcome)
			if !errors.Is(err, statement.ErrStatement) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	a, b2 := of.Names[0], of.Names[1]
	for _, names := range [][]string{{b2, a}, {a, a}, append(slices.Clone(of.Names), "\x00\x24\x08\x01\x12\x20"+
		strings.Repeat("\xff", 32))} {
		b, err := statement.VouchMade(k, run, &c, &verify.Authors{Names: names})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := statement.OpenVoucher(b, run, c.Node, c.Outcome); !errors.Is(err, statement.ErrStatement) {
			t.Errorf("%d names, which is not how they are named: %v", len(names), err)
		}
	}
	if _, err := statement.VouchMade(k, run, &c, &verify.Authors{Names: []string{"no key"}}); err == nil {
		t.Error("somebody is named who can sign nothing")
	}
}

// A voucher that says nothing of time is signed as before any did, and can be told from one that is not signed, as can
// one that does: by the longest time that can be, and not by one that cannot.
func TestVoucherTime(t *testing.T) {
	k := key(t)
	self, err := peer.IDFromPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	_, run, c, _, _ := vouched(t)
	names := verify.Authors{Names: []string{string(self)}}
	signed := map[string]bool{}
	for _, time := range []uint64{0, 1, 255, 1 << 20, verify.MaxTime, verify.MaxTime + 1, 1<<64 - 1} {
		for _, of := range []verify.Authors{{}, names, {Names: names.Names, More: true}} {
			c.Time = time
			unsigned, err := statement.Unsigned(self, &c, &of)
			if err != nil || !statement.IsUnsigned(unsigned) || statement.IsOwn(unsigned) != of.None() {
				t.Errorf("%d us, %d names: nobody has signed it, %v", time, len(of.Names), err)
			}
			b, err := statement.VouchMade(k, run, &c, &of)
			if err != nil || statement.IsUnsigned(b) || len(b) != len(unsigned) || signed[string(b[len(b)-80:])] {
				t.Errorf("%d us, %d names: signed are %x, %v", time, len(of.Names), b, err)
			}
			signed[string(b[len(b)-80:])] = true
			v, err := statement.OpenVoucher(b, run, c.Node, c.Outcome)
			if time <= verify.MaxTime && (err != nil || v.Claim != c) ||
				time > verify.MaxTime && !errors.Is(err, statement.ErrStatement) {
				t.Errorf("%d us: %+v, %v", time, v, err)
			}
		}
	}
}

// Whatever bytes are taken for a voucher are refused as none, or vouch for the job that was asked about.
func FuzzVoucher(f *testing.F) {
	b, run, c, _, _ := vouched(f)
	f.Add(b)
	of := verify.Authors{More: true}
	b, _ = statement.VouchMade(key(f), run, &c, &of)
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
