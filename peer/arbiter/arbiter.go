// Package arbiter divides the cores that the owner of a machine allows among the runs that the machine takes part in,
// turn after turn, and has them rest for a part of their time. Package peer tells it when a turn is over and what was
// used. Everything may be called from any goroutine; it blocks only for what an Allotment's functions do.
package arbiter

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/satin-peer/satin/adapt"
)

// An Arbiter divides this machine's cores among the runs that it takes part in, and keeps what the volunteer allows.
//
// How many each gets is adapt.Divide's to say, with the runs' efficiency as their coordinators tell it. Allotments
// change when a run comes or goes, or has a job and no core, when the volunteer says so, and at every turn. If the
// cores are to rest for a part of their time, a turn has fewer of them.
type Arbiter struct {
	mu         sync.Mutex
	cores      int // that the volunteer allows at most
	rest       int // percentage of their time in which they are to be left alone
	now        int // of them, in this turn, if there is a rest
	paused     bool
	sated      bool // runs take nothing more from others
	clock      throttle
	allotments []*Allotment
	turn       int
}

// New makes one of a machine whose owner allows so many cores.
func New(cores int) *Arbiter { return &Arbiter{cores: cores} }

// restEvery is the same where cores are to rest for a part of their time: what waits for a job here waits for a rest
// to end, which of a small part is many turns.
const restEvery = 50 * time.Millisecond

// aloneFor is how long a turn lasts when there is nobody to take turns with.
const aloneFor = time.Second

// An Allotment is the cores that one run may have.
type Allotment struct {
	Owner string // of the run
	// worth has the bits of the run's efficiency, 0 to 1; 0: it is not known.
	worth atomic.Uint64
	Most  int // the run's own limit
	// Dry says that the run has no work here at the moment.
	Dry func() bool
	// Set tells the run, and whether it has its cores in turns; called with the arbiter's mutex held, so it must not
	// call back.
	Set func(cores int, turns bool)
	// Finish has the run take nothing more, or lifts that; called likewise.
	Finish func(on bool)
	last   int
	turns  bool // as it was told last
}

// Join adds a run.
func (a *Arbiter) Join(s *Allotment) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s.last = -1
	a.allotments = append(a.allotments, s)
	if a.sated {
		s.Finish(true)
	}
	a.divide()
}

// Leave removes a run.
func (a *Arbiter) Leave(s *Allotment) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, other := range a.allotments {
		if other == s {
			a.allotments = append(a.allotments[:i], a.allotments[i+1:]...)
			break
		}
	}
	a.divide()
}

// Allow changes how many cores the volunteer allows, and for how much of their time not.
func (a *Arbiter) Allow(cores, rest int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cores, a.rest, a.now = cores, rest, cores
	a.clock = throttle{measured: a.clock.measured}
	a.divide()
}

// Pause lets no run have a core, or lifts that.
func (a *Arbiter) Pause(paused bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.paused = paused
	a.divide()
}

// Finish has all runs take nothing more from others, those that come too, or lifts that.
func (a *Arbiter) Finish(on bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sated == on {
		return
	}
	a.sated = on
	for _, s := range a.allotments {
		s.Finish(on)
	}
}

// Next begins another turn, and says how long it lasts.
func (a *Arbiter) Next() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	every := adapt.TurnEvery
	switch {
	case a.rest > 0:
		every = restEvery
		a.now = a.clock.turn(a.cores, a.rest, every)
	case len(a.allotments) < 2:
		return aloneFor
	}
	if a.rest == 0 || a.now > 0 { // else who is next stays next: a rest is nobody's turn
		a.turn++
	}
	a.divide()
	return every
}

// Again divides the cores within a turn, as a run that had no core has a job now: else others would steal it before the
// turn is over.
func (a *Arbiter) Again() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.divide()
}

// Resting is the percentage of their time in which the cores are to be left alone, if that is now.
func (a *Arbiter) Resting() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.now > 0 {
		return 0
	}
	return a.rest
}

// Used says how much core time all runs together have had.
func (a *Arbiter) Used(all time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.clock.used(all)
}

// Of is how many cores a run has now.
func (a *Arbiter) Of(s *Allotment) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return s.last
}

// Runs is how many have an allotment.
func (a *Arbiter) Runs() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.allotments)
}

// divide sets every run's cores. The mutex is held.
func (a *Arbiter) divide() {
	n := len(a.allotments)
	if n == 0 {
		return
	}
	cores := a.cores
	if a.rest > 0 {
		cores = min(cores, a.now)
	}
	if a.paused {
		cores = 0
	}
	runs := make([]adapt.Contender, n)
	for i, s := range a.allotments {
		runs[i] = adapt.Contender{Owner: s.Owner, Most: s.Most, Dry: n > 1 && s.Dry(),
			Worth: math.Float64frombits(s.worth.Load())}
	}
	turns := !a.paused && a.cores > 0 && (n > 1 || a.rest > 0)
	for i, c := range adapt.Divide(cores, runs, a.turn) {
		if s := a.allotments[i]; s.last != c || s.turns != turns {
			s.last, s.turns = c, turns
			s.Set(c, turns)
		}
	}
}

// Values notes how efficient the run is.
func (s *Allotment) Values(efficiency float64) { s.worth.Store(math.Float64bits(efficiency)) }
