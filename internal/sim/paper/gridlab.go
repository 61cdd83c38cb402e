package paper

import (
	"time"

	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/steal"
)

// GridLab's test bed (fault tolerance paper, 4): Berlin, Leiden, Brno and Delft, in this order. The paper's are the
// clocks and numbers of the processors, the lines (its Tables 1 and 2) and the bandwidth within Leiden and Delft.
// Ours are that a clock is a speed, that Leiden, which the tables do not have, has the lines of Amsterdam, that rows
// send and columns receive, that latencies are one way, what is within Berlin and Brno, all local latencies, and that
// the master is in Berlin.

// gridlabSpeeds are the clocks, in GHz.
var gridlabSpeeds = []float64{1.7, 1, 0.7, 1}

// gridlabLine is from one site to another.
type gridlabLine struct{ mbits, millis float64 }

var gridlabLines = [][]gridlabLine{
	{{}, {98, 16}, {91, 20}, {62, 17}},
	{{87, 16}, {}, {654, 19}, {592, 2}},
	{{86, 21}, {360, 19}, {}, {441, 19}},
	{{85, 17}, {415, 2}, {608, 19}, {}},
}

var gridlabLocal = wan.Conditions{Bandwidth: 100e6 / 8, Latency: 100 * time.Microsecond}

// gridlab is the network of so many peers in each site, and how fast each is. Who joins is in Delft.
func gridlab(sizes []int) (*wan.Model, func(peer int) float64) {
	network := wan.NewModel(sizes, gridlabLocal)
	for from, lines := range gridlabLines {
		for to, l := range lines {
			if from != to {
				network.Links().Set(from, to, wan.Conditions{Bandwidth: l.mbits * 1e6 / 8,
					Latency: time.Duration(l.millis * float64(time.Millisecond))})
			}
		}
	}
	return network, func(peer int) float64 {
		for site, n := range sizes {
			if peer -= n; peer < 0 {
				return gridlabSpeeds[site]
			}
		}
		return gridlabSpeeds[len(gridlabSpeeds)-1]
	}
}

var (
	fourSites  = []int{4, 8, 4, 8}
	threeSites = []int{4, 8, 4, 0}
)

// gridlabPlans: Leiden, which is othersCluster, goes, in the second experiment for Delft.
var gridlabPlans = []plan{
	{name: planPlain, sizes: fourSites, gridlab: true},
	{name: planIdeal, sizes: []int{4, 4, 4, 8}, gridlab: true},
	{name: "crash, naive", sizes: fourSites, gridlab: true, recovery: steal.Naive, faults: crashOf(othersCluster)},
	{name: "crash", sizes: fourSites, gridlab: true, faults: crashOf(othersCluster)},
	{name: planBare, sizes: fourSites, gridlab: true, faults: crashOf(othersCluster), bare: true},
	{name: "leave", sizes: fourSites, gridlab: true, faults: leaveOf(othersCluster)},
	{name: planThree, sizes: threeSites, gridlab: true},
	{name: planMigrate, sizes: threeSites, gridlab: true, faults: migrate(threeSites), whole: planThree},
}

const planThree = "three sites"

var gridlabRows = []recoveryRow{
	{"crash, naive", planIdeal, "", ""},
	{"crash", planIdeal, "crash, naive", "smaller differences than on DAS-2"},
	{planBare, planIdeal, "crash, naive", "smaller differences than on DAS-2"},
	{"leave", planIdeal, "crash, naive", "smaller differences than on DAS-2"},
	{planMigrate, planThree, "", "under 2 % over ideal"},
}

// testBed adds GridLab, beside what two clusters of DAS-2 have made of the same tree.
func (p *recoveryPage) testBed(t recoveryTree, das []recoveryRuns) error {
	p.para("## GridLab's four sites")
	p.para("The %s on 24 peers: 4 in Berlin, 8 in Leiden, 4 in Brno and 8 in Delft, of which Leiden goes in the middle (fault tolerance paper, "+
		"4.2), and on the first three, of which Leiden gives way to Delft (4.3). The ideal is with half of Leiden, of the migration with three sites. "+
		"The paper's are the numbers and clocks of the processors, 1.7, 1, 0.7 and 1 GHz, the bandwidths and latencies of the lines (Tables 1 and 2: 62 to "+
		"654 Mbit/s, 2 to 21 ms) and the 100 Mbit/s within Leiden and Delft. Ours are that clocks are speeds, that Leiden, which these "+
		"tables do not have, has the lines of Amsterdam, that rows send and columns receive, that latencies are one way, what is "+
		"within Berlin and Brno, the local latency of 0.1 ms, and that the master is in Berlin. The paper's Figure 8 survives only as a picture; the text says that results are similar to those "+
		"on DAS-2 and differences smaller, as fewer leave.", t.name)
	all, err := p.section(t, gridlabPlans, gridlabRows)
	if err != nil {
		return err
	}
	p.deviate(t.name+", GridLab", all)
	for i, policy := range recoveryPolicies {
		better := func(of []recoveryRuns, plan string) string {
			return of[i].compare(plan, "crash, naive", gain).middle(1)
		}
		p.para("Better than naive under %s, here and on two clusters, in percent: crash %s and %s, leave %s and %s.",
			policy, better(all, "crash"), better(das, "crash"), better(all, "leave"), better(das, "leave"))
	}
	return nil
}
