package sat

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// pigeonhole says that n+1 pigeons sit in n holes, no two in one: a formula without a model whose shortest proof by
// resolution grows exponentially (Haken, "The intractability of resolution", 1985).
func pigeonhole(n int) *Formula {
	f := &Formula{Variables: (n + 1) * n}
	in := func(pigeon, hole int) int { return pigeon*n + hole + 1 }
	for p := range n + 1 {
		somewhere := make([]int, n)
		for h := range n {
			somewhere[h] = in(p, h)
		}
		f.add(somewhere...)
	}
	for h := range n {
		for p := range n + 1 {
			for q := range p {
				f.add(-in(p, h), -in(q, h))
			}
		}
	}
	return f
}

// randomFormula has clauses of three different variables each, negated or not by chance. With 4.26 times as
// many clauses as variables about half of these formulas have a model, and they are the hardest to decide
// (Mitchell, Selman, Levesque, "Hard and easy distributions of SAT problems", 1992).
func randomFormula(variables, clauses int, seed uint64) *Formula {
	f := &Formula{Variables: variables}
	rng := rand.NewPCG(seed, uint64(variables))
	for range clauses {
		var c [3]int
		for i := range c {
			for {
				c[i] = 1 + int(rng.Uint64()%uint64(variables))
				if i == 0 || c[i] != c[0] && (i == 1 || c[i] != c[1]) {
					break
				}
			}
		}
		for i := range c {
			if rng.Uint64()>>63 == 1 {
				c[i] = -c[i]
			}
		}
		f.add(c[:]...)
	}
	return f
}

// waerden says that the numbers from 1 to n can be coloured so that no j with one colour and no k with the other are
// equally far apart, one after the other. By van der Waerden's theorem (1927) it has no model if n is large enough.
func waerden(j, k, n int) *Formula {
	f := &Formula{Variables: n}
	for _, c := range []struct{ length, sign int }{{j, 1}, {k, -1}} {
		for step := 1; 1+step*(c.length-1) <= n; step++ {
			for start := 1; start+step*(c.length-1) <= n; start++ {
				numbers := make([]int, c.length)
				for i := range numbers {
					numbers[i] = c.sign * (start + i*step)
				}
				f.add(numbers...)
			}
		}
	}
	return f
}

// palindromic makes f, a formula about the numbers from 1 to n, one about colourings that read the same from both ends
// (Ahmed, Kullmann, Snevily, "On the van der Waerden numbers w(2;3,t)", 2014, section 5).
func palindromic(f *Formula) *Formula {
	n := f.Variables
	half := &Formula{Variables: (n + 1) / 2}
	met := map[string]bool{}
	for c := range f.all() {
		var folded []int
		for _, d := range c {
			l := int(d)
			if v := max(l, -l); n+1-v < v {
				l = l / v * (n + 1 - v)
			}
			if !slices.Contains(folded, l) {
				folded = append(folded, l)
			}
		}
		slices.Sort(folded)
		if name := fmt.Sprint(folded); !met[name] {
			met[name] = true
			half.add(folded...)
		}
	}
	return half
}

// waerdenNumbers are the least n for which waerden(j, k, n), j <= k, has no model (Chvátal 1970, Stevens and
// Shantaram 1978, Beeler and O'Neil 1979, Ahmed, Kullmann and Snevily 2014).
var waerdenNumbers = map[[2]int]int{
	{3, 3}: 9, {3, 4}: 18, {3, 5}: 22, {3, 6}: 32, {3, 7}: 46, {3, 8}: 58, {3, 9}: 77, {3, 10}: 97,
	{3, 11}: 114, {3, 12}: 135, {3, 13}: 160, {3, 14}: 186, {3, 15}: 218, {3, 16}: 238, {3, 17}: 279, {3, 18}: 312,
	{3, 19}: 349, {4, 4}: 35, {4, 5}: 55, {4, 6}: 73, {5, 5}: 178,
}
