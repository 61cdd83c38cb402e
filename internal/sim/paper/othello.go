package paper

import (
	"time"

	"github.com/satin-peer/satin/apps/othello"
	"github.com/satin-peer/satin/internal/sim"
)

// game is Othello as apps/othello searches it, with its own code: what a job looks at depends on what its machine
// knows when it begins. A fact that a job tells is known on its machine at once, and on the others when the lattice's
// next message has come: they are combined, so that is on average half of tellEvery later.
//
// Time is counted in positions. A job that begins pays for the facts that have come to its machine since the last.
type game struct {
	top         othello.Node
	aborts      bool
	perPosition time.Duration

	plans []toAsk  // of jobs that have asked something
	known []view   // by peer
	told  [][]news // by interval
	seen  gameCounts
}

// news is a fact that a peer told of.
type news struct {
	peer int
	fact othello.Fact
}

// view is what a machine knows.
type view struct {
	facts []othello.Fact
	here  othello.Machine
	heard int   // intervals
	debt  int   // facts that it has not paid for
	tells []int // by place, the last interval in which it told of one, counted from 1
	told  int   // the last of these
}

// toAsk is in what order a job asks about moves, and whether all at once.
type toAsk struct {
	moves    []sim.Node
	hopeless bool
	peer     int // where the job is
	waited   int // phases before the first wave: 1 if a shallower search comes first
}

// gameCounts are of one run.
type gameCounts struct {
	positions uint64 // looked at, by jobs that were aborted meanwhile too
	jobs      uint64 // that began
	waits     uint64 // of jobs for what they have spawned
	answered  uint64 // of these by the table
	facts     uint64 // sent to each of the others,
	tells     uint64 // in so many messages to each
}

const (
	// tellEvery is the least time between two messages about one lattice (sharedobj.Config.FlushEvery).
	tellEvery = 75 * time.Millisecond
	// What it costs to tell of a fact and to take one over, in positions looked at (BenchmarkFacts of apps/othello).
	tellCost, hearCost = 7, 1
	// Sizes as satin-sim record othello has them, and of what is told, encoded: of each fact, and of a message.
	gameArg, gameResult   = 145, 1
	factBytes, tellsBytes = 65, 138 + sim.DefaultFrameBytes
)

// newGame is a game for a run on so many machines of one cluster, in which to look at so many positions takes work.
func newGame(depth, leaf int, aborts bool, work time.Duration, positions uint64, machines int) *game {
	g := &game{top: othello.Beginning(depth, leaf), aborts: aborts, perPosition: work / time.Duration(positions),
		known: make([]view, machines)}
	for i := range g.known {
		g.known[i] = view{facts: make([]othello.Fact, othello.Places), here: othello.NewMachine(),
			tells: make([]int, othello.Places)}
	}
	return g
}

// A question is a sim.Node: the position, the bound, and the rest in Form.
const (
	formTop    = -1
	formPassed = 1 << 8
)

func (g *game) node(n *othello.Node) sim.Node {
	form := int32(n.Depth)
	if n.Passed {
		form |= formPassed
	}
	return sim.Node{Key: n.Board.Mine, Work: int64(n.Board.Theirs), Size: int32(n.Bound), Form: form}
}

func (g *game) question(n sim.Node) othello.Node {
	q := g.top
	q.Board = othello.Board{Mine: n.Key, Theirs: uint64(n.Work)}
	q.Bound, q.Depth, q.Passed = int(n.Size), int(n.Form&^formPassed), n.Form&formPassed != 0
	return q
}

func (g *game) Root() sim.Node { return sim.Node{Form: formTop} }

// The top's result is what is known of the value to a depth: a lower and an upper bound, and how far it has got.
const (
	guessed = 1 // the value to a lesser depth is known, or nothing: it is the first bound
	raised  = 2 // the last answer was a lower bound
	lowered = 3 // it was an upper one
	checked = 4 // the value is known, and which moves reach it
)

// progress is the top's result, taken apart.
type progress struct {
	lower, upper, depth int
	state               uint64
}

