package peer

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/runs"
)

// Proofs of lies are told at meetings, some in turn and for a time.
func TestProofsAreTold(t *testing.T) {
	now := time.Unix(1e9, 0)
	j := &jury{Base: base.New(slog.New(slog.DiscardHandler), func() time.Time { return now }, 0)}
	var err error
	if j.evidence, err = base.OpenCabinet(j.Base, t.TempDir(), ".lie", maxLies); err != nil {
		t.Fatal(err)
	}
	if list := j.told(); len(list) > 0 {
		t.Errorf("told are %q", list)
	}
	for i, size := range []int{1, 2, 3, maxAccusation + 1, 4} {
		name := fmt.Sprint("liar", i)
		at := now
		if i == 4 {
			at = now.Add(-proofFor - time.Second)
		}
		if err := j.evidence.Write(name, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(j.evidence.Path(name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	sizes := map[int]int{}
	for range 3 {
		for _, b := range j.told() {
			sizes[len(b)]++
		}
	}
	if fmt.Sprint(sizes) != "map[1:2 2:2 3:2]" {
		t.Errorf("told are, by their size, %v", sizes)
	}
}

// Guards that an answer for which no result of another was used says just that, and one of a result with no doubt left
// under which assumption.
func TestDoubtOfNothing(t *testing.T) {
	m := &runs.Manifest{Verify: "doubt=1e-3"}
	const alone = "it rests on this machine alone, as no result of another was used"
	if got := trust(m, &driver.Proofs{}, nil).Bound; got != alone {
		t.Errorf("of none it says %q", got)
	}
	for _, p := range []driver.Proofs{{Proved: 1}, {OnLiars: 1}, {Doubt: 1e-5}} {
		if got := trust(m, &p, nil).Bound; !strings.HasPrefix(got, "wrong with probability at most ") {
			t.Errorf("of %+v it says %q", p, got)
		}
	}
}
