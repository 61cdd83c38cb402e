package peer

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/constants"
	"github.com/satin-peer/satin/peer/ledger"
	"github.com/satin-peer/satin/runs"
)

// Deaths are remembered when the daemon is started again, until a user lifts the quarantine that follows from them.
func TestQuarantine(t *testing.T) {
	b, _ := standing()
	files, err := base.OpenCabinet(b, t.TempDir(), ".deaths", maxDeaths)
	if err != nil {
		t.Fatal(err)
	}
	id, now := job.NewRunID(), time.Unix(1_000_000, 0)
	for i, bad := range []bool{false, true} {
		if d, err := (&infirmary{files: files}).note(id, now, "it died"); err != nil || d.Quarantined() != bad {
			t.Errorf("death %d: %+v, %v", i, d, err)
		}
	}
	again := &infirmary{files: files}
	if !again.of(id).Quarantined() || len(again.list()) != 1 || again.of(job.NewRunID()).Quarantined() {
		t.Errorf("after a restart: %+v, %v", again.of(id), again.list())
	}
	if lifted, err := again.lift(id); !lifted || err != nil || again.of(id).Quarantined() {
		t.Errorf("lifted %v, %v: %+v", lifted, err, again.of(id))
	}
	if lifted, err := again.lift(id); lifted || err != nil {
		t.Errorf("lifted again: %v, %v", lifted, err)
	}
}

// mates are all members.
type mates struct{ runs.View }

func (mates) Admitted(runs.PeerID) bool { return true }

// A run stays in quarantine when its owner suspends it and goes on with it. Nothing is left of that when it is over.
func TestQuarantineOutlivesSuspension(t *testing.T) {
	b, clock := standing()
	files, err := base.OpenCabinet(b, t.TempDir(), ".deaths", maxDeaths)
	if err != nil {
		t.Fatal(err)
	}
	x := &conductor{Base: b, core: runs.New(runs.DefaultConfig(), "self", mates{}, nil), outside: outside{
		apps: &catalog{constants: &constants.Store{}}, deaths: &infirmary{files: files},
		checkpoints: &ledger.Store{Base: b, Dir: t.TempDir()}}}
	m := &runs.Manifest{Run: job.NewRunID(), Owner: "o", Expires: math.MaxInt64}
	x.core.Announced(clock.now(), m.Run, "o")
	x.core.Fetched(clock.now(), &runs.Told{Run: m.Run, From: "o", Manifest: m})
	for range 2 {
		if _, err := x.deaths.note(m.Run, clock.now(), "it died"); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		reason runs.Reason
		stays  bool
	}{{runs.Suspended, true}, {runs.Cancelled, false}} {
		x.core.Buried(clock.now(), &runs.Tombstone{Run: m.Run, Author: "o", Reason: c.reason, Until: m.Expires})
		x.discard(m.Run)
		if got := x.deaths.of(m.Run).Quarantined(); got != c.stays {
			t.Errorf("%v: it is in quarantine: %v", c.reason, got)
		}
	}
}

// Guards that a death in a verified run counts by the word of members in as many hands as a result of strangers takes,
// two at least.
func TestHandsThatAreBelieved(t *testing.T) {
	s := &swarm{}
	for mode, want := range map[string]int{"quorum=2": 2, "quorum=3,others": 3, "spot=0.01": 2, "doubt=1e-4": 7,
		"?": math.MaxInt} {
		if n := s.Hands(&runs.Manifest{Verify: mode}); n != want {
			t.Errorf("%s takes %d hands, want %d", mode, n, want)
		}
	}
}

// Deaths that a disk does not take are remembered as long as the process lives, or a run would kill without end; and
// whoever asks does not wait for the disk, for the conductor's mutex is held then.
func TestDeathsBesideTheDisk(t *testing.T) {
	b, _ := standing()
	dir := filepath.Join(t.TempDir(), "deaths")
	files, err := base.OpenCabinet(b, dir, ".deaths", maxDeaths)
	if err == nil {
		err = os.WriteFile(dir, nil, 0o600) // where a directory should be
	}
	if err != nil {
		t.Fatal(err)
	}
	x, id := &infirmary{files: files}, job.NewRunID()
	for range 2 {
		if _, err := x.note(id, time.Unix(1_000_000, 0), "it died"); err == nil {
			t.Error("it is written where nothing can be")
		}
	}
	x.mu.Lock() // as whoever writes does
	if !x.of(id).Quarantined() || len(x.list()) != 1 {
		t.Errorf("a third process may die: %+v, %v", x.of(id), x.list())
	}
	x.mu.Unlock()
	if _ = x.forget(id); x.of(id).Quarantined() {
		t.Error("they stay when the run is over")
	}
}
