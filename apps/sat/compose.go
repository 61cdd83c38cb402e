package sat

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/satin-peer/satin/internal/lrat"
)

// The refutation of a formula is a tree like that of the cubes: a node for each, with the piece of its attempt, and
// the nodes of its two halves if it was split. A Result carries it as a list of byte strings in prefix order: the
// halves in either order, each with the decision that made it. Byte strings are never copied on their way up.
//
// compose writes the tree as one proof in LRAT (see internal/lrat for the format). Every clause of a piece gets the
// negated decisions of its cube added, and the next free number. A node ends with the clause that says that not all
// decisions of its cube hold: of a cube that was split, this follows from those of its halves. Then all
// clauses of the node and its halves but that one are deleted, so a checker holds little more than a solver does.

// Tags of a node.
const (
	nodeClosed = iota // the piece ends with a contradiction
	nodeSplit         // two nodes follow
)

// errProof is what a Result's proof gives that no correct job returns.
var errProof = errors.New("the proof has a gap")

// recorder makes the recorder of an attempt; nil if no proof is wanted.
func (c *Cube) recorder() *recorder {
	if !c.Proof {
		return nil
	}
	return newRecorder(c.Formula, c.Decisions)
}

// refuted is the proof of a cube that an attempt refuted.
func (c *Cube) refuted(s *solver) [][]byte {
	if s.proof == nil || !s.proof.refuted {
		return nil
	}
	return c.node(s, nodeClosed)
}

// split is what the proof of a cube that was split begins with.
func (c *Cube) split(s *solver) [][]byte {
	if s.proof == nil {
		return nil
	}
	s.proof.note(s)
	return c.node(s, nodeSplit)
}

func (c *Cube) node(s *solver, tag byte) [][]byte {
	node := s.proof.end(s, binary.AppendUvarint([]byte{tag}, madeBy(c.Decisions))...)
	if node == nil {
		return nil
	}
	return [][]byte{node}
}

// writeProof writes the refutation of a cube as LRAT: what it ends with says that not all of the cube's decisions
// hold. The formula of that proof is the cube's, and then its premises, as clauses of one literal.
func (c *Cube) writeProof(w io.Writer, proof [][]byte) error {
	out := bufio.NewWriterSize(w, 1<<16)
	k := composer{w: out, nodes: proof, last: c.Formula.Clauses, formula: c.Formula, made: madeBy(c.Decisions)}
	k.facts = make([]int, 2*c.Formula.Variables)
	for _, l := range c.premises() {
		k.last++
		k.facts[toLiteral(l)] = k.last
	}
	for _, d := range c.Decisions {
		k.decide(toLiteral(d))
	}
	if _, _, err := k.compose(0); err != nil {
		return err
	}
	if len(k.nodes) > 0 {
		return fmt.Errorf("%w: %d pieces too many", errProof, len(k.nodes))
	}
	return out.Flush()
}

// premises are the facts that the cube has from those that it is a part of.
func (c *Cube) premises() []int32 {
	return slices.DeleteFunc(slices.Clone(c.Facts), func(l int32) bool { return slices.Contains(c.Decisions, l) })
}

// check has the checker follow a refutation of the cube.
func (c *Cube) check(proof [][]byte) error {
	given := Formula{Variables: c.Formula.Variables, Clauses: c.Formula.Clauses,
		Literals: slices.Clip(c.Formula.Literals)}
	for _, l := range c.premises() {
		given.add(int(l))
	}
	goal := make([]int32, len(c.Decisions))
	for i, d := range c.Decisions {
		goal[i] = -d
	}
	var formula bytes.Buffer
	if err := given.write(&formula); err != nil {
		return err
	}
	r, w := io.Pipe()
	go func() { w.CloseWithError(c.writeProof(w, proof)) }()
	_, err := lrat.Derive(&formula, r, goal)
	_ = r.CloseWithError(errProof) // writeProof ends, if it has not
	return err
}

type composer struct {
	w       *bufio.Writer
	formula *Formula
	nodes   [][]byte // to come
	made    uint64   // the decision that the first must have
	last    int      // the last number given to a clause
	cube    []byte   // the negated decisions of the cube, as text
	facts   []int    // by literal: the number of the clause that is just it, of this node or the last one above it
}

