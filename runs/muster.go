package runs

import (
	"fmt"
	"slices"
	"time"
)

// musters keep to rosters, and make them where this peer coordinates a run.
//
// # Who may say who takes part
//
// Only a run that adapts has rosters. Its owner may always make one. A deputy may while it sits: while the owner and
// all deputies before it are silent, or have said nothing about the roster for as long as one counts. Others never
// may, also if they hold the root: then the last roster lapses, and everybody takes part.
//
// # What holds
//
//   - The owner, the author of the roster and whoever holds the root are never out by it.
//   - Of one author the highest number counts, of several the owner's, then that of the first deputy.
//   - A roster that its author does not repeat for Config.RosterLife counts no more: no run starves because all
//     that were left of it are gone. Who passes one on says when it has heard the author, so it lapses everywhere at
//     about the same time, and cannot be kept alive by peers that tell it to each other.
//   - Whoever is out leaves as if it left the swarm: it hands over what it has. It keeps the manifest, and comes back
//     when it may; its other runs do not notice.
type musters struct{ *table }

// adapts says whether a run has rosters at all. Where the owner compares what others compute, it has the root, and
// divides the others among themselves by its own measure.
func (m *Manifest) adapts() bool { return m.Adapt != "" && m.Verify == "" }

// firstWanted is how many peers a run wants before anything was measured: whoever pays for machines begins with few.
func (m *Manifest) firstWanted() int {
	if m.Adapt == "paper" && m.MinPeers > 0 {
		return m.MinPeers
	}
	return m.MaxPeers
}

// maySay says whether a peer may make rosters of a run at present.
func (x *musters) maySay(r *run, id PeerID) bool {
	if id == r.m.Owner {
		return true
	}
	return r.m.isDeputy(id) && !slices.ContainsFunc(r.m.before(id), func(b PeerID) bool {
		if b == x.self {
			return r.holdsRoot
		}
		return x.view.Alive(b) && x.now.Sub(r.rosters.last(b, r.began)) < x.cfg.RosterLife
	})
}

// Rostered takes a roster in, from anywhere; from is who passed it on.
func (c *Core) Rostered(now time.Time, s *Roster, from PeerID) []Order {
	return c.do(now, func() {
		switch r := c.runs[s.Run]; {
		case s.Author == c.self:
		case r == nil:
			c.announced(s.Run, from)
		default:
			c.Musters.hear(r, s, 0, from)
			c.Musters.keepTo(r)
		}
	})
}

// begin takes part in a run that was just heard of, unless this peer is out by what was told with it.
func (x *musters) begin(r *run, s *Roster, age time.Duration) {
	x.hear(r, s, age, "")
	r.state, r.rosters.benched = StateRefused, true
	if r.why = x.why(r); r.why == "" {
		r.state, r.rosters.benched = StateRunning, false
		x.start(r, false)
	}
}

// hear takes a roster in; age is for how long from has not heard its author.
func (x *musters) hear(r *run, s *Roster, age time.Duration, from PeerID) {
	switch {
	case s == nil || s.Run != r.m.Run || !r.m.adapts() || r.over() || age >= x.cfg.RosterLife:
	case !x.maySay(r, s.Author):
		x.note(s.Run, "%s says who takes part, and may not", s.Author)
	default:
		r.rosters.put(s, from, x.now.Add(-max(age, 0)))
	}
}

// counting is the roster that counts of a run, and when its author was heard; nil if there is none.
func (x *musters) counting(r *run) *saying {
	for _, id := range append([]PeerID{r.m.Owner}, r.m.Deputies...) {
		if s := r.rosters.said[id]; s != nil && x.now.Sub(s.heard) < x.cfg.RosterLife {
			return s
		}
	}
	return nil
}

// A Muster is what a coordinator wants of the next roster.
type Muster struct {
	Wanted int
	Out    []Outsider
	Log    []RosterEntry // what is new
}

// Muster makes the next roster of a run that this peer coordinates. Where it does not, nothing comes of it.
func (x *musters) Muster(now time.Time, id RunID, w *Muster) []Order {
	return x.do(now, func() {
		if r := x.runs[id]; r != nil && x.coordinates(r) {
			x.make(r, w)
		}
	})
}

// Coordinates says whether this peer may decide who takes part in a run.
func (x *musters) Coordinates(id RunID) bool {
	r := x.runs[id]
	return r != nil && x.coordinates(r)
}

func (x *musters) coordinates(r *run) bool {
	return r.m.adapts() && r.holdsRoot && r.state == StateRunning && r.started && x.maySay(r, x.self)
}

func (x *musters) make(r *run, w *Muster) {
	s := &Roster{Run: r.m.Run, Author: x.self, Number: r.rosters.next(x.self, x.cfg.first()), Wanted: w.Wanted,
		Out: fitting(w.Out), Until: r.m.Expires}
	if old := x.counting(r); old != nil {
		s.Log = old.Log
	}
	s.Log = slices.Concat(s.Log, w.Log)
	s.Log = s.Log[max(0, len(s.Log)-MaxRosterLog):]
	if s.Sealed = x.signer.Enroll(s); s.Sealed == nil {
		if !r.rosters.troubled {
			x.warn(r.m.Run, "its roster cannot be signed")
		}
		r.rosters.troubled = true
		return
	}
	r.rosters.put(s, x.self, x.now)
	r.rosters.again.begin(x.now)
	x.order(TellRoster{*s})
}

