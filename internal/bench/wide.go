package main

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/bench/wide/model"
	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/internal/sim/paper"
	"github.com/satin-peer/satin/internal/wan"
)

// wideCells chooses some of the cells of section wide; the rest takes a quarter of an hour.
var wideCells = flag.String("cells", "",
	"of section wide only these `CELLS`, as integrate/200,tsp/20: applications and round trips in ms; of adaptive these "+
		"scenarios, as 1,3; empty: all")

// widePolicies are compared, each in a swarm of its own, all at the same time: what happens to the machine
// happens to all.
var widePolicies = []string{"rs", "crs", "adaptive"}

var wideTrips = []time.Duration{20 * time.Millisecond, 200 * time.Millisecond}

const (
	wideRoundShare = 3   // one in so many of the rounds that are asked for: each takes some minutes
	wideSimSeeds   = 15  // simulations of each tree
	wideNear       = 3.0 // points of efficiency that real processes may be away from the simulator
)

// A wideCell is one application over one network. Its figures are by policy and round.
type wideCell struct {
	app       string
	trip      time.Duration
	simulated map[string][]float64 // efficiencies in percent: the median of the simulations of the round's tree
	real      map[string][]float64
	steals    [2]map[string][]float64 // that brought a job from another cluster: simulated, as above, and real
	noise     []float64               // how far each simulation is from that median, in points
}

func newWideCell(app string, trip time.Duration) *wideCell {
	return &wideCell{
		app: app, trip: trip, simulated: map[string][]float64{}, real: map[string][]float64{},
		steals: [2]map[string][]float64{{}, {}},
	}
}

// wideRuns are what is noted of all runs together.
type wideRuns struct {
	late   []float64 // seconds until the last peer took part
	whole  []float64 // seconds from submission to answer, without the root job's time
	cpu    []float64 // share of one core that a swarm used
	others []float64 // share of the machine that was used by other programs
}

// wideArea runs cells of the CRS paper's Table I on real processes and in the simulator.
func wideArea(w *workshop, rounds int) ([]table, error) {
	cells, err := chooseCells(*wideCells)
	if err != nil {
		return nil, err
	}
	rounds = max(1, rounds/wideRoundShare)
	files, err := w.build("wide", "off", 1)
	if err != nil {
		return nil, err
	}
	notes := &wideRuns{}
	var tables []table
	for _, trip := range wideTrips {
		some := slices.DeleteFunc(slices.Clone(cells), func(c *wideCell) bool { return c.trip != trip })
		if len(some) == 0 {
			continue
		}
		for _, c := range some {
			if err := c.simulate(rounds); err != nil {
				return nil, err
			}
		}
		if err := runCells(w, files[0], some, rounds, notes); err != nil {
			return nil, err
		}
		tables = append(tables, compareCells(some, trip))
	}
	progress("")
	last := &tables[len(tables)-1]
	if *wideCells != "" {
		last.notes = append(last.notes, "Only these cells were run: "+*wideCells+".")
	}
	last.notes = append(last.notes, notes.lines(rounds)...)
	return tables, nil
}

// chooseCells makes the cells that are named; all if none is.
func chooseCells(names string) (cells []*wideCell, err error) {
	known := map[string]bool{}
	for _, trip := range wideTrips {
		for _, a := range paper.Apps() {
			name := fmt.Sprintf("%s/%d", a.Name, trip.Milliseconds())
			known[name] = true
			if names == "" || slices.Contains(strings.Split(names, ","), name) {
				cells = append(cells, newWideCell(a.Name, trip))
			}
		}
	}
	for name := range strings.SplitSeq(names, ",") {
		if names != "" && !known[name] {
			return nil, fmt.Errorf(
				"-cells: no cell %q; there are the applications of Table I, integrate, nqueens, tsp and raytracer, each with /20 or /200", name)
		}
	}
	return cells, nil
}

// simulate fills in the simulator's efficiencies.
func (c *wideCell) simulate(rounds int) error {
	for round := range rounds {
		progress("wide: simulating %s over %v, round %d of %d", c.app, c.trip, round+1, rounds)
		tree, err := model.NewTree(c.app, round+1)
		if err != nil {
			return err
		}
		for _, policy := range widePolicies {
			var list, steals []float64
			for seed := range uint64(wideSimSeeds) {
				r, err := simulateOnce(tree, policy, c.trip, seed+1)
				if err != nil {
					return fmt.Errorf("simulating %s under %s over %v: %w", c.app, policy, c.trip, err)
				}
				list, steals = append(list, efficiencyOf(r.Elapsed)), append(steals, float64(r.Steals.StealsWonWide))
			}
			median := middle(list)
			c.simulated[policy] = append(c.simulated[policy], median)
			c.steals[0][policy] = append(c.steals[0][policy], middle(steals))
			for _, v := range list {
				c.noise = append(c.noise, math.Abs(v-median))
			}
		}
	}
	return nil
}

// efficiencyOf is the CRS paper's equation 1, in percent.
func efficiencyOf(elapsed time.Duration) float64 { return 100 * float64(model.Work) / float64(elapsed) }

