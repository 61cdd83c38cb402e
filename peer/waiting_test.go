package peer

import (
	"math"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/runs"
)

// Guards that a run whose module has come is asked for until it runs, while it is refused for want of that, and no
// longer: its manifest is large, and who refuses it for another reason would fetch it again and again.
func TestRunWaitsForItsModule(t *testing.T) {
	for _, unwanted := range []bool{false, true} {
		now := time.Unix(1e9, 0)
		p, lib := publishes(t, &now, 1<<20)
		h := lib.Add([]byte("a module"))
		owner := peer.ID("owner")
		m := &runs.Manifest{Run: job.NewRunID(), Owner: peerName(owner), Expires: math.MaxInt64}
		x := p.modules
		x.consent = ModulesMembers
		x.runs = &conductor{Base: p.Base, core: runs.New(runs.DefaultConfig(), "self", mates{}, nil), acting: true}
		x.waiting = map[job.RunID]*waitingRun{m.Run: {module: h, owner: owner, since: now}}
		told := &runs.Told{Run: m.Run, From: m.Owner, Manifest: m, Unfit: awaited(h) + "is not here yet"}
		x.runs.core.Fetched(now, told)
		if unwanted {
			x.runs.core.Refuse(now, 1, runs.Refused{Run: m.Run}, false)
		}
		asked := 0
		for range 100 {
			now = now.Add(5 * time.Second)
			x.keepUp()
			for _, o := range x.runs.orders {
				if _, ok := o.(runs.Fetch); ok {
					asked++
					x.runs.core.Fetched(now, told)
				}
			}
			x.runs.orders = nil
		}
		if left := len(x.waiting); asked > 0 == unwanted || left > 0 == unwanted {
			t.Errorf("unwanted %t: it is asked for %d times, and %d wait", unwanted, asked, left)
		}
	}
}