// fitting are the first of those that are out that a roster has room for.
func fitting(out []Outsider) []Outsider {
	size := 0
	for i := range out {
		size += 32 + len(out[i].Cluster) + len(out[i].Peer)
		if size > maxRosterBytes || i == MaxOutsiders {
			return out[:i]
		}
	}
	return out
}

// keepUp repeats this peer's roster while it coordinates, makes the first one, and keeps to what counts.
func (x *musters) keepUp(r *run) {
	if !r.m.adapts() || r.over() {
		return
	}
	if x.coordinates(r) {
		switch mine, old := r.rosters.said[x.self], x.counting(r); {
		case mine == nil || mine != old:
			w := &Muster{Wanted: r.m.firstWanted()}
			if old != nil && (x.self != r.m.Owner || old.Author == x.self) {
				// of who coordinated before; an owner who comes back begins anew
				w.Wanted, w.Out = old.Wanted, old.Out
			}
			x.make(r, w)
		case r.rosters.again.due(x.now, x.cfg.AnnounceEvery):
			mine.heard = x.now
			x.order(TellRoster{*mine.Roster})
		}
		x.provision(r)
	}
	x.keepTo(r)
}

// keepTo leaves a run when this peer is out, and comes back when it is not any more.
func (x *musters) keepTo(r *run) {
	why := x.why(r)
	switch {
	case why != "" && r.state == StateRunning && r.started:
		x.note(r.m.Run, "leaving it: %s", why)
		r.state, r.why, r.ended, r.started, r.rosters.benched = StateRefused, why, x.now, false, true
		x.order(Stop{Run: r.m.Run, State: StateRefused, Why: why, HandOver: true})
	case why != "" && r.rosters.benched && r.state == StateRefused:
		r.why = why // another one, perhaps
	case why == "" && r.rosters.benched && r.state == StateRefused:
		x.note(r.m.Run, "this peer is wanted again")
		r.state, r.why, r.ended, r.rosters.benched = StateRunning, "", time.Time{}, false
		x.start(r, false)
	}
}

// why says for what this peer is out of a run; "" if it is in.
func (x *musters) why(r *run) string {
	s := x.counting(r)
	if s == nil || r.mine || r.holdsRoot || s.Author == x.self {
		r.rosters.crowded = time.Time{}
		return ""
	}
	if s.Excludes(x.self, x.view.Cluster(x.self)) {
		return "its coordinator does without this peer at present"
	}
	if s.Wanted == 0 || x.seated(r, s)[x.self] {
		r.rosters.crowded = time.Time{}
		return ""
	}
	if r.rosters.crowded.IsZero() {
		r.rosters.crowded = x.now
	}
	if !r.rosters.benched && x.now.Sub(r.rosters.crowded) < x.cfg.RosterLife/4 {
		return "" // somebody may have been silent for a moment
	}
	return fmt.Sprintf("it wants no more than %d peers at present", s.Wanted)
}

func (x *musters) everybody(r *run) []PeerID { return append(x.view.Partners(r.m), x.self) }

// seated are the peers that a roster has room for.
func (x *musters) seated(r *run, s *saying) map[PeerID]bool {
	return s.seated(r.m, x.everybody(r), x.view)
}

// Seated says of each peer whether it may take part in a run, as far as this one knows; barred, whether it is out by
// name or by cluster.
func (x *musters) Seated(id RunID) (in, barred func(PeerID) bool) {
	r := x.runs[id]
	var s *saying
	if r != nil {
		s = x.counting(r)
	}
	if s == nil {
		return func(PeerID) bool { return true }, func(PeerID) bool { return false }
	}
	barred = func(id PeerID) bool {
		return id != r.m.Owner && id != s.Author && s.Excludes(id, x.view.Cluster(id))
	}
	if s.Wanted == 0 {
		return func(id PeerID) bool { return !barred(id) }, barred
	}
	seated := x.seated(r, s)
	return func(id PeerID) bool { return seated[id] }, barred
}

// told is the roster that others are told who ask. One of this peer's own would be a sign to them that it still counts,
// also while another one holds the root, and nobody could make the next: so it is told only by who coordinates. The age
// is for how long its author was not heard.
func (x *musters) told(r *run) (s *Roster, age time.Duration) {
	now := x.counting(r)
	if now == nil || now.Author == x.self && !x.coordinates(r) {
		return nil, 0
	}
	return now.Roster, x.now.Sub(now.heard)
}

// Roster is the one that counts of a run; nil if there is none.
func (x *musters) Roster(id RunID) *Roster {
	if r := x.runs[id]; r != nil {
		if s := x.counting(r); s != nil {
			return s.Roster
		}
	}
	return nil
}
