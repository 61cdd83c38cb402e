package runs

import (
	"fmt"
	"time"
)

// others are the runs of other peers.
type others struct {
	*table
	full bool // that there is no room was said
}

// adopt takes another peer's run up, if there is room, and says whether it may begin.
func (x *others) adopt(m *Manifest, unfit string) bool {
	if x.now.Unix() >= m.Expires { // if the clock is wrong, it will be heard of again
		x.note(m.Run, "it expired at %s", time.Unix(m.Expires, 0).UTC().Format(time.RFC3339))
		return false
	}
	active, owners, bytes, ownersBytes := 0, 0, len(m.Sealed), len(m.Sealed)
	for _, r := range x.runs {
		if r.m.Run != m.Run && (!r.state.Ended() || r.state == StateRefused) {
			active++
			bytes += len(r.m.Sealed)
			if r.m.Owner == m.Owner {
				owners++
				ownersBytes += len(r.m.Sealed)
			}
		}
	}
	if active >= x.cfg.Active || owners >= x.cfg.PerOwner || bytes > x.cfg.ManifestBytes ||
		owners > 0 && ownersBytes > x.cfg.ManifestBytes/2 {
		x.say(&x.full, m.Run, "it is not looked at: %d runs are known, %d of them of its owner, with manifests of %d bytes in "+
			"all and %d of its owner; at most %d, %d, %d and half of that are", active, owners, bytes, ownersBytes,
			x.cfg.Active, x.cfg.PerOwner, x.cfg.ManifestBytes)
		return false
	}
	x.full = false
	r := &run{m: m, began: x.now, asked: x.now, heard: x.now, state: StateRunning}
	if old := x.runs[m.Run]; old != nil { // it was suspended, or lost: since when it is known, and whom it has killed
		r.began, r.deaths, r.deaths.doomed, r.rosters = old.began, old.deaths, false, old.rosters
	}
	x.set(r.m.Run, r)
	if unfit != "" {
		x.warn(m.Run, "refused: %s", unfit)
		x.refuse(r, unfit)
		return false
	}
	return true
}

// buried is about a run whose owner has said what becomes of it.
func (x *others) buried(r *run, s *Tombstone) {
	if r.lost && s.Reason.Final() {
		r.state = StateRefused // it was given up, and what is still kept of it goes now
	}
	switch s.Reason {
	case Finished:
		x.end(r, StateDone, "its owner says that it is finished", true)
	case Cancelled:
		x.end(r, StateCancelled, "its owner says that it is cancelled", true)
	case Suspended:
		r.lost = true // until it is heard of again
		x.end(r, StateSuspended, "its owner has suspended it", true)
	case Resumed: // it will be announced
		return
	}
	if s.Took > 0 { // the owner's word, also after a deputy's
		r.took = s.Took
	}
}

// claimed takes in the claim that a run is answered; endorsed says that whoever passed it on has ended the run by it.
func (x *others) claimed(r *run, c *Claim, from PeerID, endorsed bool) {
	switch {
	case r.over():
	case !x.credible(r, c.Author, from):
		x.note(c.Run, "%s says that it has answered it, and is no member", c.Author)
	case !r.claims.add(r.m, c, from, endorsed, x.now, x.cfg.Claims):
		x.note(c.Run, "%d others say that they have answered it", len(r.claims.list))
	default:
		x.weigh(r)
	}
}

// weigh ends a run if one of the claims that it is answered counts. Those who stand in the way of one are asked, and
// whoever only says that it had the root waits.
func (x *others) weigh(r *run) {
	for i := range r.claims.list {
		p := &r.claims.list[i]
		inTheWay := p.inTheWay(r.m, x.self, r.holdsRoot, x.view.Alive)
		if len(inTheWay) > 0 || r.holdsRoot {
			p.clear = x.now
		}
		if len(inTheWay) == 0 && r.claims.shown(p, x.now, x.cfg.Vacant) {
			c := p.Claim
			r.accept(c.Hash, &c)
			x.end(r, StateDone, fmt.Sprintf("answered by %s, who keeps the answer for its owner", c.Author), true)
			return
		}
		if x.now.Sub(p.tried) < x.cfg.WeighEvery || r.asking > 0 {
			continue
		}
		p.tried = x.now
		for _, id := range inTheWay {
			if id != x.self {
				x.ask(r, id)
			}
		}
	}
}

// askAround asks others after a run whose end this peer may have missed.
func (x *others) askAround(r *run) {
	if r.asking > 0 || x.now.Sub(r.asked) < x.cfg.AskEvery {
		return
	}
	r.asked = x.now
	r.turn++
	for _, id := range x.whomToAsk(r.m, r.turn) {
		x.ask(r, id)
	}
}

// unknownTo is about a run of which somebody knows nothing. If that is its owner, and it says so again, it has come
// back and forgotten.
func (x *others) unknownTo(r *run, id PeerID) {
	if r.mine || r.over() || id != r.m.Owner {
		return
	}
	if r.unknown++; r.unknown >= 2 {
		r.lost = true
		x.end(r, StateCancelled, "its owner knows nothing of it any more", true)
	}
}

// letGo is about a run that cannot be computed here, or was let in again, and that nobody has spoken of for some time:
// those who computed it are gone, and there is nothing to complain of any more. It is taken up again when it is heard
// of.
func (x *others) letGo(r *run) {
	if (r.unfit || r.lost) && r.state == StateRefused && x.now.Sub(r.heard) >= x.cfg.RefusedFor {
		r.lost = true
		x.end(r, StateCancelled, "nobody who takes part in it is heard of any more", false)
	}
}

// uncertain says whether a run may be over without this peer knowing: one of another peer's, or one of its own that
// others may have brought to an end while it was away.
func uncertain(r *run) bool {
	if r.mine {
		return r.returned && (!r.state.Ended() || r.state == StateRefused)
	}
	return !r.over()
}
