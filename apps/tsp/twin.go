package tsp

// solveAlone is the sequential twin of solve: the same search without jobs. On one worker, both search the same tree.
func solveAlone(p Problem) Tour {
	return searchAlone(whole(p.Map, startTour(p.Map), p.Threshold))
}

func searchAlone(s Subproblem) Tour {
	best, children := s.branch()
	for _, c := range children {
		c.Best = best
		best = shorter(best, searchAlone(c))
	}
	return best
}
