package peer_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
)

func init() {
	satin.Register("peertest.entrust", entrust)
	satin.Register("peertest.hoard", hold)
}

// Held is a value that a job has until the file End is there.
type Held struct {
	Loan Loan
	End  string
}

// heldBytes is how long the value is.
const heldBytes = 700_000

// entrust has a job that others steal hold a shared value, and says how long that is.
func entrust(f *satin.Frame, end string) int {
	l := Loan{Text: satin.ShareConstant(f, strings.Repeat("x", heldBytes)),
		Most: satin.ShareLattice(f, most, "seen", 10)}
	away := satin.Spawn(f, hold, Held{l, end})
	stealable(f, l.Most, 77)
	return away.Get()
}

func hold(f *satin.Frame, h Held) int {
	n := len(h.Loan.Text.Read(f))
	for _, err := os.Stat(h.End); err != nil && !f.Aborted(); _, err = os.Stat(h.End) {
		time.Sleep(time.Millisecond)
	}
	h.Loan.Most.Offer(f, 77)
	return n
}

// Two runs of one owner share more than a member lets it have: the second one's value is not fetched as long as the
// first one's is needed, which that member says.
func TestSharedValuesAreBounded(t *testing.T) {
	t.Parallel()
	work := last(t)
	a, b := open(t), open(t, func(c *peer.Config) { c.ObjectsMemory = 2 << 20 })
	if _, err := b.Join(deadline(t), address(t, a)); err != nil {
		t.Fatal(err)
	}
	runs := []string{submit(t, a, "entrust", work.arg.End), submit(t, a, "entrust", work.arg.End)}
	until(t, "one of them is refused", func() bool {
		list, err := b.Runs(deadline(t))
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(list, func(r control.RunInfo) bool {
			return r.NoRoom == "what jobs share in its owner's runs would be more than 1 MiB of this peer's memory: "+
				"the setting objects_memory"
		})
	})
	work.end(t)
	for _, run := range runs {
		if err := a.Cancel(deadline(t), run); err != nil {
			t.Error(err)
		}
	}
}
