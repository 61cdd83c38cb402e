package golomb

import (
	"context"
	"flag"
	"slices"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/satintest"
)

// Guards that the jobs find what the twin finds, mark by mark, on any number of workers, and that it is the published
// length.
func TestJobsFindWhatTheTwinFinds(t *testing.T) {
	for marks := 2; marks <= 9; marks++ {
		want := Sequential(marks)
		p := problem(Problem{marks, 3})
		if err := p.Check(want); err != nil {
			t.Fatal(err)
		}
		for workers := 1; workers <= 3; workers++ {
			pool, err := satin.NewPool(satin.Config{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			got, err := satin.Run(context.Background(), pool, solve, Problem{marks, 3})
			pool.Close()
			if err != nil || !slices.Equal(got.Places, want.Places) {
				t.Errorf("%d marks, %d workers: %v, %v; the twin has %v", marks, workers, got, err, want)
			}
		}
	}
}

// Guards that jobs find the shortest ruler of order 11, whose length is published (OEIS A003022), and which the twin
// finds. The bench counts what both try for it.
func TestOrderEleven(t *testing.T) {
	if testing.Short() {
		t.Skip("with the race detector it takes a minute")
	}
	pool, err := satin.NewPool(satin.Config{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	p := Problem{11, 7}
	got, err := satin.Run(t.Context(), pool, solve, p)
	if err == nil {
		err = problem(p).Check(got)
	}
	if want := Sequential(11); err != nil || !slices.Equal(got.Places, want.Places) {
		t.Errorf("%v, %v; the twin has %v", got, err, want)
	}
}

// Guards the rule that makes a shared bound safe: whatever other jobs have offered, the result is the same.
func TestAnyBoundGivesTheSame(t *testing.T) {
	got := satintest.AnyJoin(t, 100, solve, Problem{6, 2})
	if want := Sequential(6); !slices.Equal(got.Places, want.Places) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Guards that a job that has not waited searches what its twin does: it asks of itself what was asked before it was
// spawned.
func TestMayBeat(t *testing.T) {
	known := greedy(MaxMarks)
	for p := begin(MaxMarks); p.Left > 0; {
		next := 0
		for d := maxLength - p.Last; d > 0; d-- {
			if !p.fits(d) {
				continue
			}
			next = d
			if part := p.add(d); part.mayBeat(known) != (d <= p.longest(known)) {
				t.Errorf("%d after %d, %d marks left: spawned %v", d, p.Last, p.Left, d <= p.longest(known))
			}
		}
		p = p.add(next)
	}
}

// Guards that no ruler of a stranger is believed that is none.
func TestRulersThatAreNone(t *testing.T) {
	for _, r := range []Ruler{{[]int{0, 1, 2}}, {[]int{0, 1}}, {[]int{1, 2, 4}}, {[]int{0, 3, 1}}, {[]int{0, 0, 1}}} {
		if isRuler(3, r) == nil {
			t.Errorf("%v is taken for a ruler with 3 marks", r)
		}
	}
	if err := isRuler(3, Ruler{[]int{0, 1, 3}}); err != nil {
		t.Error(err)
	}
}

// Guards what the command is told.
func TestApp(t *testing.T) {
	for args, good := range map[string]bool{"7": true, "1": false, "13": false, "x": false} {
		if _, err := App.Setup(flag.NewFlagSet("", flag.ContinueOnError))([]string{args}); (err == nil) != good {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// Guards that the ruler to begin with is one, for all orders.
func TestGreedy(t *testing.T) {
	for marks := 2; marks <= MaxMarks; marks++ {
		if r := greedy(marks); isRuler(marks, r) != nil || r.length() < shortest[marks] || r.length() > maxLength {
			t.Errorf("%d marks: %v", marks, r)
		}
	}
}

func BenchmarkTwin(b *testing.B) {
	for b.Loop() {
		Sequential(10)
	}
}

func BenchmarkJobs(b *testing.B) {
	for _, workers := range []int{1, 2} {
		b.Run(map[int]string{1: "one worker", 2: "two workers"}[workers], func(b *testing.B) {
			pool, err := satin.NewPool(satin.Config{Workers: workers})
			if err != nil {
				b.Fatal(err)
			}
			defer pool.Close()
			for b.Loop() {
				if _, err := satin.Run(context.Background(), pool, solve, Problem{10, 6}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
