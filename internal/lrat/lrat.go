// Package lrat checks that a formula has no model, by a proof in the LRAT format (Cruz-Filipe, Heule, Hunt,
// Kaufmann, Schneider-Kamp, "Efficient Certified RAT Verification", CADE 2017). It believes nobody: it shares
// no code with the solvers of this repository, and it is short, so that a reader can see that it is right.
//
// # What a proof is
//
// A formula in DIMACS CNF numbers its clauses from 1. A proof is a list of lines of two kinds:
//
//	ID LITERAL ... 0 HINT ... 0    adds a clause that follows from those there are
//	ID d CLAUSE ... 0              forgets clauses that are not needed any more
//
// An added clause follows if this ends in a contradiction: make all its literals false, and take the clauses
// that the hints name one after the other. Each has one literal that is not false, which becomes true, but for
// the last, which has none: that is the contradiction. A proof that adds the empty clause shows that the
// formula has no model. Each step keeps all models of the formula, so no more than that need be believed.
//
// # What it guarantees
//
// Check returns nil only if the empty clause was added by such steps, Derive if another one was, last. IDs must grow, a
// hint must name a clause that is there. Steps of the RAT kind, which have negative hints, are refused: no proof of
// this repository has them, nor has one variables that the formula has not. Lines are read one at a time, memory is
// that of the clauses that are there; a line of a proof has 4 MiB at most.
package lrat

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// Bounds of what is read.
const (
	maxVariable = 1 << 28
	maxLine     = 1 << 28 // of a formula, in bytes
	maxStep     = 1 << 22 // of a proof: of its words each takes several times as much
)

// ErrRefused is what all errors of Check wrap that say that the proof, or the formula, is not right.
var ErrRefused = errors.New("refused")

// ErrFormula is what all errors of Check wrap that are about the formula, not the proof.
var ErrFormula = errors.New("the formula")

// Report says what a proof that was accepted consists of.
type Report struct {
	Clauses int // of the formula
	Added   int // by the proof
	Deleted int
	Hints   int
	Most    int // clauses that were there at one time
}

// Check reads a formula in DIMACS CNF and a proof in LRAT, and returns nil if the proof shows that the formula
// has no model. Other errors than ErrRefused are those of the readers.
func Check(formula, proof io.Reader) (Report, error) {
	c := checker{clauses: map[uint64][]int32{}}
	return c.check(formula, proof)
}

// Derive is Check for the proof of a clause, of which Check's empty one is a case, that is to be a piece of a longer
// one: it returns nil if the clause, or a part of it, is what the proof adds last, so that all models of the formula
// satisfy it. What comes after the piece may use that clause and the whole formula, and begins with the next number: so
// it deletes neither, and its IDs have no gap.
func Derive(formula, proof io.Reader, goal []int32) (Report, error) {
	c := checker{clauses: map[uint64][]int32{}, goal: goal, piece: true}
	return c.check(formula, proof)
}

func (c *checker) check(formula, proof io.Reader) (Report, error) {
	if err := c.readFormula(formula); err != nil {
		return c.report, fmt.Errorf("%w: %w", ErrFormula, err)
	}
	if err := c.readProof(proof); err != nil {
		return c.report, fmt.Errorf("the proof: %w", err)
	}
	if !c.shown {
		return c.report, fmt.Errorf("the proof: %w: it ends without %s", ErrRefused, name(c.goal))
	}
	return c.report, nil
}

type checker struct {
	clauses map[uint64][]int32 // those that are there, by ID
	last    uint64             // highest ID so far
	most    int32              // highest variable of the formula
	goal    []int32            // what is to be shown
	shown   bool               // it was added
	piece   bool               // more is to come: see Derive
	value   []int8             // by variable: 1 true, -1 false, 0 neither; all 0 between steps
	changed []int32            // variables that are not 0
	report  Report
}

// readFormula takes in the clauses, each ended by a 0, wherever lines end. A line that begins with % ends the formula,
// as in the files of SATLIB.
func (c *checker) readFormula(r io.Reader) error {
	var clause []int32
	ended := false
	err := eachLine(r, maxLine, func(words [][]byte) error {
		ended = ended || len(words) > 0 && words[0][0] == '%'
		if ended || len(words) == 0 || words[0][0] == 'c' || words[0][0] == 'p' {
			return nil
		}
		for _, w := range words {
			l, err := literal(w)
			if err != nil {
				return err
			}
			if l != 0 {
				clause, c.most = append(clause, l), max(c.most, l, -l)
				continue
			}
			c.last++
			c.add(c.last, clause)
			clause = nil
		}
		return nil
	})
	if err == nil && len(clause) > 0 {
		err = fmt.Errorf("%w: its last clause has no 0 at its end", ErrRefused)
	}
	c.report.Clauses = len(c.clauses)
	return err
}

func (c *checker) readProof(r io.Reader) error {
	return eachLine(r, maxStep, func(words [][]byte) error {
		if len(words) == 0 || words[0][0] == 'c' {
			return nil
		}
		id, err := strconv.ParseUint(string(words[0]), 10, 63)
		switch {
		case err != nil:
			return fmt.Errorf("%w: got %.40q, want the ID of a clause", ErrRefused, words[0])
		case len(words) > 1 && string(words[1]) == "d":
			return c.forget(words[2:])
		case id <= c.last:
			return fmt.Errorf("%w: clause %d after clause %d: IDs must grow", ErrRefused, id, c.last)
		case c.piece && id > c.last+1:
			return fmt.Errorf("%w: clause %d after clause %d: the IDs of a piece have no gap", ErrRefused, id, c.last)
		}
		c.last = id
		return c.step(id, words[1:])
	})
}

