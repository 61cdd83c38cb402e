package peer

import (
	"testing"
	"time"

	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
)

// Guards that the others hear of a run's end whatever its owner's clock has shown meanwhile: what is out of bounds in a
// statement has it refused.
func TestTombstonesOfWrongClocks(t *testing.T) {
	b, _ := standing()
	key, _ := newKey(t)
	for _, took := range []time.Duration{-30 * 365 * 24 * time.Hour, 0, time.Minute, 30 * 365 * 24 * time.Hour} {
		s, _, err := statement.OpenTombstone(signer{b, key}.Bury(&runs.Tombstone{Reason: runs.Finished, Took: took}))
		if err != nil || s.Took != min(max(took.Milliseconds(), 0), statement.MaxTook) {
			t.Errorf("of a run of %s: %+v, %v", took, s, err)
		}
	}
}
