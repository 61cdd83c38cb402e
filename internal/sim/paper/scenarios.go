package paper

import (
	"fmt"
	"math"
	"time"

	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/internal/wan"
)

// figure is what a table shows of a run.
type figure = func(*sim.Report) float64

func runTime(*App) figure     { return elapsed }
func speedupOf(a *App) figure { return speedup(a) }

// scenarioPolicies are compared in Figures 4 and 6, Table III and the Albatross paper's Figure 6.
var scenarioPolicies = []string{"rs", "chs", "crs", "cmrs", "acrs", "load", "push", "adaptive"}

// chattyRuns is how often the policies that send most messages are run: one such run takes as long as twenty of others.
const chattyRuns = 1

// chattyMost is when one is given up: whatDiffers says why the raytracer has no result under push in scenario 4.
const chattyMost = 2 * time.Hour

var chatty = map[string]bool{"load": true, "push": true}

// scenarioSpeedups are the figures of 3.4 to 3.6 and Table III that the text names: application, scenario, policy.
var scenarioSpeedups = map[string]map[int]map[string]float64{
	"integrate": {9: {"crs": 47.9, "acrs": 63.5}},
	"raytracer": {
		4: {"crs": 36.6, "acrs": 42.4}, 8: {"crs": 42.7, "acrs": 52.1}, 9: {"crs": 53.9, "acrs": 60.1},
		10: {"crs": 19.9, "acrs": 30.2}, 11: {"crs": 26.4, "acrs": 29.5},
	},
}

// scenario makes networks from an embedded scenario file; 0 is a single cluster.
func scenario(n int) (func(uint64) *wan.Model, error) {
	if n == 0 {
		return single(64), nil
	}
	s, err := wan.Parse(wan.Scenarios(), fmt.Sprintf("scenario%d", n))
	if err != nil {
		return nil, err
	}
	return s.NewModel, nil
}

// scenarioRow is an application in a scenario, under each of the policies.
type scenarioRow struct {
	app      *App
	scenario int
}

func makeScenarios(o Options) (*Document, error) {
	var rows []scenarioRow
	var setups []Setup
	for _, a := range Apps() {
		for n := 0; n <= 11; n++ {
			if n >= 10 && a != raytracer {
				continue // the paper uses the raytracer for these
			}
			network, err := scenario(n)
			if err != nil {
				return nil, err
			}
			rows = append(rows, scenarioRow{a, n})
			for _, policy := range scenarioPolicies {
				s := Setup{App: a, Network: network, Policy: policy, Overhead: a.Overhead}
				if chatty[policy] {
					s.Runs, s.Most = chattyRuns, chattyMost
				}
				setups = append(setups, s)
			}
		}
	}
	reports, err := measure(o, setups)
	if err != nil {
		return nil, err
	}
	d := new(Document)
	d.para("# Figures 4 and 6, Table III: eleven scenarios")
	d.para("Speedups on four clusters of 16 peers (CRS paper, 3.4 to 3.6; Albatross paper, section 4). Scenario 0 is one cluster "+
		"of 64. The bars survive only as pictures; the figure before an arrow is one that the text names. Simulated: mean and "+
		"half the range over %s, of load and push over %d at most, given up after %v without a result, Manta's spawn overhead. "+
		"internal/wan/scenarios/README.md says which values of the scenarios are published; scenario 9's trace is synthetic.",
		o.seeds(), chattyRuns, chattyMost)
	header := append([]string{"application", "scenario"}, scenarioPolicies...)
	table := [][]string{header}
	for i, r := range rows {
		line := []string{r.app.Name, fmt.Sprint(r.scenario)}
		for k, policy := range scenarioPolicies {
			s := collect(reports[i*len(scenarioPolicies)+k], speedup(r.app)).String()
			if said := scenarioSpeedups[r.app.Name][r.scenario][policy]; said != 0 {
				s = fmt.Sprintf("%.1f → %s", said, s)
			}
			line = append(line, s)
		}
		table = append(table, line)
	}
	d.table(table)
	whatDiffers(d)
	whereOursStands(d, rows, reports)
	return d, nil
}

// whereOursStands compares ours with the published policies, row by row.
func whereOursStands(d *Document, rows []scenarioRow, reports [][]*sim.Report) {
	d.para("## Where ours stands")
	d.para("Mean speedup less that of the best published policy; and, paired by seed, the 95 %% interval of ours less the " +
		"published policy against which it begins lowest, load and push left out, whose runs are too few for one: ours is " +
		"nowhere behind where it begins at -0.3 or above.")
	compare := [][]string{{"application", "scenario", "ours", "best published", "difference", "against", "95 % interval",
		"reaches -0.3"}}
	losses, unsure := 0, 0
	for i, r := range rows {
		of := make(map[string]sample)
		for k, policy := range scenarioPolicies {
			of[policy] = collect(reports[i*len(scenarioPolicies)+k], speedup(r.app))
		}
		ours, best, hardest := of[adaptive], bestOf(of), hardestOf(of)
		if ours.mean() < of[best].mean()-mostBehind {
			losses++
		}
		interval, says := reaches(ours, of[hardest])
		if says == "no" {
			unsure++
		}
		compare = append(compare, []string{r.app.Name, fmt.Sprint(r.scenario), fmt.Sprintf("%.1f", ours.mean()),
			fmt.Sprintf("%.1f (%s)", of[best].mean(), best), fmt.Sprintf("%+.1f", ours.mean()-of[best].mean()),
			hardest, interval, says})
	}
	d.table(compare)
	d.para("Ours is behind the best published policy by more than 0.3 in %d of %d rows; in %d the interval does not reach -0.3, "+
		"which is also so where runs lie far apart and seeds are few.", losses, len(rows), unsure)
}

