package grammar

// learnAlone is the sequential twin of learn. It keeps the automaton of a part while it goes through what is
// below it, so it follows no choices twice.
func learnAlone(t Task) *Machine {
	return t.deepen(func(s Search) Found {
		a, _ := s.follow()
		return searchAlone(s, a)
	})
}

func searchAlone(s Search, a *automaton) Found {
	best, parts := s.expand(a, nil)
	if len(parts) == 0 {
		return best
	}
	list, _ := a.settle(s.Limit)
	for i, part := range parts {
		next := a
		if i < len(parts)-1 {
			next = a.clone()
		}
		next.take(list[i])
		if found := searchAlone(part, next); best.better(found) {
			best = found
		}
	}
	return best
}
