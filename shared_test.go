package satin_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/satin-peer/satin"
)

func init() {
	satin.RegisterObject("example.advance", advance)
	satin.RegisterLattice("example.least", least, checkTour)
	satin.Register("example.simulate", simulate)
	satin.Register("example.pull", pull)
	satin.Register("example.shortest", shortest)
	satin.Register("example.extend", extend)
	satin.Register("example.greedy", greedy)
	satin.Register("example.greedyStep", greedyStep)
	satin.Register("example.count", countWords)
	satin.Register("example.countPart", countPart)
	satin.Register("shared_test.offerNothing", offerNothing)
}

// Bodies are in a line, at whole-numbered places so that sums do not depend on their order.
type Bodies struct{ At, Speed []int }

// advance is the global method: it makes the next state of all pulls, and leaves the old one alone.
func advance(old Bodies, pulls []int) Bodies {
	next := Bodies{make([]int, len(old.At)), make([]int, len(old.At))}
	for i, p := range pulls {
		next.Speed[i] = old.Speed[i] + p
		next.At[i] = old.At[i] + next.Speed[i]
	}
	return next
}

// Span is a job's share of the bodies, and the version that it reads.
type Span struct {
	From, To int
	Bodies   satin.Object[Bodies, []int]
}

// pull computes the pulls on a range of bodies, in halves.
func pull(f *satin.Frame, r Span) []int {
	if r.To-r.From == 1 {
		at := r.Bodies.Read(f).At // local: no message
		sum := 0
		for _, other := range at {
			sum += cmp.Compare(other, at[r.From])
		}
		return []int{sum}
	}
	middle := (r.From + r.To) / 2
	left := satin.Spawn(f, pull, Span{r.From, middle, r.Bodies})
	right := pull(f, Span{middle, r.To, r.Bodies})
	return append(slices.Clone(left.Get()), right...)
}

// simulate goes from version to version: each step's jobs read exactly the bodies of the step before.
func simulate(f *satin.Frame, steps int) []int {
	first := Bodies{At: []int{0, 3, 4, 9, 20}, Speed: make([]int, 5)}
	bodies := satin.Share(f, advance, first)
	for range steps {
		bodies = bodies.Write(f, pull(f, Span{0, 5, bodies}))
	}
	return bodies.Read(f).At
}

// An Object goes from version to version; jobs name the one they read.
func ExampleShare() {
	at, err := satin.Run(context.Background(), nil, simulate, 10)
	fmt.Println(at, err)
	// Output: [9 3 3 1 20] <nil>
}

// A Tour is a way through all cities, with its cost: the witness of a bound.
type Tour struct {
	Cost   int
	Cities []int
}

// Distances are what a search is about.
type Distances [][]int

// least keeps the better tour. Of two that cost the same it keeps the one whose cities come first, so that everybody
// keeps the same one.
func least(a, b Tour) Tour {
	if c := cmp.Compare(a.Cost, b.Cost); c < 0 || c == 0 && slices.Compare(a.Cities, b.Cities) <= 0 {
		return a
	}
	return b
}

func checkTour(d Distances, t Tour) error {
	cost := 0
	for i, c := range t.Cities {
		if c < 0 || c >= len(d) || slices.Contains(t.Cities[:i], c) {
			return fmt.Errorf("%v is no tour", t.Cities)
		}
		cost += d[c][t.Cities[(i+1)%len(t.Cities)]]
	}
	if cost != t.Cost || len(t.Cities) != len(d) {
		return fmt.Errorf("tour %v of %d cities costs %d, not %d", t.Cities, len(d), cost, t.Cost)
	}
	return nil
}

// A Search is a beginning of a tour. What is known of the best one is not in it, so a job that is run again
// is the same.
type Search struct {
	Distances satin.Constant[Distances]
	Best      satin.Lattice[Distances, Tour]
	Cities    []int
	Cost      int
}

const noTour = 1 << 30

// shortest shares the distances, which nobody changes, and the best tour so far, which only gets better.
func shortest(f *satin.Frame, d Distances) Tour {
	best := satin.ShareLattice(f, least, d, Tour{Cost: noTour})
	return extend(f, Search{satin.ShareConstant(f, d), best, []int{0}, 0})
}

