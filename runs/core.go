package runs

import (
	"cmp"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/calendar"
)

// Core is what one peer knows and decides about runs. Each input says what time it is, and gives the orders that follow
// from it. The date may be set forward and back between two of them; what passes is counted by the other reading that
// time.Now has.
type Core struct {
	table
	Deaths   mourners // what is known of jobs that kill the process which computes them
	Musters  musters  // who takes part
	own      own
	others   others
	kept     kept
	dormant  dormant
	fetches  *fetches
	refusals refusals
}

// New makes the core of a peer that knows of no run.
func New(cfg Config, self PeerID, view View, signer Signer) *Core {
	c := &Core{
		table: table{cfg: cfg, day: calendar.Calendar{Seen: cfg.Seen}, self: self, view: view, signer: signer,
			runs:   map[RunID]*run{},
			graves: newTombstones(self, cfg.Graves, cfg.GravesOf, view.Admitted)},
		fetches: newFetches(&cfg),
	}
	c.refusals = refusals{table: &c.table, of: map[Refused]bool{}}
	c.own.table, c.others.table, c.kept.table, c.dormant.table = &c.table, &c.table, &c.table, &c.table
	c.Deaths.table, c.Musters.table = &c.table, &c.table
	c.kept.of, c.dormant.of = map[RunID]*keptRun{}, map[RunID]*sleeper{}
	return c
}

// Tick is wanted every second: own runs are announced again, others asked after, claims weighed, and what is old is
// forgotten.
func (c *Core) Tick(now time.Time) []Order {
	return c.do(now, func() {
		for _, r := range c.sorted {
			if !c.refusals.outlived(r) {
				c.keepUp(r)
			}
		}
		for _, s := range c.dormant.tick() {
			c.adopt(&Told{Manifest: s.m, Unfit: s.unfit})
		}
		c.graves.expire(&c.day)
		c.kept.tick()
		c.forget()
	})
}

func (c *Core) keepUp(r *run) {
	goesOn := !r.state.Ended() && r.own.what != submitting
	switch {
	case goesOn && c.day.Reached(r.m.Expires) && r.mine && r.writing == nil && r.own.what == nothing &&
		c.now.Sub(r.refused) >= rewriteEvery:
		// What is kept of it is of use to a new run, and to itself if the clock was wrong.
		r.refused = c.now // if it is
		c.warn(r.m.Run, "%s: it is being suspended", expired)
		c.own.suspend(0, r.m.Run)
		return
	case !r.mine && !r.over() && c.day.Reached(r.m.Expires):
		r.lost = true // if the clock was wrong, it will be heard of again
		c.end(r, StateCancelled, expired, true)
		return
	case r.mine && len(r.claims.list) > 0:
		c.own.pursue(r)
	case !r.mine && !r.over() && len(r.claims.list) > 0:
		c.others.weigh(r)
	}
	// One that is refused here goes on elsewhere until it expires: who has missed that it was resumed would not ask.
	if r.mine && (goesOn && !r.state.Ended() || r.state == StateRefused && !c.day.Reached(r.m.Expires)) &&
		r.again.due(c.now, c.cfg.AnnounceEvery) {
		c.order(Announce{r.m.Run})
	}
	if r.unkept != nil && r.writing == nil && c.now.Sub(r.refused) >= rewriteEvery {
		r.writing = r.unkept
		c.order(WriteAnswer{AnswerFile, r.m.Run, r.writing})
	}
	if uncertain(r) {
		c.others.askAround(r)
	}
	c.others.letGo(r)
	c.Deaths.keepUp(r)
	c.Musters.keepUp(r)
}

// Announced says that somebody spoke of a run, or works on it.
func (c *Core) Announced(now time.Time, id RunID, from PeerID) []Order {
	return c.do(now, func() { c.announced(id, from) })
}

func (c *Core) announced(id RunID, from PeerID) {
	r, said := c.runs[id], c.graves.by(id, from)
	switch {
	case from == c.self:
	case r != nil && !r.lost:
		r.heard = c.now
	case said != nil && said.Reason.Final():
	case r != nil && r.lost && c.graves.over(id, r.m.Owner) && from != r.m.Owner: // the owner may have resumed it
	case c.fetches.begin(id, from, c.now):
		c.order(Fetch{id, from})
	}
}

