package knapsack

// Part asks for the best solution among Best and those that agree with Taken on the items before Next.
//
// The bound on all of them is compared with Best.Profit, and those that can at most be as good are dropped.
// That is safe because Best travels with the part: whoever holds the bound holds a solution that is worth it.
type Part struct {
	Instance *Instance
	Next     int   // the first item that is not decided
	Room     int64 // capacity left for the rest
	Profit   int64 // of Taken
	Taken    Set   // of the items before Next
	Best     Solution
	Grain    int // how many nodes a job visits before it shares what is left
}

// everything is the part in which nothing is decided.
func everything(in *Instance, grain int) Part {
	none := newSet(in.size())
	return Part{Instance: in, Room: in.Capacity, Taken: none, Best: Solution{Taken: none}, Grain: grain}
}

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
	best Solution
}

// run are items taken in a row, from first to last-1.
type run struct{ first, last int }

func walk(p Part) *walker {
	return &walker{
		Instance: p.Instance, part: p, next: p.Next, room: p.Room, profit: p.Profit, kept: p.Next, full: p.Next,
		best: p.Best,
	}
}

// visit visits up to limit nodes. It returns false if there are no more.
func (w *walker) visit(limit int) bool {
	for ; limit > 0; limit-- {
		profit, room := w.fill()
		if profit > w.best.Profit {
			w.best = Solution{Profit: profit, Taken: w.taken(w.full)}
		}
		if w.promises(profit, room) {
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

// promises says whether a set that agrees on the items before next can have a higher profit than the best.
// Profit and room are those after fill. The item at full either stays out, and room is at best filled with
// what the one after it is worth, or it comes in, and at best the item before it makes way, in part (Martello
// and Toth, "An upper bound for the zero-one knapsack problem and a branch and bound algorithm", European
// Journal of Operational Research 1, 1977).
func (w *walker) promises(profit, room int64) bool {
	more := w.best.Profit - profit + 1 // what is missing
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
		there.runs = w.runs[:i]
		for item := r.first; item < r.last; item++ {
			if item >= w.kept {
				w.kept = item + 1
				without := there
				without.next = item + 1
				if without.promises(without.fill()) {
					there.next = r.first
					p := w.part
					p.Next, p.Room, p.Profit = item+1, without.room, without.profit
					p.Taken, p.Best = there.taken(item), w.best
					return p, true
				}
			}
			there.room -= w.Weight[item]
			there.profit += w.Profit[item]
		}
	}
	return Part{}, false
}
