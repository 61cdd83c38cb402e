package paper

import "fmt"

// Table is one page of results.
type Table struct {
	Name  string // on the command line, and of the file, with sim- before it
	About string
	make  func(Options) (*Document, error)
}

// Tables lists all pages in the order in which they are made.
func Tables() []Table {
	return []Table{
		{"table1", "Table I: RS, CRS and ours over four networks", makeTableOne},
		{"figure2", "Figure 2: latency and bandwidth sweeps of the raytracer", makeFigureTwo},
		{"figure3", "Figure 3 and section 3.3: cluster sizes, equal and unequal", makeFigureThree},
		{"scenarios", "Figures 4 and 6, Table III: scenarios 1 to 11 under eight policies", makeScenarios},
		{"close", "those of the scenarios that few seeds leave open", makeClose},
		{"bounds", "what some of the scenarios could gain by size hints and by striping", makeBounds},
		{"generated", "swarms drawn at random, that no policy was tuned on", makeGenerated},
		{"heterogeneous", "Table VIII: forty processors of many speeds in five countries", makeHeterogeneous},
		{"large", "960 peers, 4.7 million jobs (programming-model paper, 5.7)", makeLarge},
		{"recovery", "crashes, departures, migration, checkpoints, under ours and CRS (fault tolerance paper, 4; programming-model paper, 5.5)", makeRecovery},
		{"faults", "lines that are down, messages lost and late, machines that stand still, for a while", makeFaults},
		{"adaptive", "scenarios 0 to 5 of the programming-model paper's 5.6: who takes part", makeAdaptive},
		{"compete", "several runs in one swarm: who gets which cores", makeCompete},
		{"objects", "programs that share data (programming-model paper, 5.3 and 5.4: Tables IV to VI, Figures 4 and 5)", makeObjects},
		{"othello", "a game search that shares a table (programming-model paper, 5.3: Table IV)", makeOthello},
		{"othello-deep", "the same, twenty moves deep", makeDeepOthello},
		{"harm", "the same when peers go (programming-model paper, 5.5: Figures 6 and 7, Table VII)", makeHarm},
		{"javelin", "large searches on 64 to 1,024 peers, and lost hosts (Javelin 3)", makeJavelin},
		{"campaign", "a proof of weeks among 1,000 volunteers of published availability", makeCampaign},
		{"exact", "10,000 seeded schedules with faults", makeExact},
	}
}

// TableNamed finds a page.
func TableNamed(name string) (Table, error) {
	names := ""
	for _, t := range Tables() {
		if t.Name == name {
			return t, nil
		}
		names += " " + t.Name
	}
	return Table{}, fmt.Errorf("there is no table %q; there are%s", name, names)
}

// Make runs the experiments of a page. They take from seconds to minutes, more with more seeds. A page that
// shows a broken invariant is returned together with an error.
func (t Table) Make(o Options) (*Document, error) {
	if o.Seeds < 1 {
		return nil, fmt.Errorf("%d seeds; at least 1 is needed", o.Seeds)
	}
	d, err := t.make(o)
	if d != nil {
		d.Made("satin-sim table %s --seeds %d", t.Name, o.Seeds)
	}
	return d, err
}
