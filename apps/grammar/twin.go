package grammar

// learnAlone is the sequential twin of learn. It keeps the automaton of a part while it goes through what is
// below it, so it follows no choices twice.
func learnAlone(t Task) *Machine {
	return t.deepen(func(s Search) Found { return searchAlone(s, newAutomaton(t.Sample)) })
}

func searchAlone(s Search, a *automaton) Found {
	best, parts, merges := s.expand(a, nil)
	for i, part := range parts {
		next := a
		if i < len(parts)-1 {
			next = a.clone()
		}
		next.take(merges[i])
		if found := searchAlone(part, next); best.better(found) {
			best = found
		}
	}
	return best
}
