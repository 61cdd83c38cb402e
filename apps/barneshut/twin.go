package barneshut

import "math"

// world is how a variant goes from step to step.
type world interface {
	// draw gives the drift of all bodies, and begin makes their chunks.
	draw() Drift
	begin(Drift)
	// step moves all bodies. After the last step nobody needs their boxes.
	step(first, last bool) Sum
	// end gives all bodies as they are, and divide makes other chunks of them.
	end() Result
	divide([]Body)
}

// divideEvery is after how many steps bodies change to chunks that are nearer. It costs some steps' hundredths, and
// chunks that overlap cost more the longer they do.
const divideEvery = 16

// run goes from step to step.
func (p *Problem) run(w world) Result {
	w.begin(w.draw())
	var r Result
	for step := range p.Steps {
		if step > 0 && step%divideEvery == 0 {
			now := w.end()
			w.divide(p.neighbours(now.bodies(p.Bodies)))
		}
		r.Energy[1], r.Momentum[1] = p.totals(w.step(step == 0, step == p.Steps-1))
		if step == 0 {
			r.Energy[0], r.Momentum[0] = r.Energy[1], r.Momentum[1]
		}
	}
	end := w.end()
	r.Chunk, r.Motion = end.Chunk, end.Motion
	return r
}

// neighbours puts all bodies into an order in which those of a chunk are near each other.
func (p *Problem) neighbours(all []Body) []Body {
	at, sorted := make([]Vec, len(all)), make([]Body, len(all))
	for i := range all {
		at[i] = all[i].At
	}
	for to, i := range arranged(at, max(1, len(all)/chunks/2)) {
		sorted[to] = all[i]
	}
	return sorted
}

// totals are the energy, and the amount of momentum, of a step.
func (p *Problem) totals(s Sum) (energy, momentum float64) {
	m, v := 1/float64(p.Bodies), s.Momentum
	return s.Energy * m, m * math.Sqrt(float64(v[0]*v[0])+float64(v[1]*v[1])+float64(v[2]*v[2]))
}

func (s *Sum) add(t Sum) {
	s.Energy += t.Energy
	for k := range s.Momentum {
		s.Momentum[k] += t.Momentum[k]
	}
}

// alone is the sequential twin, and what other variants hold at the root.
type alone struct {
	*Problem
	chunk  [chunks]Chunk
	motion [chunks]Motion
}

func (w *alone) draw() (all Drift) {
	for c := range w.chunk {
		all.add(drift(w.plummer(c)))
	}
	return all
}

func (w *alone) begin(all Drift) {
	for c := range w.chunk {
		w.chunk[c], w.motion[c] = w.Problem.begin(c, all)
	}
}

func (w *alone) step(first, _ bool) (all Sum) {
	old := w.chunk
	for c := range old {
		if n := int32(len(old[c].tree.At)); n > 0 {
			var sum Sum
			pulls := forces(old[:], c, 0, n, w.law())
			order := old[c].expected(&w.motion[c], w.Time, w.Leaf)
			w.chunk[c], w.motion[c], sum = old[c].step(&w.motion[c], order, pulls, w.Time, first, w.Leaf)
			all.add(sum)
		}
	}
	return all
}

func (w *alone) end() Result { return Result{Chunk: w.chunk, Motion: w.motion} }

func (w *alone) divide(all []Body) {
	for c := range w.chunk {
		first, next := w.Problem.chunk(c)
		w.chunk[c], w.motion[c] = divide(all[first:next], 1/float64(w.Bodies), w.Leaf)
	}
}
