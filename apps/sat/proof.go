package sat

import (
	"encoding/binary"
	"math"
	"slices"
	"sync"
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

	log   []uint32 // the steps, each as add says it
	steps []int    // where in log each begins
	drops []drop   // in their order
	shown []hint   // of the clauses in the arena, by their places there

	decided []bool // by variable: a decision of the cube
	noted   int    // entries of the trail at level 0 that are facts with a step, or came with the cube
	refuted bool   // the cube has no model, and the last step says so
	gaps    bool   // something was concluded that has no step: there is no proof

	pruner pruner
}

// spare are recorders that have ended. An attempt takes a millisecond or so, and would else spend much of what writing
// costs on memory as large as the formula, for itself and for the garbage collector.
var spare = sync.Pool{New: func() any { return &recorder{} }}

// room gives a slice of n elements, cleared, which is s if that is large enough.
func room[E any](s []E, n int) []E {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// drop is a step whose clause is not used any more after another one.
type drop struct{ step, after int }

// newRecorder begins the piece of a cube with the given decisions.
func newRecorder(f *Formula, decisions []int32) *recorder {
	old := spare.Get().(*recorder)
	r := &recorder{formula: f, decided: room(old.decided, f.Variables), starts: old.starts,
		shown: slices.Grow(old.shown[:0], len(f.Literals)+f.Clauses+1), log: old.log[:0], steps: old.steps[:0],
		drops: old.drops[:0], pruner: old.pruner}
	r.shown = r.shown[:cap(r.shown)]
	if old.formula != f { // attempts are many, formulas few
		r.starts = r.starts[:0]
		begins := 0
		for c := range f.all() {
			r.starts = append(r.starts, begins)
			begins += len(c) + 1
		}
	}
	for _, d := range decisions {
		r.decided[toLiteral(d).variable()] = true
	}
	return r
}

// note gives the new facts on the trail their steps. The reason of each is there, or it came from a unit step.
func (r *recorder) note(s *solver) {
	for end := s.facts(); r.noted < end; r.noted++ {
		l := s.trail[r.noted]
		if why := s.reason[l.variable()]; why != noClause {
			r.add([]literal{l}, r.noted, 0)[0] = uint32(r.shown[why])
		}
	}
}

// at says what shows the clause at a place of the arena.
func (r *recorder) at(c clause, h hint) {
	if int(c) >= len(r.shown) {
		r.shown = slices.Grow(r.shown, int(c)+1-len(r.shown))
		r.shown = r.shown[:cap(r.shown)]
	}
	r.shown[c] = h
}

// unit records that clause n of the formula has only l left, which was just made a fact.
func (r *recorder) unit(s *solver, l literal, n int) {
	r.add([]literal{l}, len(s.trail)-1, 0)[0] = uint32(hintTo(ofFormula, n))
}

// conflict records the clause that a conflict at level 1 or above teaches: the marked variables that are not in it
// were implied.
func (r *recorder) conflict(s *solver, conflict clause, lemma []literal) {
	r.note(s)
	for _, l := range lemma {
		s.seen[l.variable()] = false
	}
	through := len(s.marked) - len(lemma)
	hints := r.add(lemma, r.noted, through)
	n := 0
	for _, l := range s.trail[s.starts[0]:] { // without a branch that nobody can predict
		if hints[n] = uint32(l.variable()); s.seen[l.variable()] {
			n++
		}
	}
	for i, v := range hints[:through] {
		hints[i] = uint32(r.shown[s.reason[v]])
	}
	hints[through] = uint32(r.shown[conflict])
	for _, l := range lemma {
		s.seen[l.variable()] = true
	}
}

// refute records that the cube has no model, because clause c is false by facts alone.
func (r *recorder) refute(s *solver, c clause) {
	r.note(s)
	r.add(nil, r.noted, 0)[0] = uint32(r.shown[c])
	r.refuted = true
}

// refuteByFormula is refute for a clause of the formula that was false when it was loaded.
func (r *recorder) refuteByFormula(s *solver, n int) {
	r.add(nil, len(s.trail), 0)[0] = uint32(hintTo(ofFormula, n))
	r.refuted = true
}

// add notes a step: the lemma and how many facts there were. It returns the room for so many hints, and the last one.
func (r *recorder) add(lemma []literal, facts, through int) (hints []uint32) {
	begin := len(r.log)
	size := 3 + len(lemma) + through + 1
	r.log = slices.Grow(r.log, size)[:begin+size]
	step := r.log[begin:]
	if r.refuted {
		r.log = r.log[:begin] // what follows is no step
	} else {
		r.steps = append(r.steps, begin)
	}
	step[0], step[1], step[2] = uint32(facts), uint32(len(lemma)), uint32(through+1)
	for i, l := range lemma {
		step[3+i] = uint32(l)
	}
	return step[3+len(lemma):]
}

// step is what add noted, the steps being counted from 1: how many facts there were, the clause, and its hints but
// for facts.
func (r *recorder) step(n int) (facts int, lemma, hints []uint32) {
	log := r.log[r.steps[n-1]:]
	lemma, hints = log[3:3+log[1]], log[3+log[1]:]
	return int(log[0]), lemma, hints[:log[2]]
}

// learned says at which place of the arena the clause of the last step is.
func (r *recorder) learned(c clause) { r.at(c, hintTo(ofPiece, len(r.steps))) }

// drop says that a learned clause is not used any more.
func (r *recorder) drop(c clause) {
	if h := r.shown[c]; h%hintKinds == ofPiece {
		r.drops = append(r.drops, drop{int(h / hintKinds), len(r.steps)})
	}
}

// moved follows a clause to its new place, which is not after the old one.
func (r *recorder) moved(from, to clause) { r.shown[to] = r.shown[from] }

// end writes the piece, after a head; nil if there is a gap in it. Of an attempt that was split, all facts are kept.
// The recorder is not used any more.
func (r *recorder) end(s *solver, head ...byte) []byte {
	defer spare.Put(r)
	if r.gaps {
		return nil
	}
	p := &r.pruner
	p.begin(r, s)
	for n := len(r.steps); n > 0; n-- {
		p.look(n)
	}
	return p.write(head)
}

// pruner finds what the end of a piece rests on, from the last step to the first.
type pruner struct {
	*recorder
	since []int32 // by literal, as in a formula, and the number of variables more: which fact made it false
	unit  []int   // by variable: the step whose clause is that fact, 0 if none of this piece
	met   []int   // by variable: the last step that was found to rest on that fact
	kept  []bool  // by step, from 1: it is written
	facts []span  // by step: those it rests on, in flat
	flat  []literal
	named []int // by step: its new number
	piece []byte
}

// span is a part of pruner.flat.
type span struct{ from, to int }

// begin takes in what was recorded.
func (p *pruner) begin(r *recorder, s *solver) {
	n := r.formula.Variables
	*p = pruner{recorder: r, since: room(p.since, 2*n+1), unit: room(p.unit, n),
		met: room(p.met, n), kept: room(p.kept, len(r.steps)+1), facts: room(p.facts, len(r.steps)+1),
		named: room(p.named, len(r.steps)+1), flat: p.flat[:0], piece: p.piece[:0]}
	for i := range p.since {
		p.since[i] = math.MaxInt32
	}
	for i, l := range s.trail[:s.facts()] {
		p.since[n+int(l.not().dimacs())] = int32(i)
	}
	for n := range r.steps {
		if _, lemma, _ := r.step(n + 1); len(lemma) == 1 && p.unit[lemma[0]>>1] == 0 {
			p.unit[lemma[0]>>1] = n + 1
			p.kept[n+1] = !r.refuted
		}
	}
	if r.refuted {
		p.kept[len(r.steps)] = true
	}
}

// look marks what a step that is kept rests on.
func (p *pruner) look(n int) {
	if !p.kept[n] {
		return
	}
	from, all := len(p.flat), p.formula.Variables
	there, _, hints := p.step(n)
	for _, u := range hints {
		switch h := hint(u); h % hintKinds {
		case ofPiece:
			p.kept[h/hintKinds] = true
			then, lemma, _ := p.step(int(h / hintKinds))
			if then < there { // it has none of the facts of its time
				for _, l := range lemma {
					if d := literal(l).dimacs(); int(p.since[all+int(d)]) < there {
						p.fact(n, d)
					}
				}
			}
		case ofFormula:
			for _, d := range p.formula.Literals[p.starts[h/hintKinds-1]:] {
				if d == 0 {
					break
				}
				if int(p.since[all+int(d)]) < there {
					p.fact(n, d)
				}
			}
		}
	}
	p.facts[n] = span{from, len(p.flat)}
}

// fact makes the fact that a literal is false a hint of step n, once.
func (p *pruner) fact(n int, falsified int32) {
	l := toLiteral(falsified)
	v := l.variable()
	if p.met[v] == n {
		return
	}
	if p.met[v] = n; !p.decided[v] {
		p.flat = append(p.flat, l.not())
		p.kept[p.unit[v]] = true // step 0 is none
	}
}

// write gives the steps that are kept new numbers and writes them: each clause, the facts it rests on, and its other
// hints.
func (p *pruner) write(head []byte) []byte {
	b, drops, named, last := append(p.piece, head...), p.drops, p.named, 0
	for n := 1; n <= len(p.steps); n++ {
		if p.kept[n] {
			last++
			named[n] = last
			_, lemma, hints := p.step(n)
			facts := p.flat[p.facts[n].from:p.facts[n].to]
			b = binary.AppendUvarint(append(b, pieceAdds), uint64(len(lemma)))
			for _, l := range lemma {
				b = binary.AppendUvarint(b, uint64(l))
			}
			b = binary.AppendUvarint(b, uint64(len(facts)+len(hints)))
			for _, l := range facts {
				b = binary.AppendUvarint(b, uint64(hintTo(ofFact, int(l))))
			}
			for _, u := range hints {
				h := hint(u)
				if h%hintKinds == ofPiece {
					h = hintTo(ofPiece, named[h/hintKinds])
				}
				b = binary.AppendUvarint(b, uint64(h))
			}
		}
		for ; len(drops) > 0 && drops[0].after <= n; drops = drops[1:] {
			if d := named[drops[0].step]; d > 0 {
				b = binary.AppendUvarint(append(b, pieceDrops), uint64(d))
			}
		}
	}
	p.piece = append(b, pieceEnds)
	return slices.Clone(p.piece)
}
