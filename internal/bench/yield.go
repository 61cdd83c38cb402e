package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/satin-peer/satin/internal/swarm"
)

const (
	yieldFor   = 3 * time.Second       // about how long the foreground program takes
	yieldPiece = 20 * time.Millisecond // about how long each of its pieces takes
	yieldSoon  = time.Second           // within which the machine is to be its owner's again

	fewestPairs = 6 // with fewer a median has no interval of 95 %
)

// yielding measures what a program of the machine's owner loses to the jobs of a daemon that may use all cores, as it
// is set up by default: one thread on each core that computes pieces of work of one size. It runs in pairs, once beside
// a paused daemon and once beside a working one, the first of a pair in turns.
func yielding(w *workshop, rounds int) (_ []table, err error) {
	binary, err := swarm.Build(context.Background(), w.dir)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rounds+2)*time.Minute)
	defer cancel()
	s, err := newSwarm(ctx, binary, w, []int{runtime.NumCPU()}, "SATIN_PRIORITY=idle")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	daemon := s.Peers[0].Client()
	go func() { _, _ = s.Run(ctx, s.Peers[0], "nqueens", "20") }() // longer than anybody measures; ends with the swarm
	steps := stepsIn(yieldPiece)
	beside := func(work bool) ([]time.Duration, error) {
		if !work {
			if err := daemon.Pause(ctx, 0); err != nil {
				return nil, err
			}
		} else if err := daemon.Resume(ctx); err != nil {
			return nil, err
		}
		for want := map[bool]int{true: runtime.NumCPU()}[work]; ; time.Sleep(50 * time.Millisecond) {
			st, err := daemon.Status(ctx)
			if err != nil {
				return nil, err
			}
			if st.Busy == want {
				return foreground(steps), nil
			}
		}
	}
	var all, soon, later []float64
	for round := range rounds {
		progress("yield: pair %d of %d", round+1, rounds)
		var took [2][]time.Duration // beside a paused daemon, and beside a working one
		for i := range 2 {
			work := (i + round) % 2
			if took[work], err = beside(work == 1); err != nil {
				return nil, err
			}
		}
		first := int(yieldSoon / yieldPiece)
		slower := func(from, to int) float64 { return 100 * (total(took[1][from:to])/total(took[0][from:to]) - 1) }
		all = append(all, slower(0, len(took[0])))
		soon, later = append(soon, slower(0, first)), append(later, slower(first, len(took[0])))
	}
	progress("")
	return []table{yieldTable(all, soon, later)}, nil
}

// yieldTable says by how many percent the owner's program was slower in each pair, in all, in its first second, within
// which the machine is to be its owner's again, and after it. From too few pairs it concludes nothing.
func yieldTable(all, soon, later []float64) table {
	figures := []figure{
		{name: "slower", form: "%.2f %%", values: all, atMost: 1, fewest: fewestPairs},
		{name: "  in the pieces of its first second", form: "%.2f %%", values: soon},
		{name: "  in the others", form: "%.2f %%", values: later, atMost: 1, fewest: fewestPairs},
	}
	conclusion := fmt.Sprintf("%d are too few pairs for an interval of the median: nothing is concluded from them.", len(all))
	if low, high := medianWithin(all); len(all) >= fewestPairs {
		first, last := medianWithin(later)
		conclusion = fmt.Sprintf("The median is, with 95 %% confidence or more by the order of the pairs, %.2f to %.2f %% in all, and %.2f to "+
			"%.2f %% in what was to be done after the first second.", low, high, first, last)
	}
	return table{title: "The owner's program beside a daemon that works", figures: figures, notes: []string{
		fmt.Sprintf("%d pairs. The program has a thread on each of %d cores and takes about %v; the daemon has a worker on each, at the lowest "+
			"priority, and 20 queens to place. A pair is the program beside the paused daemon and beside the working one, in turns which is first.",
			len(all), runtime.NumCPU(), yieldFor),
		conclusion,
	}}
}

// total adds up what pieces took.
func total(pieces []time.Duration) (ns float64) {
	for _, d := range pieces {
		ns += float64(d)
	}
	return ns
}

// medianWithin gives an interval that has the median with a confidence of 95 % or more, whatever the distribution, by
// counting: the chance that so many of the values are on one side of it (the sign test's interval). It is infinite if
// there are too few.
func medianWithin(values []float64) (low, high float64) {
	n := len(values)
	below, chance := 0, math.Pow(0.5, float64(n)) // that no value is below the median
	for sum := chance; sum <= 0.025; sum += chance {
		below++
		chance *= float64(n-below+1) / float64(below)
	}
	if below == 0 {
		return math.Inf(-1), math.Inf(1)
	}
	s := slices.Sorted(slices.Values(values))
	return s[below-1], s[n-below]
}

// foreground is the owner's program: how long each piece took, on the average over the threads.
func foreground(steps int) []time.Duration {
	took := make([][]time.Duration, runtime.NumCPU())
	var wg sync.WaitGroup
	for i := range took {
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			for range int(yieldFor / yieldPiece) {
				began := time.Now()
				spin(steps)
				took[i] = append(took[i], time.Since(began))
			}
		})
	}
	wg.Wait()
	mean := make([]time.Duration, len(took[0]))
	for _, list := range took {
		for i, d := range list {
			mean[i] += d / time.Duration(len(took))
		}
	}
	return mean
}

// stepsIn is how many steps of spin take that long on a core that nothing else wants.
func stepsIn(d time.Duration) int {
	const probe = 1 << 22
	best := time.Duration(math.MaxInt64)
	for range 9 {
		began := time.Now()
		spin(probe)
		best = min(best, time.Since(began))
	}
	return int(float64(probe) * float64(d) / float64(best))
}

// spun is where spin's results go, so that the compiler does not leave the work out.
var spun atomic.Uint64

// spin computes without memory.
func spin(steps int) {
	x := uint64(88172645463325252)
	for range steps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	spun.Store(x)
}
