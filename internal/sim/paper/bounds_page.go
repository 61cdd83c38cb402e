package paper

import "fmt"

// boundScenarios have links of several kinds, links that change every second, the same with two missing, and one that
// is far slower than the others.
var boundScenarios = []int{1, 5, 8, 10}

// makeBounds says what two ideas that nobody has built could gain at most.
func makeBounds(o Options) (*Document, error) {
	halved := *raytracer
	halved.shape.Result /= 2
	halved.shape.PerUnit /= 2
	var setups []Setup
	for _, app := range Apps() {
		for _, n := range boundScenarios {
			s, err := scenarioRow{app, n}.setup(adaptive)
			if err != nil {
				return nil, err
			}
			known, striped := s, s
			known.Largest = true
			if setups = append(setups, s, known); app == raytracer {
				striped.App = &halved
				setups = append(setups, striped)
			}
		}
	}
	reports, err := measure(o, setups)
	if err != nil {
		return nil, err
	}
	d := new(Document)
	d.para("# What hints and striping could gain")
	d.para("Two ideas that are not built, in [scenarios](sim-scenarios.md) 1, 5, 8 and 10, under our policy, %s: speedups, and paired by "+
		"seed the 95 %% interval of what they gain. Jobs with a hint of their size: here engines give away the largest job that they "+
		"have, and know exactly which that is; the oldest is given away else. Large results that are divided among two ways: here every "+
		"result of the raytracer, the only application with large ones, has half of its bytes, as if the other half went another way "+
		"that is as fast, with nothing else on it.", o.seeds())
	table := [][]string{{"application", "scenario", "ours", "sizes known", "gain", "results halved", "gain"}}
	hints, ways := 0.0, 0.0 // the most that a row gains, in percent
	for _, app := range Apps() {
		for _, n := range boundScenarios {
			ours, known := collect(reports[0], speedup(app)), collect(reports[1], speedup(app))
			gained, _ := reaches(known, ours)
			hints = max(hints, 100*(known.mean()/ours.mean()-1))
			line := []string{app.Name, fmt.Sprint(n), ours.String(), known.String(), gained, "–", "–"}
			if reports = reports[2:]; app == raytracer {
				striped := collect(reports[0], speedup(app))
				line[5] = striped.String()
				line[6], _ = reaches(striped, ours)
				ways = max(ways, 100*(striped.mean()/ours.mean()-1))
				reports = reports[1:]
			}
			table = append(table, line)
		}
	}
	d.table(table)
	d.para("In the mean of its runs a row gains %.1f %% at most by exact hints, and no engine has one: what a job comes to is known "+
		"when it is done. By two ways the raytracer gains %.1f %% at most, though each pair of clusters has a line of its own here and "+
		"the second way is free; a volunteer has one line for all.", hints, ways)
	return d, nil
}
