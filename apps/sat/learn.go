package sat

import (
	"cmp"
	"slices"
)

// learn finds why a clause became false: a clause that follows from the formula, in which exactly one literal
// is from the last level (the first unique implication point). It returns the clause, that literal first and
// one of the highest other level second, and that level.
func (s *solver) learn(conflict clause) (lemma []literal, backLevel int) {
	s.lemma = append(s.lemma[:0], 0) // room for the literal of this level
	here := int32(len(s.starts))
	open := 0 // literals of this level that are still to be replaced by their reasons
	at := len(s.trail)
	var point literal
	for c, first := conflict, 0; ; first = 1 {
		for _, l := range s.literals(c)[first:] {
			v := l.variable()
			if s.seen[v] || s.level[v] == 0 {
				continue
			}
			s.mark(v)
			s.order.bump(v)
			if s.level[v] == here {
				open++
			} else {
				s.lemma = append(s.lemma, l)
			}
		}
		for at--; !s.seen[s.trail[at].variable()]; at-- {
		}
		point = s.trail[at]
		if open--; open == 0 {
			break
		}
		c = s.reason[point.variable()]
	}
	s.lemma[0] = point.not()
	s.lemma = slices.DeleteFunc(s.lemma, func(l literal) bool { return l != s.lemma[0] && s.redundant(l) })
	if s.proof != nil {
		s.proof.conflict(s, conflict, s.lemma)
	}
	for _, v := range s.marked {
		s.seen[v] = false
	}
	s.marked = s.marked[:0]
	return s.lemma, s.secondLevel()
}

// mark remembers that a variable is in the clause being learned or follows from what is.
func (s *solver) mark(v uint32) {
	s.seen[v] = true
	s.marked = append(s.marked, v)
}

// redundant tells whether a literal of the lemma follows from the others, so that it can be left out: whether
// its reasons, and theirs, lead to marked variables only (Sörensson, Biere, "Minimizing learned clauses",
// 2009).
func (s *solver) redundant(l literal) bool {
	if s.reason[l.variable()] == noClause {
		return false
	}
	before := len(s.marked)
	s.stack = append(s.stack[:0], l.variable())
	for len(s.stack) > 0 {
		v := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		for _, why := range s.literals(s.reason[v])[1:] {
			w := why.variable()
			if s.seen[w] || s.level[w] == 0 {
				continue
			}
			if s.reason[w] == noClause {
				for _, v := range s.marked[before:] {
					s.seen[v] = false
				}
				s.marked = s.marked[:before]
				return false
			}
			s.mark(w)
			s.stack = append(s.stack, w)
		}
	}
	return true
}

// secondLevel moves a literal of the highest level but that of the first to the second place, and returns that level.
func (s *solver) secondLevel() int {
	if len(s.lemma) == 1 {
		return 0
	}
	highest := 1
	for i := 2; i < len(s.lemma); i++ {
		if s.level[s.lemma[i].variable()] > s.level[s.lemma[highest].variable()] {
			highest = i
		}
	}
	s.lemma[1], s.lemma[highest] = s.lemma[highest], s.lemma[1]
	return int(s.level[s.lemma[1].variable()])
}

// use goes back to where the lemma makes its first literal true, and does that.
func (s *solver) use(lemma []literal, backLevel int) {
	glue := s.countLevels(lemma)
	s.backTo(backLevel)
	if len(lemma) == 1 {
		s.fact(lemma[0])
		return
	}
	c := s.store(lemma, glue)
	if s.proof != nil {
		s.proof.learned(c)
	}
	s.watch(c)
	s.learned = append(s.learned, c)
	s.assign(lemma[0], c)
}

// countLevels returns from how many levels the literals are, a measure of a clause that is the better the
// smaller it is (Audemard, Simon, "Predicting learnt clauses quality in modern SAT solvers", 2009).
func (s *solver) countLevels(literals []literal) (count int) {
	s.stamp++
	for _, l := range literals {
		if at := s.level[l.variable()]; s.stamps[at] != s.stamp {
			s.stamps[at] = s.stamp
			count++
		}
	}
	return count
}

// forget drops the worse half of the learned clauses, except those that join two levels or imply something at
// the moment, and closes the gaps in the arena.
func (s *solver) forget() {
	const good = 2
	if s.proof != nil {
		s.proof.note(s) // as long as all reasons are there
	}
	slices.SortFunc(s.learned, func(a, b clause) int { return cmp.Or(s.glue(a)-s.glue(b), cmp.Compare(b, a)) })
	kept := s.learned[:0]
	for i, c := range s.learned {
		l := s.literals(c)[0]
		implies := s.values[l] > 0 && s.reason[l.variable()] == c
		if i < len(s.learned)/2 || s.glue(c) <= good || implies {
			kept = append(kept, c)
		} else {
			if s.arena[c+1] = dropped; s.proof != nil {
				s.proof.drop(c)
			}
		}
	}
	s.learned = kept
	s.compact()
}

// dropped is the glue of a clause that is no longer needed.
const dropped = literal(1<<32 - 1)

// compact copies the clauses that are needed to another arena. Their glue in the old one becomes their place in
// the new one.
func (s *solver) compact() {
	old := s.arena
	s.arena, s.spare = append(slices.Grow(s.spare[:0], len(old)), 0), old
	for c := clause(1); int(c) < len(old); {
		next := c + 2 + clause(old[c])
		if old[c+1] != dropped {
			to := s.store(old[c+2:next], int(old[c+1]))
			if old[c+1] = literal(to); s.proof != nil {
				s.proof.moved(c, to)
			}
		}
		c = next
	}
	s.watchAll()
	for i, c := range s.learned {
		s.learned[i] = clause(old[c+1])
	}
	for _, l := range s.trail {
		if why := s.reason[l.variable()]; why != noClause {
			s.reason[l.variable()] = clause(old[why+1])
		}
	}
}
