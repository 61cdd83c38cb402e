package runs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// A Refused is a run, or all runs of an owner, that the user of this peer does not want here.
type Refused struct {
	Run   RunID  // if Owner is ""
	Owner PeerID // whose runs
}

// refusals are those, as they are on the disk.
type refusals struct {
	*table
	of map[Refused]bool
	// asked has the commands that wait for the disk, oldest first.
	asked []change
}

// A change is one command, and what the set is to be by it.
type change struct {
	ticket Ticket
	what   Refused
	lift   bool
}

// why is the reason for not taking part in a run; "" if there is none.
func (s *refusals) why(m *Manifest) string {
	switch {
	case s.of[Refused{Run: m.Run}]:
		return "refused here: satin-peer refuse --lift " + m.Run.Hex() + " takes that back"
	case s.of[Refused{Owner: m.Owner}]:
		return fmt.Sprintf("all runs of %s are refused here: satin-peer refuse --lift takes that back", m.Owner)
	}
	return ""
}

// list is in an order that is always the same.
func (s *refusals) list() []Refused {
	return slices.SortedFunc(maps.Keys(s.of), func(a, b Refused) int {
		return cmp.Or(cmp.Compare(a.Owner, b.Owner), slices.Compare(a.Run[:], b.Run[:]))
	})
}

// ask is the command.
func (s *refusals) ask(t Ticket, what Refused, lift bool) {
	r := s.runs[what.Run]
	switch {
	case what.Owner == s.self, what.Owner == "" && r != nil && r.mine:
		s.order(Reply{t, what.Run, &Refusal{Refuse, "that is this peer's own: satin-peer cancel ends it"}})
		return
	case lift && !s.of[what]:
		s.order(Reply{t, what.Run, &Refusal{NotFound, "it is not refused here"}})
		return
	case !lift && !s.of[what] && len(s.of) >= s.cfg.Refused:
		s.order(Reply{t, what.Run, &Refusal{Refuse, fmt.Sprintf(
			"%d runs and owners are refused here, and at most %d can be: lift one", len(s.of), s.cfg.Refused)}})
		return
	case lift:
		delete(s.of, what)
	default:
		s.of[what] = true
	}
	s.asked = append(s.asked, change{t, what, lift})
	s.apply()
	s.order(WriteRefused{s.list()})
}

// apply ends what is not wanted, and forgets what was not wanted and is: it is taken up when it is heard of.
func (s *refusals) apply() {
	for _, r := range s.sorted {
		why := s.why(r.m)
		switch {
		case r.mine:
		case why != "" && !r.state.Ended():
			s.end(r, StateRefused, why, true)
			r.unwanted = true
		case why != "" && r.state == StateRefused:
			r.why, r.unwanted, r.rosters.benched = why, true, false
		case why == "" && r.unwanted && r.state == StateRefused:
			s.set(r.m.Run, nil)
			s.order(Forget{r.m.Run})
		}
	}
}

// written answers the oldest command.
func (s *refusals) written(trouble string) {
	if len(s.asked) == 0 {
		return
	}
	a := s.asked[0]
	s.asked = s.asked[1:]
	if trouble == "" {
		s.order(Reply{a.ticket, a.what.Run, nil})
		return
	}
	s.order(Reply{a.ticket, a.what.Run, &Refusal{Unavailable,
		"it is so now, but cannot be written down, and is forgotten when this peer is started again: " + trouble}})
}

// outlived ends another peer's run that has been here for as long as the volunteer allows. Its owner's clock is
// believed only to make it older. One that is not that old after all, as this peer's clock was wrong, is taken up again
// when it is heard of; so what is kept of it stays until the clock is believed.
func (s *refusals) outlived(r *run) bool {
	since := r.began
	if made := time.Unix(r.m.Created, 0); made.Before(since) {
		since = made
	}
	most := s.cfg.LongestLife
	sure := s.now.Sub(r.began) >= most || s.day.Date.Sub(time.Unix(r.m.Created, 0)) >= most
	switch old := most > 0 && !r.mine && s.now.Sub(since) >= most; {
	case old && !r.state.Ended():
		s.end(r, StateRefused, fmt.Sprintf("it is older than %s, which is the longest that runs of others may live here",
			most), sure)
		r.outlived, r.doubtful = true, !sure
	case old && sure && r.doubtful && r.state == StateRefused:
		r.doubtful = false
		s.order(Discard{r.m.Run})
	case !old && r.outlived && r.state == StateRefused:
		s.set(r.m.Run, nil)
		s.order(Forget{r.m.Run})
	default:
		return false
	}
	return true
}

// Refuse has this peer take no part in a run, or in any of an owner, until that is lifted: at once, and, when the
// command is answered, after a restart too.
func (c *Core) Refuse(now time.Time, t Ticket, what Refused, lift bool) []Order {
	return c.do(now, func() { c.refusals.ask(t, what, lift) })
}

// Refused lists what the user of this peer does not want here.
func (c *Core) Refused() []Refused { return c.refusals.list() }
