package main

import (
	"fmt"
	"time"
)

// numbers are w(2;3,t) for t = 3 on (Ahmed, Kullmann, Snevily, "On the van der Waerden numbers w(2;3,t)", 2014).
// Each is proved here to be the least without a colouring: the one before has one, and this has none.
var numbers = [...]int{9, 18, 22, 32, 46, 58, 77, 97, 114, 135, 160, 186, 218, 238, 279, 312, 349}

const (
	header = "| t | n | solving, s | processor, s | attempts | conflicts | proof, bytes | with proof / without " +
		"| checking / solving | estimated conflicts |\n|---|---|---|---|---|---|---|---|---|---|\n"
	estimateFrom = 8 // formulas before are too easy to be split much
	// rounds is how often a formula is solved and proved, if that takes less than brief of processor time: what other
	// programs do to caches and clocks is as large as what is compared.
	rounds, brief = 7, 30 * time.Second
)

// series prints a line for each t as it comes, and then how the conflicts grow.
func (p *peer) series(most, probes int, folded bool) error {
	fmt.Print(header)
	var conflicts []float64 // by t, from estimateFrom on
	parity := [2]int{2, 3}  // where the search for the palindromic number of each parity begins
	for t := 3; t <= most; t++ {
		here := 0.0
		tell := func(n int, flags ...string) error {
			c, err := p.line(t, n, probes, flags)
			here = max(here, c)
			return err
		}
		var err error
		if folded {
			err = p.palindromes(t, &parity, tell)
		} else {
			err = p.least(t, numbers[t-3], tell)
		}
		if err != nil {
			return err
		}
		if t >= estimateFrom {
			conflicts = append(conflicts, here)
		}
	}
	if len(conflicts) >= leastFit {
		fmt.Print(grown(conflicts))
	}
	return nil
}

func waerden(t, n int) string { return fmt.Sprintf("3,%d,%d", t, n) }

// least proves that n is the least number without a colouring.
func (p *peer) least(t, n int, tell func(n int, flags ...string) error) error {
	const seed, patience = 7, 10 * time.Minute
	if colours, _ := coloured(t, n-1, seed, time.Now().Add(patience)); colours == "" {
		return fmt.Errorf("w(2;3,%d) is said to be %d, but no colouring of %d was found", t, n, n-1)
	}
	return tell(n)
}

// palindromes finds and proves the least number of each parity without a palindromic colouring: all greater ones of
// that parity have none, for without its ends a palindrome is one.
func (p *peer) palindromes(t int, from *[2]int, tell func(n int, flags ...string) error) error {
	for i := range from {
		for {
			a, _, _, err := p.run("--palindromic", "--waerden", waerden(t, from[i]))
			if err != nil {
				return err
			}
			if !a.Satisfiable {
				break
			}
			from[i] += 2
		}
		if err := tell(from[i], "--palindromic"); err != nil {
			return err
		}
	}
	return nil
}

// line proves one number and prints what it took.
func (p *peer) line(t, n, probes int, flags []string) (conflicts float64, err error) {
	args := append([]string{"--waerden", waerden(t, n)}, flags...)
	a, spent, took, err := p.run(args...)
	if err != nil {
		return 0, err
	}
	if a.Satisfiable {
		return 0, fmt.Errorf("%v has a model", args)
	}
	size, writing, checking, err := p.proved(args...)
	if err != nil {
		return 0, err
	}
	for n := 1; n < rounds && spent < brief; n++ { // the least of each, in turn
		_, again, _, err := p.run(args...)
		if err != nil {
			return 0, err
		}
		_, proving, verifying, err := p.proved(args...)
		if err != nil {
			return 0, err
		}
		spent, writing, checking = min(spent, again), min(writing, proving), min(checking, verifying)
	}
	guessed := ""
	if t >= estimateFrom {
		g, _, _, err := p.run(append(args, "--estimate", fmt.Sprint(probes))...)
		if err != nil {
			return 0, err
		}
		guessed = fmt.Sprintf("%.3g ± %.2g", g.Conflicts, g.Error)
	}
	fmt.Printf("| %d | %d | %.2f | %.2f | %d | %.0f | %d | %.2f | %.2f | %s |\n", t, n, took.Seconds(), spent.Seconds(),
		a.Attempts, a.Conflicts, size, writing.Seconds()/spent.Seconds(), checking.Seconds()/spent.Seconds(), guessed)
	return a.Conflicts, nil
}
