package paper

import (
	"fmt"
	"time"

	"github.com/satin-peer/satin/apps/othello"
	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/steal"
)

// How far the search looks. The paper's is 21 moves deep and looks at 2.9 billion positions; here all of them are
// really looked at, in every run. The deep search takes a core half an hour.
const (
	gameDepth = 18
	deepGame  = 20
	gameLeaf  = 5
)

// gameRun is a row of the page.
type gameRun struct {
	at      objectsPoint
	aborts  bool
	reports []*sim.Report
	seen    []gameCounts
}

// measureGame searches to a depth, with aborts on all points and, where that is asked for, without on the last.
func measureGame(o Options, depth, leaf int, work time.Duration, points []objectsPoint, without bool) (runs []gameRun,
	positions uint64, err error) {
	value, positions := othello.Beginning(depth, leaf).Twin()
	want := progress{value, value, depth, checked}.result()
	for _, p := range points {
		runs = append(runs, gameRun{at: p, aborts: true})
	}
	if without {
		runs = append(runs, gameRun{at: points[len(points)-1]})
	}
	for i := range runs {
		runs[i].reports, runs[i].seen = make([]*sim.Report, o.Seeds), make([]gameCounts, o.Seeds)
	}
	return runs, positions, o.each(len(runs)*o.Seeds, func(k int) error {
		k = len(runs)*o.Seeds - 1 - k // the longest begin first
		r, seed := &runs[k/o.Seeds], k%o.Seeds
		g := newGame(depth, leaf, r.aborts, work, positions, r.at.machines)
		report, err := sim.Run(sim.Config{Tree: g, Seed: uint64(seed + 1), Want: &want, Network: r.at.network(),
			Core: Core(), Workers: r.at.cores / r.at.machines, SpawnOverhead: EngineOverhead, MessageCost: messageCost,
			ByteCost: byteCost, Policy: PolicyNamed(adaptive)})
		if err != nil {
			return fmt.Errorf("%s cores, aborts %v, seed %d: %w", r.at.label, r.aborts, seed+1, err)
		}
		r.reports[seed], r.seen[seed] = report, g.seen
		return nil
	})
}

func makeOthello(o Options) (*Document, error) {
	points, _ := objectsPoints()
	return makeGame(o, gameDepth, points, true)
}

// makeDeepOthello is of nearly the paper's depth, on its 256 cores alone.
func makeDeepOthello(o Options) (*Document, error) {
	points, _ := objectsPoints()
	return makeGame(o, deepGame, points[len(points)-1:], false)
}

func makeGame(o Options, depth int, points []objectsPoint, without bool) (*Document, error) {
	work := objectsCores * objectsTime
	runs, positions, err := measureGame(o, depth, gameLeaf, work, points, without)
	if err != nil {
		return nil, err
	}
	return gamePage(o, depth, gameLeaf, work, positions, runs), nil
}

func gamePage(o Options, depth, leaf int, work time.Duration, positions uint64, runs []gameRun) *Document {
	d := new(Document)
	d.para("# A game search that shares a table")
	d.para("Othello on the cluster of [the page on shared data](sim-objects.md): the beginning of the game, %d moves deep, where "+
		"a job looks at the last %d alone. The sequential program looks at %d positions, which is taken to last %.0f s: %v each. As published: 21 moves, "+
		"2.9 billion positions. %s; where there are several, medians and half the range.", depth, leaf, positions, work.Seconds(),
		work/time.Duration(positions), o.seeds())
	d.para("What is searched depends on what is known, so this is no recorded tree: each job runs the application's own code when "+
		"it begins in the simulator, with the tables that its machine of four cores has then. What a job finds is known on its machine at once (what a leaf does, "+
		"when it begins, which is some ms early), and its answer on the others when "+
		"the lattice's next message has come, every %v. To tell of a fact costs as much as to look at %d positions, to hear of one %d "+
		"(`go test ./apps/othello -run xxx -bench Facts`). Positions are those of all jobs that began, those that were aborted with them. "+
		"A job aborts when it gives up some that it has spawned; a message of that goes to each thief of them.",
		tellEvery, tellCost, hearCost)
	rows := [][]string{{"cores", "aborts", "run time, s", "efficiency", "cores at work", "positions, of the sequential program's", "jobs",
		"of them answered by the table", "syncs", "aborts", "abort messages", "aborted", "stolen", "messages", "data", "goal"}}
	for i := range runs {
		rows = append(rows, runs[i].row(work, positions))
		if r := &runs[i]; r.at.cores == objectsCores {
			rows = append(rows, publishedGame(r.aborts))
		}
	}
	d.table(rows)
	besideOneCore(d, runs)
	d.para("A value is found by shallower searches first, two moves apart, as by the sequential program; so is, by both, the answer to a question " +
		"of which too little is known to say in what order to ask about the moves. Where what they have found, or else a glance at most six " +
		"moves ahead, says that no move will settle a question, all of them are jobs at once; elsewhere the most promising one is " +
		"asked about alone (young brothers wait), then two at once, then four. Two things cost efficiency: what is searched in vain, where the glance erred or one " +
		"of several jobs at once settled the question; and cores without work, since each question about the whole waits for the one before.")
	return d
}

