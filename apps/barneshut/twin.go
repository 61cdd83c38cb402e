package barneshut

// simulateAlone is the sequential twin of simulate.
func simulateAlone(p Problem) Result {
	return p.run(plummer(p.Bodies, p.Seed, p.Leaf), advance, func(s *State) [][]Force {
		if p.Variant == byDirect {
			return [][]Force{s.Tree.direct(0, int32(p.Bodies), p.Law)}
		}
		return [][]Force{s.Tree.forces(0, p.Law)}
	})
}

// run goes from step to step: forces computes those on the bodies of a state, and move makes the next one of them. The
// last one nobody else needs.
func (p *Problem) run(s State, move func(State, Kick) State, forces func(*State) [][]Force) Result {
	var r Result
	for step := range p.Steps {
		acting := forces(&s)
		e, m := s.energy(acting, p.Time, step == 0)
		if step == 0 {
			r.Energy[0], r.Momentum[0] = e, m
		}
		r.Energy[1], r.Momentum[1] = e, m
		if step == p.Steps-1 {
			move = advance
		}
		s = move(s, s.kick(acting, p.Time, step == 0))
	}
	r.Speed, r.At = s.Speed, s.places()
	return r
}

// places are those of the bodies, by number.
func (s *State) places() []Vec {
	at := make([]Vec, len(s.Order))
	for i, n := range s.Order {
		at[n] = s.Tree.At[i]
	}
	return at
}
