package runs

import "time"

// What others, and people, ask.

// Knowledge is what this peer says of a run to another one. Held says that the manifest is beside an answer that is
// kept on the disk.
type Knowledge struct {
	Tombstone *Tombstone
	Claim     *Claim
	Roster    *Roster
	RosterAge time.Duration // for how long this peer has not heard its author
	Over      bool          // the run is over here because of Claim
	Led       bool          // the author of Claim was heard to lead the run, while none that comes before it was
	Known     bool
	Manifest  []byte
	Held      bool
}

// Knows answers a peer's question after a run; full: it wants the manifest.
func (c *Core) Knows(id RunID, asker PeerID, full bool) (k Knowledge) {
	r := c.runs[id]
	// While an answer is being given to others to keep, its owner alone hears of it: those who hear of it end the run,
	// and have no manifest any more to keep beside it.
	if r == nil || r.keeping == nil || asker == r.m.Owner {
		k.Claim = c.kept.claim(id)
	}
	// what is kept for others need not be believed here
	k.Over = k.Claim != nil && (k.Claim.Author == c.self || r != nil && !r.onlyKept && r.endedBy(k.Claim))
	author := asker // the owner of a run that this peer does not know may ask what became of it
	if r != nil {
		author = r.m.Owner
	}
	if k.Tombstone = c.graves.by(id, author); k.Tombstone == nil && r == nil {
		k.Tombstone = c.graves.any(id)
	}
	if r != nil && k.Tombstone != nil && k.Tombstone.over() {
		// What is kept although its owner has finished is another answer. An owner that asks has lost its own.
		k.Held = full && k.Tombstone.Reason == Finished && c.kept.owned(id, asker)
		return k
	}
	if r == nil { // it was forgotten; beside an answer the manifest is still there
		k.Held = full && c.kept.owned(id, asker)
		return k
	}
	if (r.lost && k.Claim == nil) || r.own.what == submitting ||
		(r.mine && r.state.Ended() && r.state != StateRefused) {
		return k
	}
	switch {
	case k.Claim != nil:
	case r.answered != nil:
		k.Claim, k.Over = r.answered, r.state.Ended() && !r.onlyKept
	case len(r.claims.list) > 0:
		claim := r.claims.list[0].Claim // the list changes while the answer is sent
		k.Claim = &claim
	}
	k.Led = k.Claim != nil && r.claims.hasLed(k.Claim.Author)
	// Those who leave it alone would keep it in each other's minds when nobody computes it any more.
	k.Known = !r.lost && (r.mine || !r.state.Ended() || r.rosters.benched)
	k.Roster, k.RosterAge = c.Musters.told(r)
	if full {
		k.Manifest = r.m.Sealed
		k.Held = k.Manifest == nil && c.kept.owned(id, asker)
	}
	return k
}

// InProgress lists at most so many runs that go on here.
func (t *table) InProgress(most int) (ids []RunID) {
	for _, r := range t.sorted {
		if !r.state.Ended() && r.own.what != submitting && len(ids) < most {
			ids = append(ids, r.m.Run)
		}
	}
	return ids
}

// OwnTombstones are the newest of own runs.
func (c *Core) OwnTombstones() (list []*Tombstone) {
	for _, id := range c.own.newest {
		if s := c.graves.by(id, c.self); s != nil {
			list = append(list, s)
		}
	}
	return list
}

// ClaimsFor lists the claims of the answers that are kept for a peer.
func (c *Core) ClaimsFor(owner PeerID) []Claim { return c.kept.claims(owner) }

// Holds says where an outcome is that is kept for another peer; 0 if it is not here.
func (c *Core) Holds(id RunID, hash Hash) File {
	if n := c.kept.of[id]; n != nil {
		for _, a := range n.answers {
			if a.Hash == hash && a.written {
				return a.file
			}
		}
	}
	return 0
}

// Keeps says whether an answer of a run is kept for its owner.
func (c *Core) Keeps(id RunID) bool { return c.kept.claim(id) != nil }

// Run is a run for people.
func (t *table) Run(id RunID) (Info, bool) {
	r := t.runs[id]
	if r == nil || r.own.what == submitting {
		return Info{}, false
	}
	return t.info(r), true
}

// Runs lists all of them.
func (t *table) Runs() []Info {
	list := make([]Info, 0, len(t.sorted))
	for _, r := range t.sorted {
		if r.own.what != submitting {
			list = append(list, t.info(r))
		}
	}
	return list
}
