package paper

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/satin-peer/satin/internal/sim"
)

// exactSchedules is how many schedules the full table has.
const exactSchedules = 20_000

// Failure is a schedule that broke an invariant.
type Failure struct {
	Seed  uint64
	Err   error
	About string
}

// Exactness is what a number of schedules came to.
type Exactness struct {
	Schedules uint64
	Failures  []Failure // those with the lowest seeds, by seed; at most maxFailures
	Failed    uint64
	Counts    sim.Counts
	Faults    map[sim.FaultKind]uint64
	Policies  map[string]uint64
}

const maxFailures = 20

// Exact runs the schedules with seeds from first on.
func Exact(o Options, first, schedules uint64, kinds []sim.FaultKind) (*Exactness, error) {
	x := &Exactness{Faults: make(map[sim.FaultKind]uint64), Policies: make(map[string]uint64)}
	var mu sync.Mutex
	err := o.each(int(schedules), func(i int) error {
		seed := first + uint64(i)
		c := sim.Schedule(seed, kinds)
		about, policy, faults := c.Describe(), c.Policy().Name(), c.Faults
		r, err := attempt(c)
		mu.Lock()
		defer mu.Unlock()
		x.Schedules++
		x.Policies[policy]++
		for _, f := range faults {
			x.Faults[f.Kind]++
		}
		if r != nil {
			x.add(&r.Counts)
		}
		if err != nil {
			x.fail(Failure{seed, err, about})
		}
		return nil
	})
	return x, err
}

// firstFailureStep is how many schedules run between two looks whether one has failed.
const firstFailureStep = 8

// FirstFailure runs schedules with seeds from first on until one breaks an invariant, the one with the lowest seed; nil if none
// of them does.
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

// attempt runs one schedule. A panic is the schedule's failure, not the end of all others; satin-sim replay shows its stack.
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
	at, _ := slices.BinarySearchFunc(x.Failures, f.Seed, func(f Failure, seed uint64) int { return cmp.Compare(f.Seed, seed) })
	x.Failures = slices.Insert(x.Failures, at, f)
	x.Failures = x.Failures[:min(len(x.Failures), maxFailures)]
}

func (x *Exactness) add(c *sim.Counts) {
	t := &x.Counts
	t.Events += c.Events
	t.MessagesLocal += c.MessagesLocal
	t.MessagesWide += c.MessagesWide
	t.Lost += c.Lost
	t.Spawned += c.Spawned
	t.Executed += c.Executed
	t.Aborted += c.Aborted
	t.Given += c.Given
	t.PutBack += c.PutBack
}

// lethalSchedules is how many more there are with faults that cost peers their lives.
const lethalSchedules = 5_000

func makeExact(o Options) (*Document, error) {
	d := new(Document)
	d.para("# Exactness under faults")
	d.para("Random runs (sim.Schedule): small trees, regular, irregular and speculative; one to four clusters; every policy; up to " +
		"seven faults each. Checked at every step: the invariants named in internal/sim/invariant.go, among them the exact result, " +
		"no hang, every slot filled once, and on every peer jobs that came in = executed + aborted + given away + still there. The " +
		"first row has every kind of fault that costs no peer its life; the second also crashes, restarts and departures of peers " +
		"other than the one that has the root job.")
	survivable, err := Exact(o, 0, exactSchedules, sim.Survivable())
	if err != nil {
		return nil, err
	}
	lethal, err := Exact(o, 0, lethalSchedules, sim.FaultKinds())
	if err != nil {
		return nil, err
	}
	rows := [][]string{{"schedules", "violations", "events", "messages", "of them lost or damaged", "jobs spawned", "executed", "aborted", "given away", "put back"}}
	for _, x := range []*Exactness{survivable, lethal} {
		c := &x.Counts
		row := []string{}
		for _, n := range []uint64{x.Schedules, x.Failed, c.Events, c.MessagesLocal + c.MessagesWide, c.Lost, c.Spawned, c.Executed, c.Aborted, c.Given, c.PutBack} {
			row = append(row, fmt.Sprint(n))
		}
		rows = append(rows, row)
	}
	d.table(rows)
	rows = [][]string{{"fault", "times", "times in the second row"}}
	for _, k := range sim.FaultKinds() {
		rows = append(rows, []string{k.String(), fmt.Sprint(survivable.Faults[k]), fmt.Sprint(lethal.Faults[k])})
	}
	d.table(rows)
	for _, x := range []*Exactness{survivable, lethal} {
		for _, f := range x.Failures {
			d.para("Seed %d: %v", f.Seed, f.Err)
		}
		if x.Failed > 0 {
			err = fmt.Errorf("%d of %d schedules broke an invariant; the first is seed %d: %w", x.Failed, x.Schedules, x.Failures[0].Seed, x.Failures[0].Err)
		}
	}
	return d, err
}
