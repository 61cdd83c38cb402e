package sat

// verdict is what a search came to.
type verdict int

const (
	unknown verdict = iota // it gave up
	satisfiable
	unsatisfiable
)

// search looks for a model until it has met so many conflicts, or, now and then, stop says so.
func (s *solver) search(conflicts int, stop func() bool) verdict {
	const (
		restartUnit = 50   // conflicts, times the numbers of luby
		stopEvery   = 1000 // decisions between two looks at stop
	)
	restart, keep := 0, 2000
	nextRestart := restartUnit
	for step := 1; !s.failed; step++ {
		if step%stopEvery == 0 && stop != nil && stop() {
			return unknown
		}
		if conflict := s.propagate(); conflict != noClause {
			if len(s.starts) == 0 {
				s.refuted(conflict)
				break
			}
			s.use(s.learn(conflict))
			s.order.fade()
			s.conflicts++
			continue
		}
		switch {
		case s.conflicts >= conflicts:
			s.backTo(0)
			return unknown
		case s.conflicts >= nextRestart:
			restart++
			nextRestart = s.conflicts + restartUnit*luby(restart)
			s.backTo(0)
			continue
		case len(s.learned) >= keep:
			s.forget()
			keep += 500
		}
		if !s.decideNext() {
			return satisfiable
		}
	}
	return unsatisfiable
}

// decideNext gives the most active variable without a value the one it had last; false if all have a value.
func (s *solver) decideNext() bool {
	for {
		v, more := s.order.top()
		if !more {
			return false
		}
		l := literal(v << 1)
		if s.values[l] != 0 {
			continue
		}
		if s.phase[v] <= 0 { // false if it never had one: most variables of most formulas are
			l = l.not()
		}
		s.decide(l)
		return true
	}
}

// luby is 1, 1, 2, 1, 1, 2, 4, ..., lengths of runs that waste little whatever the best length is (Luby, Sinclair,
// Zuckerman, "Optimal speedup of Las Vegas algorithms", 1993).
func luby(i int) int {
	size, power := 1, 1
	for size < i+1 {
		size, power = 2*size+1, 2*power
	}
	for size-1 != i {
		size, power = (size-1)/2, power/2
		i %= size
	}
	return power
}

// model returns the values of all variables; false for one that has none, because no clause needs it.
func (s *solver) model() []bool {
	m := make([]bool, len(s.level))
	for _, l := range s.trail {
		m[l.variable()] = l&1 == 0
	}
	return m
}
