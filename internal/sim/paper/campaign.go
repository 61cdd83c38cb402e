package paper

import (
	"fmt"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/sim/volunteers"
)

// What docs/proofs.md has measured of w(2;3,14), and what it expects of t = 20.
const (
	campaignConflicts = 1.7e12
	campaignSolving   = 27.6e-6 // seconds of processor time for a conflict
	campaignChecking  = 6.6e-6
	campaignBytes     = 62 // of a piece for a conflict, as it travels: a quarter of its text
	campaignParts     = 100_000
	campaignHosts     = 1000
)

// Published availability: see the page.
const (
	setiOn, setiActive, setiConnected, setiEfficiency = 0.81, 0.84, 0.83, 0.90
	setiThere                                         = setiOn * setiActive * setiConnected
	dameUp                                            = 13.73 // hours, mean
)

// availability is how hosts come and go.
type availability struct {
	name     string
	up, down volunteers.Weibull
}

func availabilities() []availability {
	const months = 10_000 // hours
	return []availability{
		{"SETI@home's share", volunteers.WithMean(0.45, dameUp), volunteers.WithMean(0.51, dameUp*(1/setiThere-1))},
		{"Notre Dame", volunteers.Weibull{Shape: 0.45, Scale: 4.16}, volunteers.Weibull{Shape: 0.51, Scale: 0.74}},
		{"Microsoft", volunteers.Weibull{Shape: 0.55, Scale: 35.30}, volunteers.Weibull{Shape: 0.60, Scale: 9.34}},
		{"always there", volunteers.WithMean(1, months), volunteers.WithMean(1, 1e-3)},
	}
}

// A campaignRow is one campaign of the page.
type campaignRow struct {
	hosts    availability
	atOnce   int
	link     float64 // Mbit/s of a volunteer
	verdicts int     // 0: the owner checks
	abrupt   float64
	grain    float64 // seconds
	reports  []volunteers.Report
}

const (
	shared      = 2   // seconds: a part is solved by as many as find that much work in it
	solvedByOne = 1e9 // by one
)

// campaignRows are those in which the way of working differs, and those in which the volunteers do.
func campaignRows() (ways, hosts []*campaignRow) {
	all := availabilities()
	for _, verdicts := range []int{0, 2} {
		for _, grain := range []float64{shared, solvedByOne} {
			for _, atOnce := range []int{64, 1000} {
				for _, link := range []float64{10, 100} {
					if atOnce == 1000 || verdicts == 0 && grain == shared {
						ways = append(ways, &campaignRow{hosts: all[0], atOnce: atOnce, link: link, verdicts: verdicts,
							abrupt: 0.2, grain: grain})
					}
				}
			}
		}
	}
	last := *ways[len(ways)-1]
	for _, a := range all[1:] {
		r := last
		r.hosts = a
		hosts = append(hosts, &r)
	}
	for _, abrupt := range []float64{0, 1} {
		r := last
		r.abrupt = abrupt
		hosts = append(hosts, &r)
	}
	return ways, hosts
}

func (r *campaignRow) config(seed uint64) volunteers.Config {
	const mbit, year = 1e6 / 8, 365 * 24 * time.Hour
	return volunteers.Config{Seed: seed, Hosts: campaignHosts, Up: r.hosts.up, Down: r.hosts.down, Abrupt: r.abrupt,
		Parts:  volunteers.Spread(volunteers.Recorded(), campaignParts, campaignConflicts, seed),
		AtOnce: r.atOnce, Solving: campaignSolving / setiEfficiency, Checking: campaignChecking / setiEfficiency,
		Bytes: campaignBytes, Grain: r.grain, Steal: 0.1, Link: r.link * mbit, OwnerLink: 1000 * mbit, OwnerCores: 8,
		Verdicts: r.verdicts, Direct: r.verdicts > 0, Most: 5 * year}
}

func (r *campaignRow) figure(of func(*volunteers.Report) float64) string {
	s := make(sample, len(r.reports))
	for i := range r.reports {
		s[i] = of(&r.reports[i])
	}
	return s.middle(1)
}

func days(r *volunteers.Report) float64 { return r.Took.Hours() / 24 }

func terabytes(b float64) float64 { return b / 1e12 }

// cells are what a row says of how it went.
func (r *campaignRow) cells() []string {
	return []string{r.figure(days),
		r.figure(func(r *volunteers.Report) float64 { return 100 * (r.Solved + r.Checked) / r.There }),
		r.figure(func(r *volunteers.Report) float64 { return 100 * r.Lost / r.Solved }),
		r.figure(func(r *volunteers.Report) float64 { return terabytes(r.Between) }),
		r.figure(func(r *volunteers.Report) float64 { return terabytes(r.Home) })}
}

var campaignColumns = []string{"days to the end", "of their time, %", "solved in vain, %", "TB between volunteers",
	"TB to the owner"}

func makeCampaign(o Options) (*Document, error) {
	ways, hosts := campaignRows()
	rows := slices.Concat(ways, hosts)
	for _, r := range rows {
		r.reports = make([]volunteers.Report, o.Seeds)
	}
	err := o.each(len(rows)*o.Seeds, func(k int) error {
		r, seed := rows[k/o.Seeds], k%o.Seeds
		r.reports[seed] = volunteers.Run(r.config(uint64(seed + 1)))
		if !r.reports[seed].Ended {
			return fmt.Errorf("a campaign of %d at once does not end", r.atOnce)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return campaignPage(ways, hosts, o.Seeds), nil
}
