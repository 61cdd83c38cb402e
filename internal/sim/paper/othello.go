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
	heard int   // intervals
	debt  int   // facts that it has not paid for
	tells []int // by place, the last interval in which it told of one, counted from 1
	told  int   // the last of these
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
		g.known[i] = view{facts: make([]othello.Fact, othello.Places), tells: make([]int, othello.Places)}
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

// The top's result is what is known of the value: a lower and an upper bound, and how far it has got.
const (
	raised  = 1 // the last answer was a lower bound
	lowered = 2 // it was an upper one
	checked = 3 // the value is known, and which moves reach it
)

func bounds(r sim.Result) (lower, upper int) { return int(int32(r.Sum >> 32)), int(int32(r.Sum)) }

func between(lower, upper int, state uint64) sim.Result {
	return sim.Result{Sum: uint64(uint32(int32(lower)))<<32 | uint64(uint32(int32(upper))), Leaves: state}
}

// answerOf is the result of a question's job.
func answerOf(answer int) sim.Result { return sim.Result{Sum: uint64(int64(answer)), Leaves: 1} }

func (g *game) Begin(at sim.Where, n sim.Node, buf []sim.Node) ([]sim.Node, int64, sim.Result) {
	if n.Form == formTop {
		first := g.top.From(-othello.Worst, g.top.Guess())
		return append(buf, g.node(&first)), 0, sim.Result{}
	}
	g.seen.jobs++
	q := g.question(n)
	v := g.hear(at)
	cost := uint64(1 + v.debt*hearCost)
	v.debt = 0
	if answer, ok := v.facts[q.Place()].Settles(&q); ok {
		g.seen.answered++
		return buf, g.time(cost), answerOf(answer)
	}
	cost += tellCost
	if q.AtLeaf() {
		answer, positions := q.Alone()
		g.seen.positions += positions
		return buf, g.time(cost + positions), answerOf(answer)
	}
	g.seen.positions++
	next, _ := q.Next()
	if len(next) == 0 {
		return buf, g.time(cost), answerOf(q.Over())
	}
	hopeless, positions := q.Glance()
	g.seen.positions += positions
	return g.wave(next, 0, hopeless, buf), g.time(cost + positions), sim.Result{}
}

// wave appends what a question asks in a phase, if it was not settled before.
func (g *game) wave(next []othello.Node, phase int, hopeless bool, buf []sim.Node) []sim.Node {
	from, to := 0, 0
	for range phase + 1 {
		from, to = to, othello.Wave(to, len(next), hopeless)
	}
	for i := to - 1; i >= from; i-- { // the newest job runs first, so the most promising one comes last
		buf = append(buf, g.node(&next[i]))
	}
	if to > from {
		g.seen.waits++
	}
	return buf
}

func (g *game) time(positions uint64) int64 { return int64(positions) * int64(g.perPosition) }

func (g *game) Came(n sim.Node, sum, found sim.Result) (sim.Result, bool) {
	answer := int(int64(found.Sum))
	if n.Form == formTop {
		if sum.Leaves == 0 {
			sum = between(-othello.Worst, othello.Worst, raised)
		}
		lower, upper := bounds(sum)
		if lower >= upper {
			return between(lower, upper, checked), false // about a move
		}
		if q := g.asked(sum); answer >= q.Bound {
			return between(answer, upper, raised), false
		}
		return between(lower, answer, lowered), false
	}
	q := g.question(n)
	best := -answer
	if sum.Leaves > 0 {
		best = max(best, int(int64(sum.Sum)))
	}
	return answerOf(best), g.aborts && best >= q.Bound
}

// asked is the question that the top asks when so much is known.
func (g *game) asked(sum sim.Result) othello.Node {
	lower, upper := bounds(sum)
	switch {
	case lower == -othello.Worst && upper == othello.Worst:
		return g.top.From(lower, g.top.Guess())
	case sum.Leaves == raised:
		return g.top.From(lower, lower)
	}
	return g.top.From(lower, upper)
}

func (g *game) Next(n sim.Node, phase int, sum sim.Result, buf []sim.Node) []sim.Node {
	if n.Form == formTop {
		lower, upper := bounds(sum)
		switch {
		case lower < upper:
			q := g.asked(sum)
			return append(buf, g.node(&q))
		case sum.Leaves == checked:
			return buf
		}
		for _, q := range g.top.Checks(lower) {
			buf = append(buf, g.node(&q))
		}
		return buf
	}
	q := g.question(n)
	if best := int(int64(sum.Sum)); best >= q.Bound {
		return buf
	}
	next, _ := q.Next()
	hopeless, _ := q.Glance()
	return g.wave(next, phase, hopeless, buf)
}

// Ended has a job tell what it has found.
func (g *game) Ended(at sim.Where, n sim.Node, found sim.Result) {
	if n.Form == formTop {
		return
	}
	q := g.question(n)
	if _, passes := q.Next(); passes && !q.AtLeaf() || q.Depth == 0 {
		return
	}
	place, v := q.Place(), g.hear(at)
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
				place := n.fact.Place()
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
