package paper

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/satin-peer/satin/adapt"
	"github.com/satin-peer/satin/internal/sim"
)

// A rivalry is an experiment of the page.
type rivalry struct {
	name string
	runs []rival
}

func rivalries() []rivalry {
	one := func(name, owner string, tree func(uint64) sim.Tree) rival { return rival{name, owner, tree, 0} }
	w, s := wide(1), serial(30)
	return []rivalry{
		{"two alike, of two owners", []rival{one("a's", "a", w), one("b's", "b", w)}},
		{"one that scales and one with serial parts, of two owners",
			[]rival{one("wide", "a", w), one("serial", "b", s)}},
		{"the same, of one owner", []rival{one("wide", "a", w), one("serial", "a", s)}},
		{"one that scales and one of twelve jobs", []rival{one("wide", "a", w), one("few", "b", few)}},
		{"one begins when another has everything", []rival{one("first", "a", w),
			{"later", "b", wide(0.5), competeTime / 3}}},
		{"three, of which one ends soon", []rival{one("short", "a", wide(0.25)), one("wide", "b", w),
			one("serial", "c", s)}},
		{"two of one owner and one of another", []rival{one("a's", "a", w), one("a's second", "a", w),
			one("b's", "b", w)}},
	}
}

// rivalryRuns are all runs of an experiment.
type rivalryRuns struct {
	alone [][]time.Duration // by seed and run
	bouts [][]*bout         // by rule and seed
}

func measureRivalry(o Options, r *rivalry) (*rivalryRuns, error) {
	x := &rivalryRuns{make([][]time.Duration, o.Seeds), grid[*bout](len(competeRules), o.Seeds)}
	return x, o.each(o.Seeds*(len(competeRules)+1), func(k int) (err error) {
		rule, nth := k/o.Seeds, k%o.Seeds
		seed := uint64(10 * (nth + 1))
		if rule < len(competeRules) {
			x.bouts[rule][nth], err = compete(r.runs, competeRules[rule].rule, seed)
			return err
		}
		for i, run := range r.runs {
			run.begin = 0
			b, err := compete([]rival{run}, competeRules[0].rule, seed+uint64(i))
			if err != nil {
				return err
			}
			x.alone[nth] = append(x.alone[nth], b.took(0))
		}
		return nil
	})
}

// row is one of the first table.
func (x *rivalryRuns) row(r *rivalry, rule int) []string {
	of := func(places int, figure func(b *bout, alone []time.Duration) float64) string {
		var s sample
		for nth, b := range x.bouts[rule] {
			s = append(s, figure(b, x.alone[nth]))
		}
		return s.middle(places)
	}
	slower := func(b *bout, alone []time.Duration) (mean float64) {
		for i := range alone {
			mean += float64(b.took(i)) / float64(alone[i]) / float64(len(alone))
		}
		return mean
	}
	var times []string
	for i, run := range r.runs {
		times = append(times, fmt.Sprintf("%s %s (%s)", run.name,
			of(0, func(b *bout, _ []time.Duration) float64 { return b.took(i).Seconds() }),
			of(2, func(b *bout, alone []time.Duration) float64 { return float64(b.took(i)) / float64(alone[i]) })))
	}
	return []string{r.name, competeRules[rule].name, strings.Join(times, ", "), of(2, slower),
		of(0, func(b *bout, _ []time.Duration) float64 { return b.makespan().Seconds() }),
		of(1, func(b *bout, _ []time.Duration) float64 { return 100 * b.efficiency() }),
		of(1, func(b *bout, _ []time.Duration) float64 { return 100 * b.used() }),
		of(0, func(b *bout, _ []time.Duration) float64 { return b.without().Seconds() })}
}

// coresOver is how many cores each run uses by the first rule, in tenths of the time until all have ended.
func coresOver(d *Document, all []rivalry, of []*rivalryRuns) {
	const parts = 10
	head := []string{"", "run"}
	for k := range parts {
		head = append(head, fmt.Sprint(k+1))
	}
	rows := [][]string{head}
	for n, r := range all {
		b := of[n].bouts[0][0]
		for i, run := range b.runs {
			row := []string{r.name, run.name}
			for k := range time.Duration(parts) {
				row = append(row, fmt.Sprintf("%.0f", b.busy(i, b.makespan()*k/parts, b.makespan()*(k+1)/parts)))
			}
			rows = append(rows, row)
		}
	}
	d.table(rows)
}

// least is the least part of the busy cores that an owner's runs have in five seconds, while all are there, but for the
// first and the last.
func (b *bout) least(owner string) float64 {
	const window = 5 * time.Second
	least := 1.0
	for from, to := b.together(); from+3*window <= to; from += window {
		its, all := 0.0, 0.0
		for i, r := range b.runs {
			n := b.busy(i, from+window, from+2*window)
			if all += n; r.owner == owner {
				its += n
			}
		}
		least = min(least, its/all)
	}
	return least
}

