package ledger

import (
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/vouching/vouchtest"
	"github.com/satin-peer/satin/steal"
)

// What is left of results is the same whether those that do not fit are dropped as they come or in the end.
func TestResultsAreTrimmed(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := &Store{Most: 1 + r.IntN(8), MostBytes: 1 + r.IntN(600)}
		var bit, all Contents
		for range r.IntN(60) {
			p := steal.Partial{Path: make(job.Path, r.IntN(6)), Outcome: make([]byte, r.IntN(12))}
			all.Parts = append(all.Parts, p)
			bit.take(c, p)
			held := 0
			for _, p := range bit.Parts {
				held += 4*len(p.Path) + len(p.Outcome)
			}
			if held > 2*c.MostBytes+100 || len(bit.Parts) > 2*c.Most+1 || bit.bytes > 2*c.MostBytes+100 {
				t.Fatalf("seed %d: %d results of %d bytes are held", seed, len(bit.Parts), held)
			}
		}
		all.trim(c)
		bit.trim(c)
		if bit.Beyond != all.Beyond || !slices.EqualFunc(bit.Parts, all.Parts, func(a, b steal.Partial) bool {
			return len(a.Path) == len(b.Path) && len(a.Outcome) == len(b.Outcome)
		}) {
			t.Fatalf("seed %d: %d are left and %d beyond, not %d and %d", seed, len(bit.Parts), bit.Beyond,
				len(all.Parts), all.Beyond)
		}
	}
}

func standing() *base.Base {
	return base.New(slog.New(slog.DiscardHandler), time.Now, time.Second)
}

// aRunOf is a run whose owner has a key.
func aRunOf(t *testing.T, key crypto.PrivKey) *statement.SignedManifest {
	t.Helper()
	m := &statement.Manifest{Swarm: "s", App: "a", Entry: "a.b", Nonce: statement.NewNonce(), Expires: 1}
	signed, err := m.Sign(key)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// aRun are the checkpoints of a peer that has none yet, and a run of its own.
func aRun(t *testing.T) (*Store, *statement.SignedManifest) {
	t.Helper()
	b := standing()
	v := vouchtest.New(t, nil, nil)
	signed := aRunOf(t, v.Key)
	return &Store{Base: b, Self: v.Self, Dir: filepath.Join(t.TempDir(), "checkpoints"), Within: time.Hour,
		Vouch: v}, signed
}

// What removes the checkpoint of a run that is over leaves alone the one of a run that was taken up again meanwhile.
func TestTakenUpAgain(t *testing.T) {
	c, signed := aRun(t)
	k := c.Ledger(signed.Run)
	l, err := k.Open(signed, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Remove(signed.Run)
	err = l.Sync(t.Context())
	if _, counted := c.Quota.Has(signed.Run); err != nil || c.hasNothing(signed.Run) || !counted {
		t.Errorf("what is written is lost, or does not count: %v", err)
	}
	k.Close(false)
	c.Remove(signed.Run)
	if _, err := os.Stat(k.Dir); err == nil {
		t.Error("it stays when nobody writes it")
	}
}

// A run whose checkpoint could not be opened, as on a disk that was full, can be resumed when it can be: nobody waits
// for whoever has tried before.
func TestOpenedAfterAll(t *testing.T) {
	c, signed := aRun(t)
	if err := os.WriteFile(c.Dir, nil, 0o600); err != nil { // where a directory should be
		t.Fatal(err)
	}
	if _, _, err := c.Reopen(signed, nil); err == nil {
		t.Fatal("it is opened where there is no directory")
	}
	if _, held := c.inUse.Load(c.DirOf(signed.Run)); held {
		t.Fatal("whoever opens it next waits for ever")
	}
	if err := os.Remove(c.Dir); err != nil {
		t.Fatal(err)
	}
	k, _, err := c.Reopen(signed, nil)
	if err != nil {
		t.Fatal(err)
	}
	k.Close(false)
}

// A checkpoint whose first write was cut off has nothing in it, and is removed; one that is damaged otherwise is not.
func TestCutOffAtOnce(t *testing.T) {
	c, signed := aRun(t)
	k := c.Ledger(signed.Run)
	if _, err := k.Open(signed, nil); err != nil {
		t.Fatal(err)
	}
	k.Close(false)
	file := filepath.Join(k.Dir, "00000001.satinlog")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for n, nothing := range map[int]bool{0: true, len(whole) / 2: true, len(whole) - 1: true, len(whole): false} {
		if err := os.WriteFile(file, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if c.hasNothing(signed.Run) != nothing {
			t.Errorf("of %d bytes %d are left, and it has nothing: %t", len(whole), n, !nothing)
		}
	}
	whole[len(whole)/2] ^= 1
	if err := os.WriteFile(file, append(whole, whole...), 0o600); err != nil {
		t.Fatal(err)
	}
	if c.hasNothing(signed.Run) {
		t.Error("what is damaged is taken for nothing")
	}
}

// Of the checkpoints that were left, empty ones go and what is no checkpoint stays.
func TestCheckpointsLeft(t *testing.T) {
	b := standing()
	c := &Store{Base: b, Dir: t.TempDir()}
	empty, torn, skipped := job.RunID{1}, job.RunID{2}, job.RunID{3}
	for _, id := range []job.RunID{empty, torn, skipped} {
		if err := os.MkdirAll(c.DirOf(id), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{c.DirOf(empty) + "/lock", c.DirOf(torn) + "/log", c.DirOf(skipped) + "/lock"} {
		if err := os.WriteFile(f, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if list := c.Left(func(id job.RunID) bool { return id == skipped }); len(list) != 0 {
		t.Errorf("found %d", len(list))
	}
	for id, want := range map[job.RunID]bool{empty: false, torn: true, skipped: true} {
		if _, err := os.Stat(c.DirOf(id)); (err == nil) != want {
			t.Errorf("checkpoint %v: %v", id, err)
		}
	}
}