// besideOneCore says what becomes of the efficiencies if one core of ours is the measure, where it was run: it is no
// sequential program, but where it is faster than that it is what more cores have to be compared with.
func besideOneCore(d *Document, runs []gameRun) {
	one := runs[0]
	if one.at.cores != 1 {
		return
	}
	text := ""
	for _, r := range runs[1:] {
		if r.aborts {
			share := 100 * collect(one.reports, elapsed).median() / collect(r.reports, elapsed).median() /
				float64(r.at.cores)
			text += fmt.Sprintf(", %.1f %% on %s", share, r.at.label)
		}
	}
	d.para("Efficiency is beside the sequential program. Beside our jobs on one core it is%s.", text[1:])
}

const gameGoal = 40 // percent of 256 cores

func (r *gameRun) row(work time.Duration, positions uint64) []string {
	counted := func(count func(*gameCounts) float64) sample {
		s := make(sample, len(r.seen))
		for i := range r.seen {
			s[i] = count(&r.seen[i])
		}
		return s
	}
	told := counted(func(c *gameCounts) float64 {
		return float64((c.facts*factBytes + c.tells*tellsBytes) * uint64(r.at.machines-1))
	}).median()
	messages := counted(func(c *gameCounts) float64 { return float64(c.tells * uint64(r.at.machines-1)) }).median()
	efficiency := collect(r.reports, func(p *sim.Report) float64 { return 100 * p.Efficiency(work) })
	reached, aborts := "–", "yes"
	if !r.aborts {
		aborts = "no"
	} else if r.at.cores == objectsCores {
		reached = goal(efficiency, gameGoal)
	}
	return []string{r.at.label, aborts, collect(r.reports, elapsed).middle(1), efficiency.middle(1) + " %",
		collect(r.reports, func(p *sim.Report) float64 {
			return 100 * float64(p.Busy) / (float64(p.Elapsed) * float64(r.at.cores))
		}).middle(1) + " %",
		counted(func(c *gameCounts) float64 { return float64(c.positions) / float64(positions) }).middle(2),
		counted(func(c *gameCounts) float64 { return float64(c.jobs) }).middle(0),
		counted(func(c *gameCounts) float64 { return float64(c.answered) }).middle(0),
		counted(func(c *gameCounts) float64 { return float64(c.waits) }).middle(0),
		numbers(r.reports, func(p *sim.Report) uint64 { return p.Counts.Aborts }),
		numbers(r.reports, func(p *sim.Report) uint64 { return p.Steals.SentByKind[steal.KindAbort] }),
		numbers(r.reports, func(p *sim.Report) uint64 { return p.Counts.Aborted }), numbers(r.reports, stolenLocal),
		collect(r.reports, func(p *sim.Report) float64 { return float64(p.Counts.MessagesLocal) + messages }).middle(0),
		megabytes(r.reports, int64(told), bytesLocal), reached}
}

// publishedGame is Table IV's line, and what 5.3 says of aborts.
func publishedGame(aborts bool) []string {
	if aborts {
		return []string{"published", "yes", "–", "21.8 %", "–", "–", "3,313,234", "–", "418,833", "310,482", "178,080", "1,136,942", "1,022,000", "70,390,763", "2.1 GB",
			""}
	}
	return []string{"published", "no", "–", "5.9 %", "–", "–", "6,973,693", "–", "849,450", "–", "–", "–", "4,144,009", "394,054,014", "10.5 GB", ""}
}