func progressOf(r sim.Result) progress {
	return progress{int(int32(r.Sum >> 32)), int(int32(r.Sum)), int(r.Leaves >> 8), r.Leaves & 0xff}
}

func (p progress) result() sim.Result {
	return sim.Result{Sum: uint64(uint32(int32(p.lower)))<<32 | uint64(uint32(int32(p.upper))),
		Leaves: uint64(p.depth)<<8 | p.state}
}

// ahead marks an answer to the question that is asked first, looking less far.
const ahead = 2

// answerOf is the result of a question's job.
func answerOf(answer int) sim.Result { return sim.Result{Sum: uint64(int64(answer)), Leaves: 1} }

func (g *game) Begin(at sim.Where, n sim.Node, buf []sim.Node) ([]sim.Node, int64, sim.Result, int32) {
	if n.Form == formTop {
		first := g.asked(g.first())
		return append(buf, g.node(&first)), 0, sim.Result{}, 0
	}
	g.seen.jobs++
	q := g.question(n)
	v := g.hear(at)
	cost := uint64(1 + v.debt*hearCost)
	v.debt = 0
	answer, ok := v.facts[q.Board.Place()].Settles(&q)
	if !ok {
		answer, ok = v.here.Settles(&q)
	}
	if ok {
		g.seen.answered++
		return buf, g.time(cost), answerOf(answer), 0
	}
	cost += tellCost
	if q.AtLeaf() {
		answer, positions := q.Alone(v.here)
		g.seen.positions += positions
		return buf, g.time(cost + positions), answerOf(answer), 0
	}
	job := int32(len(g.plans))
	if first, ok := q.Ahead(v.find); ok {
		g.plans = append(g.plans, toAsk{peer: at.Peer, waited: 1})
		g.seen.waits++
		return append(buf, g.node(&first)), g.time(cost), sim.Result{}, job
	}
	p, looked := g.plan(&q, v.find)
	if len(p.moves) == 0 {
		return buf, g.time(cost), answerOf(q.Over()), 0
	}
	g.plans = append(g.plans, p)
	return g.wave(job, 0, buf), g.time(cost + looked), sim.Result{}, job
}

// plan is in what order a question's job asks.
func (g *game) plan(q *othello.Node, know func(othello.Board) othello.Fact) (p toAsk, looked uint64) {
	next := q.Plan(know)
	g.seen.positions += 1 + next.Looked
	p.hopeless = next.Hopeless
	for i := range next.Questions {
		p.moves = append(p.moves, g.node(&next.Questions[i]))
	}
	return p, next.Looked
}

// find is what a machine knows of a position.
func (v *view) find(b othello.Board) othello.Fact {
	f := v.facts[b.Place()]
	if f.Board != b {
		f = othello.Fact{}
	}
	return v.here.Find(b, f)
}

// wave appends what a question asks in a phase, if it was not settled before.
func (g *game) wave(job int32, phase int, buf []sim.Node) []sim.Node {
	p, from, to := &g.plans[job], 0, 0
	for range phase - p.waited + 1 {
		from, to = to, othello.Wave(to, len(p.moves), p.hopeless)
	}
	for i := to - 1; i >= from; i-- { // the newest job runs first, so the most promising one comes last
		buf = append(buf, p.moves[i])
	}
	if to == len(p.moves) {
		p.moves = nil
	}
	if to > from {
		g.seen.waits++
	}
	return buf
}

func (g *game) time(positions uint64) int64 { return int64(positions) * int64(g.perPosition) }

func (g *game) Came(n, child sim.Node, sum, found sim.Result) (sim.Result, bool) {
	answer := int(int64(found.Sum))
	if n.Form == formTop {
		return g.answered(progressOf(sum), answer).result(), false
	}
	if child.Key == n.Key && child.Work == n.Work {
		return sim.Result{Sum: found.Sum, Leaves: ahead}, false
	}
	q := g.question(n)
	best := -answer
	if sum.Leaves == answerOf(0).Leaves {
		best = max(best, int(int64(sum.Sum)))
	}
	return answerOf(best), g.aborts && best >= q.Bound
}

