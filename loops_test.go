package satin_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/satin-peer/satin"
)

func init() {
	satin.Register("example.collatz", collatz)
	satin.Register("example.harmonic", harmonic)
	satin.Register("example.atLeast", atLeast)
	satin.Register("example.worth", worth)
	satin.Register("example.cut", cut)
	satin.Register("example.flat", flat)
}

// Part is a stretch of a loop, from From to To-1: divided in halves down to Grain turns.
type Part struct{ From, To, Grain int }

// halves are for a Part of two turns or more.
func (p Part) halves() (lower, upper Part) {
	middle := p.From + (p.To-p.From)/2
	return Part{p.From, middle, p.Grain}, Part{middle, p.To, p.Grain}
}

// Steps are the reduction of a loop: how many numbers take how many steps to 1.
type Steps struct {
	Most, At int
	Of       []int // Of[i] take 32i to 32i+31 steps
}

// collatz is a parallel loop: the upper half may be stolen, the lower one is an ordinary call.
func collatz(f *satin.Frame, p Part) Steps {
	if p.To-p.From <= max(p.Grain>>f.Deeper(), 1) {
		return collatzLoop(p)
	}
	lower, upper := p.halves()
	rest := satin.Spawn(f, collatz, upper)
	all := collatz(f, lower)
	return all.plus(rest.Get())
}

// plus adds to what an ordinary call has given, which is this job's own. What Get has given is not: it is read only.
func (s Steps) plus(o Steps) Steps {
	if o.Most > s.Most { // of equal ones the first, whoever finished first
		s.Most, s.At = o.Most, o.At
	}
	for i, n := range o.Of {
		if i == len(s.Of) {
			s.Of = append(s.Of, 0)
		}
		s.Of[i] += n
	}
	return s
}

func collatzLoop(p Part) (s Steps) {
	for n := p.From; n < p.To; n++ {
		steps := 0
		for m := n; m != 1; steps++ {
			if m%2 == 0 {
				m /= 2
			} else {
				m = 3*m + 1
			}
		}
		if steps > s.Most {
			s.Most, s.At = steps, n
		}
		for len(s.Of) <= steps/32 {
			s.Of = append(s.Of, 0)
		}
		s.Of[steps/32]++
	}
	return s
}

