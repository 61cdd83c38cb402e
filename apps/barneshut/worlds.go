package barneshut

import "github.com/satin-peer/satin"

// sharing is the variants objects and direct. Places are in versions of the chunks until the last step.
type sharing struct {
	alone
	f   *satin.Frame
	sky Sky
}

// each spawns n jobs and takes their results in order.
func each[A, R any](f *satin.Frame, n int, fn func(*satin.Frame, A) R, arg func(i int) A, take func(i int, r R)) {
	asked, found := make([]satin.Future[A, R], n), make([]R, n)
	for i := range asked {
		asked[i] = satin.Spawn(f, fn, arg(i))
	}
	for i := n - 1; i >= 0; i-- { // the newest first, which is cheapest
		found[i] = asked[i].Get()
	}
	for i := range found {
		take(i, found[i])
	}
}

func (p *Problem) start(region int, all Drift) Start { return Start{*p, region * perRegion, all} }

func drawAll(f *satin.Frame, p *Problem) (all Drift) {
	one := func(r int) Start { return p.start(r, Drift{}) }
	each(f, regions, drawnRegion, one, func(_ int, found [perRegion]Drift) {
		for _, d := range found {
			all.add(d)
		}
	})
	return all
}

func (w *sharing) draw() Drift { return drawAll(w.f, w.Problem) }

func (w *sharing) begin(all Drift) {
	each(w.f, regions, beginRegion, func(r int) Start { return w.start(r, all) }, func(r int, m MovedRegion) {
		w.sky.Region[r] = m.Shared
		copy(w.motion[r*perRegion:], m.Motion[:])
	})
}

func (p *Problem) stepOf(c int, motion Motion, first, last bool) Step {
	return Step{motion, p.law(), p.Threshold, p.Leaf, p.Time, c, first, last}
}

func (w *sharing) step(first, last bool) (all Sum) {
	sky := w.sky
	each(w.f, regions, region, func(r int) RegionStep {
		return RegionStep{w.stepOf(r*perRegion, Motion{}, first, last), [perRegion]Motion(w.motion[r*perRegion:]), sky}
	}, func(r int, m MovedRegion) {
		if !last {
			w.sky.Region[r] = m.Shared
		}
		copy(w.chunk[r*perRegion:], m.Region[:])
		copy(w.motion[r*perRegion:], m.Motion[:])
		for _, s := range m.Sum {
			all.add(s)
		}
	})
	return all
}

func (w *sharing) end() Result {
	for c := range w.chunk {
		if w.chunk[c].empty() {
			w.chunk[c] = w.sky.chunk(w.f, c)
		}
	}
	return w.alone.end()
}

func (w *sharing) divide(all []Body) {
	w.alone.divide(all)
	for r := range w.sky.Region {
		w.sky.Region[r] = satin.Share(w.f, replace, Region(w.chunk[r*perRegion:]))
	}
	w.chunk = [chunks]Chunk{}
}

// carrying is the variant tree: the root has all places.
type carrying struct {
	alone
	f *satin.Frame
}

func (w *carrying) draw() Drift { return drawAll(w.f, w.Problem) }

func (w *carrying) begin(all Drift) {
	each(w.f, regions, beginRegion, func(r int) Start { return w.start(r, all) }, func(r int, m MovedRegion) {
		copy(w.chunk[r*perRegion:], m.Region[:])
		copy(w.motion[r*perRegion:], m.Motion[:])
	})
}

func (w *carrying) step(first, last bool) (all Sum) {
	old := w.chunk
	each(w.f, chunks, far, func(c int) (n Near) {
		n.Step, n.Chunk = w.stepOf(c, w.motion[c], first, last), old[c]
		if !old[c].empty() {
			n.Part = Part{Law: w.Law, Threshold: w.Threshold}
			n.Part.Tree, n.Part.Cell = prune(old[:], c, 0, w.Law.Theta)
		}
		return n
	}, func(c int, m Moved) {
		w.chunk[c], w.motion[c] = m.Chunk, m.Motion
		all.add(m.Sum)
	})
	return all
}
