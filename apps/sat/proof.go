package sat

import (
	"encoding/binary"
	"slices"
)

// A piece is the part of a refutation that one attempt at a cube contributes: every clause that it learned, with
// the clauses that show it (its hints), in the order of LRAT. It speaks of the cube alone: where the whole proof
// says "clause, or one of the cube's decisions is false", a piece says "clause". compose.go puts the pieces of all
// cubes together.
//
// What a hint names:
//
//   - a clause of the formula, by its number from 1;
//   - a step of the same piece, by its number from 1;
//   - a fact, by its literal: a literal that the cube makes true although it was not decided. The step that shows it
//     is the one that adds it as a clause of its own, in this piece or in that of a cube that this one is part of.
//
// A fact needs no hint if it is a decision: the whole proof's clause assumes it.
//
// # Why the hints suffice
//
// Assume that the clause to be shown is false and that the decisions are true. A fact's clause then makes the
// fact true. A learned clause comes from a conflict: the variables that learn marked and that are not in the
// clause were implied, each by a clause whose other literals are facts, negations of literals in the learned
// clause, or variables marked earlier on the trail. So, in the order of the trail, each of these clauses has
// one literal left, and then the conflict has none.

// hint names what shows a step: a number with its kind in the lowest two bits.
type hint uint32

const (
	ofFormula hint = iota // a clause of the formula
	ofPiece               // a step of this piece
	ofFact                // a literal that is a fact
	hintKinds = 4
)

func hintTo(kind hint, n int) hint { return hint(n)*hintKinds + kind }

// Kinds of entries of a piece.
const (
	pieceEnds  = iota // the attempt ended here
	pieceAdds         // a clause and its hints
	pieceDrops        // a step whose clause is not used any more
)

// recorder writes the piece of one solver.
type recorder struct {
	formula *Formula
	starts  []int // where in formula.Literals each clause begins
	loaded  int   // literals and zeros so far

	piece   []byte
	steps   int
	shown   []hint // of the clauses in the arena, by their places there
	decided []bool // by variable: a decision of the cube
	noted   int    // entries of the trail at level 0 that are facts with a step, or came with the cube
	refuted bool   // the cube has no model, and the last step says so
	gaps    bool   // something was concluded that has no step: there is no proof

	facts   []literal // of the next step's hints
	met     []int32   // by variable: the last step that met it
	stamp   int32
	hints   []hint
	through []clause
}

// newRecorder begins the piece of a cube with the given decisions.
func newRecorder(f *Formula, decisions []int32) *recorder {
	r := &recorder{formula: f, decided: make([]bool, f.Variables), met: make([]int32, f.Variables),
		starts: make([]int, 0, f.Clauses), shown: make([]hint, 0, len(f.Literals)+f.Clauses+1)}
	for _, d := range decisions {
		r.decided[toLiteral(d).variable()] = true
	}
	return r
}

// note gives the new facts on the trail their steps. The reason of each is there, or it came from a unit step.
func (r *recorder) note(s *solver) {
	end := len(s.trail)
	if len(s.starts) > 0 {
		end = s.starts[0]
	}
	for ; r.noted < end; r.noted++ {
		l := s.trail[r.noted]
		if why := s.reason[l.variable()]; why != noClause {
			r.begin()
			r.met[l.variable()] = r.stamp
			r.use(s, why)
			r.add([]literal{l}, r.shown[why])
		}
	}
}

// load says that the next clause of the formula is looked at; it has so many literals.
func (r *recorder) load(literals int) {
	r.starts = append(r.starts, r.loaded)
	r.loaded += literals + 1
}

// at says what shows the clause at a place of the arena.
func (r *recorder) at(c clause, h hint) {
	for len(r.shown) <= int(c) {
		r.shown = append(r.shown, 0)
	}
	r.shown[c] = h
}

// unit records that clause n of the formula has only l left.
func (r *recorder) unit(s *solver, l literal, n int) {
	r.begin()
	r.met[l.variable()] = r.stamp
	r.useFormula(s, n)
	r.add([]literal{l}, hintTo(ofFormula, n))
}

// begin begins the hints of a step.
func (r *recorder) begin() {
	r.stamp++
	r.facts, r.through, r.hints = r.facts[:0], r.through[:0], r.hints[:0]
}

