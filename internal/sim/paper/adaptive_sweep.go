package paper

import (
	"fmt"
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

// sweptConstants are, for each mode, those that decide in it.
var sweptConstants = []struct {
	mode      adapt.Mode
	constants []sweptConstant
}{
	{adapt.Paper, []sweptConstant{
		{"Period", []float64{0.5, 2, 10}, changePeriod},
		{"MostGrowth", []float64{0.75, 2}, func(c *adapt.Config, by float64) { c.MostGrowth *= by }},
		{"MostRelease", []float64{0.25, 0.5}, func(c *adapt.Config, by float64) { c.MostRelease *= by }},
		{"SlowWeight", []float64{0.5, 2}, func(c *adapt.Config, by float64) { c.SlowWeight *= by }},
		{"LinkWeight", []float64{0.5, 2}, func(c *adapt.Config, by float64) { c.LinkWeight *= by }},
		{"WorstWeight", []float64{0.5, 2}, func(c *adapt.Config, by float64) { c.WorstWeight *= by }},
		{"Patience and PatienceMost", []float64{0.5, 2}, func(c *adapt.Config, by float64) {
			c.Patience, c.PatienceMost = int(by*float64(c.Patience)), int(by*float64(c.PatienceMost))
		}},
	}},
	{adapt.Volunteers, []sweptConstant{
		{"Period", []float64{0.5, 2, 10}, changePeriod},
		{"BadLink", []float64{0.5, 2}, func(c *adapt.Config, by float64) { c.BadLink *= by }},
		{"LinkFactor", []float64{0.7, 2}, func(c *adapt.Config, by float64) { c.LinkFactor *= by }},
		{"WorstLink", []float64{0.5, 2}, func(c *adapt.Config, by float64) { c.WorstLink *= by }},
		{"ReadmitFactor", []float64{0.7, 2}, func(c *adapt.Config, by float64) { c.ReadmitFactor *= by }},
		{"SlowFactor", []float64{0.5, 2}, func(c *adapt.Config, by float64) { c.SlowFactor *= by }},
		{"MostLoss", []float64{0.5, 2}, func(c *adapt.Config, by float64) { c.MostLoss *= by }},
		{"Absence", []float64{0.5, 2}, func(c *adapt.Config, by float64) { c.Absence = int(by * float64(c.Absence)) }},
	}},
}

func changePeriod(c *adapt.Config, by float64) { c.Period = time.Duration(by * float64(c.Period)) }

// sweepConstants adds what becomes of the run times when a constant that is ours is another one.
func sweepConstants(o Options, d *Document) error {
	paired, single := equalScenarios[1], equalScenarios[5]
	scenarios := append(adaptScenarios[:len(adaptScenarios):len(adaptScenarios)], paired, single)
	d.para("## The constants that are ours, swept")
	d.para("One at a time, at about half and about twice of what it is, in the mode in which it decides, under our policy: by how "+
		"much the run of the first seed gets longer, in percent, in scenarios 1 to 5 and on %s and %s equal machines, the "+
		"latter each its own cluster. Where it is 0.0 everywhere no decision was another one.", paired.name, single.name)
	header := []string{"mode", "constant", "times"}
	for _, s := range scenarios {
		header = append(header, s.name)
	}
	rows := [][]string{append(header, "mean")}
	for _, of := range sweptConstants {
		base, err := runConstants(o, scenarios, of.mode, func(*adapt.Config) {})
		if err != nil {
			return err
		}
		for _, k := range of.constants {
			for _, by := range k.by {
				runs, err := runConstants(o, scenarios, of.mode, func(c *adapt.Config) { k.change(c, by) })
				if err != nil {
					return fmt.Errorf("%s times %v: %w", k.name, by, err)
				}
				row, saved := []string{of.mode.String(), k.name, fmt.Sprint(by)}, savedBy(base, runs)
				for _, s := range append(saved, saved.mean()) {
					row = append(row, signed(-s))
				}
				rows = append(rows, row)
			}
		}
	}
	d.table(rows)
	return nil
}

// signed is a percentage with its sign, if it is not 0.
func signed(x float64) string {
	if s := fmt.Sprintf("%+.1f", x); s != "-0.0" && s != "+0.0" {
		return s
	}
	return "0.0"
}

// runConstants is one run of each scenario with other constants.
func runConstants(o Options, scenarios []adaptScenario, mode adapt.Mode, change func(*adapt.Config)) (
	[]*sim.Report, error) {
	reports := make([]*sim.Report, len(scenarios))
	return reports, o.each(len(scenarios), func(i int) (err error) {
		c := adaptConfig(scenarios[i], adaptive, mode, true, 1)
		change(&c.Adapt.Config)
		reports[i], err = sim.Run(c)
		return err
	})
}
