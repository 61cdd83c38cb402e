package grammar

import (
	"cmp"
	"slices"
)

// candidate is a merge that breaks nothing.
type candidate struct {
	red, blue int32
	evidence  int
}

// settle makes every blue state red that differs from all red ones, and then lists the merges that are
// possible, those with the most evidence first; among equals the first red and blue states. There is none
// only if no state is blue. It returns false when there are limit red states: what comes of that is no better
// than what is known.
func (a *automaton) settle(limit int) (list []candidate, ok bool) {
	var blue []int32
next:
	for {
		if len(a.red) >= limit {
			return nil, false
		}
		list = list[:0]
		blue = a.blue(blue)
		for _, b := range blue {
			fits := false
			for _, r := range a.red {
				evidence, ok := a.merge(r, b)
				a.rollback()
				if ok {
					fits = true
					list = append(list, candidate{r, b, evidence})
				}
			}
			if !fits {
				a.promote(b)
				continue next
			}
		}
		slices.SortStableFunc(list, func(x, y candidate) int { return cmp.Compare(y.evidence, x.evidence) })
		return list, true
	}
}

// take makes a merge final.
func (a *automaton) take(c candidate) {
	a.merge(c.red, c.blue)
	a.keep(Step{c.red, c.blue})
}

// greedy takes the merge with the most evidence until there is none left. It returns false if it comes to
// limit states.
func (a *automaton) greedy(limit int, stop func() bool) bool {
	for {
		if stop != nil && stop() {
			return false
		}
		list, ok := a.settle(limit)
		if !ok {
			return false
		}
		if len(list) == 0 {
			return true
		}
		a.take(list[0])
	}
}

// Search is a part of a search: the merges that begin with some choices, to a depth.
type Search struct {
	Done    []Step  // what led there
	Choices []uint8 // at each merge so far: which of the candidates
	Depth   int     // merges that are still chosen; the others are greedy
	Width   int     // candidates that are tried at each
	Limit   int     // machines with so many states are of no interest
}

// Found is the best of a part: the smallest machine, of those the one with the first choices. States is 0 if
// there is none smaller than the limit.
type Found struct {
	States  int
	Choices []uint8
}

// better says whether g is to be preferred.
func (f Found) better(g Found) bool {
	if g.States == 0 || f.States == 0 {
		return g.States != 0
	}
	return cmp.Or(cmp.Compare(g.States, f.States), slices.Compare(g.Choices, f.Choices)) < 0
}

// retrace makes the automaton that choices lead to.
func retrace(s *Sample, choices []uint8, limit int) *automaton {
	a := newAutomaton(s)
	for _, choice := range choices {
		list, _ := a.settle(limit)
		a.take(list[choice])
	}
	return a
}

// expand goes on from an automaton: to the parts that its next choice leads to, each with its merge, or, without
// a choice left, to the end.
func (s *Search) expand(a *automaton, stop func() bool) (f Found, parts []Search, merges []candidate) {
	if s.Depth == 0 {
		if a.greedy(s.Limit, stop) {
			f = Found{len(a.red), s.Choices}
		}
		return f, nil, nil
	}
	list, ok := a.settle(s.Limit)
	if !ok {
		return f, nil, nil
	}
	if len(list) == 0 {
		return Found{len(a.red), s.Choices}, nil, nil
	}
	for i := range min(len(list), s.Width) {
		part := *s
		part.Choices, part.Depth = append(slices.Clone(s.Choices), uint8(i)), s.Depth-1
		part.Done = append(slices.Clone(a.done), Step{list[i].red, list[i].blue})
		parts = append(parts, part)
	}
	return f, parts, list
}

// Task is what is to be learned from, and how hard to look.
type Task struct {
	Sample *Sample
	Depth  int // of the last search: choices before merging greedily
	Width  int
	Flat   bool // master and workers: the root makes all parts by itself and spawns each to its end
}

// deepen searches to depth 0, 1, ... and each time only for machines that are smaller than what there is.
func (t *Task) deepen(search func(Search) Found) *Machine {
	best, limit := Found{}, len(newAutomaton(t.Sample).label)+1
	for depth := 0; depth <= t.Depth; depth++ {
		s := Search{Depth: depth, Width: t.Width, Limit: limit}
		if f := search(s); f.States > 0 {
			best, limit = f, f.States
		}
	}
	a := retrace(t.Sample, best.Choices, best.States+1)
	a.greedy(best.States+1, nil)
	return a.machine()
}
