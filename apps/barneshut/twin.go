package barneshut

import "math"

// world is how a variant goes from step to step.
type world interface {
	// begin makes the chunks of all bodies.
	begin() Sum
	// step moves all bodies. The first one is told how they drift; after the last one nobody needs their boxes.
	step(first *Drift, last bool) Sum
	// end gives all bodies as they are, and divide makes other chunks of them.
	end() [chunks]Motion
	divide([]Body)
}

// divideEvery is after how many steps bodies change to chunks that are nearer. It costs some steps' hundredths, and
// chunks that overlap cost more the longer they do.
const divideEvery = 16

// run goes from step to step.
func (p *Problem) run(w world) Result {
	drift := p.drift(w.begin())
	first := &drift
	var r Result
	for step := range p.Steps {
		if step > 0 && step%divideEvery == 0 {
			now := Result{Motion: w.end()}
			w.divide(p.neighbours(now.bodies(p.Bodies)))
		}
		r.Energy[1], r.Momentum[1] = p.totals(w.step(first, step == p.Steps-1))
		if first != nil {
			r.Energy[0], r.Momentum[0], first = r.Energy[1], r.Momentum[1], nil
		}
	}
	r.Motion = w.end()
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
	m, v := p.mass(), s.Momentum
	return s.Energy * m, m * math.Sqrt(float64(v[0]*v[0])+float64(v[1]*v[1])+float64(v[2]*v[2]))
}

func (s *Sum) add(t Sum) {
	s.Energy += t.Energy
	for k := range s.Momentum {
		s.Momentum[k] += t.Momentum[k]
		s.Place[k] += t.Place[k]
	}
}

// addEach adds those of a region, chunk by chunk as the twin does.
func (s *Sum) addEach(all *[perRegion]Sum) {
	for _, t := range all {
		s.add(t)
	}
}

// alone is the sequential twin, and what other variants hold at the root.
type alone struct {
	*Problem
	chunk  [chunks]Chunk
	motion [chunks]Motion
}

func (w *alone) begin() (all Sum) {
	for c := range w.chunk {
		m := w.Problem.begin(c)
		w.chunk[c], w.motion[c] = m.Chunk, m.Motion
		all.add(m.Sum)
	}
	return all
}

func (w *alone) step(first *Drift, _ bool) (all Sum) {
	old := w.chunk
	for c := range old {
		if n := w.motion[c].stars(); n > 0 {
			s := w.stepOf(c, w.motion[c], first, false)
			m := s.move(s.Motion.expected(s.Time, s.Leaf), forces(old[:], c, 0, n, s.Law))
			w.chunk[c], w.motion[c] = m.Chunk, m.Motion
			all.add(m.Sum)
		}
	}
	return all
}

func (w *alone) end() [chunks]Motion { return w.motion }

func (w *alone) divide(all []Body) {
	for c := range w.chunk {
		first, next := w.Problem.chunk(c)
		w.motion[c] = divide(all[first:next], w.Leaf)
		w.chunk[c] = w.motion[c].chunk(w.mass(), w.Leaf)
	}
}
