package barneshut

import "github.com/satin-peer/satin"

// sharing is the variants objects and direct. Places are in versions of the chunks until the last step.
type sharing struct {
	alone
	f   *satin.Frame
	sky Sky
}

// each spawns a job for every chunk and takes their results in order.
func each[A, R any](f *satin.Frame, fn func(*satin.Frame, A) R, arg func(c int) A, take func(c int, r R)) {
	var asked [chunks]satin.Future[A, R]
	for c := range asked {
		asked[c] = satin.Spawn(f, fn, arg(c))
	}
	var found [chunks]R
	for c := chunks - 1; c >= 0; c-- { // the newest first, which is cheapest
		found[c] = asked[c].Get()
	}
	for c := range found {
		take(c, found[c])
	}
}

func drawAll(f *satin.Frame, p *Problem) (all Drift) {
	each(f, drawn, func(c int) Start { return Start{*p, c, Drift{}} }, func(_ int, d Drift) { all.add(d) })
	return all
}

func (w *sharing) draw() Drift { return drawAll(w.f, w.Problem) }

func (w *sharing) begin(all Drift) {
	each(w.f, begin, func(c int) Start { return Start{*w.Problem, c, all} }, func(c int, m Moved) {
		w.sky.Chunk[c], w.motion[c] = m.Shared, m.Motion
	})
}

func (p *Problem) stepOf(c int, motion Motion, first, last bool) Step {
	return Step{motion, p.law(), p.Threshold, p.Leaf, p.Time, c, first, last}
}

func (w *sharing) step(first, last bool) (all Sum) {
	sky := w.sky
	each(w.f, step, func(c int) Shared {
		return Shared{w.stepOf(c, w.motion[c], first, last), sky}
	}, func(c int, m Moved) {
		w.sky.Chunk[c], w.chunk[c], w.motion[c] = m.Shared, m.Chunk, m.Motion
		all.add(m.Sum)
	})
	return all
}

func (w *sharing) end() Result {
	for c := range w.chunk {
		if w.chunk[c].empty() {
			w.chunk[c] = w.sky.Chunk[c].Read(w.f)
		}
	}
	return w.alone.end()
}

func (w *sharing) divide(all []Body) {
	w.alone.divide(all)
	for c := range w.chunk {
		w.sky.Chunk[c], w.chunk[c] = satin.Share(w.f, replace, w.chunk[c]), Chunk{}
	}
}

// carrying is the variant tree: the root has all places.
type carrying struct {
	alone
	f *satin.Frame
}

func (w *carrying) draw() Drift { return drawAll(w.f, w.Problem) }

func (w *carrying) begin(all Drift) {
	each(w.f, begin, func(c int) Start { return Start{*w.Problem, c, all} }, w.take)
}

func (w *carrying) take(c int, m Moved) { w.chunk[c], w.motion[c] = m.Chunk, m.Motion }

func (w *carrying) step(first, last bool) (all Sum) {
	old := w.chunk
	trees := trees(&old)
	each(w.f, far, func(c int) (n Near) {
		n.Step, n.Chunk = w.stepOf(c, w.motion[c], first, last), old[c]
		if !old[c].empty() {
			n.Part = Part{Law: w.Law, Threshold: w.Threshold}
			n.Part.Tree, n.Part.Cell = prune(trees, c, 0, w.Law.Theta)
		}
		return n
	}, func(c int, m Moved) {
		w.take(c, m)
		all.add(m.Sum)
	})
	return all
}