// extend returns the best tour that it did not prune.
func extend(f *satin.Frame, s Search) Tour {
	d := s.Distances.Read(f)
	last := s.Cities[len(s.Cities)-1]
	if len(s.Cities) == len(d) {
		t := Tour{s.Cost + d[last][0], s.Cities}
		s.Best.Offer(f, t)
		return t
	}
	if s.Cost > s.Best.Value(f).Cost { // not >=: who offered it may be lost, and an equal tour may come first
		return Tour{Cost: noTour}
	}
	g := satin.Fork(f, extend)
	for c := range d {
		if !slices.Contains(s.Cities, c) {
			g.Spawn(Search{s.Distances, s.Best, append(slices.Clone(s.Cities), c), s.Cost + d[last][c]})
		}
	}
	best := Tour{Cost: noTour}
	for t := range g.Results() {
		best = least(best, t)
	}
	return best
}

var cities = Distances{
	{0, 2, 9, 4, 7, 3}, {2, 0, 6, 4, 3, 8}, {9, 6, 0, 7, 3, 5}, {4, 4, 7, 0, 6, 2}, {7, 3, 3, 6, 0, 8},
	{3, 8, 5, 2, 8, 0},
}

// Branch and bound: what each job finds lets all others prune.
func ExampleShareLattice() {
	pool, err := satin.NewPool(satin.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	t, err := satin.Run(context.Background(), pool, shortest, cities)
	fmt.Println(t.Cost, t.Cities, err)
	// Output: 19 [0 1 4 2 5 3] <nil>
}

// greedy is wrong: it returns the bound, whatever that happens to have joined, in place of what its jobs return.
func greedy(f *satin.Frame, d Distances) Tour {
	best := satin.ShareLattice(f, least, d, Tour{Cost: noTour})
	extend(f, Search{satin.ShareConstant(f, d), best, []int{0}, 0})
	return satin.Spawn(f, greedyStep, Search{Best: best}).Get()
}

func greedyStep(f *satin.Frame, s Search) Tour { return s.Best.Value(f) }

// RunPartial finds out whether a program rests on more than a lattice promises.
func ExampleRunPartial() {
	answers := map[int]bool{}
	wrong := map[int]bool{}
	for seed := range uint64(100) {
		t, _ := satin.RunPartial(context.Background(), seed, shortest, cities)
		answers[t.Cost] = true
		t, _ = satin.RunPartial(context.Background(), seed, greedy, cities)
		wrong[t.Cost] = true
	}
	fmt.Println(len(answers), len(wrong) > 1)
	// Output: 1 true
}

// The same program has the same answer on one worker, on several and without a pool, with any partial joins.
func TestSharedEverywhereTheSame(t *testing.T) {
	want, err := satin.Run(t.Context(), nil, shortest, cities)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := satin.Run(t.Context(), nil, simulate, 50)
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{1, 2, 4} {
		pool, err := satin.NewPool(satin.Config{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		for range 20 {
			if got, err := satin.Run(t.Context(), pool, shortest, cities); err != nil || got.Cost != want.Cost ||
				!slices.Equal(got.Cities, want.Cities) {
				t.Fatalf("%d workers: %v, %v; want %v", workers, got, err, want)
			}
			if got, err := satin.Run(t.Context(), pool, simulate, 50); err != nil || !slices.Equal(got, steps) {
				t.Fatalf("%d workers: %v, %v; want %v", workers, got, err, steps)
			}
		}
	}
	for seed := range uint64(300) {
		if got, err := satin.RunPartial(t.Context(), seed, shortest, cities); err != nil || got.Cost != want.Cost ||
			!slices.Equal(got.Cities, want.Cities) {
			t.Fatalf("seed %d: %v, %v; want %v", seed, got, err, want)
		}
	}
}

// Text is what the words of a constant are counted in.
type Text struct {
	Words    satin.Constant[[]string]
	From, To int
}

func countWords(f *satin.Frame, words []string) int {
	text := Text{satin.ShareConstant(f, words), 0, len(words)}
	a := satin.Spawn(f, countPart, Text{text.Words, 0, text.To / 2})
	return countPart(f, Text{text.Words, text.To / 2, text.To}) + a.Get()
}

func countPart(f *satin.Frame, t Text) int {
	return len(strings.Join(t.Words.Read(f)[t.From:t.To], ""))
}

// One constant is read by both halves; the jobs name it and carry no words.
func ExampleShareConstant() {
	n, err := satin.Run(context.Background(), nil, countWords, []string{"divide", "and", "conquer"})
	fmt.Println(n, err)
	// Output: 16 <nil>
}

// An offer whose witness does not hold is a mistake of the program, and said so.
func TestInvalidOfferPanics(t *testing.T) {
	_, err := satin.Run(t.Context(), nil, cheat, 0)
	var failed *satin.JobError
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), `offer to lattice "example.least" is not valid`) {
		t.Errorf("%v", err)
	}
}

func cheat(f *satin.Frame, _ int) int {
	satin.ShareLattice(f, least, cities, Tour{Cost: noTour}).Offer(f, Tour{1, []int{0, 1, 2, 3, 4, 5}})
	return 0
}

func inSlice(*satin.Frame, []satin.Constant[int]) int             { return 0 }
func inMap(*satin.Frame, map[string]Text) int                     { return 0 }
func unregisteredMove(a, _ int) int                               { return a }
func shareUnregistered(f *satin.Frame, _ int) int                 { return satin.Share(f, unregisteredMove, 1).Read(f) }
func readNothing(f *satin.Frame, c satin.Constant[int]) int       { return c.Read(f) }
func offerNothing(f *satin.Frame, l satin.Lattice[int, Tour]) int { return l.Value(f).Cost }

func init() {
	satin.Register("shared_test.cheat", cheat)
	satin.Register("shared_test.shareUnregistered", shareUnregistered)
	satin.Register("shared_test.readNothing", readNothing)
}

// What cannot work is refused where it is registered, or says what is wrong.
func TestSharedMistakes(t *testing.T) {
	message := func(do func()) (text string) {
		defer func() { text = fmt.Sprint(recover()) }()
		do()
		return ""
	}
	for _, c := range []struct {
		do   func()
		want string
	}{
		{func() { satin.Register("shared_test.inSlice", inSlice) },
			"satin.Constant[int] is inside []satin.Constant[int], and what a job shares has to be found without a search"},
		{func() { satin.Register("shared_test.inMap", inMap) }, "is inside map[string]satin_test.Text"},
		{func() { satin.RegisterObject("example.advance", unregisteredMove) }, "the name is taken by"},
		{func() { satin.RegisterObject("shared_test.again", advance) }, `is registered already as "example.advance"`},
		{func() { satin.RegisterObject("shared_test.closure", func(a, b int) int { return a }) }, "is a closure"},
		{func() { satin.RegisterLattice("", least, checkTour) }, "the name is empty"},
		{func() { satin.RegisterObject[chan int, int]("shared_test.chan", nil) }, "the function is nil"},
		{func() { satin.RegisterObject("shared_test.chan2", overChannel) },
			"chan int cannot be sent to another machine"},
	} {
		if got := message(c.do); !strings.Contains(got, c.want) {
			t.Errorf("%q, want %q in it", got, c.want)
		}
	}
	if _, err := satin.Run(t.Context(), nil, shareUnregistered, 0); err == nil ||
		!strings.Contains(err.Error(), "is not registered: call satin.RegisterObject in an init function") {
		t.Errorf("%v", err)
	}
	if _, err := satin.Run(t.Context(), nil, readNothing, satin.Constant[int]{}); err == nil ||
		!strings.Contains(err.Error(), "a handle that was never shared") {
		t.Errorf("%v", err)
	}
	if _, err := satin.Run(t.Context(), nil, offerNothing, satin.Lattice[int, Tour]{}); err == nil {
		t.Error("a lattice that was never shared has a value")
	}
}

func overChannel(c chan int, _ int) chan int { return c }

func spin(f *satin.Frame, s Search) int {
	n := 0
	for range s.Cost {
		n += s.Best.Value(f).Cost & 1
	}
	return n
}

func spinRoot(f *satin.Frame, n int) int {
	return spin(f, Search{Best: satin.ShareLattice(f, least, cities, Tour{Cost: noTour}), Cost: n})
}

func init() { satin.Register("shared_test.spinRoot", spinRoot) }

// A Value costs little more than a call; the loop around it is part of the figure.
func BenchmarkLatticeValue(b *testing.B) {
	if _, err := satin.Run(b.Context(), nil, spinRoot, b.N); err != nil {
		b.Fatal(err)
	}
}

// Searches of different things have lattices of their own, those of one thing the same.
func TestLatticesOfTheirOwn(t *testing.T) {
	if _, err := satin.Run(t.Context(), nil, twoSearches, 0); err != nil {
		t.Fatal(err)
	}
}

func twoSearches(f *satin.Frame, _ int) int {
	other := Distances{{0, 1}, {1, 0}}
	a := satin.ShareLattice(f, least, cities, Tour{Cost: noTour})
	b := satin.ShareLattice(f, least, other, Tour{Cost: noTour})
	same := satin.ShareLattice(f, least, slices.Clone(cities), Tour{Cost: noTour})
	a.Offer(f, Tour{19, []int{0, 1, 4, 2, 5, 3}})
	if got := b.Value(f).Cost; got != noTour {
		panic(fmt.Sprintf("the other search's bound is %d", got))
	}
	if got := same.Value(f).Cost; got != 19 {
		panic(fmt.Sprintf("the same search's bound is %d", got))
	}
	return 0
}

// In a partial run a job sees what it has offered, never less than before, and of the rest now this and now that.
func TestPartialShowsOnesOwn(t *testing.T) {
	seen := map[int]bool{}
	for seed := range uint64(50) {
		n, err := satin.RunPartial(t.Context(), seed, offers, 0)
		if err != nil {
			t.Fatal(err)
		}
		seen[n] = true
	}
	if !seen[0] || !seen[5] || !seen[7] || len(seen) != 3 {
		t.Errorf("what others offered was seen as %v, want sometimes 0, sometimes 5 and sometimes 7", seen)
	}
}

// offers gives what its second child sees of its own 5 and the first one's 7.
func offers(f *satin.Frame, depth int) int {
	l := satin.ShareLattice(f, greatest, "", 0)
	switch depth {
	case 1:
		l.Offer(f, 7)
		if got := l.Value(f); got != 7 {
			panic(fmt.Sprintf("its own offer of 7 is %d", got))
		}
		return 0
	case 2:
		first := l.Value(f)
		for range 10 {
			if got := l.Value(f); got < first {
				panic(fmt.Sprintf("after %d it sees %d", first, got))
			} else if got > first {
				return first
			}
		}
		return first
	}
	l.Offer(f, 5)
	first := satin.Spawn(f, offers, 1)
	first.Get()
	return satin.Spawn(f, offers, 2).Get()
}

func greatest(a, b int) int { return max(a, b) }

// What a job offers that has been aborted may rest on what it saw of the abort, and is not told.
func TestAbortedOffersNothing(t *testing.T) {
	pool, err := satin.NewPool(satin.Config{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if got, err := satin.Run(t.Context(), pool, abortsAnOffer, 0); got != 5 || err != nil {
		t.Errorf("5 was offered, and by an aborted job 7: %d, %v", got, err)
	}
}

// step is how far a job came that is aborted: 1 when it has begun, 2 when it has offered.
var step atomic.Int32

// abortsAnOffer aborts a child that another worker runs, and gives what is known when that has offered.
func abortsAnOffer(f *satin.Frame, _ int) int {
	l := satin.ShareLattice(f, greatest, "", 0)
	step.Store(0)
	satin.Spawn(f, offersAborted, l)
	for step.Load() < 1 {
		satin.Spawn(f, half, 0).Get()
	}
	f.Abort()
	for step.Load() < 2 {
		satin.Spawn(f, half, 0).Get()
	}
	return l.Value(f)
}

func half(_ *satin.Frame, n int) int { return n / 2 }

func offersAborted(f *satin.Frame, l satin.Lattice[string, int]) int {
	l.Offer(f, 5)
	for step.Store(1); !f.Aborted(); {
		runtime.Gosched()
	}
	l.Offer(f, 7)
	step.Store(2)
	return 0
}

func init() {
	satin.Register("shared_test.twoSearches", twoSearches)
	satin.Register("shared_test.offers", offers)
	satin.Register("shared_test.abortsAnOffer", abortsAnOffer)
	satin.Register("shared_test.offersAborted", offersAborted)
	satin.Register("shared_test.half", half)
	satin.RegisterLattice[string]("shared_test.greatest", greatest, nil)
}
