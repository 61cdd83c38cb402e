package paper

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/steal/policy"
)

// local is the Myrinet of the papers' cluster.
var local = wan.Conditions{Bandwidth: 30e6, Latency: 50 * time.Microsecond}

// What messages cost the processors of that time, and how soon an idle peer asks again after a failed local
// steal. A steal in the cluster takes about 0.15 ms; asking a thousand times a second instead of three
// thousand changes no figure and saves simulation time.
const (
	messageCost = 30 * time.Microsecond
	byteCost    = 10 * time.Nanosecond
	stealGap    = time.Millisecond
)

// Core is the configuration of all cores in these experiments, whatever the policy. The papers' systems ran
// over reliable connections without leases, and their emulator loses nothing, while a message may wait for
// minutes in front of a link of 1 KB/s. So cores are given time before they believe that something is lost. No site is
// lost here, and nothing is copied to another for that.
func Core() steal.Config {
	c := steal.WAN()
	c.StealGap = stealGap
	c.HeartbeatMisses, c.MaxCopied, c.StealTimeoutMax = 24, 0, time.Hour
	c.ResultRetry, c.ResultRetryMax = time.Minute, 10*time.Minute
	return c
}

// Setup is one experiment: what runs where under which policy.
type Setup struct {
	App      *App
	Network  func(seed uint64) *wan.Model
	Policy   string
	Overhead float64
	Runs     int  // at most so many, whatever is asked for; 0: as many as that
	Largest  bool // sim.Config.Largest
	// Most is after how much virtual time a run is given up that has no result, and gets no report; 0: it fails then.
	Most time.Duration
}

// Config is the simulation of the setup for one seed.
func (s *Setup) Config(seed uint64) sim.Config {
	return sim.Config{
		Tree: s.App.Tree(seed), Seed: seed, Network: s.Network(seed), Core: Core(), SpawnOverhead: s.Overhead,
		MessageCost: messageCost, ByteCost: byteCost,
		Policy: PolicyNamed(s.Policy), Limit: s.Most, Largest: s.Largest,
	}
}

// PolicyNamed makes policies for cores.
func PolicyNamed(name string) func() policy.Policy {
	return func() policy.Policy {
		p, err := policy.ByName(name, "p000")
		if err != nil {
			panic(err) // names are checked where they are read
		}
		return p
	}
}

// uniform is a network of equal links: one-way latency and bandwidth.
func uniform(sizes []int, latency time.Duration, bandwidth float64) func(uint64) *wan.Model {
	return func(uint64) *wan.Model {
		return wan.Uniform(sizes, local, wan.Conditions{Bandwidth: bandwidth, Latency: latency})
	}
}

func single(peers int) func(uint64) *wan.Model {
	return func(uint64) *wan.Model { return wan.NewModel([]int{peers}, local) }
}

var fourBySixteen = []int{16, 16, 16, 16}

// Options say how thoroughly tables are made.
type Options struct {
	Seeds    int       // runs of each experiment, at least 1
	Parallel int       // runs at once; 0: one a processor
	Progress io.Writer // gets a line now and then; nil: nothing

	// Once gives the report of a run, by its name on this page, if it is kept from before, and runs it otherwise; nil:
	// each is run.
	Once func(name string, run func() (*sim.Report, error)) (*sim.Report, error)
}

// of is what one of several parts of a page is made with: runs of different parts have different names.
func (o Options) of(part string) Options {
	if once := o.Once; once != nil {
		o.Once = func(name string, run func() (*sim.Report, error)) (*sim.Report, error) {
			return once(part+"-"+name, run)
		}
	}
	return o
}

// say reports progress.
func (o Options) say(format string, args ...any) {
	if o.Progress != nil {
		fmt.Fprintf(o.Progress, format+"\n", args...)
	}
}

// seeds says how many.
func (o Options) seeds() string {
	if o.Seeds == 1 {
		return "1 seed"
	}
	return fmt.Sprintf("%d seeds", o.Seeds)
}

// measure runs every setup with every seed and returns, for each setup, what it got.
func measure(o Options, setups []Setup) ([][]*sim.Report, error) {
	wants := newAnswers()
	reports := make([][]*sim.Report, len(setups))
	type run struct{ setup, nth int }
	var runs []run
	// Last first: the hardest points of a sweep are its last, and a long run that begins last leaves the
	// other processors idle.
	for i, s := range slices.Backward(setups) {
		n := o.Seeds
		if s.Runs > 0 {
			n = min(n, s.Runs)
		}
		reports[i] = make([]*sim.Report, n)
		for nth := range n {
			runs = append(runs, run{i, nth})
		}
	}
	once := o.Once
	if once == nil {
		once = func(_ string, run func() (*sim.Report, error)) (*sim.Report, error) { return run() }
	}
	return reports, o.each(len(runs), func(k int) error {
		s, seed := &setups[runs[k].setup], uint64(runs[k].nth+1)
		r, err := once(fmt.Sprintf("%d-%d", runs[k].setup, seed), func() (*sim.Report, error) {
			c := s.Config(seed)
			c.Want = wants.of(s.App, seed)
			r, err := sim.Run(c)
			if v := new(sim.Violation); s.Most > 0 && errors.As(err, &v) && v.Invariant == sim.NoHang {
				return nil, nil
			}
			return r, err
		})
		if err != nil {
			return fmt.Errorf("%s under %s, seed %d: %w", s.App.Name, s.Policy, seed, err)
		}
		reports[runs[k].setup][runs[k].nth] = r
		return nil
	})
}

// each calls f for 0 to n-1, several at once, and returns the first error.
func (o Options) each(n int, f func(int) error) error {
	workers := o.Parallel
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var (
		wait sync.WaitGroup
		mu   sync.Mutex
		next int
		fail error
	)
	for range min(workers, n) {
		wait.Go(func() {
			for {
				mu.Lock()
				k := next
				next++
				stop := k >= n || fail != nil
				mu.Unlock()
				if stop {
					return
				}
				err := f(k)
				mu.Lock()
				if err != nil && fail == nil {
					fail = err
				}
				if (k+1)%(1+n/10) == 0 {
					o.say("  %d of %d runs", k+1, n)
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	return fail
}

// wanted is the sequential program's result.
func wanted(tree sim.Tree) *sim.Result {
	total := sim.Sequential(tree)
	return &total.Result
}

// grid has so many empty rows of a length.
func grid[T any](rows, length int) [][]T {
	g := make([][]T, rows)
	for i := range g {
		g[i] = make([]T, length)
	}
	return g
}

// answers remembers the sequential results of trees that many runs share.
type answers struct {
	mu    sync.Mutex
	known map[answerKey]*sim.Result
}

type answerKey struct {
	app  *App
	seed uint64
}

func newAnswers() *answers { return &answers{known: make(map[answerKey]*sim.Result)} }

func (a *answers) of(app *App, seed uint64) *sim.Result {
	a.mu.Lock()
	defer a.mu.Unlock()
	k := answerKey{app, seed}
	if a.known[k] == nil {
		a.known[k] = wanted(app.Tree(seed))
	}
	return a.known[k]
}