// forget takes clauses away.
func (c *checker) forget(words [][]byte) error {
	for i, w := range words {
		id, err := strconv.ParseUint(string(w), 10, 63)
		if err != nil || (id == 0) != (i == len(words)-1) {
			return fmt.Errorf("%w: a deletion is a list of IDs with a 0 at its end", ErrRefused)
		}
		if id == 0 {
			return nil
		}
		if _, ok := c.clauses[id]; !ok {
			return fmt.Errorf("%w: clause %d is deleted, but it is not there", ErrRefused, id)
		}
		if c.piece && id <= uint64(c.report.Clauses) {
			return fmt.Errorf("%w: clause %d is deleted, which is the formula's", ErrRefused, id)
		}
		c.shown = c.shown && !(c.piece && id == c.last)
		delete(c.clauses, id)
		c.report.Deleted++
	}
	return fmt.Errorf("%w: a deletion is a list of IDs with a 0 at its end", ErrRefused)
}

// step adds a clause, if its hints show that it follows.
func (c *checker) step(id uint64, words [][]byte) error {
	var clause []int32
	i := 0
	for ; ; i++ {
		if i == len(words) {
			return fmt.Errorf("%w: clause %d has no 0 at its end", ErrRefused, id)
		}
		l, err := literal(words[i])
		if err != nil {
			return err
		}
		if l == 0 {
			break
		}
		if max(l, -l) > c.most {
			return fmt.Errorf("%w: clause %d has literal %d, of which the formula says nothing", ErrRefused, id, l)
		}
		clause = append(clause, l)
	}
	if err := c.follows(id, clause, words[i+1:]); err != nil {
		return err
	}
	c.add(id, clause)
	c.report.Added++
	more := slices.ContainsFunc(clause, func(l int32) bool { return !slices.Contains(c.goal, l) })
	c.shown = c.shown && !c.piece || !more
	return nil
}

// follows says whether the hints lead to a contradiction when all literals of the clause are false.
func (c *checker) follows(id uint64, clause []int32, hints [][]byte) error {
	defer c.reset()
	for _, l := range clause {
		if c.is(l) > 0 {
			return fmt.Errorf("%w: clause %d has a literal and its opposite", ErrRefused, id)
		}
		c.makeTrue(-l)
	}
	for _, w := range hints {
		hint, err := strconv.ParseUint(string(w), 10, 63)
		if err != nil {
			return fmt.Errorf("%w: clause %d has the hint %.40q, want the ID of a clause", ErrRefused, id, w)
		}
		if hint == 0 {
			return fmt.Errorf("%w: the hints of clause %d do not end in a contradiction", ErrRefused, id)
		}
		c.report.Hints++
		used, ok := c.clauses[hint]
		if !ok {
			return fmt.Errorf("%w: clause %d has the hint %d, which is not there", ErrRefused, id, hint)
		}
		open := int32(0)
		for _, l := range used {
			switch c.is(l) {
			case 1:
				return fmt.Errorf("%w: hint %d of clause %d is true already", ErrRefused, hint, id)
			case 0:
				if open != 0 && open != l {
					return fmt.Errorf("%w: hint %d of clause %d has several literals that are not false",
						ErrRefused, hint, id)
				}
				open = l
			}
		}
		if open == 0 {
			return nil // the contradiction
		}
		c.makeTrue(open)
	}
	return fmt.Errorf("%w: the hints of clause %d have no 0 at their end", ErrRefused, id)
}

func (c *checker) add(id uint64, clause []int32) {
	c.clauses[id] = clause
	c.report.Most = max(c.report.Most, len(c.clauses))
}

// is says whether a literal is true (1), false (-1) or neither (0).
func (c *checker) is(l int32) int8 {
	v := max(l, -l)
	if int(v) >= len(c.value) {
		return 0
	}
	if l < 0 {
		return -c.value[v]
	}
	return c.value[v]
}

func (c *checker) makeTrue(l int32) {
	v := max(l, -l)
	for int(v) >= len(c.value) {
		c.value = append(c.value, 0)
	}
	if c.value[v] = 1; l < 0 {
		c.value[v] = -1
	}
	c.changed = append(c.changed, v)
}

func (c *checker) reset() {
	for _, v := range c.changed {
		c.value[v] = 0
	}
	c.changed = c.changed[:0]
}

// name is how an error speaks of a clause.
func name(clause []int32) string {
	if len(clause) == 0 {
		return "the empty clause"
	}
	return fmt.Sprintf("clause %d", clause)
}

func literal(word []byte) (int32, error) {
	n, err := strconv.ParseInt(string(word), 10, 32)
	if err != nil || n < -maxVariable || n > maxVariable {
		return 0, fmt.Errorf("%w: got %.40q, want a literal from %d to %d", ErrRefused, word, -maxVariable, maxVariable)
	}
	return int32(n), nil
}

// eachLine calls f with the words of each line. The words are valid until f returns.
func eachLine(r io.Reader, most int, f func(words [][]byte) error) error {
	source := &watched{r: r}
	lines := bufio.NewScanner(source)
	lines.Buffer(make([]byte, 0, 64<<10), most)
	var words [][]byte
	for n := 1; lines.Scan(); n++ {
		words = slices.AppendSeq(words[:0], bytes.FieldsSeq(lines.Bytes()))
		if err := f(words); err != nil {
			if source.err != nil {
				err = source.err // it ends in the middle of this line
			}
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("%w: a line of more than %d bytes", ErrRefused, most)
	}
	return lines.Err()
}

// watched remembers what went wrong in reading: a scanner gives what it has got of the last line before it says so.
type watched struct {
	r   io.Reader
	err error // but not that it is the end
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}
