package golomb

// Sequential is the same search in one thread, with no satin in it.
func Sequential(marks int) Ruler {
	t := twin{greedy(marks)}
	t.place(begin(marks))
	return t.best
}

type twin struct{ best Ruler }

func (t *twin) place(p Part) {
	if p.Left == 0 {
		t.best = shorter(t.best, p.ruler())
		return
	}
	longest := p.longest(t.best)
	for d := 1; d <= longest; d++ {
		if p.fits(d) {
			t.place(p.add(d))
			longest = p.longest(t.best)
		}
	}
}
