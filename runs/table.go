package runs

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/calendar"
)

// table is what the machines of this package share: the runs, the tombstones, and the orders of this input.
type table struct {
	cfg    Config
	self   PeerID
	view   View
	signer Signer
	now    time.Time
	day    calendar.Calendar
	runs   map[RunID]*run
	sorted []*run // by ID; what it was stays as it was for whoever goes through it
	graves *tombstones
	out    []Order
}

// do takes one input.
func (t *table) do(now time.Time, f func()) []Order {
	t.now = now
	t.day.Pass(now, t.cfg.Doubt)
	f()
	out := t.out
	t.out = nil
	return out
}

func (t *table) order(o ...Order) { t.out = append(t.out, o...) }

// note is for the log.
func (t *table) note(id RunID, format string, args ...any) {
	t.order(Note{Run: id, Text: fmt.Sprintf(format, args...)})
}

// warn is for the log, and somebody should see it.
func (t *table) warn(id RunID, format string, args ...any) {
	t.order(Note{Run: id, Bad: true, Text: fmt.Sprintf(format, args...)})
}

// say is warn the first time, and note after that.
func (t *table) say(said *bool, id RunID, format string, args ...any) {
	t.order(Note{Run: id, Bad: !*said, Text: fmt.Sprintf(format, args...)})
	*said = true
}

// set has a run, or nil for none, stand for its name.
func (t *table) set(id RunID, r *run) {
	i, there := slices.BinarySearchFunc(t.sorted, id, func(r *run, id RunID) int {
		return bytes.Compare(r.m.Run[:], id[:])
	})
	list := slices.Clone(t.sorted)
	if there {
		list = slices.Delete(list, i, i+1)
	}
	if delete(t.runs, id); r != nil {
		list, t.runs[id] = slices.Insert(list, i, r), r
	}
	t.sorted = list
}

// end ends a run here. Over for good says that nothing of it is needed on the disk.
func (t *table) end(r *run, state State, why string, forGood bool) {
	if r.over() {
		return
	}
	r.state, r.why, r.ended = state, why, t.now
	r.took = t.took(r, r.answered)
	r.m, r.holdsRoot, r.keeping = r.m.head(), false, nil // nobody asks for the bytes any more
	if !r.mine {
		r.claims = claims{}
	}
	if r.started {
		t.order(Stop{Run: r.m.Run, State: state, Why: why, Discard: forGood})
		r.started = false
	} else if forGood { // it was left alone: what is kept of it, and how often it has killed, is of no use any more
		t.order(Discard{r.m.Run})
	}
	r.rosters.benched = false
	t.order(Over{r.m.Run})
}

// begun is when a run began, or was resumed last: of another peer's by its owner's word, so that all tell the same.
func (t *table) begun(r *run) time.Time {
	if r.mine {
		return r.began
	}
	at := r.m.Created
	if s := t.graves.by(r.m.Run, r.m.Owner); s != nil && s.Reason == Resumed {
		at = max(at, s.At)
	}
	return time.Unix(at, 0)
}

// took is how long a run took that ends now: until it was answered by a claim, whenever that was heard or believed.
func (t *table) took(r *run, by *Claim) time.Duration {
	end := t.now
	if by != nil && by.At < end.Unix() {
		end = time.Unix(by.At, 0)
	}
	return max(0, end.Sub(t.begun(r)))
}

// start begins to take part in a run.
func (t *table) start(r *run, fresh bool) {
	r.started, r.holdsRoot = true, fresh
	t.order(Start{r.m, fresh})
}

// leave ends the part that this peer takes in a run that goes on.
func (r *run) leave(t *table, why string) {
	if !r.mine {
		t.end(r, StateRefused, why, false)
		return
	}
	r.started, r.holdsRoot = false, false
	t.refuse(r, why)
}

// refuse keeps a run in mind that this peer takes no part in.
func (t *table) refuse(r *run, why string) {
	r.state, r.why, r.ended = StateRefused, why, t.now
	if r.mine {
		r.returned = true
	} else {
		r.m = r.m.head()
	}
	t.order(Over{r.m.Run})
}

// confidants are the peers to turn to about a run, besides its owner: its deputies, then the others that take part;
// those that are alive.
func (t *table) confidants(m *Manifest) (list []PeerID) {
	seen := map[PeerID]bool{m.Owner: true, t.self: true}
	for _, id := range slices.Concat(m.Deputies, t.view.Partners(m)) {
		if !seen[id] && t.view.Alive(id) {
			seen[id] = true
			list = append(list, id)
		}
	}
	return list
}

// whomToAsk picks who is asked after a run this time: its owner, if it is alive, and one of the others in turn.
func (t *table) whomToAsk(m *Manifest, turn int) (list []PeerID) {
	if m.Owner != t.self && t.view.Alive(m.Owner) {
		list = append(list, m.Owner)
	}
	if others := t.confidants(m); len(others) > 0 {
		list = append(list, others[turn%len(others)])
	}
	return list
}

// credible says whether the claim of an author may be looked at: of a deputy, whom the owner has chosen, of a
// member, or passed on by one, for its author may be gone. Of such authors each member has one: a name costs nothing.
func (t *table) credible(r *run, author, from PeerID) bool {
	known := func(id PeerID) bool { return r.m.isDeputy(id) || t.view.Admitted(id) }
	return known(author) || from != "" && t.view.Admitted(from) &&
		!slices.ContainsFunc(r.claims.list, func(p pendingClaim) bool {
			return p.from == from && p.Author != author && !known(p.Author)
		})
}

func (t *table) ask(r *run, whom PeerID) {
	r.asking++
	t.order(Ask{r.m.Run, whom})
}

// forget drops the ended runs that are more than need be remembered, oldest first: others', own ones that are
// cancelled, and those with answers apart. Own ones that are suspended stay, and those that something is being done
// about.
func (t *table) forget() {
	if len(t.runs) <= min(t.cfg.Ended, t.cfg.Answers) {
		return
	}
	var others, cancelled, own []*run
	for _, r := range t.sorted {
		switch {
		case !r.state.Ended() || r.writing != nil || r.own.what != nothing || r.own.pending > 0 || r.keeping != nil:
		case !r.mine:
			others = append(others, r)
		case r.state == StateCancelled:
			cancelled = append(cancelled, r)
		case r.state != StateSuspended && r.state != StateRefused:
			own = append(own, r)
		}
	}
	drop := func(list []*run, most int) {
		slices.SortStableFunc(list, func(a, b *run) int {
			return cmp.Or(a.ended.Compare(b.ended), bytes.Compare(a.m.Run[:], b.m.Run[:]))
		})
		for _, r := range list[:max(0, len(list)-most)] {
			t.set(r.m.Run, nil)
			t.order(Forget{r.m.Run})
		}
	}
	drop(others, t.cfg.Ended)
	drop(cancelled, t.cfg.Ended)
	drop(own, t.cfg.Answers)
}