// Told is what a peer has said of a run.
type Told struct {
	Run       RunID
	From      PeerID
	Failed    bool // it did not answer
	Manifest  *Manifest
	Unfit     string // why this peer cannot take part; with Manifest
	Roster    *Roster
	RosterAge time.Duration // for how long From has not heard the author of Roster
	Tombstone *Tombstone
	Claim     *Claim
	Over      bool // the run is over there because of Claim
	Led       bool // its author was heard there to lead the run
	Known     bool // it goes on there
}

// Fetched is the end of Fetch.
func (c *Core) Fetched(now time.Time, t *Told) []Order {
	return c.do(now, func() {
		c.fetches.done(t.Run, t.From)
		if t.Manifest == nil && c.runs[t.Run] == nil {
			t.Claim = nil // asking the same one again at once would leave nobody else his turn
		}
		if !t.Failed {
			c.bury(t.Tombstone)
		}
		c.told(t)
	})
}

// Asked is the end of Ask.
func (c *Core) Asked(now time.Time, t *Told) []Order {
	return c.do(now, func() {
		r := c.runs[t.Run]
		if r != nil {
			r.asking = max(r.asking-1, 0)
			if t.Known && !t.Failed {
				r.heard = now
			}
			if t.Known && !t.Failed && !t.Over {
				r.claims.opposed(t.From)
			}
		}
		if !t.Failed {
			c.bury(t.Tombstone)
		}
		if s := c.dormant.told(t.Run, !t.Failed && (t.Known || t.Claim != nil)); s != nil {
			c.adopt(&Told{Manifest: s.m, Unfit: s.unfit})
		}
		c.told(t)
		if r != nil && !t.Failed && !t.Known && t.Tombstone == nil && t.Claim == nil {
			c.others.unknownTo(r, t.From)
		}
	})
}

// told takes in what somebody says of a run, but for a tombstone.
func (c *Core) told(t *Told) {
	if t.Failed {
		return
	}
	if t.Manifest != nil {
		c.adopt(t)
	} else if r := c.runs[t.Run]; r != nil {
		c.Musters.hear(r, t.Roster, t.RosterAge, t.From)
		c.Musters.keepTo(r)
	}
	if t.Claim != nil {
		c.claimed(t.Claim, t.From, t.Over, t.Led)
	}
}

// adopt takes up a run whose manifest has come, or was here.
func (c *Core) adopt(t *Told) {
	m := t.Manifest
	old := c.runs[m.Run]
	switch {
	case old != nil && !old.lost:
	case m.Owner == c.self:
		c.own.takeUp(m, t.Unfit, t.Over && t.Claim != nil) // it may have been beside an answer
	case c.graves.over(m.Run, m.Owner):
	default:
		why := c.refusals.why(m)
		if c.others.adopt(m, cmp.Or(why, t.Unfit)) {
			c.Musters.begin(c.runs[m.Run], t.Roster, t.RosterAge)
		}
		if r := c.runs[m.Run]; r != nil {
			r.unwanted, r.unfit = why != "", why == "" && t.Unfit != ""
		}
	}
}

// Buried takes in a tombstone, from anywhere.
func (c *Core) Buried(now time.Time, s *Tombstone) []Order { return c.do(now, func() { c.bury(s) }) }

func (c *Core) bury(s *Tombstone) {
	if s == nil {
		return
	}
	r := c.runs[s.Run]
	if r != nil && r.m.Owner != s.Author {
		c.note(s.Run, "%s buries a run of %s", s.Author, r.m.Owner)
		return
	}
	c.kept.release(s)
	switch {
	case r != nil && r.mine && s.Reason == Suspended && (r.own.what != nothing || r.writing != nil):
		// Something is being written down of it. Others are asked again after it, and tell this again.
	case !c.graves.put(s) || r == nil:
	case r.mine:
		c.own.remembered(r, s)
	default:
		c.others.buried(r, s)
	}
}

