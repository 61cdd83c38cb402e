package peer

import (
	"bytes"
	"encoding/binary"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/constants"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
)

func init() {
	satin.Register("peertest.lists", lists, satin.Exact(), satin.Unlike(func([][]int) string { return "" }))
}

func lists(_ *satin.Frame, l [][]int) [][]int { return l }

// Guards that a daemon makes nothing of what others send but what it needs to know itself: a result and an argument,
// which take a byte for each list, cost it a few times their length.
func TestValuesAreNotMade(t *testing.T) {
	const n = 4 << 20
	value := append(binary.BigEndian.AppendUint32([]byte{0x9a}, n), bytes.Repeat([]byte{0xf6}, n)...)
	outcome, err := wire.Outcomes().Encode(&compute.Outcome{Value: value})
	if err != nil {
		t.Fatal(err)
	}
	m := &statement.SignedManifest{}
	m.Run, m.App, m.Entry, m.Arg = job.RunID{1}, "peertest", "peertest.lists", value
	apps := &catalog{built: map[string]Application{m.App: {Name: m.App}},
		constants: &constants.Store{Most: math.MaxInt64}}
	for what, looks := range map[string]func() string{
		"an outcome": func() string {
			o := judge(m.Run, m.Entry, outcome)
			if !bytes.Equal(o.Result, value) {
				return "it has no result"
			}
			return o.Failure + outcomeOf(&runs.Manifest{Run: m.Run, Entry: m.Entry}, outcome).Failure
		},
		"a manifest": func() string { return apps.unfit(m) },
		"a plan": func() string {
			p, err := plan(m, "somebody")
			if err != nil || !bytes.Equal(p.Root.Arg, value) {
				return "there is none"
			}
			return ""
		},
		"an accusation": func() string {
			if compute.Alike(m.Entry, m.Arg, "") {
				return "its argument was looked at"
			}
			return ""
		},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		why := looks()
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 6*n || why != "" {
			t.Errorf("%s of %d MB takes %d MB; %s", what, n>>20, took>>20, why)
		}
	}
	short := *m
	short.Arg = []byte{0xff}
	if why := apps.unfit(&short); !strings.Contains(why, "the argument of peertest.lists") {
		t.Errorf("a short argument that cannot be read: %q", why)
	}
}
