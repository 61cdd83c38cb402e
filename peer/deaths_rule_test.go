package peer

import (
	"math"
	"testing"
	"time"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/runs"
)

// Two deaths within an hour are too many, and that is remembered; what is further apart is chance.
func TestQuarantine(t *testing.T) {
	files, err := openCabinet(t.TempDir(), ".deaths", maxDeaths, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	x := &infirmary{files: files}
	id, now := job.NewRunID(), time.Unix(1_000_000, 0)
	for i, c := range []struct {
		after time.Duration
		bad   bool
	}{{0, false}, {61 * time.Minute, false}, {61 * time.Minute, false}, {59 * time.Minute, true}, {0, true}} {
		now = now.Add(c.after)
		if d, err := x.note(id, now, "it died"); err != nil || d.quarantined() != c.bad {
			t.Errorf("death %d: %+v, %v", i, d, err)
		}
	}
	again := &infirmary{files: files}
	if !again.of(id).quarantined() || len(again.list()) != 1 || again.of(job.NewRunID()).quarantined() {
		t.Errorf("after a restart: %+v, %v", again.of(id), again.list())
	}
	if lifted, err := again.lift(id); !lifted || err != nil || again.of(id).quarantined() {
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
