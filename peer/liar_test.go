package peer

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
)

// Where as many runs wait for modules as may, that of whoever has fewer takes the place of the oldest of whoever has
// most.
func TestRunsWaitingMakeWay(t *testing.T) {
	x := &modules{waiting: map[job.RunID]*waitingRun{}}
	next := byte(0)
	wait := func(owner peer.ID) job.RunID {
		m := &statement.SignedManifest{}
		m.Run, m.Owner = job.RunID{1, next}, owner
		next++
		out := x.excess(m)
		if out != m.Run {
			delete(x.waiting, out)
			x.waiting[m.Run] = &waitingRun{owner: owner, since: time.Unix(int64(next), 0)}
		}
		if len(x.waiting) > maxRunsWaiting {
			t.Fatalf("%d wait", len(x.waiting))
		}
		return out
	}
	for i := range maxRunsWaiting {
		if wait([]peer.ID{"liar", "other"}[i%2]) != (job.RunID{}) {
			t.Fatalf("%d wait and leave no place", i)
		}
	}
	if out := wait("liar"); out != (job.RunID{1, maxRunsWaiting}) {
		t.Errorf("%x makes way for whoever has most", out)
	}
	if out := wait("honest"); out != (job.RunID{1, 0}) {
		t.Errorf("%x makes way for the first of another", out)
	}
	if out := wait("honest"); out != (job.RunID{1, 1}) {
		t.Errorf("%x makes way for the second", out)
	}
	x.self = "self" // whose runs are more than anybody's before long, and make way for none
	for range maxRunsWaiting / 2 {
		wait(x.self)
		wait("newcomer")
	}
	own := 0
	for _, w := range x.waiting {
		if w.owner == x.self {
			own++
		}
	}
	if own != maxRunsWaiting/2 {
		t.Errorf("%d of the user's own runs wait", own)
	}
}

// Whoever brings an answer waits no longer than it may take to bring one for a disk that never comes to an end, and
// what it holds here is free then.
func TestKeepingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := base.New(slog.New(slog.DiscardHandler), time.Now, time.Second)
		defer b.Cancel()
		x := &keeping{Base: b, runs: newConductor(b, outside{self: "self"}, runs.DefaultConfig())}
		x.runs.acting = true // what the core orders is never carried out
		begun := time.Now()
		kept, err := x.keep(&runs.Claim{}, runs.Outcome{}, &keepRequest{})
		if took := time.Since(begun); kept || !errors.Is(err, context.DeadlineExceeded) || took != answerTime {
			t.Errorf("after %v: kept %v, %v", took, kept, err)
		}
		if n := len(x.runs.replies); n > 0 {
			t.Errorf("%d are still waited for", n)
		}
	})
}
