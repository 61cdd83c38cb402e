package peer

import (
	"math"
	"testing"
	"time"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/runs"
)

// Deaths are remembered when the daemon is started again, until a user lifts the quarantine that follows from them.
func TestQuarantine(t *testing.T) {
	files, err := openCabinet(t.TempDir(), ".deaths", maxDeaths, time.Now)
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
