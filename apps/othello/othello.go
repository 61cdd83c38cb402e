// Package othello plays and solves Othello: the best moves to a depth, or the exact end of the game, and the
// number of positions that a game can reach (perft).
//
// A question about a position, whether its value is at least a bound, asks one about the position after each
// move; one that the other player cannot answer well settles it. Where a glance says that none will, all moves are
// jobs at once, because all have to be asked about. Elsewhere the most promising move is asked about first, since it
// often settles the question, and then ever more of the others at once; as soon as one settles it the rest is
// aborted, wherever it runs. Where too little is known to put moves in order, the question is asked looking less far
// first. What was found out about positions is in a table that all jobs share, and what leaves find in one that those
// of a machine share.
package othello

import (
	"math/bits"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
)

func init() {
	satin.RegisterLattice("othello.facts", join, checkFacts, satin.Hints())
	satin.Register("othello.solve", solve, satin.Exact(), satin.Unlike(Problem.unlike),
		satin.Small(apps.Instance[Problem](setup, "--depth", "8", "--table=false")))
	satin.Register("othello.search", search, satin.Essence(Job.essence), satin.Unlike(Job.unlike))
	satin.Register("othello.perft", perft, satin.Exact(),
		satin.Small(apps.Instance[Walk](setup, "--perft", "8")))
}

// Problem is the argument of the root job.
type Problem struct {
	Node   Node
	Shared bool // jobs share a table
	Abort  bool // jobs that nobody needs any more are aborted
}

// Job is a question. What is known of positions is not in it, so a job that is run again is the same.
type Job struct {
	Node   Node
	Shared bool
	Table  satin.Lattice[string, Facts] // nothing if it is not shared
	Abort  bool
}

// unlike says what keeps results from being compared: what a table holds, nobody can check.
func (p Problem) unlike() string { return unlike(p.Shared) }

// unlike is said of each question, too: who owns a run may have others compute any job.
func (j Job) unlike() string { return unlike(j.Shared) }

func unlike(shared bool) string {
	if shared {
		return "its jobs believe what others tell of positions: add --table=false"
	}
	return ""
}

// essence is what all right answers to a question say: where jobs are aborted, how far the value lies depends on which
// were.
func (j Job) essence(answer int) (int, error) {
	switch n := &j.Node; {
	case !j.Abort:
		return answer, nil
	case answer >= n.Bound:
		return n.Bound, nil
	default:
		return n.Bound - 1, nil
	}
}

// solve finds the value of a position and all moves that reach it.
func solve(f *satin.Frame, p Problem) Best {
	j := Job{Node: p.Node, Shared: p.Shared, Abort: p.Abort}
	if p.Shared {
		j.Table = satin.ShareLattice(f, join, game, Facts{})
	}
	value := deepen(p.Node, func(n Node) int { return search(f, j.about(n)) })
	return bestOf(p.Node, value, func(questions []Node) []int {
		answers := make([]int, len(questions))
		asked := make([]satin.Future[Job, int], len(questions))
		for i := range questions {
			asked[i] = satin.Spawn(f, search, j.about(questions[i]))
		}
		for i := len(asked) - 1; i >= 0; i-- { // the newest first, which is cheapest
			answers[i] = asked[i].Get()
		}
		return answers
	})
}

// about is the job for another question.
func (j Job) about(n Node) Job {
	j.Node = n
	return j
}

// search answers a question. One that has been answered while it waited ends at once.
func search(f *satin.Frame, j Job) int {
	n := &j.Node
	var facts Facts
	if j.Shared {
		facts = j.Table.Value(f)
		if answer, ok := facts.settles(n); ok {
			return answer
		}
	}
	if n.Depth <= n.Leaf {
		s := searcher{table: facts.Here.tableFor(n.Depth), stop: f.Aborted}
		answer := s.search(n)
		if s.gaveUp {
			return 0
		}
		return j.tell(f, answer)
	}
	know := facts.find
	if first, ok := n.ahead(know); ok && j.Shared { // else only the answer would be known, and not why
		know = n.besides(search(f, j.about(first)), j.Table.Value(f).find)
	}
	l, hopeless, _ := n.plan(know)
	if l.n == 0 {
		if n.Passed {
			return n.over()
		}
		return -search(f, j.about(n.passed()))
	}
	best := -worst
	for from, to := 0, 0; to < l.n && best < n.Bound; from = to {
		if to = wave(from, l.n, hopeless); to == from+1 {
			best = max(best, -search(f, j.about(n.after(l.boards[from]))))
			continue
		}
		g := satin.Fork(f, search)
		for i := to - 1; i >= from; i-- { // the newest job runs first, so the most promising one comes last
			g.Spawn(j.about(n.after(l.boards[i])))
		}
		for value := range g.Results() {
			if best = max(best, -value); best >= n.Bound && j.Abort {
				break // which aborts the others
			}
		}
	}
	return j.tell(f, best)
}

// Walk is a position and how far to go from it.
type Walk struct {
	Board  Board
	Depth  int
	Passed bool
	Leaf   int
}

// perft counts the positions that so many moves lead to, a position reached in two ways twice. A pass is a
// move; a game that is over counts once.
func perft(f *satin.Frame, w Walk) (count uint64) {
	if w.Depth <= w.Leaf {
		return walk(w.Board, w.Depth, w.Passed)
	}
	to := w.Board.moves()
	if to == 0 {
		if w.Passed {
			return 1
		}
		return perft(f, Walk{Board: w.Board.pass(), Depth: w.Depth - 1, Passed: true, Leaf: w.Leaf})
	}
	g := satin.Fork(f, perft)
	for ; to != 0; to &= to - 1 {
		g.Spawn(Walk{Board: w.Board.play(to & -to), Depth: w.Depth - 1, Leaf: w.Leaf})
	}
	for n := range g.Results() {
		count += n
	}
	return count
}

// walk is perft alone.
func walk(b Board, depth int, passed bool) (count uint64) {
	if depth == 0 {
		return 1
	}
	to := b.moves()
	switch {
	case to == 0 && passed:
		return 1
	case to == 0:
		return walk(b.pass(), depth-1, true)
	case depth == 1:
		return uint64(bits.OnesCount64(to))
	}
	for ; to != 0; to &= to - 1 {
		count += walk(b.play(to&-to), depth-1, false)
	}
	return count
}
