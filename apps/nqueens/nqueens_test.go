package nqueens

import (
	"fmt"
	"testing"

	"github.com/satin-peer/satin/apps/apptest"
	"pgregory.net/rapid"
)

// The jobs count as many solutions as are published.
func TestKnownCounts(t *testing.T) {
	for n := 1; n <= 13; n++ {
		if got := apptest.Solve(t, App, fmt.Sprint(n)); got != solutions[n] {
			t.Errorf("%d queens: %v solutions, want %d", n, got, solutions[n])
		}
	}
}

// Wherever jobs give way to the sequential program, the number of solutions is the same.
func TestEveryThreshold(t *testing.T) {
	for leaf := range 10 {
		apptest.Solve(t, App, fmt.Sprintf("9 --threshold %d", leaf))
	}
}

// bruteForce counts solutions with nothing but the rules of the game.
func bruteForce(columns []int, n int) (sum uint64) {
	row := len(columns)
	if row == n {
		return 1
	}
next:
	for c := range n {
		for r, other := range columns {
			if c == other || c-other == row-r || other-c == row-r {
				continue next
			}
		}
		sum += bruteForce(append(columns, c), n)
	}
	return sum
}

// The numbers that results are checked against are those that the bare rules lead to, as far as these can be tried.
func TestTableAgainstTheRules(t *testing.T) {
	for n := 1; n <= 9; n++ {
		if got := bruteForce(nil, n); got != solutions[n] {
			t.Errorf("%d queens: %d solutions, the table says %d", n, got, solutions[n])
		}
	}
}

// walk counts the solutions below b by the rules of Board alone.
func walk(b Board) (sum uint64) {
	if b.left() == 0 {
		return weight[b.Ties]
	}
	for next := range b.moves {
		sum += walk(next)
	}
	return sum
}

// TestSolverAgreesOnEveryBoard compares the batches with Board wherever they can start.
func TestSolverAgreesOnEveryBoard(t *testing.T) {
	var s solver // one for all: nothing of one search may be left in the next
	var descend func(b Board)
	descend = func(b Board) {
		if got, want := s.count(b), walk(b); got != want {
			t.Errorf("%+v: %d thirds, want %d", b, got, want)
		}
		for next := range b.moves {
			descend(next)
		}
	}
	for n := 2; n <= 9; n++ {
		descend(empty(n, 0))
	}
}

// TestFullBatches looks at boards whose batches fill up, which those of small sides do not.
func TestFullBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := empty(rapid.IntRange(11, 14).Draw(t, "n"), 0)
		for b.left() > 10 {
			var moves []Board
			for next := range b.moves {
				moves = append(moves, next)
			}
			if len(moves) == 0 {
				return
			}
			b = rapid.SampledFrom(moves).Draw(t, "move")
		}
		var s solver
		if got, want := s.count(b), walk(b); got != want {
			t.Errorf("%+v: %d thirds, want %d", b, got, want)
		}
	})
}

// TestTiesAreWhatTheyAre checks the argument of board.go on whole solutions: the copies of one, turned and
// mirrored, that are canonical stand for all copies together.
func TestTiesAreWhatTheyAre(t *testing.T) {
	const n = 8
	seen := map[[n]int]uint64{} // smallest copy of a solution -> thirds counted for it and its copies
	var descend func(b Board, columns []int)
	descend = func(b Board, columns []int) {
		if b.left() == 0 {
			seen[smallestCopy([n]int(columns))] += weight[b.Ties]
		}
		for free := b.choices(); free != 0; free &= free - 1 {
			column := free & -free
			index := 0
			for column>>index != 1 {
				index++
			}
			descend(b.place(column), append(columns, index))
		}
	}
	descend(empty(n, 0), nil)
	if len(seen) != 12 { // OEIS A002562
		t.Errorf("%d solutions of 8 queens without copies, want 12", len(seen))
	}
	for s, thirds := range seen {
		if want := uint64(third * len(copies(s))); thirds != want {
			t.Errorf("%v: counted %d thirds, want %d", s, thirds, want)
		}
	}
}

func copies(s [8]int) map[[8]int]bool {
	all := map[[8]int]bool{}
	for range 2 {
		for range 4 {
			all[s] = true
			var turned [8]int
			for row, column := range s {
				turned[column] = 7 - row
			}
			s = turned
		}
		for row, column := range s {
			s[row] = 7 - column
		}
	}
	return all
}

func smallestCopy(s [8]int) [8]int {
	best := s
	for c := range copies(s) {
		for i := range c {
			if c[i] != best[i] {
				if c[i] < best[i] {
					best = c
				}
				break
			}
		}
	}
	return best
}

// A wrong number of solutions is told from the published one, and the error names both.
func TestCheckNoticesAWrongAnswer(t *testing.T) {
	p, err := apptest.Setup(App, "8")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(uint64(91)); err == nil || err.Error() != "8 queens have 92 solutions, not 91 (OEIS A000170)" {
		t.Error(err)
	}
}

// A command line that makes no sense is refused with the word that is wrong and what is allowed there.
func TestBadInput(t *testing.T) {
	const n = ", want a whole number from 1 to 27"
	const rows = ", want a whole number from -1 to 27"
	apptest.Refuse(t, App, map[string]string{
		"":                  `arguments: got "nothing", want exactly 1 (N)`,
		"8 8":               `arguments: got "8 8", want exactly 1 (N)`,
		"0":                 `N: got "0"` + n,
		"28":                `N: got "28"` + n,
		"1e1":               `N: got "1e1"` + n,
		"8 --threshold -2":  `--threshold: got "-2"` + rows,
		"8 --threshold 280": `--threshold: got "280"` + rows,
	})
}

// The command can describe the application, and its examples work.
func TestDescribed(t *testing.T) { apptest.Described(t, App) }

func BenchmarkSequential14(b *testing.B) {
	for b.Loop() {
		sequential(14)
	}
}
