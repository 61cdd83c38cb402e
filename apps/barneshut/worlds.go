package barneshut

import "github.com/satin-peer/satin"

// sharing is the variants objects and direct. Places are in versions of the chunks until the last step.
type sharing struct {
	alone
	f   *satin.Frame
	sky Sky
}

// each spawns n jobs and takes their results in order. The newest goes first, which is cheapest, so the first job is
// the newest: trees that are made in the order in which forces go through them are together in memory, and forces take
// 6 % less than through trees in the opposite order.
func each[A, R any](f *satin.Frame, n int, fn func(*satin.Frame, A) R, arg func(i int) A, take func(i int, r R)) {
	asked, found := make([]satin.Future[A, R], n), make([]R, n)
	for i := n - 1; i >= 0; i-- {
		asked[i] = satin.Spawn(f, fn, arg(i))
	}
	for i := range asked {
		found[i] = asked[i].Get()
	}
	for i := range found {
		take(i, found[i])
	}
}

func (p *Problem) start(region int) Start { return Start{*p, region * perRegion} }

func (w *sharing) begin() (all Sum) {
	each(w.f, regions, beginRegion, w.start, func(r int, m MovedRegion) {
		w.sky.Region[r] = m.Shared
		copy(w.motion[r*perRegion:], m.Motion[:])
		all.addEach(&m.Sum)
	})
	return all
}

func (p *Problem) stepOf(c int, motion Motion, first *Drift, last bool) Step {
	return Step{motion, p.mass(), p.law(), p.Threshold, p.Leaf, p.Time, c, first, last}
}

func (w *sharing) step(first *Drift, last bool) (all Sum) {
	sky := w.sky
	each(w.f, regions, region, func(r int) RegionStep {
		return RegionStep{w.stepOf(r*perRegion, Motion{}, first, last), [perRegion]Motion(w.motion[r*perRegion:]), sky}
	}, func(r int, m MovedRegion) {
		if !last {
			w.sky.Region[r] = m.Shared
		}
		copy(w.motion[r*perRegion:], m.Motion[:])
		all.addEach(&m.Sum)
	})
	return all
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

func (w *carrying) begin() (all Sum) {
	each(w.f, regions, beginRegion, w.start, func(r int, m MovedRegion) {
		copy(w.chunk[r*perRegion:], m.Region[:])
		copy(w.motion[r*perRegion:], m.Motion[:])
		all.addEach(&m.Sum)
	})
	return all
}

func (w *carrying) step(first *Drift, last bool) (all Sum) {
	old := w.chunk
	each(w.f, chunks, far, func(c int) (n Near) {
		n.Step = w.stepOf(c, w.motion[c], first, last)
		if n.Step.Motion.stars() > 0 {
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
