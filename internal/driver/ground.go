package driver

import (
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
)

// What the root's argument names
//
// A root has no victim from whom to get what its argument names, and a read in it that fails would be the run's end. So
// it begins only when all that is here, however long that takes, and keeps it pinned. The owner has it from whoever has
// handed the run in (Lend). Whoever may have to begin the root after it gets it from the start on (Config.Holds), lest
// it be lost with its owner; anybody else when it is to begin the root.

// ground is what the root's argument names, which waits in the core of what is shared like the needs of a job that
// never ends. A nil *ground is that of a run whose root names nothing.
type ground struct {
	needs  []sharedobj.Need
	asked  bool // the core knows, or is to know at again
	ready  bool
	again  time.Duration
	victim sharedobj.PeerID // has it, if anybody has
	root   *steal.Order     // waits for it
	said   string           // to the user, last
}

const (
	groundID = sharedobj.JobID(1) << 62 // tells it from segments, and from results
	// groundRest is after how long what could not be held is tried again.
	groundRest = 10 * time.Second
)

func newGround(cfg *Config) *ground {
	if len(cfg.Argument) == 0 || cfg.Shared == nil {
		return nil
	}
	g := &ground{asked: cfg.Holds, victim: cfg.Owner}
	for _, d := range cfg.Argument {
		g.needs = append(g.needs, sharedobj.Need{Digest: d})
	}
	return g
}

// next is when the core is to be told; false if it knows.
func (g *ground) next() (time.Duration, bool) {
	if g == nil {
		return 0, false
	}
	return g.again, g.asked && g.again >= 0
}

// tickGround has the core get what is wanted.
func (s *shared) tickGround(now time.Duration) {
	if at, due := s.ground.next(); due && at <= now {
		s.ground.again = -1
		s.absorb(s.core.JobCame(now, sharedobj.Job{ID: groundID, Victim: s.ground.victim, Needs: s.ground.needs,
			Stays: true}))
	}
}

// holdsRoot says whether the root has to wait.
func (s *shared) holdsRoot(o *steal.Order) bool {
	if s == nil || s.ground == nil || s.ground.ready {
		return false
	}
	waiting := *o
	s.ground.root = &waiting
	if !s.ground.asked {
		s.ground.asked, s.ground.again = true, s.d.now
	}
	s.tickGround(s.d.now)
	return true
}

// laid is called when all of it is here, or, for a reason, cannot be.
func (s *shared) laid(why error) {
	g := s.ground
	if why != nil {
		if text := "what the run's argument names is not here: " + why.Error(); text != g.said {
			g.said = text
			s.out.Note(text)
		}
		g.again = s.d.now + groundRest
		return
	}
	if g.ready = true; g.root != nil {
		runSegment(s.d, g.root)
		g.root = nil
	}
}

// gaveUp says whether a segment is the root that waits, which need not begin any more.
func (s *shared) gaveUp(id steal.SegmentID) bool {
	if s == nil || s.ground == nil || s.ground.root == nil || s.ground.root.Segment != id {
		return false
	}
	s.ground.root = nil
	s.d.neverBegan++
	s.d.inputs.push(input{kind: happened, now: s.d.now, event: port.Event{Kind: port.LoadChanged, Load: s.d.load}})
	return true
}

// A Lack is what a root that waits for its input has not got.
type Lack struct {
	Here uint64             // about so many bytes are here
	From []sharedobj.PeerID // who is bringing the rest
	Why  string             // it cannot be held here at the moment; "": nothing is known against it
}

// lack is nil if the root does not wait here.
func (s *shared) lack() *Lack {
	g := s.ground
	if g == nil || g.root == nil {
		return nil
	}
	l := &Lack{}
	if l.Here, l.From = s.core.Got(groundID); g.again > 0 {
		l.Why = g.said
	}
	return l
}

// Lend says that this peer has something that the root's argument names.
func (d *Driver) Lend(now time.Duration, r *sharedobj.Recipe, state *sharedobj.Body) {
	d.feed(input{kind: lent, now: now, event: port.Event{Shared: &port.Shared{Recipe: r, State: state}}})
}
