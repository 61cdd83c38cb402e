package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// formulas are of five kinds: at random, van der Waerden, Schur, pigeonhole, and ten with a structure of their own.
func formulas() (list []formula) {
	for _, line := range []string{"--random 250 --ratio 4.26 --seed 1", "--random 250 --ratio 4.26 --seed 2",
		"--random 300 --ratio 4.4 --seed 1", "--waerden 3,9,77", "--waerden 3,10,97", "--waerden 4,6,73",
		"--pigeonhole 8", "--pigeonhole 9"} {
		list = append(list, formula{name: strings.ReplaceAll(line, "--", ""), args: strings.Fields(line)})
	}
	add := func(name string, clauses [][]int) { list = append(list, formula{name: name, made: clauses}) }
	add("Schur, 44 numbers in 4 colours", schur(44, 4))
	add("Schur, 14 numbers in 3 colours", schur(14, 3))
	add("ordering of 30", ordering(30))
	add("parity on a cubic graph of 36", parity(36, 1))
	add("mutilated board of 8", mutilated(8))
	add("4 colours for Mycielski's graph of 23", colouring(mycielski(3), 4))
	add("Ramsey, 3 and 4 of 9", ramsey(9))
	add("pebbles on a pyramid of 40", pebbling(40))
	add("Latin square of 30, 60 % empty", latin(30, 0.4, 1))
	add("queens, 24", queens(24))
	add("Langford pairs of 10", langford(10))
	add("two of 40, at most one, by pairs", atMostOne(40))
	return list
}

// schur says that the numbers to n have so many colours, and no x + y = z has one.
func schur(n, colours int) (f [][]int) {
	at := func(i, c int) int { return (i-1)*colours + c + 1 }
	for i := 1; i <= n; i++ {
		var some []int
		for c := range colours {
			some = append(some, at(i, c))
			for j := i; i+j <= n; j++ {
				f = append(f, []int{-at(i, c), -at(j, c), -at(i+j, c)})
			}
		}
		f = append(f, some)
	}
	return f
}

// ordering says that n things are ordered, and none is the least.
func ordering(n int) (f [][]int) {
	less := func(i, j int) int {
		if i < j {
			return i*n + j + 1
		}
		return -(j*n + i + 1)
	}
	for i := range n {
		var some []int
		for j := range n {
			if j == i {
				continue
			}
			some = append(some, less(j, i))
			for k := range n {
				if k != i && k != j {
					f = append(f, []int{-less(i, j), -less(j, k), less(i, k)})
				}
			}
		}
		f = append(f, some)
	}
	return f
}

// parity says that the edges at each node of a cubic graph are odd in number; it has an even number of nodes, one of
// which wants an even number (Tseitin 1968).
func parity(n int, seed uint64) (f [][]int) {
	chance := rand.New(rand.NewPCG(seed, 1))
	edges := make([][]int, n)
	name := 0
	for range 3 { // three perfect matchings
		order := chance.Perm(n)
		for i := 0; i < n; i += 2 {
			name++
			edges[order[i]] = append(edges[order[i]], name)
			edges[order[i+1]] = append(edges[order[i+1]], name)
		}
	}
	for i, e := range edges {
		want := 1
		if i == 0 {
			want = 0
		}
		for signs := range 1 << len(e) {
			c, negated := make([]int, len(e)), 0
			for k := range e {
				if c[k] = e[k]; signs>>k&1 == 1 {
					c[k] = -e[k]
					negated++
				}
			}
			if negated%2 != want { // this clause forbids an assignment with that many true
				f = append(f, c)
			}
		}
	}
	return f
}

// mutilated says that dominoes cover a board without two opposite corners.
func mutilated(n int) (f [][]int) {
	there := func(r, c int) bool {
		return r >= 0 && c >= 0 && r < n && c < n && r+c != 0 && r+c != 2*n-2
	}
	right := func(r, c int) int { return 2*(r*n+c) + 1 }
	for r := range n {
		for c := range n {
			if !there(r, c) {
				continue
			}
			var at []int
			for _, x := range [][3]int{{r, c + 1, right(r, c)}, {r + 1, c, right(r, c) + 1},
				{r, c - 1, right(r, c-1)}, {r - 1, c, right(r-1, c) + 1}} {
				if there(x[0], x[1]) {
					at = append(at, x[2])
				}
			}
			f = append(append(f, at), pairs(at)...)
		}
	}
	return f
}

// pairs says that at most one is true.
func pairs(names []int) (f [][]int) {
	for i, a := range names {
		for _, b := range names[:i] {
			f = append(f, []int{-a, -b})
		}
	}
	return f
}

