package tsp

// solveAlone is the sequential twin of solve: the same search without jobs. A subproblem is searched with the best tour
// found so far, which a job, spawned before its siblings are done, cannot know; as the start tour is nearly always the
// shortest one, both search the same tree.
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
