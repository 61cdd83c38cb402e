package paper

import (
	"fmt"
)

// closeRows are those of the page of scenarios that its seeds leave open: an interval of ours less a published policy
// begins below -mostBehind and does not end there.
var closeRows = []scenarioRow{{integrate, 5}, {integrate, 8}, {queens, 5}, {queens, 8}, {tsp, 8},
	{raytracer, 1}, {raytracer, 2}, {raytracer, 8}}

// makeClose runs them with more seeds.
func makeClose(o Options) (*Document, error) {
	policies := []string{"crs", "cmrs", "acrs", adaptive}
	fewer := max(1, o.Seeds/4) // of crs and cmrs, which take four times as long
	var setups []Setup
	for _, r := range closeRows {
		for _, policy := range policies {
			s, err := r.setup(policy)
			if err != nil {
				return nil, err
			}
			if fewerRuns[policy] > 0 {
				s.Runs = fewer
			}
			setups = append(setups, s)
		}
	}
	reports, err := measure(o, setups)
	if err != nil {
		return nil, err
	}
	d := new(Document)
	d.para("# Scenarios that are close")
	d.para("The rows of [the scenarios](sim-scenarios.md) in which few seeds leave open whether ours is behind a published policy: "+
		"%s, of crs and cmrs %d. Speedups, mean and half the range, and, paired by seed, the 95 %% intervals of ours less each. "+
		"Ours is nowhere behind where they begin at -%.1f or above.", o.seeds(), fewer, mostBehind)
	header := append([]string{"application", "scenario"}, policies...)
	table := [][]string{append(header, "ours less acrs", "reaches -0.3", "ours less crs", "reaches -0.3", "ours less cmrs", "reaches -0.3")}
	for i, r := range closeRows {
		line := []string{r.app.Name, fmt.Sprint(r.scenario)}
		of := make(map[string]sample)
		for k, policy := range policies {
			of[policy] = collect(reports[i*len(policies)+k], speedup(r.app))
			line = append(line, of[policy].String())
		}
		for _, policy := range []string{"acrs", "crs", "cmrs"} {
			interval, says := reaches(of[adaptive], of[policy])
			line = append(line, interval, says)
		}
		table = append(table, line)
	}
	d.table(table)
	return d, nil
}
