package knapsack

// Part are the solutions that agree with Taken on the items before Next.
type Part struct {
	Next   int   // the first item that is not decided
	Room   int64 // capacity left for the rest
	Profit int64 // of Taken
	Taken  Set   // of the items before Next
}

// everything is the part in which nothing is decided.
func everything(in *Instance) Part { return Part{Room: in.Capacity, Taken: newSet(in.size())} }

// A walker searches a part: depth first, taking an item before leaving it out, and in the order of profit per
// weight (Horowitz and Sahni, "Computing partitions with applications to the knapsack problem", JACM 21,
// 1974). It can be relieved of some of what it has not searched yet. It is the leaf of the jobs.
type walker struct {
	*Instance
	part Part

	// Where it is: the items before next are decided, those that it took itself are runs.
	next         int
	room, profit int64
	runs         []run

	kept int // items before kept are not left out again: that is searched elsewhere, or in vain
	full int // the items from next to full-1 fit together, the next one does not

	best  Solution // that it knows of
	found bool     // by itself, since this was false
	// All that is left comes after best in the order of the search, so what is only as good is not better. False: not
	// known. The search goes that way, so what was true stays true.
	after bool
}

// run are items taken in a row, from first to last-1.
type run struct{ first, last int }

func walk(in *Instance, p Part, best Solution) *walker {
	return &walker{
		Instance: in, part: p, next: p.Next, room: p.Room, profit: p.Profit, kept: p.Next, full: p.Next, best: best,
	}
}

// hear takes note of a solution.
func (w *walker) hear(s Solution) {
	if s = better(w.best, s); s.Profit != w.best.Profit || s.Taken.before(w.best.Taken) {
		w.best, w.after = s, false
	}
}

// visit visits up to limit nodes. It returns false if there are no more.
func (w *walker) visit(limit int) bool {
	for ; limit > 0; limit-- {
		profit, room := w.fill()
		if profit > w.best.Profit || !w.after && w.first(profit) {
			w.best = Solution{Profit: profit, Taken: w.taken(w.full)}
			w.found, w.after = true, true
		}
		if w.promises(profit, room, 1) || !w.after && w.full < w.size() && w.ties(profit, room) {
			if w.next < w.full {
				w.runs = append(w.runs, run{w.next, w.full})
			}
			w.next, w.room, w.profit = w.full+1, room, profit // without the item that does not fit
		} else if !w.back() {
			return false
		}
	}
	return true
}

// fill sets full, and returns the profit and the room left if all items before it are taken.
func (w *walker) fill() (profit, room int64) {
	most := w.WeightSum[w.next] + w.room
	full := max(w.full, w.next) // near the new one, as a rule
	for full < w.size() && w.WeightSum[full+1] <= most {
		full++
	}
	for w.WeightSum[full] > most {
		full--
	}
	w.full = full
	return w.profit + w.ProfitSum[full] - w.ProfitSum[w.next], most - w.WeightSum[full]
}

// first says whether the set that was just filled is as good as the best, and comes before it.
func (w *walker) first(profit int64) bool {
	return profit == w.best.Profit && w.taken(w.full).before(w.best.Taken)
}

// ties says whether a set that agrees on the items before next can be as good as the best and come before it.
func (w *walker) ties(profit, room int64) bool {
	if !w.promises(profit, room, 0) {
		return false
	}
	// The first of all sets that are left takes what fits, and not the item after that.
	w.after = w.best.Taken.beforeAll(w.taken(w.full), min(w.full+1, w.size()))
	return !w.after
}

// promises says whether a set that agrees on the items before next can have a profit higher than the best by at least
// so much. Profit and room are those after fill. The item at full either stays out, and room is at best filled with
// what the one after it is worth, or it comes in, and at best the item before it makes way, in part (Martello and Toth,
// "An upper bound for the zero-one knapsack problem and a branch and bound algorithm", European Journal of Operational
// Research 1, 1977).
func (w *walker) promises(profit, room, higher int64) bool {
	more := w.best.Profit - profit + higher // what is missing
	i := w.full
	if more <= 0 || i >= w.size() || more > maxCoefficient {
		return more <= 0
	}
	if i+1 < w.size() && room*w.Profit[i+1] >= more*w.Weight[i+1] {
		return true
	}
	excess := w.Weight[i] - room
	return i > w.next && excess*w.Profit[i-1] <= (w.Profit[i]-more)*w.Weight[i-1]
}

// back leaves out the last item that was taken; false if there is none.
func (w *walker) back() bool {
	if len(w.runs) == 0 {
		return false
	}
	top := &w.runs[len(w.runs)-1]
	item := top.last - 1
	if item < w.kept {
		return false
	}
	w.next, w.room, w.profit = item+1, w.room+w.Weight[item], w.profit-w.Profit[item]
	top.last = item
	if top.first == item {
		w.runs = w.runs[:len(w.runs)-1]
	}
	return true
}

// taken is the set of items that are taken if those from next to last-1 are.
func (w *walker) taken(last int) Set {
	set := newSet(w.size())
	copy(set, w.part.Taken)
	for _, r := range w.runs {
		set.add(r.first, r.last)
	}
	set.add(w.next, last)
	return set
}

// share takes what leaves out the first item that it makes sense to leave out: about the most that can be taken, and
// what the walker would search last. It returns false if there is no such item.
func (w *walker) share() (Part, bool) {
	there := *w // as the walker was before it took the items
	there.next, there.room, there.profit = w.part.Next, w.part.Room, w.part.Profit
	for i, r := range w.runs {
		for item := r.first; item < r.last; item++ {
			if item >= w.kept {
				w.kept = item + 1
				without := there
				without.next, without.runs = item+1, append(w.runs[:i:i], run{r.first, item})
				profit, room := without.fill()
				if without.promises(profit, room, 1) || !without.after && without.ties(profit, room) {
					return Part{without.next, without.room, without.profit, without.taken(without.next)}, true
				}
			}
			there.room -= w.Weight[item]
			there.profit += w.Profit[item]
		}
	}
	return Part{}, false
}
