package paper

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/sim"
)

// exactSchedules is how many schedules the table has: as many as a change has to pass.
const exactSchedules = 10_000

// Failure is a schedule that broke an invariant.
type Failure struct {
	Seed  uint64
	Err   error
	About string
}

// Exactness is what a number of schedules came to.
type Exactness struct {
	Schedules uint64
	Cancelled uint64
	Failures  []Failure // those with the lowest seeds, by seed; at most maxFailures
	Failed    uint64
	Broken    map[string]uint64 // how often, by invariant
	Counts    sim.Counts
	Faults    map[sim.FaultKind]uint64
	Policies  map[string]uint64
}

const maxFailures = 20

// Exact runs the schedules with seeds from first on.
func Exact(o Options, first, schedules uint64, kinds []sim.FaultKind) (*Exactness, error) {
	x := &Exactness{Faults: make(map[sim.FaultKind]uint64), Policies: make(map[string]uint64),
		Broken: make(map[string]uint64)}
	var mu sync.Mutex
	err := o.each(int(schedules), func(i int) error {
		seed := first + uint64(i)
		c := sim.Schedule(seed, kinds)
		about, policy, faults := c.Describe(), c.Policy().Name(), c.Faults
		slow := o.afterAMinute("the schedule of seed %d has been running for a minute: what goes round in a circle "+
			"without end, no bound of virtual time ends", seed)
		r, err := attempt(c)
		slow.Stop()
		mu.Lock()
		defer mu.Unlock()
		x.Schedules++
		x.Policies[policy]++
		for _, f := range faults {
			x.Faults[f.Kind]++
		}
		if r != nil {
			x.add(r)
		}
		if err != nil {
			x.fail(Failure{seed, err, about})
		}
		return nil
	})
	return x, err
}

// afterAMinute says something then, if it is not stopped before.
func (o Options) afterAMinute(format string, args ...any) *time.Timer {
	return time.AfterFunc(time.Minute, func() { o.say(format, args...) })
}

// firstFailureStep is how many schedules run between two looks whether one has failed.
const firstFailureStep = 8

// FirstFailure runs schedules with seeds from first on until one breaks an invariant, the one with the lowest
// seed; nil if none of them does.
func FirstFailure(o Options, first, schedules uint64, kinds []sim.FaultKind) (*Failure, error) {
	for end := first + schedules; first < end; first += firstFailureStep {
		x, err := Exact(o, first, min(firstFailureStep, end-first), kinds)
		if err != nil {
			return nil, err
		}
		if x.Failed > 0 {
			return &x.Failures[0], nil
		}
	}
	return nil, nil
}

// attempt runs one schedule. A panic is the schedule's failure, not the end of all others; satin-sim replay
// shows its stack.
func attempt(c sim.Config) (r *sim.Report, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return sim.Run(c)
}

func (x *Exactness) fail(f Failure) {
	x.Failed++
	what := "panic"
	if v := (*sim.Violation)(nil); errors.As(f.Err, &v) {
		what = v.Invariant
	}
	x.Broken[what]++
	at, _ := slices.BinarySearchFunc(x.Failures, f.Seed,
		func(f Failure, seed uint64) int { return cmp.Compare(f.Seed, seed) })
	x.Failures = slices.Insert(x.Failures, at, f)
	x.Failures = x.Failures[:min(len(x.Failures), maxFailures)]
}

func (x *Exactness) add(r *sim.Report) {
	if r.Cancelled {
		x.Cancelled++
	}
	x.Counts.Add(&r.Counts)
}

func makeExact(o Options) (*Document, error) {
	d := new(Document)
	d.para("# Exactness under faults")
	d.para("Random runs (sim.Schedule): small trees, regular, irregular and speculative; one to four clusters; every policy; salvage and " +
		"naive recovery; gossip that loses and repeats; checkpoints; up to seven faults each, of every kind: crashes of any peer, of the " +
		"master, of clusters, of all but one and of all, returns with and without a checkpoint, departures, cancelled runs, partitions, " +
		"and everything that happens to messages, links and clocks; in one of four, peers that have no core for a while. Checked at every step: the invariants named in " +
		"internal/sim/invariant.go, among them the exact result, no hang, every slot filled once, in every life of a peer jobs that came " +
		"in = executed + salvaged + aborted + outside + still there, one master, one answer.")
	x, err := Exact(o, 0, exactSchedules, sim.FaultKinds())
	if err != nil {
		return nil, err
	}
	c := &x.Counts
	rows := [][]string{{"what", "how many"}}
	for _, n := range []struct {
		what string
		n    uint64
	}{
		{"schedules", x.Schedules}, {"violations", x.Failed}, {"runs cancelled", x.Cancelled}, {"events", c.Events},
		{"messages", c.MessagesLocal + c.MessagesWide}, {"of them lost or damaged", c.Lost},
		{"broadcasts of tuples", c.News}, {"beacons", c.Beacons},
		{"tuples told", c.NewsTuples}, {"lives ended by a crash", c.Killed}, {"roots started again", c.Restarts},
		{"second answers, all equal to the first", c.SecondAnswers},
		{"jobs spawned", c.Spawned}, {"executed", c.Executed}, {"salvaged", c.Salvaged}, {"aborted", c.Aborted},
		{"given away", c.Given}, {"put back", c.PutBack},
		{"outcomes given back by checkpoints", c.Restored},
	} {
		rows = append(rows, []string{n.what, fmt.Sprint(n.n)})
	}
	d.table(rows)
	rows = [][]string{{"fault", "times"}}
	for _, k := range sim.FaultKinds() {
		rows = append(rows, []string{k.String(), fmt.Sprint(x.Faults[k])})
	}
	d.table(rows)
	for _, f := range x.Failures {
		d.para("Seed %d: %v", f.Seed, f.Err)
	}
	if x.Failed > 0 {
		err = fmt.Errorf("%d of %d schedules broke an invariant; the first is seed %d: %w", x.Failed, x.Schedules,
			x.Failures[0].Seed, x.Failures[0].Err)
	}
	return d, err
}