// use makes facts that clause c rests on hints of the step, also those by which literals were left out when it was
// loaded.
func (r *recorder) use(s *solver, c clause) {
	literals := s.literals(c)
	if h := r.shown[c]; h%hintKinds == ofFormula && len(literals) < r.length(int(h/hintKinds)) {
		r.useFormula(s, int(h/hintKinds))
		return
	}
	for _, l := range literals {
		r.fact(s, l)
	}
}

// length is how many literals clause n of the formula has.
func (r *recorder) length(n int) int {
	if n == len(r.starts) {
		return r.loaded - r.starts[n-1] - 1
	}
	return r.starts[n] - r.starts[n-1] - 1
}

func (r *recorder) useFormula(s *solver, n int) {
	for _, d := range r.formula.Literals[r.starts[n-1]:] {
		if d == 0 {
			return
		}
		r.fact(s, toLiteral(d))
	}
}

// fact makes the fact that l is false, if it is one, a hint of the step.
func (r *recorder) fact(s *solver, l literal) {
	v := l.variable()
	if s.values[l] < 0 && s.level[v] == 0 && r.met[v] != r.stamp {
		if r.met[v] = r.stamp; !r.decided[v] {
			r.facts = append(r.facts, l.not())
		}
	}
}

// conflict records the clause that a conflict at level 1 or above teaches: the marked variables that are not in it
// were implied.
func (r *recorder) conflict(s *solver, conflict clause, lemma []literal) {
	r.note(s)
	r.begin()
	for _, l := range lemma {
		r.met[l.variable()] = r.stamp
	}
	for _, l := range s.trail[s.starts[0]:] {
		if v := l.variable(); s.seen[v] && r.met[v] != r.stamp {
			r.through = append(r.through, s.reason[v])
		}
	}
	for _, c := range r.through {
		r.use(s, c)
		r.hints = append(r.hints, r.shown[c])
	}
	r.use(s, conflict)
	r.add(lemma, r.shown[conflict])
}

// refute records that the cube has no model, because clause c is false by facts alone.
func (r *recorder) refute(s *solver, c clause) {
	r.note(s)
	r.begin()
	r.use(s, c)
	r.add(nil, r.shown[c])
	r.refuted = true
}

// refuteByFormula is refute for a clause of the formula that was false when it was loaded.
func (r *recorder) refuteByFormula(s *solver, n int) {
	r.begin()
	r.useFormula(s, n)
	r.add(nil, hintTo(ofFormula, n))
	r.refuted = true
}

// add ends a step: facts, then what was gathered, then the last hint.
func (r *recorder) add(lemma []literal, last hint) {
	if r.refuted {
		return
	}
	r.steps++
	b := binary.AppendUvarint(r.piece, pieceAdds)
	b = binary.AppendUvarint(b, uint64(len(lemma)))
	for _, l := range lemma {
		b = binary.AppendUvarint(b, uint64(l))
	}
	b = binary.AppendUvarint(b, uint64(len(r.facts)+len(r.hints)+1))
	for _, l := range r.facts {
		b = binary.AppendUvarint(b, uint64(hintTo(ofFact, int(l))))
	}
	for _, h := range r.hints {
		b = binary.AppendUvarint(b, uint64(h))
	}
	r.piece = binary.AppendUvarint(b, uint64(last))
}

// learned says at which place of the arena the clause of the last step is.
func (r *recorder) learned(c clause) { r.at(c, hintTo(ofPiece, r.steps)) }

// drop says that a learned clause is not used any more.
func (r *recorder) drop(c clause) {
	if h := r.shown[c]; h%hintKinds == ofPiece {
		r.piece = binary.AppendUvarint(r.piece, pieceDrops)
		r.piece = binary.AppendUvarint(r.piece, uint64(h/hintKinds))
	}
}

// moved follows a clause to its new place, which is not after the old one.
func (r *recorder) moved(from, to clause) { r.shown[to] = r.shown[from] }

// end ends the piece; nil if there is a gap in it.
func (r *recorder) end() []byte {
	if r.gaps {
		return nil
	}
	return slices.Clip(binary.AppendUvarint(r.piece, pieceEnds))
}
