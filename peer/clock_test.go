package peer

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/wallclock"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/switchboard"
	"github.com/satin-peer/satin/peer/vouching"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/verify"
)

// The core of runs is told which life of the peer this is: what it numbers by that must grow though the clock goes
// back.
func TestLivesAreNumbered(t *testing.T) {
	dir, last := t.TempDir(), uint64(0)
	for range 2 {
		p, err := Open(t.Context(), Config{Host: host.Config{StateDir: dir, Trust: host.TrustOpen,
			Listen: []string{"/ip4/127.0.0.1/tcp/0"}}, Workers: 1, Every: time.Second, FullPriority: true,
			Log: slog.New(slog.DiscardHandler)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if p.Close(); p.cfg.Runs.Life <= last {
			t.Errorf("life %d after life %d", p.cfg.Runs.Life, last)
		}
		last = p.cfg.Runs.Life
	}
}

// A peer whose clock is behind does not take a receipt, and is owed it still: it comes again when the clock is right.
// Of a run during which its owner's clock went back it says the time that has passed.
func TestReceiptsWhileAClockIsWrong(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	both, now := connected(ctx, t), time.Now()
	var behind atomic.Int64 // hours
	behind.Store(20 * 365 * 24)
	owner, giver := both[0].ID(), both[1].ID()
	m := &runs.Manifest{Run: job.RunID{1}, Owner: runs.PeerID(owner.String()), Verify: "quorum=2", Created: now.Unix()}
	var parts [2]*receipts
	for i := range both {
		b := base.New(slog.New(slog.DiscardHandler), func() time.Time {
			return now.Add(-time.Duration(i) * time.Duration(behind.Load()) * time.Hour)
		}, time.Second)
		parts[i] = &receipts{Base: b, cores: 1, swarm: func() string { return "lab" },
			board: &switchboard.Board{Base: base.New(b.Log, time.Now, time.Second), Net: both[i],
				Admitted: func(peer.ID) bool { return true }},
			vouch: &vouching.Border{Self: both[i].ID(), Key: both[i].Peerstore().PrivKey(both[i].ID()),
				Outcast: func(peer.ID) bool { return false }, Member: func(peer.ID) bool { return true }},
			known: func(job.RunID) *runs.Manifest { return m }}
		if err := parts[i].open(t.TempDir()); err != nil {
			t.Fatal(err)
		}
		parts[i].serve()
	}
	parts[0].owe(&part{manifest: m, began: wallclock.Time(now, 0),
		ended:   wallclock.Time(now.Add(-time.Hour), 30*time.Minute),
		earlier: []driver.Earned{{Peer: verify.PeerID(giver.String()), Time: 20 * time.Minute, Results: 5}}})
	parts[0].Tasks.Wait()
	has := func() *statement.SignedReceipt {
		parts[1].mu.Lock()
		defer parts[1].mu.Unlock()
		return parts[1].have[m.Run]
	}
	if n := len(parts[0].owed.Files()); n != 1 || has() != nil {
		t.Fatalf("while its clock is behind %d are owed, and it has %v", n, has())
	}
	behind.Store(0)
	parts[0].give(ctx, false)
	got := has()
	if got == nil || got.Time != (20*time.Minute).Microseconds() || got.Took != (30*time.Minute).Microseconds() {
		t.Errorf("with the clock set right it has %+v", got)
	}
	if n := len(parts[0].owed.Files()); n != 0 {
		t.Errorf("%d are owed still", n)
	}
}