// Which experiments the claims are about, by their places.
const (
	alikeRivalry, serialRivalry, ownersRivalry = 0, 1, 6
)

// claims are those of the rule, and whether they hold.
func claims(d *Document, of []*rivalryRuns) {
	longest, shared, alike := time.Duration(0), 1.0, 1.0
	for _, x := range of {
		for _, b := range x.bouts[0] {
			longest = max(longest, b.without())
		}
	}
	for nth := range of[ownersRivalry].bouts[0] {
		shared = min(shared, of[ownersRivalry].bouts[0][nth].least("b"))
		alike = min(alike, of[alikeRivalry].bouts[0][nth].least("a"), of[alikeRivalry].bouts[0][nth].least("b"))
	}
	used := func(rule int) (s sample) {
		for _, b := range of[serialRivalry].bouts[rule] {
			s = append(s, 100*b.used())
		}
		return s
	}
	equal := slices.IndexFunc(competeRules, func(r competeRule) bool { return r.name == equalName })
	gain := used(0).median() - used(equal).median()
	d.table([][]string{{"by need", "measured", "goal", ""},
		{"no run starves: the longest time for which any run of any experiment used no core", longest.String(), "2s",
			verdict(longest <= 2*time.Second)},
		{"an owner's share is bounded: the least that one with one run has beside one with two, of what is used in any 5 s but the first and last",
			fmt.Sprintf("%.1f %%", 100*shared), "45 %", verdict(shared >= 0.45)},
		{"cores go where they are used: beside a run with serial parts, more of them are busy than with equal shares, by",
			fmt.Sprintf("%.1f points", gain), "15", verdict(gain >= 15)},
		{"cores do not flap: the least that one of two alike has, in any of these 5 s", fmt.Sprintf("%.1f %%", 100*alike), "45 %",
			verdict(alike >= 0.45)}})
}

func makeCompete(o Options) (*Document, error) {
	all := rivalries()
	of := make([]*rivalryRuns, len(all))
	for i := range all {
		o.say("  %s", all[i].name)
		var err error
		if of[i], err = measureRivalry(o, &all[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", all[i].name, err)
		}
	}
	d := new(Document)
	d.para("# Runs that compete for a swarm")
	d.para("Several runs in one swarm of %d machines in %d clusters, each with machines of %s cores, %d in all; %v and %.0f MB/s "+
		"between clusters. Each run has the cores of package steal, unchanged, under our policy; links are shared. A machine's cores "+
		"are divided among the runs every %v, when a run begins or ends, and when one without a core there gets a job: by the rule that "+
		"daemons use (adapt.Divide), or by another. Modelled are the engines, in which a job whose core is taken away stops at once, as "+
		"real ones do at their next spawn; how efficient a run is, which its coordinator measures twice a minute, is known to all machines "+
		"at once; all members know of a run when it begins; a machine's interface is not shared among runs.",
		competeClusters*len(competeCores), competeClusters, strings.Trim(fmt.Sprint(competeCores), "[]"), competeTotal,
		competeWide.Latency, competeWide.Bandwidth/1e6, adapt.TurnEvery)
	d.para("**By need**: owners whose runs have work on a machine get the same, of an owner's runs each what it is worth by its " +
		"efficiency; whoever has no work there lends all of its cores, asks for jobs all the same, and has its part as soon as it got " +
		"one. **As before**: it kept one core, to ask with, and asked for nothing while that was another run's turn. **Equal shares**: " +
		"each run the same, with work or without. **First come**: the run that began first has all cores of a machine that it has work for.")
	d.para("The runs that scale (*wide*, *a's*, *b's*, *first*) would keep all cores busy for %.0f s; *later* and *short* are a half and a "+
		"quarter of that; *serial* has 30 steps, of which one core begins each, for 3 s, and all cores together take as long for the "+
		"rest; *few* is twelve jobs of %.0f s, which nobody can divide. %s: medians and half the range. Times are in seconds and, in "+
		"brackets, in times of what the run takes with the swarm for itself; their mean is the slowdown. Efficiency is what the sequential "+
		"programs take, of the time of all cores until the last run has ended.",
		competeTime.Seconds(), competeTime.Seconds(), o.seeds())
	rows := [][]string{{"", "cores are divided", "time of each run, s", "slowdown, mean", "all have ended, s", "efficiency, %",
		"cores busy while all are there, %", "longest that a run used no core, s"}}
	for i := range all {
		for rule := range competeRules {
			rows = append(rows, of[i].row(&all[i], rule))
		}
	}
	d.table(rows)
	d.para("## What is promised")
	claims(d, of)
	d.para("## Cores over time")
	d.para("By need, the first seed: the cores that each run keeps busy, in tenths of the time until the last one has ended.")
	coresOver(d, all, of)
	return d, nil
}
