package peer

import (
	"context"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/statement"
)

// keepUp is done every second: own runs are announced again, others are asked after runs whose end this peer
// may have missed, and what is old is forgotten.
func (t *runs) keepUp(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.table {
		running := !r.state.Ended()
		switch {
		case running && now.Unix() >= r.manifest.Expires && r.mine:
			t.endOwn(r, control.RunCancelled, "its manifest has expired", statement.Cancelled)
			continue
		case running && now.Unix() >= r.manifest.Expires:
			t.stop(r, control.RunCancelled, "its manifest has expired")
			continue
		case running && len(r.claims) > 0:
			t.weigh(r)
		}
		if r.mine && running && r.again.due(now, announceEvery) {
			t.p.announce(r.manifest)
		}
		if r.answered != nil && r.answered.Author == t.p.host.ID() && t.p.holding.has(r.manifest.Run) &&
			r.again.due(now, answeredEvery) {
			t.p.publishAnswered(r.answered.Bytes) // the owner may not have heard
		}
		if t.uncertain(r) && now.Sub(r.asked) >= askEvery && !r.asking {
			r.asked, r.asking = now, true
			r.turn++
			whom := t.p.whomToAsk(r)
			t.p.spawn(func(ctx context.Context) { t.askAfter(ctx, r, whom) })
		}
	}
	t.wake(now)
	t.forget(now)
	if now.Sub(t.reviewed) >= reviewEvery {
		t.reviewed = now
		t.p.spawn(func(context.Context) { t.p.reviewHeld(now) })
	}
}

// A repetition says when something is to be told again: after a second, and then less and less often.
type repetition struct {
	last time.Time
	wait time.Duration
}

// begin is when it was told for the first time.
func (r *repetition) begin(now time.Time) { r.last, r.wait = now, time.Second }

// due says whether it is time, and then takes it for told.
func (r *repetition) due(now time.Time, most time.Duration) bool {
	if now.Sub(r.last) < r.wait {
		return false
	}
	r.last, r.wait = now, min(max(2*r.wait, time.Second), most)
	return true
}

// uncertain says whether a run may be over without this peer knowing: one of another peer's, or one of its
// own that others may have brought to an end while it was away. The mutex is held.
func (t *runs) uncertain(r *run) bool {
	if r.mine {
		return r.returned && (!r.state.Ended() || r.state == control.RunRefused)
	}
	return !r.state.Ended()
}

// whomToAsk picks who is asked after a run this time: its owner, if it is alive, and one of the others in turn.
func (p *Peer) whomToAsk(r *run) (list []peer.ID) {
	if !r.mine && p.alive(r.manifest.Owner) {
		list = append(list, r.manifest.Owner)
	}
	if others := p.confidants(r.manifest); len(others) > 0 {
		list = append(list, others[r.turn%len(others)])
	}
	return list
}

// askAfter asks members whether a run goes on.
func (t *runs) askAfter(ctx context.Context, r *run, whom []peer.ID) {
	defer func() {
		t.mu.Lock()
		r.asking = false
		t.mu.Unlock()
	}()
	for _, id := range whom {
		var a runAnswer
		if err := t.p.ask(ctx, id, runProtocol, &runQuestion{Run: r.manifest.Run}, &a, 1<<13,
			exchangeTime); err != nil {
			continue
		}
		if a.Tombstone != nil {
			if bad := t.bury(a.Tombstone); bad != nil {
				t.p.log.Debug("tombstone refused", "from", id, "error", bad)
			}
		}
		if a.Answered != nil {
			if bad := t.hearAnswered(a.Answered, id); bad != nil {
				t.p.log.Debug("statement of an answer refused", "from", id, "error", bad)
			}
		}
		// it came back and has forgotten
		if id == r.manifest.Owner && !a.Known && a.Tombstone == nil && a.Answered == nil {
			t.mu.Lock()
			r.lost = true
			t.stop(r, control.RunCancelled, "its owner knows nothing of it any more")
			t.mu.Unlock()
		}
	}
}
