package peer

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/checkpoint"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/vouching/vouchtest"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
)

// What is left of results is the same whether those that do not fit are dropped as they come or in the end.
func TestResultsAreTrimmed(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := &checkpoints{most: 1 + r.IntN(8), mostBytes: 1 + r.IntN(600)}
		var bit, all stored
		for range r.IntN(60) {
			p := steal.Partial{Path: make(job.Path, r.IntN(6)), Outcome: make([]byte, r.IntN(12))}
			all.parts = append(all.parts, p)
			bit.take(c, p)
			held := 0
			for _, p := range bit.parts {
				held += 4*len(p.Path) + len(p.Outcome)
			}
			if held > 2*c.mostBytes+100 || len(bit.parts) > 2*c.most+1 || bit.bytes > 2*c.mostBytes+100 {
				t.Fatalf("seed %d: %d results of %d bytes are held", seed, len(bit.parts), held)
			}
		}
		all.trim(c)
		bit.trim(c)
		if bit.beyond != all.beyond || !slices.EqualFunc(bit.parts, all.parts, func(a, b steal.Partial) bool {
			return len(a.Path) == len(b.Path) && len(a.Outcome) == len(b.Outcome)
		}) {
			t.Fatalf("seed %d: %d are left and %d beyond, not %d and %d", seed, len(bit.parts), bit.beyond,
				len(all.parts), all.beyond)
		}
	}
}

// ofARun are the checkpoints of a peer that has none yet, and a run of its own.
func ofARun(t *testing.T) (*checkpoints, *statement.SignedManifest) {
	t.Helper()
	b, _ := standing()
	v := vouchtest.New(t, nil, nil)
	m := &statement.Manifest{Swarm: "s", App: "a", Entry: "a.b", Nonce: statement.NewNonce(), Expires: 1}
	signed, err := m.Sign(v.Key)
	if err != nil {
		t.Fatal(err)
	}
	return &checkpoints{Base: b, self: v.Self, dir: filepath.Join(t.TempDir(), "checkpoints"), every: time.Hour,
		vouch: v}, signed
}

// What removes the checkpoint of a run that is over leaves alone the one of a run that was taken up again meanwhile.
func TestTakenUpAgain(t *testing.T) {
	c, signed := ofARun(t)
	k := c.ledger(signed.Run)
	l, err := k.open(signed, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.remove(signed.Run)
	err = l.Sync(t.Context())
	if _, counted := c.quota.Has(signed.Run); err != nil || c.hasNothing(signed.Run) || !counted {
		t.Errorf("what is written is lost, or does not count: %v", err)
	}
	k.close(false)
	c.remove(signed.Run)
	if _, err := os.Stat(k.dir); err == nil {
		t.Error("it stays when nobody writes it")
	}
}

// A run whose checkpoint could not be opened, as on a disk that was full, can be resumed when it can be: nobody waits
// for whoever has tried before.
func TestOpenedAfterAll(t *testing.T) {
	c, signed := ofARun(t)
	if err := os.WriteFile(c.dir, nil, 0o600); err != nil { // where a directory should be
		t.Fatal(err)
	}
	if _, err := c.reopen(signed, nil); err == nil {
		t.Fatal("it is opened where there is no directory")
	}
	if _, held := c.inUse.Load(c.dirOf(signed.Run)); held {
		t.Fatal("whoever opens it next waits for ever")
	}
	if err := os.Remove(c.dir); err != nil {
		t.Fatal(err)
	}
	r, err := c.reopen(signed, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.ledger.close(false)
}

// A run that is resumed as a new one while its peer is being closed begins in the next life, with what was kept; of one
// that was refused nothing stays.
func TestResumedWhileClosing(t *testing.T) {
	for _, closes := range []bool{true, false} {
		c, signed := ofARun(t)
		o := &owner{Base: c.Base, checkpoints: c, runs: newConductor(c.Base, outside{}, runs.DefaultConfig())}
		again, err := c.reopen(signed, nil)
		if err != nil {
			t.Fatal(err)
		}
		no := errors.New("not now")
		_, err = o.goOn(t.Context(), signed, again, true, func() error {
			if closes {
				c.Cancel()
			}
			return no
		})
		c.Tasks.Wait()
		if _, gone := os.Stat(again.ledger.dir); !errors.Is(err, no) || gone == nil != closes {
			t.Errorf("it closes: %t; %v; what is left: %v", closes, err, gone)
		}
	}
}

// All that a checkpoint holds from which a run goes on is in its own, however much that is at once, and though nobody
// waits for it.
func TestManyResultsGoOn(t *testing.T) {
	b, _ := standing()
	v := vouchtest.New(t, nil, nil)
	c := &checkpoints{Base: b, self: v.Self, dir: t.TempDir(), every: time.Hour, vouch: v}
	m := &statement.Manifest{Swarm: "s", App: "a", Entry: "a.b", Nonce: statement.NewNonce(), Expires: 1}
	signed, err := m.Sign(v.Key)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.reopen(signed, nil)
	if err != nil {
		t.Fatal(err)
	}
	const many = 30_000
	for i := range uint32(many) {
		r.stored.parts = append(r.stored.parts, steal.Partial{Path: job.Path{1 + i}, Identity: job.Identity{1}})
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	r.write(gone)
	r.ledger.close(false)
	<-r.ledger.done()
	snap, err := checkpoint.Read(r.ledger.dir, checkpoint.Header{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	written := 0
	for r, err := range snap.Records() {
		if err == nil && r.Kind == checkpoint.JobResult {
			written++
		}
	}
	if written != many {
		t.Errorf("%d of %d results are written", written, many)
	}
}

// A part that ends slowly, since it has much to hand over, has its checkpoint closed though the sessions of others that
// have ended since take the place of its own.
func TestLedgersOutliveSessions(t *testing.T) {
	c, signed := ofARun(t)
	k := c.ledger(signed.Run)
	if _, err := k.open(signed, nil); err != nil {
		t.Fatal(err)
	}
	slow := &part{ledger: k}
	x := &conductor{Base: c.Base, parts: map[job.RunID]*part{signed.Run: slow}}
	for i := range byte(maxPastSessions) {
		x.parts[job.RunID{i}] = &part{ended: c.Now().Add(time.Minute)}
	}
	for _, r := range x.parts {
		r.final, r.session = &report.RunStats{}, &session.Session{}
	}
	x.releaseSessions()
	if slow.session != nil {
		t.Fatal("its session stays")
	}
	slow.ledger.close(true) // as its end does
	if _, err := os.Stat(k.dir); err == nil {
		t.Error("its checkpoint stays open, and on the disk")
	}
}

// A checkpoint whose first write was cut off has nothing in it, and is removed; one that is damaged otherwise is not.
func TestCutOffAtOnce(t *testing.T) {
	c, signed := ofARun(t)
	k := c.ledger(signed.Run)
	if _, err := k.open(signed, nil); err != nil {
		t.Fatal(err)
	}
	k.close(false)
	file := filepath.Join(k.dir, "00000001.satinlog")
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