// mycielski gives the edges of a graph without triangles that needs steps + 2 colours.
func mycielski(steps int) (edges [][2]int) {
	n := 2
	edges = [][2]int{{0, 1}}
	for range steps {
		for _, e := range edges[:len(edges):len(edges)] {
			edges = append(edges, [2]int{e[0], n + e[1]}, [2]int{n + e[0], e[1]})
		}
		for i := range n {
			edges = append(edges, [2]int{n + i, 2 * n})
		}
		n = 2*n + 1
	}
	return edges
}

func colouring(edges [][2]int, colours int) (f [][]int) {
	n := 0
	for _, e := range edges {
		n = max(n, e[0]+1, e[1]+1)
		for c := range colours {
			f = append(f, []int{-(e[0]*colours + c + 1), -(e[1]*colours + c + 1)})
		}
	}
	for i := range n {
		var some []int
		for c := range colours {
			some = append(some, i*colours+c+1)
		}
		f = append(f, some)
	}
	return f
}

// ramsey says that the pairs of n have two colours without a triangle of one or four in the other.
func ramsey(n int) (f [][]int) {
	at := func(i, j int) int { return i*n + j + 1 }
	for a := range n {
		for b := range a {
			for c := range b {
				f = append(f, []int{at(b, a), at(c, a), at(c, b)})
				for d := range c {
					f = append(f, []int{-at(b, a), -at(c, a), -at(c, b), -at(d, a), -at(d, b), -at(d, c)})
				}
			}
		}
	}
	return f
}

// pebbling says that each field of a pyramid whose two below have a pebble has one, of two colours, and the top none.
func pebbling(n int) (f [][]int) {
	at := func(row, i, colour int) int { return row*(row+1) + 2*i + colour + 1 }
	for i := range n {
		f = append(f, []int{at(n-1, i, 0), at(n-1, i, 1)})
	}
	for row := range n - 1 {
		for i := range row + 1 {
			for c := range 4 {
				f = append(f, []int{-at(row+1, i, c&1), -at(row+1, i+1, c>>1), at(row, i, 0), at(row, i, 1)})
			}
		}
	}
	return append(f, []int{-at(0, 0, 0)}, []int{-at(0, 0, 1)})
}

// latin says that a Latin square has the given share of the fields of a certain one.
func latin(n int, given float64, seed uint64) (f [][]int) {
	chance := rand.New(rand.NewPCG(seed, 2))
	at := func(r, c, v int) int { return (r*n+c)*n + v + 1 }
	rows, columns := chance.Perm(n), chance.Perm(n)
	for i := range n {
		for j := range n {
			var a, b, c []int
			for k := range n {
				a, b, c = append(a, at(i, j, k)), append(b, at(i, k, j)), append(c, at(k, i, j))
			}
			for _, x := range [][]int{a, b, c} {
				f = append(append(f, x), pairs(x)...)
			}
			if chance.Float64() < given {
				f = append(f, []int{at(i, j, (rows[i]+columns[j])%n)})
			}
		}
	}
	return f
}

func queens(n int) (f [][]int) {
	lines := map[string][]int{}
	for r := range n {
		for c := range n {
			for _, line := range []string{fmt.Sprint("r", r), fmt.Sprint("c", c), fmt.Sprint("d", r-c),
				fmt.Sprint("u", r+c)} {
				lines[line] = append(lines[line], r*n+c+1)
			}
		}
	}
	for i := range n {
		f = append(f, lines[fmt.Sprint("r", i)])
	}
	for i := -2 * n; i < 2*n; i++ { // in an order of its own: maps have none
		for _, kind := range "rcdu" {
			f = append(f, pairs(lines[fmt.Sprint(string(kind), i)])...)
		}
	}
	return f
}

// langford says that 1 to n are in a row twice each, with as many others between them as the number says.
func langford(n int) (f [][]int) {
	fields := make([][]int, 2*n)
	name := 0
	for k := 1; k <= n; k++ {
		var places []int
		for i := 0; i+k+1 < 2*n; i++ {
			name++
			places = append(places, name)
			fields[i], fields[i+k+1] = append(fields[i], name), append(fields[i+k+1], name)
		}
		f = append(append(f, places), pairs(places)...)
	}
	for _, at := range fields {
		f = append(append(f, at), pairs(at)...)
	}
	return f
}

// atMostOne says that two different ones of n are true, each the first or the second, and that at most one is.
func atMostOne(n int) (f [][]int) {
	var all, first, second []int
	for i := 1; i <= n; i++ {
		all, first, second = append(all, i), append(first, n+i), append(second, 2*n+i)
		f = append(f, []int{-(n + i), i}, []int{-(2*n + i), i}, []int{-(n + i), -(2*n + i)})
	}
	return append(append(f, first, second), pairs(all)...)
}
