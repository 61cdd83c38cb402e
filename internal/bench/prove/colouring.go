package main

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// A walker looks for a model of a formula by local search: it flips the variable that satisfies most of the weight of
// false clauses, and where none is worth it each false clause takes weight from the heaviest true one that shares a
// literal with it, now and then from any (Ishtaiwi, Thornton, Sattar and Pham, "Neighbourhood clause weight
// redistribution in local search for SAT", CP 2005).
type walker struct {
	clauses [][]int
	with    [2][][]int // by sign, 1 for a positive literal, and variable: clauses
	model   []bool
	weight  []int
	right   []int // by clause: literals that are true
	only    []int // the exclusive or of their variables, which is the one if there is one
	gain    []int // by variable: the weight that is true after its flip, less what is now
	wrong   []int // false clauses, in any order
	at      []int // by clause: where in wrong
	chance  *rand.Rand
}

const (
	fairWeight = 8         // of each clause in the beginning
	flipsOfTry = 3_000_000 // then it begins again
	mostly     = 0.75      // of the variables are true then
)

func newWalker(variables int, clauses [][]int, seed uint64) *walker {
	n := len(clauses)
	w := &walker{clauses: clauses, model: make([]bool, variables+1), weight: make([]int, n), right: make([]int, n),
		only: make([]int, n), gain: make([]int, variables+1), at: make([]int, n),
		chance: rand.New(rand.NewPCG(seed, 3))}
	w.with[0], w.with[1] = make([][]int, variables+1), make([][]int, variables+1)
	for c, literals := range clauses {
		for _, l := range literals {
			w.with[sign(l)][max(l, -l)] = append(w.with[sign(l)][max(l, -l)], c)
		}
	}
	return w
}

func sign(l int) int {
	if l > 0 {
		return 1
	}
	return 0
}

// begin makes a model at random, and counts.
func (w *walker) begin() {
	for v := range w.model {
		w.model[v], w.gain[v] = w.chance.Float64() < mostly, 0
	}
	w.wrong = w.wrong[:0]
	for c, literals := range w.clauses {
		w.weight[c], w.right[c], w.only[c] = fairWeight, 0, 0
		for _, l := range literals {
			if w.model[max(l, -l)] == (l > 0) {
				w.right[c]++
				w.only[c] ^= max(l, -l)
			}
		}
		w.counts(c, 1)
	}
}

// counts adds what a clause is worth to the gains, or takes it off, by how many of its literals are true.
func (w *walker) counts(c, times int) {
	switch w.right[c] {
	case 0:
		w.weigh(c, times*w.weight[c])
		if times > 0 {
			w.at[c] = len(w.wrong)
			w.wrong = append(w.wrong, c)
			return
		}
		last := w.wrong[len(w.wrong)-1]
		w.wrong[w.at[c]], w.at[last] = last, w.at[c]
		w.wrong = w.wrong[:len(w.wrong)-1]
	case 1:
		w.gain[w.only[c]] -= times * w.weight[c]
	}
}

// weigh adds to the gains of all variables of a clause.
func (w *walker) weigh(c, more int) {
	for _, l := range w.clauses[c] {
		w.gain[max(l, -l)] += more
	}
}

func (w *walker) flip(v int) {
	w.model[v] = !w.model[v]
	for s := range w.with {
		for _, c := range w.with[s][v] {
			more := 1
			if (s == 1) != w.model[v] {
				more = -1
			}
			w.counts(c, -1)
			w.right[c] += more
			w.only[c] ^= v
			w.counts(c, 1)
		}
	}
}

// best is a variable of the greatest gain, if that is least at least; 0: there is none.
func (w *walker) best(least int) (v int) {
	same := 0
	for u := 1; u < len(w.gain); u++ {
		if g := w.gain[u]; g > least || g == least && v == 0 {
			v, least, same = u, g, 1
		} else if g == least {
			if same++; w.chance.IntN(same) == 0 {
				v = u
			}
		}
	}
	return v
}

// shift gives each false clause weight of another.
func (w *walker) shift() {
	const anyOf = 100
	for _, c := range w.wrong {
		from, same := -1, 0
		for _, l := range w.clauses[c] {
			for _, d := range w.with[sign(l)][max(l, -l)] {
				if w.right[d] == 0 {
					continue
				}
				if from < 0 || w.weight[d] > w.weight[from] {
					from, same = d, 1
				} else if w.weight[d] == w.weight[from] {
					if same++; w.chance.IntN(same) == 0 {
						from = d
					}
				}
			}
		}
		d := w.chance.IntN(len(w.clauses))
		if w.chance.IntN(anyOf) == 0 && w.right[d] > 0 && w.weight[d] >= fairWeight {
			from = d
		}
		much := 1
		if from >= 0 && w.weight[from] > fairWeight {
			much = 2
		}
		if from < 0 || w.weight[from] <= much {
			continue
		}
		if w.weight[from] -= much; w.right[from] == 1 {
			w.gain[w.only[from]] += much
		}
		w.weight[c] += much
		w.weigh(c, much)
	}
}

// walk looks for a model until the time has come. It says how many flips it took.
func (w *walker) walk(until time.Time) (model []bool, flips int) {
	const aside, looks = 0.15, 1 << 12
	for {
		w.begin()
		for n := range flipsOfTry {
			if len(w.wrong) == 0 {
				return w.model, flips
			}
			if n%looks == 0 && time.Now().After(until) {
				return nil, flips
			}
			flips++
			v := w.best(1)
			if v == 0 && w.chance.Float64() < aside {
				v = w.best(0)
			}
			if v > 0 {
				w.flip(v)
			} else {
				w.shift()
			}
		}
	}
}

// progressions are the sets of k of the numbers to n that are evenly apart, as clauses of one sign.
func progressions(k, n, sign int) (f [][]int) {
	for d := 1; (k-1)*d < n; d++ {
		for a := 1; a+(k-1)*d <= n; a++ {
			var c []int
			for i := range k {
				c = append(c, sign*(a+i*d))
			}
			f = append(f, c)
		}
	}
	return f
}

// coloured looks for two colours, 0 and 1, of the numbers to n, without three of the first or t of the second evenly
// apart.
func coloured(t, n int, seed uint64, until time.Time) (colours string, flips int) {
	model, flips := newWalker(n, append(progressions(3, n, 1), progressions(t, n, -1)...), seed).walk(until)
	if model == nil {
		return "", flips
	}
	for _, one := range model[1:] {
		colours += fmt.Sprint(map[bool]int{false: 0, true: 1}[one])
	}
	return colours, flips
}

// printColouring prints what was found for w(2;3,t) - 1.
func printColouring(t int, seed uint64, patience time.Duration) error {
	n, began := numbers[t-3]-1, time.Now()
	colours, flips := coloured(t, n, seed, began.Add(patience))
	if colours == "" {
		return fmt.Errorf("no colouring of %d was found in %d flips; -seed and -patience may help", n, flips)
	}
	fmt.Printf("%s\n\n%d numbers, without three 0 or %d 1 evenly apart: %d flips, %.1f s\n", colours, n, t, flips,
		time.Since(began).Seconds())
	return nil
}
