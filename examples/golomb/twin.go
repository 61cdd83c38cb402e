package golomb

// Sequential is the same search in one thread, with no satin in it.
func Sequential(marks int) Ruler {
	best := greedy(marks)
	sequential(begin(marks), &best)
	return best
}

func sequential(p Part, best *Ruler) {
	if p.Left == 0 {
		*best = shorter(*best, p.ruler())
		return
	}
	for d := 1; d <= p.longest(*best); d++ {
		if next, ok := p.add(d); ok {
			sequential(next, best)
		}
	}
}