func simulateOnce(tree model.Tree, name string, trip time.Duration, seed uint64) (*sim.Report, error) {
	shape, err := tree.Shape()
	if err != nil {
		return nil, err
	}
	sizes := slices.Repeat([]int{model.PerCluster}, model.Clusters)
	return sim.Run(sim.Config{
		Tree: shape, Seed: seed, Core: paper.Core(), FrameBytes: wideFrameBytes,
		Network: wan.Uniform(sizes, model.Local, model.Between(trip)), Policy: paper.PolicyNamed(name),
	})
}

// wideFrameBytes is what the emulator sees of a message beyond what the simulator counts: each of two peer
// IDs is longer by 48, and there are incarnations and the frame's length.
const wideFrameBytes = 2*48 + 2*5 + 4

// middle is the median.
func middle(list []float64) float64 {
	_, median, _ := spread(list)
	return median
}

// compareCells makes the table of one network.
func compareCells(cells []*wideCell, trip time.Duration) table {
	t := table{title: fmt.Sprintf("Table I's applications on real processes: round trips of %d ms, 100 KB/s",
		trip.Milliseconds()), notes: []string{
		"Efficiency in percent: all leaf work / (8 x the root job's time). The figure is the processes' less the simulator's, in points, for the " +
			"same tree; the difference of the medians is in brackets.",
	}}
	var strange, far []string
	var noise []float64
	all := map[string][]float64{}
	for _, c := range cells {
		var simulated, real []float64
		for _, policy := range widePolicies {
			var less []float64
			for round, v := range c.real[policy] {
				less = append(less, v-c.simulated[policy][round])
			}
			all[policy] = append(all[policy], less...)
			s, r := middle(c.simulated[policy]), middle(c.real[policy])
			simulated, real = append(simulated, s), append(real, r)
			t.figures = append(t.figures, figure{
				name:   fmt.Sprintf("%s, %s: simulated %.1f, real %.1f (%+.1f)", c.app, policy, s, r, r-s),
				values: less, form: "%+.1f",
			})
			if math.Abs(r-s) > wideNear {
				far = append(far, fmt.Sprintf("%s under %s", c.app, policy))
			}
		}
		for _, pair := range swapped(simulated, real) {
			strange = append(strange, c.app+": "+pair)
		}
		noise = append(noise, c.noise...)
	}
	for _, policy := range widePolicies {
		t.figures = append(t.figures, figure{
			name: fmt.Sprintf("all applications, %s: mean %+.1f of %d runs", policy, mean(all[policy]),
				len(all[policy])), values: all[policy], form: "%+.1f",
		})
	}
	t.notes = append(t.notes, fmt.Sprintf(
		"More than %.0f points from the simulator (medians): %s. A simulated run is %.1f points from the median of "+
			"those of its tree (median; upper quartile %.1f).", wideNear, orNone(far), middle(noise), upper(noise)),
		fmt.Sprintf("Pairs of policies that are more than %.0f points apart in the simulator and the other way round on the processes: %s.", wideNear, orNone(strange)),
		"Steals that brought a job from another cluster, simulated and real, all applications together: "+
			stealsOf(cells)+".")
	return t
}

func mean(list []float64) (m float64) {
	for _, v := range list {
		m += v / float64(len(list))
	}
	return m
}

func upper(list []float64) float64 {
	_, _, high := spread(list)
	return high
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, "; ")
}

// stealsOf adds up the applications' medians.
func stealsOf(cells []*wideCell) string {
	var list []string
	for _, policy := range widePolicies {
		sums := [2]float64{}
		for _, c := range cells {
			for i := range sums {
				sums[i] += middle(c.steals[i][policy])
			}
		}
		list = append(list, fmt.Sprintf("%s %.0f and %.0f", policy, sums[0], sums[1]))
	}
	return strings.Join(list, ", ")
}

// swapped lists the pairs of policies of which one is clearly better in the simulator and the other on the processes.
func swapped(simulated, real []float64) (pairs []string) {
	for i, a := range widePolicies {
		for j, b := range widePolicies {
			if simulated[i] > simulated[j]+wideNear && real[i] < real[j] {
				pairs = append(pairs, fmt.Sprintf("%s before %s", b, a))
			}
		}
	}
	return pairs
}

// lines say what the reader must know.
func (n *wideRuns) lines(rounds int) []string {
	lines := []string{
		"Made by `make bench-swarm BENCH=wide`; -cells takes some of the cells only.",
		fmt.Sprintf("%d rounds, each with other inputs. %d peers in %d clusters, one worker each. Trees, sizes of messages, links and the cores' periods "+
			"are the same in both; jobs sleep for what they cost. Simulated: %d runs of each tree.", rounds,
			model.Peers, model.Clusters, wideSimSeeds),
		"Not the same: the processes have to hear of the run first (the simulator's peers begin together), send gossip and connect, which the emulator does " +
			"not delay; and the simulator's jobs are given away at once.",
		fmt.Sprintf("The last peer took part %.2f s after the submission; beside the root job a run took %.2f s (medians). A swarm used %.0f %% of a core.",
			middle(n.late), middle(n.whole), 100*middle(n.cpu)),
	}
	if len(n.others) > 0 {
		_, median, high := spread(n.others)
		lines = append(lines, fmt.Sprintf(
			"Other programs used %.0f %% of the machine meanwhile (upper quartile %.0f %%); %d swarms ran at a time.",
			100*median, 100*high, len(widePolicies)))
	}
	return lines
}
