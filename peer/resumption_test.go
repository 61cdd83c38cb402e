package peer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/checkpoint"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/ledger"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/vouching/vouchtest"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
)

// ofARun are the checkpoints of a peer that has none yet, and a run of its own.
func ofARun(t *testing.T) (*ledger.Store, *statement.SignedManifest) {
	t.Helper()
	b, _ := standing()
	v := vouchtest.New(t, nil, nil)
	m := &statement.Manifest{Swarm: "s", App: "a", Entry: "a.b", Nonce: statement.NewNonce(), Expires: 1}
	signed, err := m.Sign(v.Key)
	if err != nil {
		t.Fatal(err)
	}
	return &ledger.Store{Base: b, Self: v.Self, Dir: filepath.Join(t.TempDir(), "checkpoints"), Within: time.Hour,
		Vouch: v}, signed
}

// A run that is resumed as a new one while its peer is being closed begins in the next life, with what was kept; of one
// that was refused nothing stays.
func TestResumedWhileClosing(t *testing.T) {
	for _, closes := range []bool{true, false} {
		c, signed := ofARun(t)
		o := &owner{Base: c.Base, checkpoints: c, runs: newConductor(c.Base, outside{}, runs.DefaultConfig())}
		k, kept, err := c.Reopen(signed, nil)
		if err != nil {
			t.Fatal(err)
		}
		no := errors.New("not now")
		_, err = o.goOn(t.Context(), signed, &resumption{k, kept}, true, func() error {
			if closes {
				c.Cancel()
			}
			return no
		})
		c.Tasks.Wait()
		if _, gone := os.Stat(k.Dir); !errors.Is(err, no) || gone == nil != closes {
			t.Errorf("it closes: %t; %v; what is left: %v", closes, err, gone)
		}
	}
}

// All that a checkpoint holds from which a run goes on is in its own, however much that is at once, and though nobody
// waits for it.
func TestManyResultsGoOn(t *testing.T) {
	c, signed := ofARun(t)
	k, kept, err := c.Reopen(signed, nil)
	if err != nil {
		t.Fatal(err)
	}
	const many = 30_000
	for i := range uint32(many) {
		kept.Parts = append(kept.Parts, steal.Partial{Path: job.Path{1 + i}, Identity: job.Identity{1}})
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	(&resumption{k, kept}).write(gone)
	k.Close(false)
	<-k.Done()
	snap, err := checkpoint.Read(k.Dir, checkpoint.Header{}, nil)
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
	k := c.Ledger(signed.Run)
	if _, err := k.Open(signed, nil); err != nil {
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
	slow.ledger.Close(true) // as its end does
	if _, err := os.Stat(k.Dir); err == nil {
		t.Error("its checkpoint stays open, and on the disk")
	}
}