// madeBy is how a node says by which decision its cube was made; 0 for none.
func madeBy(decisions []int32) uint64 {
	if n := len(decisions); n > 0 {
		return uint64(toLiteral(decisions[n-1])) + 1
	}
	return 0
}

// decide adds a decision to those that all clauses assume.
func (c *composer) decide(l literal) {
	c.cube = appendWord(c.cube, int(l.not().dimacs()))
}

// ordered is a refutation with the halves of each cube in the order of their decisions; nil for one with a gap.
func ordered(proof [][]byte) [][]byte {
	all := make([][]byte, 0, len(proof))
	var node func(depth int) bool
	node = func(depth int) bool {
		if len(proof) == 0 || len(proof[0]) == 0 || depth > maxDepth {
			return false
		}
		tag := reader{rest: proof[0]}
		all, proof = append(all, proof[0]), proof[1:]
		if tag.next() != nodeSplit {
			return true
		}
		begin := len(all)
		first := node(depth + 1)
		middle := len(all)
		if !first || !node(depth+1) {
			return false
		}
		made := func(b []byte) uint64 {
			r := reader{rest: b}
			r.next()
			return r.next()
		}
		if made(all[middle]) < made(all[begin]) {
			copy(all[begin:], slices.Concat(all[middle:], all[begin:middle]))
		}
		return true
	}
	if !node(0) || len(proof) > 0 {
		return nil
	}
	return all
}

// level is a node on the way from the root to the one that is being written.
type level struct {
	steps  []int  // the numbers of the clauses of its piece; 0 for one that was deleted
	hidden []fact // what its own facts have taken the place of, in composer.facts
}

// fact is a literal and the number of the clause that is just it.
type fact struct {
	literal literal
	id      int
}

// maxDepth is more than a cube has decisions.
const maxDepth = 1 << 16

// compose writes the next node. It returns the decision that made the cube and the number of the last clause.
func (c *composer) compose(depth int) (decision literal, id int, err error) {
	if len(c.nodes) == 0 || depth > maxDepth {
		return 0, 0, fmt.Errorf("%w: a part of a cube is missing", errProof)
	}
	r := reader{rest: c.nodes[0]}
	c.nodes = c.nodes[1:]
	tag, made := r.next(), r.next()
	right := made == c.made
	if depth > 0 {
		right = made > 0 && made <= 2*uint64(c.formula.Variables)
	}
	if tag > nodeSplit || !right {
		return 0, 0, fmt.Errorf("%w: a cube that is none", errProof)
	}
	if depth > 0 {
		decision = literal(made - 1)
		length := len(c.cube)
		c.decide(decision)
		defer func() { c.cube = c.cube[:length] }()
	}
	here := &level{}
	if err := c.piece(&r, here); err != nil {
		return 0, 0, err
	}
	dead := here.steps
	if tag == nodeSplit {
		a, first, err := c.compose(depth + 1)
		if err != nil {
			return 0, 0, err
		}
		b, second, err := c.compose(depth + 1)
		if err != nil {
			return 0, 0, err
		}
		if a != b.not() {
			return 0, 0, fmt.Errorf("%w: halves that are none", errProof)
		}
		c.write(nil, []int{first, second})
		dead = append(dead, first, second)
	} else if n := len(dead); n == 0 || dead[n-1] != c.last {
		return 0, 0, fmt.Errorf("%w: an attempt without an end", errProof)
	} else {
		dead = dead[:n-1]
	}
	c.forget(dead)
	for _, f := range slices.Backward(here.hidden) {
		c.facts[f.literal] = f.id
	}
	return decision, c.last, nil
}

