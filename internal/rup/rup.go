// Package rup checks refutations a second time, in the slow way: it takes the clauses of an LRAT proof and leaves
// its hints aside, and looks itself for why each clause follows (reverse unit propagation: Goldberg, Novikov,
// "Verification of proofs of unsatisfiability for CNF formulas", DATE 2003). It was written from the
// description of the formats alone and shares no code with internal/lrat or the solver; tests compare the two.
//
// It holds everything in memory and looks at all clauses again and again: for proofs of some thousand clauses.
package rup

import (
	"fmt"
	"strconv"
	"strings"
)

// Check says whether the text of a proof in LRAT leads from a formula in DIMACS CNF to the empty clause. Deletions
// take the clause away that the number names.
func Check(formula, proof string) error {
	known := map[int][]int{}
	var clause []int
	for _, line := range strings.Split(formula, "\n") {
		if strings.HasPrefix(line, "c") || strings.HasPrefix(line, "p") {
			continue
		}
		for _, word := range strings.Fields(line) {
			l, err := strconv.Atoi(word)
			if err != nil {
				return err
			}
			if l == 0 {
				known[len(known)+1], clause = clause, nil
				continue
			}
			clause = append(clause, l)
		}
	}
	for n, line := range strings.Split(proof, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		numbers := make([]int, len(words))
		for i, w := range words {
			if w == "d" && i == 1 {
				continue
			}
			v, err := strconv.Atoi(w)
			if err != nil {
				return fmt.Errorf("line %d: %w", n+1, err)
			}
			numbers[i] = v
		}
		if len(words) > 1 && words[1] == "d" {
			for _, id := range numbers[2:] {
				delete(known, id)
			}
			continue
		}
		lemma := []int{}
		for _, l := range numbers[1:] {
			if l == 0 {
				break
			}
			lemma = append(lemma, l)
		}
		if !follows(known, lemma) {
			return fmt.Errorf("line %d: %v does not follow by unit propagation", n+1, lemma)
		}
		if len(lemma) == 0 {
			return nil
		}
		known[numbers[0]] = lemma
	}
	return fmt.Errorf("the empty clause is missing")
}

// follows propagates units, with the lemma false, until a clause has no literal left or nothing changes.
func follows(known map[int][]int, lemma []int) bool {
	truth := map[int]bool{}
	for _, l := range lemma {
		truth[-l] = true
	}
	for again := true; again; {
		again = false
		for _, c := range known {
			left, satisfied := map[int]bool{}, false
			for _, l := range c {
				satisfied = satisfied || truth[l]
				if !truth[-l] {
					left[l] = true
				}
			}
			switch {
			case satisfied:
			case len(left) == 0:
				return true
			case len(left) == 1:
				for l := range left {
					truth[l] = true
				}
				again = true
			}
		}
	}
	return false
}
