package tsp

// solveAlone is the sequential twin of solve: the same search without jobs. On one worker, both search the same tree.
func solveAlone(p Problem) Tour { return solveAloneFrom(p.Map, startTour(p.Map)) }

func solveAloneFrom(in *Instance, start Tour) Tour {
	s := whole(in, start.Length)
	best := s.searchAlone(in, start)
	if best.Length == start.Length {
		return start
	}
	s = firstOf(in, best.Length)
	return s.searchAlone(in, Tour{Length: best.Length + 1})
}

// searchAlone returns the best tour that it knows.
func (s *Subproblem) searchAlone(in *Instance, best Tour) Tour {
	if s.Floor > s.limit(best) {
		return best
	}
	best, children := s.branch(in, best)
	for i := range children {
		best = children[i].searchAlone(in, best)
	}
	return best
}
