// Package knapsack solves the 0-1 knapsack problem by branch and bound: which of some items, each with a profit and a
// weight, to take for the highest profit within a capacity.
package knapsack

import "github.com/satin-peer/satin"

func init() {
	satin.Register("knapsack.search", search)
}

// search searches a part, and each time it has visited as many nodes as the grain says, it spawns the oldest
// and so likely largest piece that is left. How much there is below a node depends on the bounds, so nothing
// else would give jobs of a similar size.
//
// The result is a pure function of the argument: of equally good solutions it is the one that the sequential
// search finds first, whoever searches the pieces and in whatever order they finish. This is why a piece is
// never compared with what was found in an older one, which comes after it in that order.
func search(f *satin.Frame, p Part) Solution {
	var pieces []piece
	w := walk(p)
	for w.visit(p.Grain) {
		if rest, found := w.share(); found {
			pieces = append(pieces, piece{part: rest, result: satin.Spawn(f, search, rest)})
		}
	}
	best := w.best
	for len(pieces) > 0 {
		last := &pieces[len(pieces)-1]
		switch {
		case last.finished:
			best = better(best, last.solution)
		case last.part.Best.Profit < best.Profit:
			renew(f, best, pieces)
			continue
		default:
			best = better(best, last.result.Get())
		}
		pieces = pieces[:len(pieces)-1]
	}
	return best
}

// piece is a part that has been spawned.
type piece struct {
	part     Part
	result   satin.Future[Part, Solution]
	finished bool
	solution Solution // once finished
}

// renew lets the pieces that have not finished begin again, with a better solution to compare with. That can
// save much more than what has been done of them.
func renew(f *satin.Frame, best Solution, pieces []piece) {
	f.Abort()
	for i := range pieces {
		p := &pieces[i]
		if p.finished {
			continue
		}
		if s, err := p.result.Try(); err == nil {
			p.finished, p.solution = true, s
		}
	}
	for i := range pieces {
		if p := &pieces[i]; !p.finished {
			p.part.Best = best
			p.result = satin.Spawn(f, search, p.part)
		}
	}
}
