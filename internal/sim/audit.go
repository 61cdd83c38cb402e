package sim

import (
	"time"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// audit is the account of every job of a run; nil keeps none.
type audit struct {
	world *world
	ran   map[uint64]ranBefore     // by the leaf's key
	first map[uint64]steal.Address // who ran it first
	nodes map[job.Identity]Node
	heard map[uint64]bool // by path: jobs that were told of, and whether they were begun again nevertheless
}

// ranBefore says how a leaf has run: each of its runs but one must have been marked as restarted.
type ranBefore uint8

const (
	ranAtFirst ranBefore = 1 << iota
	ranAgain
)

func newAudit(w *world) *audit {
	return &audit{world: w, ran: make(map[uint64]ranBefore), first: make(map[uint64]steal.Address),
		nodes: make(map[job.Identity]Node), heard: make(map[uint64]bool)}
}

// leaf notes that a leaf has run.
func (a *audit) leaf(p *peer, e *entry) {
	if a == nil {
		return
	}
	how := ranAtFirst
	if e.again {
		how = ranAgain
	}
	before := a.ran[e.node.Key]
	if before == 0 {
		a.first[e.node.Key] = p.address()
	} else {
		a.world.counts.Again++
		a.world.counts.AgainWork += time.Duration(a.world.cfg.Tree.Cost(e.node))
		if by := a.world.of(a.first[e.node.Key].Peer); by.alive && by.address() == a.first[e.node.Key] {
			a.world.counts.AgainInVain++
		}
	}
	if before&how&ranAtFirst != 0 && a.world.counts.Repeated == 0 { // a message that comes twice may bring a job twice
		panic(violation(hasCause, "%s runs job %s, which has run before, and neither was restarted", p.id,
			p.engine.path(e.place)))
	}
	a.ran[e.node.Key] = before | how
}

// told notes of which jobs the swarm has heard.
func (a *audit) told(ts []steal.Tuple) {
	if a == nil {
		return
	}
	for i := range ts {
		k := claimOf(job.RunID{}, ts[i].Path, Node{})
		if _, known := a.heard[k]; !known {
			a.heard[k] = false
			a.world.counts.Orphans++
		}
	}
}

// begins notes that a job begins: in vain if the swarm has heard that somebody has it.
func (a *audit) begins(p *peer, e *entry) {
	if a == nil || !e.again || len(a.heard) == 0 {
		return
	}
	k := claimOf(job.RunID{}, p.engine.path(e.place), Node{})
	if again, known := a.heard[k]; known && !again {
		a.heard[k] = true
		a.world.counts.OrphansAgain++
	}
}

// restored checks an outcome that a checkpoint gives back.
func (a *audit) restored(part *steal.Partial) {
	if a == nil {
		return
	}
	w := a.world
	if _, least := w.cfg.Tree.(Least); least {
		return // what was pruned, and rightly, has another result
	}
	n, known := a.nodes[part.Identity]
	o, ok := decodeOutcome(part.Outcome)
	var total Totals
	want, _ := sequential(w.cfg.Tree, n, 0, &total, nil)
	if !known || !ok || o.claim != claimOf(w.run, part.Path, n) || o.result != want {
		panic(violation(storedIsTrue,
			"a checkpoint says of job %s that it comes to %x of %d leaves, and it is %x of %d",
			part.Path, o.result.Sum, o.result.Leaves, want.Sum, want.Leaves))
	}
}

// end checks that jobs went back for reasons that add up.
func (a *audit) end() {
	if a == nil {
		return
	}
	c, most := &a.world.counts, vainFew+uint64(len(a.ran))/vainShare
	if again := a.world.cfg.MostAgain; again > 0 && c.AgainWork > again {
		panic(violation(nothingInVain, "%v of work ran again, for a fault that passed, want %v at most", c.AgainWork, again))
	}
	switch {
	case !a.world.cfg.Frugal:
	case c.AgainInVain > most:
		panic(violation(nothingInVain, "%d of %d leaves ran again although who ran them is still there",
			c.AgainInVain, len(a.ran)))
	case c.Killed == 0 && c.Again > most:
		panic(violation(nothingInVain, "%d of %d leaves ran again although nobody crashed", c.Again, len(a.ran)))
	}
	s := a.world.steals()
	why := s.PutBackLostThief + s.PutBackInventory + s.PutBackUnsent + s.PutBackReturned + s.PutBackTooLarge +
		s.PutBackUnusable
	if s.JobsPutBack != why {
		panic(violation(hasCause, "%d jobs went back, for %d reasons", s.JobsPutBack, why))
	}
}