// A loop is halved until a part is worth a job; its results are added on the way up.
func Example_loop() {
	pool, err := satin.NewPool(satin.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	s, err := satin.Run(context.Background(), pool, collatz, Part{From: 1, To: 100_000, Grain: 1000})
	fmt.Println(s.Most, s.At, s.Of, err)
	// Output: 350 77031 [2168 21966 23317 16970 18155 11468 4233 1184 435 85 18] <nil>
}

// harmonic adds 1/n. What is added to what follows from From, To and Grain alone, so the last bit does as well.
func harmonic(f *satin.Frame, p Part) (sum float64) {
	if p.To-p.From <= p.Grain {
		for n := p.From; n < p.To; n++ {
			sum += 1 / float64(n)
		}
		return sum
	}
	lower, upper := p.halves()
	rest := satin.Spawn(f, harmonic, upper)
	return harmonic(f, lower) + rest.Get()
}

// A sum of floating-point numbers is the same to the bit on any number of workers, and another one with another grain.
func Example_reduction() {
	sum := func(workers, grain int) float64 {
		pool, err := satin.NewPool(satin.Config{Workers: workers})
		if err != nil {
			panic(err)
		}
		defer pool.Close()
		s, err := satin.Run(context.Background(), pool, harmonic, Part{1, 1_000_000, grain})
		if err != nil {
			panic(err)
		}
		return s
	}
	one := sum(1, 1000)
	fmt.Println(one == sum(2, 1000), one == sum(4, 1000), one == sum(1, 1_000_000))
	// Output: true true false
}

// A Game is a row of numbers. Two players in turns take one, two or three from one of its ends; who has more in the
// end wins by the difference.
type Game struct {
	Row  []int
	Lead int // of the player to move
}

// A Question is whether the player to move can win by Bound or more. Its answer is yes or no, so it does not depend on
// which of several good moves was looked at.
type Question struct {
	Game  Game
	Bound int
}

// moves are what the other player is asked after each move, the most promising first.
func (q Question) moves() (asked []Question) {
	for n := 1; n <= min(3, len(q.Game.Row)); n++ {
		for _, cut := range []int{n, len(q.Game.Row) - n} {
			taken, rest := q.Game.Row[:cut], q.Game.Row[cut:]
			if cut != n {
				taken, rest = rest, taken
			}
			lead := q.Game.Lead
			for _, x := range taken {
				lead += x
			}
			asked = append(asked, Question{Game{rest, -lead}, 1 - q.Bound})
		}
	}
	slices.SortStableFunc(asked, func(a, b Question) int { return a.Game.Lead - b.Game.Lead })
	return asked
}

const askedAlone = 9 // numbers that are left where a question is answered without jobs

// atLeast is alpha-beta with an empty window. The first move is looked at alone, since it settles most questions that
// any move does; the others are jobs at once, and the first of these that settles the question aborts the rest.
func atLeast(f *satin.Frame, q Question) bool {
	if len(q.Game.Row) <= askedAlone {
		return q.alone()
	}
	moves := q.moves()
	if !atLeast(f, moves[0]) {
		return true // a cut-off: nothing was spawned
	}
	g := satin.Fork(f, atLeast)
	for _, m := range slices.Backward(moves[1:]) { // what nobody steals runs the newest first
		g.Spawn(m)
	}
	for theirs := range g.Results() {
		if !theirs {
			return true // a cut-off: leaving the loop aborts the others, wherever they are
		}
	}
	return false
}

// alone is the sequential program.
func (q Question) alone() bool {
	if len(q.Game.Row) == 0 {
		return q.Game.Lead >= q.Bound
	}
	return slices.ContainsFunc(q.moves(), func(m Question) bool { return !m.alone() })
}

// worth finds by how much the player to move wins.
func worth(f *satin.Frame, row []int) int {
	least, most := 0, 0
	for _, n := range row {
		least, most = least-n, most+n
	}
	for least < most {
		if bound := least + (most-least+1)/2; atLeast(f, Question{Game{Row: row}, bound}) {
			least = bound
		} else {
			most = bound - 1
		}
	}
	return least
}

var row = []int{3, 9, 1, 4, 8, 2, 7, 7, 1, 9, 5, 2, 6, 8, 1, 3}

// Alpha-beta: what cannot matter any more is aborted.
func Example_alphaBeta() {
	pool, err := satin.NewPool(satin.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	by, err := satin.Run(context.Background(), pool, worth, row)
	fmt.Println(by, err)
	// Output: 6 <nil>
}

// byLength finds the value of each stretch of a row from those of the shorter ones.
func byLength(row []int) int {
	value := map[[2]int]int{}
	for n := 1; n <= len(row); n++ {
		for from := 0; from+n <= len(row); from++ {
			best, left, right := -1<<30, 0, 0
			for k := 1; k <= min(3, n); k++ {
				left, right = left+row[from+k-1], right+row[from+n-k]
				best = max(best, left-value[[2]int{from + k, n - k}], right-value[[2]int{from, n - k}])
			}
			value[[2]int{from, n}] = best
		}
	}
	return value[[2]int{0, len(row)}]
}

// TestAlphaBeta: whatever is aborted, a row is worth what a table of all its stretches says.
func TestAlphaBeta(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		pool := workersPool(t, workers)
		for n := range row {
			got, err := satin.Run(t.Context(), pool, worth, row[:n+1])
			if want := byLength(row[:n+1]); err != nil || got != want {
				t.Errorf("%d workers, %v: %d, %v; want %d", workers, row[:n+1], got, err, want)
			}
		}
	}
}

func workersPool(t testing.TB, workers int) *satin.Pool {
	pool, err := satin.NewPool(satin.Config{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// BenchmarkGrain has a loop of short turns with one worker: what its jobs cost by their size.
func BenchmarkGrain(b *testing.B) {
	const turns = 1 << 20
	pool := workersPool(b, 1)
	for _, grain := range []int{turns, 1 << 14, 1 << 10, 1 << 8, 1 << 6, 1 << 4, 1 << 2, 1} {
		b.Run(fmt.Sprint(grain), func(b *testing.B) {
			for b.Loop() {
				if _, err := satin.Run(b.Context(), pool, harmonic, Part{1, turns + 1, grain}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/turns, "ns/turn")
		})
	}
}

// flat is collatz with a job for each part that its root spawns.
func flat(f *satin.Frame, p Part) (all Steps) {
	g := satin.Fork(f, collatz)
	for at := p.From; at < p.To; at += p.Grain {
		g.Spawn(Part{at, min(at+p.Grain, p.To), p.Grain})
	}
	for s := range g.Results() {
		all = all.plus(s)
	}
	return all
}

// BenchmarkHalves has a loop halved, and all its parts spawned at once: how many jobs two workers take from each other.
func BenchmarkHalves(b *testing.B) {
	for name, loop := range map[string]func(*satin.Frame, Part) Steps{"halved": collatz, "flat": flat} {
		b.Run(name, func(b *testing.B) {
			pool := workersPool(b, 2)
			for b.Loop() {
				if _, err := satin.Run(b.Context(), pool, loop, Part{1, 1_000_000, 1000}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(pool.Stats().Steals)/float64(b.N), "steals")
		})
	}
}

// cut opens a group of so many children, and leaves it when the first has answered.
func cut(f *satin.Frame, children int) int {
	n := 0
	for range 1000 {
		g := satin.Fork(f, faulty)
		for i := range children {
			g.Spawn(i + 1)
		}
		for range g.Results() {
			n++
			break
		}
	}
	return n
}

// BenchmarkCutOff has groups that are left after their first result: what a child costs that nobody has stolen.
func BenchmarkCutOff(b *testing.B) {
	pool := workersPool(b, 1)
	for _, children := range []int{1, 2, 9, 33} {
		b.Run(fmt.Sprint(children), func(b *testing.B) {
			for b.Loop() {
				if _, err := satin.Run(b.Context(), pool, cut, children); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/group")
		})
	}
}
