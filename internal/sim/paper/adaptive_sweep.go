package paper

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/satin-peer/satin/adapt"
	"github.com/satin-peer/satin/internal/sim"
)

// A sweptConstant is one constant of package adapt that the paper does not give, and by what it is multiplied.
type sweptConstant struct {
	name   string
	by     []float64
	change func(c *adapt.Config, by float64)
}

// linkConstants decide in both modes, each with those that decide in it alone in sweptConstants. A mode is swept under
// the policy that it comes with: the published system's, or ours.
var linkConstants = []sweptConstant{
	{"Period", []float64{0.5, 2, 10}, func(c *adapt.Config, by float64) {
		c.Period = time.Duration(by * float64(c.Period))
	}},
	{"FullShare", []float64{0.5, 1.2}, func(c *adapt.Config, by float64) { c.FullShare *= by }},
	{"BadLink", []float64{0.5, 2, 4}, func(c *adapt.Config, by float64) { c.BadLink *= by }},
	{"LinkFactor", []float64{0.6, 2}, func(c *adapt.Config, by float64) { c.LinkFactor *= by }},
	{"WorstLink", []float64{0.3, 2}, func(c *adapt.Config, by float64) { c.WorstLink *= by }},
	{"ReadmitFactor", []float64{0.6, 2}, func(c *adapt.Config, by float64) { c.ReadmitFactor *= by }},
	{"Absence", []float64{0.1, 0.5, 2}, func(c *adapt.Config, by float64) { c.Absence = int(by * float64(c.Absence)) }},
	{"SlowerBack", []float64{0.125, 0.5, 2}, func(c *adapt.Config, by float64) {
		c.SlowerBack = int(by * float64(c.SlowerBack))
	}},
}

var sweptConstants = []struct {
	mode      adapt.Mode
	policy    string
	constants []sweptConstant
}{
	{adapt.Paper, "crs", slices.Concat(linkConstants, []sweptConstant{
		{"MostGrowth", []float64{0.6, 2}, func(c *adapt.Config, by float64) { c.MostGrowth *= by }},
		{"MostRelease", []float64{0.25, 0.5}, func(c *adapt.Config, by float64) { c.MostRelease *= by }},
		{"SlowWeight", []float64{0.5, 2}, func(c *adapt.Config, by float64) { c.SlowWeight *= by }},
		{"LinkWeight", []float64{0.5, 2}, func(c *adapt.Config, by float64) { c.LinkWeight *= by }},
		{"WorstWeight", []float64{0, 0.5, 2}, func(c *adapt.Config, by float64) { c.WorstWeight *= by }},
		{"Patience and PatienceMost", []float64{0.5, 2}, func(c *adapt.Config, by float64) {
			c.Patience, c.PatienceMost = int(by*float64(c.Patience)), int(by*float64(c.PatienceMost))
		}},
	})},
	{adapt.Volunteers, adaptive, slices.Concat(linkConstants, []sweptConstant{
		{"SlowFactor", []float64{0.5, 2}, func(c *adapt.Config, by float64) { c.SlowFactor *= by }},
		{"MostLoss", []float64{0, 0.5, 2}, func(c *adapt.Config, by float64) { c.MostLoss *= by }},
	})},
}

// mostSwept is with how many seeds constants are swept.
const mostSwept = 3

// sweepConstants adds what becomes of the run times when a constant that is ours is another one.
func sweepConstants(o *adaptRuns, d *Document) error {
	few := *o
	o = &few
	o.Seeds = min(o.Seeds, mostSwept)
	paired, single := equalScenarios[1], equalScenarios[5]
	scenarios := slices.Concat(adaptScenarios, []adaptScenario{paired, single})
	header := []string{"mode", "constant", "times"}
	for _, s := range scenarios {
		header = append(header, s.name)
	}
	rows := [][]string{append(header, "mean")}
	var unmoved []string
	for _, of := range sweptConstants {
		row := adaptRow{of.policy, of.mode.String(), of.mode, true}
		base, err := measureAdaptive(o, scenarios, []adaptRow{row})
		if err != nil {
			return err
		}
		var still []string
		for _, k := range of.constants {
			for _, by := range k.by {
				change := func(c *adapt.Config) { k.change(c, by) }
				cells, moved, err := longer(o, scenarios, row, base, change)
				if err != nil {
					return fmt.Errorf("%s times %v: %w", k.name, by, err)
				}
				if moved {
					rows = append(rows, append([]string{row.name, k.name, fmt.Sprint(by)}, cells...))
				} else {
					still = append(still, fmt.Sprintf("%s times %v", k.name, by))
				}
			}
		}
		unmoved = append(unmoved, fmt.Sprintf("under %s with %s", row.name, strings.Join(still, ", ")))
	}
	d.para("## The constants that are ours, swept")
	d.para("One at a time, in both modes where it decides in both, paper under CRS as published, volunteers under our policy: by "+
		"how much runs get longer, in percent, the mean of %s, in scenarios 1 to 5 and on %s and %s equal machines, "+
		"the latter each its own cluster. Where no decision is another one the run is the same, and 0.0.", o.seeds(),
		paired.name, single.name)
	d.table(rows)
	d.para("No decision in any of these runs was another one %s. The bound on how many times the usual cores one "+
		"member counts for, 8, is not swept: all machines of the model have one core.", strings.Join(unmoved, "; "))
	return nil
}

// longer is by how much the runs of a row get longer, by scenario and in the mean, in percent, and whether any decision
// is another one.
func longer(o *adaptRuns, scenarios []adaptScenario, row adaptRow, base [][][]*sim.Report, change func(*adapt.Config)) (
	cells []string, moved bool, err error) {
	runs := grid[*sim.Report](len(scenarios), o.Seeds)
	err = o.each(len(scenarios)*o.Seeds, func(n int) (err error) {
		i, seed := n/o.Seeds, n%o.Seeds
		c := o.config(scenarios[i], row.policy, row.mode, true, uint64(seed+1))
		if change(&c.Adapt.Config); sameDecisions(base[i][0][seed], c.Adapt.Config) {
			runs[i][seed] = base[i][0][seed]
			return nil
		}
		runs[i][seed], err = sim.Run(c)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	var all sample
	for i := range runs {
		moved = moved || !slices.Equal(runs[i], base[i][0])
		all = append(all, savedBy(base[i][0], runs[i]).mean())
	}
	for _, s := range append(all, all.mean()) {
		cells = append(cells, signed(-s))
	}
	return cells, moved, nil
}

// sameDecisions says whether the coordinator of a run would have decided the same with other constants, so that the run
// would have been the same. With another period it would not have measured the same.
func sameDecisions(r *sim.Report, cfg adapt.Config) bool {
	core, err := adapt.New(cfg)
	if err != nil || cfg.Period != adaptPeriod {
		return false
	}
	var roster adapt.Roster
	for _, a := range r.Adaptations {
		a.Situation.Roster = roster
		d := core.Step(&a.Situation)
		if !slices.Equal(d.Changes, a.Changes) {
			return false
		}
		roster = d.Roster
	}
	return true
}

// signed is a percentage with its sign, if it is not 0.
func signed(x float64) string {
	if s := fmt.Sprintf("%+.1f", x); s != "-0.0" && s != "+0.0" {
		return s
	}
	return "0.0"
}