// bestOf is the published policy with the highest mean, hardestOf the one against which the interval of ours begins
// lowest, of those that have as many runs.
func bestOf(of map[string]sample) (best string) {
	for _, p := range scenarioPolicies {
		if p != adaptive && (best == "" || of[p].mean() > of[best].mean()) {
			best = p
		}
	}
	return best
}

func hardestOf(of map[string]sample) (hardest string) {
	least := math.Inf(1)
	for _, p := range scenarioPolicies {
		if p == adaptive || len(of[p]) < len(of[adaptive]) {
			continue
		}
		mean, half := lead(of[adaptive], of[p])
		if math.IsInf(half, 1) { // of one seed there is no interval
			return bestOf(of)
		}
		if mean-half < least {
			least, hardest = mean-half, p
		}
	}
	return hardest
}

// whatDiffers says where our figures are not the papers', or are of something that the papers do not describe.
func whatDiffers(d *Document) {
	d.para("## What differs from the papers")
	d.para("Table III is not reproduced in scenario 10. Published, ACRS is well ahead of CRS there (30.2 to " +
		"19.9) and a little in scenario 11 (29.5 to 26.4), and CRS is slower in 10 than in 11 although 10 has " +
		"more bandwidth. What the trace of CRS in scenario 10 shows (the first seed): the first half of the " +
		"published downward spiral is there. Between clusters 1 and 2 messages take up to 30 s in both " +
		"directions, and 0.1 s on all other ways until the end; 40 s into the run 12 and 13 of their 16 peers " +
		"wait for a wide-area reply, and one in each of the others. The second half is not: these replies " +
		"bring a job (44 of the first 52), and 1,070 such jobs carry the whole run, 8 s of work each on " +
		"average, so that nobody is drained. Our synthetic raytracer asks too seldom: with 100 KB/s it moves " +
		"5.4 MB in 152 s, 3 KB/s each way of a link, where the paper says that it needs about 20 KB/s on each " +
		"link. The papers publish neither job counts nor sizes of messages to make the tree by. And something " +
		"is here that was not there: from 82 s on, peers that were idle for 30 s while a thief behind the " +
		"slow link had a job of theirs run it themselves (steal.Config.LeaseEnd), where published ones would " +
		"have gone on waiting. In one run that is 4 %% of the jobs, in others half as many again, and runs " +
		"lie far apart (see the ±); without that rule no job is run twice, and CRS is at 42.4 with the first " +
		"seed, and at 28.0 in scenario 11: it is not that rule that keeps it from falling. So the lead of " +
		"ours in 10 and 11 is a lead over this model of CRS and ACRS, not over the published ones. Why some " +
		"runs of ACRS in 10 are as slow as they are has not been explained.")
	d.para("Push has no result for the raytracer in scenario 4 within a day. That is by two rules of our cores that the " +
		"papers' systems did not have, not by the policy. A message is charged what holds when it is handed to the " +
		"link, as in Panda, so the link between clusters 1 and 4, of 1 KB/s every third second, carries 2.9 KB/s each " +
		"way at most of what comes evenly. Under push jobs are out between all peers, pushed two to five times, the " +
		"median, and 40 at most; so each of the 256 pairs has heartbeats, the rarest that a core sends " +
		"(steal.Config.MaxHeartbeatEvery), which are 2.4 KB/s each way. With jobs and results that is 4.4 KB/s: " +
		"messages take 24 s in the first two minutes, the median, 129 s in the third two and 324 s in the tenth. Then " +
		"idle peers run what was pushed across themselves (LeaseEnd) and push its children again: 6.0 million jobs " +
		"are spawned in half an hour, of a tree of 0.63 million. Without LeaseEnd the run takes 2,766 s; with " +
		"heartbeats between clusters every 5 minutes besides, 886 s, a speedup of 10.1, and every job runs once.")
	d.para("CHS is ours where the papers say nothing. Published (Albatross paper, 2.3): an idle node asks its " +
		"children, requests descend recursively, and only when the whole subtree is idle one goes upwards. " +
		"Not published: that children are asked one after the other, that a request waits at its victim " +
		"until the victim's round is over, that the tree is binary, and the pause of 5 ms after a round " +
		"that brought nothing. The paper calls CHS \"always the worst-performing algorithm, even within a " +
		"single cluster\", but its figures survive only as a picture: whether it was as slow as here cannot " +
		"be told, so no policy should be praised for beating it.")
}