// piece writes the clauses of a piece.
func (c *composer) piece(r *reader, here *level) error {
	var lemma []literal
	var hints []int
	for {
		switch kind := r.next(); {
		case r.bad:
			return fmt.Errorf("%w: a piece that ends too soon", errProof)
		case kind == pieceEnds:
			return nil
		case kind == pieceDrops:
			n := int(r.next()) - 1
			if n < 0 || n >= len(here.steps) || here.steps[n] == 0 {
				return fmt.Errorf("%w: a clause is dropped that is not there", errProof)
			}
			c.forget(here.steps[n : n+1])
			here.steps[n] = 0
		case kind == pieceAdds:
			lemma, hints = lemma[:0], hints[:0]
			for range r.count(c.formula.Variables) {
				l := r.next()
				if l >= 2*uint64(c.formula.Variables) {
					return fmt.Errorf("%w: a literal that is none", errProof)
				}
				lemma = append(lemma, literal(l))
			}
			for range r.count(c.formula.Variables + 1) { // each but the last makes another literal true
				id, err := c.resolve(hint(r.next()), here)
				if err != nil {
					return err
				}
				hints = append(hints, id)
			}
			c.write(lemma, hints)
			here.steps = append(here.steps, c.last)
			if len(lemma) == 1 {
				here.hidden = append(here.hidden, fact{lemma[0], c.facts[lemma[0]]})
				c.facts[lemma[0]] = c.last
			}
		default:
			return fmt.Errorf("%w: an entry of kind %d", errProof, kind)
		}
	}
}

// resolve gives the number of the clause that a hint names.
func (c *composer) resolve(h hint, here *level) (int, error) {
	n := int(h / hintKinds)
	switch h % hintKinds {
	case ofFormula:
		if n > 0 && n <= c.formula.Clauses {
			return n, nil
		}
	case ofPiece:
		if n > 0 && n <= len(here.steps) && here.steps[n-1] != 0 {
			return here.steps[n-1], nil
		}
	case ofFact:
		if n < len(c.facts) && c.facts[n] != 0 {
			return c.facts[n], nil
		}
	}
	return 0, fmt.Errorf("%w: a hint that names nothing", errProof)
}

// write writes a clause, with the negated decisions, under the next number.
func (c *composer) write(lemma []literal, hints []int) {
	c.last++
	b := appendDigits(c.w.AvailableBuffer(), c.last)
	for _, l := range lemma {
		b = appendWord(b, int(l.dimacs()))
	}
	b = append(append(b, c.cube...), " 0"...)
	for _, h := range hints {
		b = appendWord(b, h)
	}
	_, _ = c.w.Write(append(b, " 0\n"...)) // Flush says what went wrong
}

// appendWord appends a blank and a number.
func appendWord(b []byte, n int) []byte {
	b = append(b, ' ')
	if n < 0 {
		b, n = append(b, '-'), -n
	}
	return appendDigits(b, n)
}

// appendDigits is strconv.AppendInt for numbers from 0 on, in half of the time, for it writes where they are to be: a
// proof is hardly anything but numbers, and one thread writes all of it.
func appendDigits(b []byte, n int) []byte {
	width := (bits.Len(uint(n))*1233)>>12 + 1 // by log 2 = 1233/4096, at most 1 too many
	if uint64(n) < powers[width-1] {
		width--
	}
	width = max(width, 1)
	end := len(b) + width
	if end > cap(b) {
		b = slices.Grow(b, len(powers))
	}
	b = b[:end]
	rest := uint64(n)
	for ; width > 1; width -= 2 {
		two := rest % 100 * 2
		rest /= 100
		end -= 2
		b[end], b[end+1] = digits[two], digits[two+1]
	}
	if width > 0 {
		b[end-1] = byte('0' + rest)
	}
	return b
}

// powers are those of 10.
var powers = [20]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
	1e18, 1e19}

// digits are the numbers from 00 to 99.
const digits = "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748" +
	"4950515253545556575859606162636465666768697071727374757677787980818283848586878889909192939495969798" + "99"

// forget deletes clauses.
func (c *composer) forget(ids []int) {
	b := append(appendDigits(c.w.AvailableBuffer(), c.last), " d"...)
	empty := len(b)
	for _, id := range ids {
		if id != 0 {
			b = appendWord(b, id)
		}
	}
	if len(b) > empty {
		_, _ = c.w.Write(append(b, " 0\n"...))
	}
}

// reader reads a piece.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) next() uint64 {
	if len(r.rest) > 0 && r.rest[0] < 0x80 { // most are short
		v := r.rest[0]
		r.rest = r.rest[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// count reads a number of things that take a byte each at least, and are so many at most.
func (r *reader) count(most int) int {
	n := r.next()
	if n > uint64(min(most, len(r.rest))) {
		r.bad = true
		return 0
	}
	return int(n)
}
