package sat

import (
	"fmt"
	"iter"
)

// Formula is a Boolean formula in conjunctive normal form. It does not change once it has been built, so all
// the jobs of a process share one.
type Formula struct {
	Variables int // numbered from 1
	Clauses   int // number of clauses
	// the clauses one after the other, each ended by a 0: v stands for variable v, -v for its negation
	Literals []int32
}

// add appends a clause.
func (f *Formula) add(literals ...int) {
	for _, l := range literals {
		f.Literals = append(f.Literals, int32(l))
	}
	f.Literals = append(f.Literals, 0)
	f.Clauses++
}

// all yields the clauses without their zeros. They belong to f.
func (f *Formula) all() iter.Seq[[]int32] {
	return func(yield func([]int32) bool) {
		start := 0
		for i, l := range f.Literals {
			if l != 0 {
				continue
			}
			if !yield(f.Literals[start:i]) {
				return
			}
			start = i + 1
		}
	}
}

// Result is the answer for a formula, or for the part of it that a cube leaves.
type Result struct {
	Satisfiable bool
	Model       []bool // if so, the value of each variable; variable 1 is at 0
	// Proof, if one was asked for and there is no model, is the refutation: the pieces of the cube and of its
	// parts, see compose.go.
	Proof [][]byte
	// Attempts and Conflicts are how often a solver was set at a part of it, and what these met: nothing but figures
	Attempts, Conflicts uint64
}

// and is the result of a cube after one of its halves: the half's model, or what is proved by now.
func (r Result) and(half Result) Result {
	half.Attempts += r.Attempts
	half.Conflicts += r.Conflicts
	if !half.Satisfiable && half.Proof != nil {
		half.Proof = append(r.Proof, half.Proof...)
	}
	return half
}

// proves says whether a result needs nobody else to come to it: a model of the formula, whichever it is, or a
// refutation that a checker accepts, which is about half as much work as to find one.
func (c Cube) proves(r Result) (bool, error) {
	if r.Satisfiable || r.Proof == nil {
		return r.Satisfiable, c.Formula.check(r)
	}
	err := c.check(r.Proof)
	return err == nil, err
}

// essence is what all come to who find that a cube has no model: their refutations differ in the order of its parts.
func (c Cube) essence(r Result) (Result, error) {
	r.Proof = ordered(r.Proof)
	return r, nil
}

// check puts a model into every clause. That there is no model cannot be told without searching for one again.
func (f *Formula) check(r Result) error {
	if !r.Satisfiable {
		return nil
	}
	if len(r.Model) != f.Variables {
		return fmt.Errorf("the model has %d variables of %d", len(r.Model), f.Variables)
	}
	number := 0
	for clause := range f.all() {
		number++
		if !satisfies(r.Model, clause) {
			return fmt.Errorf("the model does not satisfy clause %d, %d", number, clause)
		}
	}
	return nil
}

func satisfies(model []bool, clause []int32) bool {
	for _, l := range clause {
		if l > 0 && model[l-1] || l < 0 && !model[-l-1] {
			return true
		}
	}
	return false
}