// first is what is known before all.
func (g *game) first() progress {
	return progress{g.top.Guess(), g.top.Guess(), g.top.First(), guessed}
}

// answered is what is known after an answer to the top.
func (g *game) answered(p progress, answer int) progress {
	if p.state == 0 {
		p = g.first()
	}
	known := p.lower >= p.upper && p.state != guessed
	q := g.asked(p)
	if p.state == guessed {
		p.lower, p.upper = -othello.Worst, othello.Worst
	}
	switch {
	case known:
		p.state = checked // it was about a move
		return p
	case answer >= q.Bound:
		p.lower, p.state = answer, raised
	default:
		p.upper, p.state = answer, lowered
	}
	if p.lower >= p.upper && p.depth < g.top.Depth {
		return progress{p.lower, p.lower, p.depth + 2, guessed}
	}
	return p
}

// asked is the question that the top asks when so much is known.
func (g *game) asked(p progress) othello.Node {
	q := g.top
	q.Depth = p.depth
	switch p.state {
	case guessed:
		return q.From(-othello.Worst, p.lower)
	case raised:
		return q.From(p.lower, p.lower)
	}
	return q.From(p.lower, p.upper)
}

func (g *game) Next(n sim.Node, job int32, phase int, sum sim.Result, buf []sim.Node) []sim.Node {
	if n.Form == formTop {
		p := progressOf(sum)
		switch {
		case p.state == checked:
			return buf
		case p.lower < p.upper, p.state == guessed:
			q := g.asked(p)
			return append(buf, g.node(&q))
		}
		for _, q := range g.top.Checks(p.lower) {
			buf = append(buf, g.node(&q))
		}
		return buf
	}
	answer := int(int64(sum.Sum))
	switch {
	case sum.Leaves == ahead:
		q, p := g.question(n), &g.plans[job]
		after, _ := g.plan(&q, q.Besides(answer, g.known[p.peer].find)) // it knows the answer, and does not look
		p.moves, p.hopeless = after.moves, after.hopeless
	case answer >= int(n.Size):
		return buf
	}
	return g.wave(job, phase, buf)
}

// Ended has a job tell what it has found.
func (g *game) Ended(at sim.Where, n sim.Node, found sim.Result) {
	if n.Form == formTop {
		return
	}
	q := g.question(n)
	if q.Passes() && !q.AtLeaf() || q.Depth == 0 {
		return
	}
	place, v := q.Board.Place(), g.hear(at)
	v.here.Learn(&q, int(int64(found.Sum)))
	fact := v.facts[place].Join(q.Fact(int(int64(found.Sum))))
	if fact == v.facts[place] {
		return // an offer that changes nothing is told to nobody
	}
	v.facts[place] = fact
	now := int(at.Now/tellEvery) + 1
	for len(g.told) < now {
		g.told = append(g.told, nil)
	}
	g.told[now-1] = append(g.told[now-1], news{at.Peer, fact})
	if v.tells[place] < now {
		v.tells[place] = now
		g.seen.facts++
	}
	if v.told < now {
		v.told = now
		g.seen.tells++
	}
}

// hear has a machine take over what has come to it.
func (g *game) hear(at sim.Where) *view {
	v := &g.known[at.Peer]
	for v.heard < len(g.told) && time.Duration(v.heard+1)*tellEvery+objectsLocal.Latency <= at.Now {
		for i := range g.told[v.heard] {
			if n := &g.told[v.heard][i]; n.peer != at.Peer {
				place := n.fact.Board.Place()
				v.facts[place] = v.facts[place].Join(n.fact)
				v.debt++
			}
		}
		v.heard++
	}
	return v
}

// The rest of a tree is for others.

func (g *game) Children(sim.Node, []sim.Node) []sim.Node { return nil }
func (g *game) Cost(sim.Node) int64                      { return 0 }
func (g *game) Any(sim.Node) bool                        { return false }
func (g *game) Found(sim.Node) bool                      { return false }
func (g *game) ArgBytes(sim.Node) int                    { return gameArg }
func (g *game) ResultBytes(sim.Node) int                 { return gameResult }
