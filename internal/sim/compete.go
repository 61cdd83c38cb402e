package sim

import (
	"fmt"
	"math"

	"github.com/satin-peer/satin/adapt"
	"github.com/satin-peer/satin/steal"
)

// A Competitor is one of several runs in a swarm. Each has its own cores, engines and membership; the links are those
// of all, if the configurations have the same Network, and so are the machines: of each, a rule says in turns how many
// cores which run may use.
type Competitor struct {
	Config Config
	Owner  string
	Home   int // the machine of its owner, one of the first cluster
}

// A Rule divides the cores of a machine among runs.
type Rule struct {
	Divide func(cores int, runs []adapt.Contender, turn int) []int // as adapt.Divide does
	// Untold leaves runs without knowing that their cores come in turns: while one has none it asks for no job.
	Untold bool
}

// arena is where runs compete.
type arena struct {
	machines []int // their cores
	rule     Rule
	runs     []*running
	turn     int // all machines' together: they take them one after the other
}

type running struct {
	*Competitor
	*world
	began bool
	ended *Report
}

// Compete simulates runs that share machines, which have so many cores, cluster by cluster. The reports are those of
// the runs, whose times count from the swarm's beginning. Each machine's cores are divided every adapt.TurnEvery, when
// a run begins or ends, and when one that has no core there gets a job. How efficient a run is its coordinator
// measures, if its Config.Adapt says so, and all know it at once.
func Compete(machines []int, rule Rule, runs []Competitor) ([]*Report, error) {
	a := &arena{machines: machines, rule: rule}
	for i := range runs {
		r := &running{Competitor: &runs[i]}
		cfg := r.Config
		if err := cfg.complete(); err != nil {
			return nil, err
		}
		cfg.Cores = func(peer int) int { return machines[r.swapped(peer)] }
		var err error
		if r.world, err = newWorld(cfg); err != nil {
			return nil, err
		}
		if len(r.peers) != len(machines) || r.Home >= cfg.Network.Sizes()[0] {
			return nil, fmt.Errorf("%w: %d machines for %d peers, the owner's is %d", ErrConfig, len(machines),
				len(r.peers), r.Home)
		}
		for _, p := range r.peers {
			p.cores.cores = 0
		}
		a.runs = append(a.runs, r)
	}
	var err error
	for more := true; more && err == nil; {
		err = a.runs[0].guarded(func() { more = a.next() })
	}
	return a.reports(), err
}

// swapped is the machine of a peer, or the peer of a machine: the owner is peer 0.
func (r *running) swapped(n int) int {
	switch n {
	case 0:
		return r.Home
	case r.Home:
		return 0
	}
	return n
}

// next does what is due first: a run begins, a machine has its turn, or something happens in a run. It says whether
// there is more.
func (a *arena) next() (more bool) {
	var first *running
	at := int64(math.MaxInt64)
	for _, r := range a.runs {
		switch {
		case r.ended != nil:
		case !r.began && r.now < at:
			first, at = r, r.now
		case r.began && r.queue.nextAt() < at:
			first, at = r, r.queue.nextAt()
		}
	}
	if first == nil {
		return false
	}
	machines := len(a.machines)
	if due := int64(a.turn) * int64(adapt.TurnEvery) / int64(machines); due <= at {
		a.divide(a.turn%machines, due)
		a.turn++
		return true
	}
	if !first.began {
		first.began = true
		a.divideAll(at)
		return true
	}
	if first.step(); first.over() {
		first.verify()
		first.ended = first.report()
		a.divideAll(at)
	}
	for _, p := range first.waiting {
		a.divide(first.swapped(int(p.number)), at)
	}
	first.waiting = nil
	return true
}

func (a *arena) divideAll(now int64) {
	for m := range a.machines {
		a.divide(m, now)
	}
}

// divide gives the runs their cores of a machine.
func (a *arena) divide(machine int, now int64) {
	var of []*running
	for _, r := range a.runs {
		if r.began && r.ended == nil && r.peers[r.swapped(machine)].alive {
			of = append(of, r)
		}
	}
	if len(of) == 0 {
		return
	}
	cores := a.machines[machine]
	runs := make([]adapt.Contender, len(of))
	for i, r := range of {
		r.now = now
		runs[i] = adapt.Contender{Owner: r.Owner, Most: cores, Worth: r.worth(),
			Dry: len(of) > 1 && r.peers[r.swapped(machine)].cores.dry()}
	}
	got := a.rule.Divide(cores, runs, a.turn/len(a.machines))
	for _, more := range []bool{false, true} { // nobody has a core before another has left it
		for i, r := range of {
			p := r.peers[r.swapped(machine)]
			p.driver.Stand(p.local(), steal.Stance{Turns: len(of) > 1 && !a.rule.Untold})
			if got[i] != p.cores.cores && got[i] > p.cores.cores == more {
				p.cores.change(got[i])
			}
		}
	}
}

// worth is the run's efficiency as it was measured last; 0: it never was.
func (w *world) worth() float64 {
	if w.adapt == nil || len(w.adapt.log) == 0 {
		return 0
	}
	return w.adapt.log[len(w.adapt.log)-1].Efficiency
}

func (a *arena) reports() (list []*Report) {
	for _, r := range a.runs {
		if r.ended == nil {
			r.ended = r.report()
		}
		list = append(list, r.ended)
	}
	return list
}