// Claimed takes in the claim that a run is answered; from is who passed it on.
func (c *Core) Claimed(now time.Time, k *Claim, from PeerID) []Order {
	return c.do(now, func() { c.claimed(k, from, false, false) })
}

func (c *Core) claimed(k *Claim, from PeerID, over, led bool) {
	r := c.runs[k.Run]
	switch {
	case k.Author == c.self: // this peer's own
	case r == nil: // if it is an own one of which nothing is written down, whoever tells of the claim has its manifest
		c.announced(k.Run, from)
	case r.m.Verify != "": // nobody but the owner can have come to an answer
	case r.mine: // while it has the root, that another one led says little
		c.own.claimed(r, k, from, over || led && !r.holdsRoot)
	default:
		c.others.claimed(r, k, from, over)
	}
}

// AnswerFetched is the end of FetchAnswer: the outcome, compared with the claim's hash, or why there is none.
func (c *Core) AnswerFetched(now time.Time, k *Claim, out Outcome, trouble string) []Order {
	return c.do(now, func() { c.own.fetched(c.runs[k.Run], k, out, trouble) })
}

// RootEnded is the outcome of a root job that ended here, or that a checkpoint has.
func (c *Core) RootEnded(now time.Time, id RunID, out Outcome) []Order {
	return c.do(now, func() {
		switch r := c.runs[id]; {
		case r == nil:
		case r.mine:
			c.own.rootEnded(r, out)
		default:
			c.kept.finished(r, out)
		}
	})
}

// RootHeld says whether the root job of a run is here.
func (c *Core) RootHeld(now time.Time, id RunID, here bool) []Order {
	return c.do(now, func() {
		if r := c.runs[id]; r != nil && r.started {
			r.holdsRoot = here
			c.Musters.keepTo(r)
		}
	})
}

// Led says that a peer was heard to hold a run's root, which has begun: its beacon, and from nobody else.
func (c *Core) Led(now time.Time, id RunID, master PeerID) []Order {
	return c.do(now, func() {
		r := c.runs[id]
		if r == nil || !r.started || master == c.self || r.holdsRoot && slices.Contains(r.m.before(master), c.self) {
			return
		}
		r.claims.heard(r.m, master, c.now, &c.cfg)
	})
}

// NotStarted is why Start could not be carried out, or why this peer cannot, or shall not, go on. With "" that is so
// no longer, and a refused run is taken up after all: an own one at once, another's when it is heard of next.
func (c *Core) NotStarted(now time.Time, id RunID, why string) []Order {
	return c.do(now, func() {
		switch r := c.runs[id]; {
		case r == nil, r.rosters.benched:
		case why != "" && r.started:
			r.leave(&c.table, why)
		case why != "" || r.state != StateRefused:
		case r.mine:
			r.state, r.why, r.ended = StateRunning, "", time.Time{}
			c.start(r, false)
		default:
			r.lost = true // and not forgotten: what is kept of it goes when it is over
		}
	})
}

// Revoked ends the runs of others whose owners are out, also those that are to be taken up from the disk.
func (c *Core) Revoked(now time.Time, out func(*Manifest) bool) []Order {
	return c.do(now, func() {
		for _, r := range c.sorted {
			if !r.mine && !r.over() && out(r.m) {
				c.end(r, StateCancelled, "its owner was put out of the swarm", true)
			}
		}
		c.dormant.revoked(out)
	})
}

// Written is the end of one of the orders that write.
func (c *Core) Written(now time.Time, file File, id RunID, trouble string) []Order {
	return c.do(now, func() {
		r := c.runs[id]
		switch {
		case file == RefusedFile:
			c.refusals.written(trouble)
		case file == HeldFile || file == RivalFile:
			c.kept.wrote(id, file, trouble)
		case r == nil:
		case file == OwnFile:
			c.own.written(r, trouble)
			c.Musters.keepUp(r) // whoever hears of it is told at once whether it is wanted
		case file == CancelledFile:
			c.own.cancelled(r, trouble)
		case file == AnswerFile:
			c.own.answerWritten(r, trouble)
		case file == DisputeFile && trouble != "":
			c.warn(id, "the second answer could not be kept: %s", trouble)
		}
	})
}
