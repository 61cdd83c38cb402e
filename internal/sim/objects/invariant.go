package objects

import (
	"fmt"
	"time"
)

// What must hold in every world, at every step unless something else is said.
const (
	readsNamed   = "reads-what-was-named" // the value that an engine has under a digest is the one its writer named
	guardHolds   = "guard-holds"          // a job begins when all it names is here and its guard is true
	floorHolds   = "floor-holds"          // and when its parent's values of lattices are joined
	onlyGrows    = "only-grows"           // a lattice loses nothing, its own offers first of all
	valid        = "witness-checked"      // no lattice holds what is not valid
	heeded       = "honest-heeded"        // in the end honest peers take in each other's offers, whatever the liar did
	agree        = "lattices-agree"       // a while after all is calm, all that live have the same values
	inTime       = "fetch-or-give-back"   // a job is ready, or back when nothing has come for a while
	pinnedStays  = "pinned-stays"         // what is pinned is not forgotten
	bounded      = "bounded"              // no core holds more than it may
	onePerLink   = "one-push-per-cluster" // without faults a large write crosses each wide-area link once
	exact        = "branch-and-bound"     // the best tour is found though the peer that knew it first is gone
	comesThrough = "comes-through"        // when all is calm, what a living peer has can be had
	noSpin       = "no-spin"              // no core sends without an end, or wants a tick in the past for ever
	saysOnce     = "says-once"            // a replica that differs is told of once for each object
	answersOnce  = "answers-once"         // a job is ordered ready or back at most once
)

// Violation says which invariant did not hold, when and how.
type Violation struct {
	Invariant string
	At        time.Duration
	Text      string
}

func (v *Violation) Error() string { return fmt.Sprintf("at %v: %s: %s", v.At, v.Invariant, v.Text) }

func (w *World) violate(invariant, format string, args ...any) {
	panic(&Violation{invariant, w.now, fmt.Sprintf(format, args...)})
}
