package sat

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps/apptest"
	"pgregory.net/rapid"
)

const endless = math.MaxInt32 // conflicts

// decide gives the verdict of run, and fails if a model is none.
func decide(t *testing.T, f *Formula, what string, run func() (Result, error)) bool {
	t.Helper()
	r, err := run()
	if err == nil {
		err = f.check(r)
	}
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	return r.Satisfiable
}

// everyWay decides f by the twin and by jobs, and fails if one of them does not find it as satisfiable as it is.
func everyWay(t *testing.T, pools map[string]*satin.Pool, name string, f *Formula, threshold int, want bool) {
	t.Helper()
	c := Cube{Formula: f, Threshold: threshold}
	if got := decide(t, f, name, func() (Result, error) { return solveAlone(c), nil }); got != want {
		t.Errorf("%s: twin: satisfiable %t, want %t", name, got, want)
	}
	for workers, pool := range pools {
		got := decide(t, f, name, func() (Result, error) { return satin.Run(context.Background(), pool, solve, c) })
		if got != want {
			t.Errorf("%s: %s: satisfiable %t, want %t", name, workers, got, want)
		}
	}
}

// models counts the models of f that agree with facts by trying all assignments.
func models(f *Formula, facts []int32) (count int) {
	model := make([]bool, f.Variables)
next:
	for bits := range 1 << f.Variables {
		for v := range model {
			model[v] = bits>>v&1 == 1
		}
		for _, l := range facts {
			if !satisfies(model, []int32{l}) {
				continue next
			}
		}
		for clause := range f.all() {
			if !satisfies(model, clause) {
				continue next
			}
		}
		count++
	}
	return count
}

// drawFormula returns a small formula with clauses of every kind: also empty ones, and with literals that
// occur twice or with both signs.
func drawFormula(t *rapid.T) *Formula {
	f := &Formula{Variables: rapid.IntRange(1, 10).Draw(t, "variables")}
	longest := rapid.IntRange(1, 4).Draw(t, "longest")
	for range rapid.IntRange(0, 45).Draw(t, "clauses") {
		shortest := min(longest, rapid.SampledFrom([]int{3, 3, 3, 2, 2, 1, 0}).Draw(t, "shortest"))
		f.add(rapid.SliceOfN(rapid.IntRange(1, f.Variables), shortest, longest).Draw(t, "clause")...)
		for i := len(f.Literals) - 2; i >= 0 && f.Literals[i] != 0; i-- {
			if rapid.Bool().Draw(t, "negated") {
				f.Literals[i] = -f.Literals[i]
			}
		}
	}
	return f
}

// On small random formulas the solver says what trying all assignments says.
func TestAgainstAllAssignments(t *testing.T) {
	pools := apptest.Pools(t)
	rapid.Check(t, func(rt *rapid.T) {
		f := drawFormula(rt)
		want := models(f, nil) > 0
		for _, threshold := range []int{1, 4, endless} {
			everyWay(t, pools, "formula", f, threshold, want)
		}
	})
}

// TestHalvesKeepAllModels: a cube that is split has every model in one of its halves, and none in both.
func TestHalvesKeepAllModels(t *testing.T) {
	split := 0
	rapid.Check(t, func(rt *rapid.T) {
		c := Cube{Formula: drawFormula(rt), Splits: 1, Threshold: 1}
		r, halves := c.solve(nil)
		all, sum := models(c.Formula, nil), 0
		for _, h := range halves {
			sum += models(h.Formula, h.Facts)
			if h.Splits != 0 || h.Threshold != 1 {
				rt.Fatalf("half %+v", h)
			}
		}
		switch {
		case len(halves) > 0:
			split++
			if sum != all {
				rt.Fatalf("%d models of %d are in the halves %v and %v", sum, all, halves[0].Facts, halves[1].Facts)
			}
		case r.Satisfiable != (all > 0):
			rt.Fatalf("satisfiable %t, but there are %d models", r.Satisfiable, all)
		}
	})
	if split == 0 {
		t.Error("no cube was split")
	}
}

// TestManyRuledOut: when each of the variables that lookahead compares has a value that is ruled out, it goes
// on to others.
func TestManyRuledOut(t *testing.T) {
	const pairs = 2 * candidates
	f := &Formula{Variables: 2*pairs + 3}
	for i := 1; i < 2*pairs; i += 2 { // only both true is left, and each false leads to a conflict
		f.add(i, i+1)
		f.add(i, -i-1)
		f.add(-i, i+1)
	}
	y := 2*pairs + 1
	f.add(y, y+1, y+2)
	f.add(-y, -y-1, -y-2)
	c := Cube{Formula: f, Splits: 1, Threshold: 1}
	r, halves := c.solve(nil)
	if len(halves) != 2 || len(halves[0].Facts) != 2*pairs+1 {
		t.Errorf("got %v and the halves %v", r, halves)
	}
	if err := f.check(solveAlone(c)); err != nil {
		t.Error(err)
	}
}

// Pigeons do not fit into fewer holes, and van der Waerden's numbers are those that are published: at each the formula
// has no model any more, and before it one.
func TestKnownFormulas(t *testing.T) {
	pools := apptest.Pools(t)
	for n := 1; n <= 5; n++ {
		everyWay(t, pools, fmt.Sprint("pigeonhole ", n), pigeonhole(n), 10, false)
	}
	for lengths, number := range waerdenNumbers {
		j, k := lengths[0], lengths[1]
		if number > 50 { // takes too long for a test
			continue
		}
		everyWay(t, pools, fmt.Sprint("waerden ", lengths, number), waerden(j, k, number), 100, false)
		everyWay(t, pools, fmt.Sprint("waerden ", lengths, number-1), waerden(k, j, number-1), defaultThreshold, true)
	}
}

// TestPalindromic finds the palindromic numbers of the paper's table: the least n of each parity without a colouring.
func TestPalindromic(t *testing.T) {
	for k, want := range map[int][2]int{3: {10, 7}, 4: {16, 17}, 5: {22, 17}, 6: {32, 31}} { // even, odd
		for parity, number := range want {
			for n := 2 + parity; n <= number; n += 2 {
				f := palindromic(waerden(3, k, n))
				if f.Variables != (n+1)/2 {
					t.Fatalf("%d numbers have %d variables", n, f.Variables)
				}
				if r := solveAlone(Cube{Formula: f, Threshold: 100}); r.Satisfiable != (n < number) {
					t.Errorf("3, %d, %d: satisfiable %t", k, n, r.Satisfiable)
				}
			}
		}
	}
}

// TestThresholdsAgree decides hard random formulas by plain clause learning, which also has to forget
// clauses, and in many pieces. The two share the solver but hardly a decision.
func TestThresholdsAgree(t *testing.T) {
	pools := apptest.Pools(t)
	verdicts := map[bool]int{}
	for seed := range uint64(4) {
		f := randomFormula(150, 639, seed)
		want := decide(t, f, "alone", func() (Result,
			error) {
			return solveAlone(Cube{Formula: f, Threshold: endless}), nil
		})
		everyWay(t, pools, fmt.Sprint("random with seed ", seed), f, 50, want)
		verdicts[want]++
	}
	if len(verdicts) != 2 {
		t.Errorf("all formulas are alike: %v", verdicts)
	}
}

// TestForgetting runs out of room for learned clauses several times.
func TestForgetting(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and has one goroutine")
	}
	f := pigeonhole(8)
	s := newSolver(f, nil, nil)
	if v := s.search(endless, nil); v != unsatisfiable {
		t.Errorf("verdict %d", v)
	}
	if s.conflicts < 4000 || len(s.learned) > s.conflicts/2 {
		t.Errorf("%d clauses are kept after %d conflicts", len(s.learned), s.conflicts)
	}
}

// A solver in the memory of others searches as one in new memory does, to the conflict: else what a job comes to would
// depend on what ran before it.
func TestMemoryIsUsedAgain(t *testing.T) {
	formulas := []*Formula{pigeonhole(6), randomFormula(60, 256, 3), waerden(3, 5, 22), randomFormula(90, 383, 1)}
	search := func(s *solver) [3]int {
		v := s.search(300, nil)
		l, _ := s.lookahead()
		return [3]int{int(v), s.conflicts, int(l)}
	}
	var fresh [][3]int
	for _, f := range formulas {
		fresh = append(fresh, search(newSolver(f, nil, nil)))
	}
	for round := range 20 { // a pool may also lose what it is given
		i := (round*3 + round/4) % len(formulas) // after each of the others, and after itself
		s := newSolver(formulas[i], nil, nil)
		if found := search(s); found != fresh[i] {
			t.Errorf("formula %d in used memory: %v, %v at first", i, found, fresh[i])
		}
		solvers.Put(s)
	}
}

// TestStop: a search that is told to stop does, and has decided nothing.
func TestStop(t *testing.T) {
	s := newSolver(pigeonhole(9), nil, nil)
	asked := 0
	if v := s.search(endless, func() bool { asked++; return asked == 3 }); v != unknown || asked != 3 {
		t.Errorf("verdict %d after being asked %d times", v, asked)
	}
}

// The lengths of runs between restarts are the sequence as it is published.
func TestLuby(t *testing.T) {
	var got []int
	for i := range 15 {
		got = append(got, luby(i))
	}
	if want := []int{1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8}; !slices.Equal(got, want) {
		t.Errorf("luby: %v, want %v", got, want)
	}
}

// The formulas that come with the application are as satisfiable as they are known to be, by the twin and by jobs.
func TestFiles(t *testing.T) {
	pools := apptest.Pools(t)
	for file, want := range map[string]bool{"example.cnf": true, "queens6.cnf": true, "groetzsch.cnf": false} {
		p, err := apptest.Setup(App, "testdata/"+file)
		if err != nil {
			t.Fatal(err)
		}
		everyWay(t, pools, file, p.Arg.(Cube).Formula, 5, want)
	}
}

// TestQueens counts the models of the queens' formula by excluding each that was found; OEIS A000170 has 4.
func TestQueens(t *testing.T) {
	p, err := apptest.Setup(App, "testdata/queens6.cnf")
	if err != nil {
		t.Fatal(err)
	}
	f := p.Arg.(Cube).Formula
	count := 0
	for ; count < 10; count++ {
		r := solveAlone(Cube{Formula: f, Threshold: 3})
		if !r.Satisfiable {
			break
		}
		var other []int
		for _, l := range signed(r.Model) {
			other = append(other, -l)
		}
		f.add(other...)
	}
	if count != 4 {
		t.Errorf("%d models, want 4", count)
	}
}

// TestCheck: a wrong answer is noticed where it can be.
func TestCheck(t *testing.T) {
	for line, wrong := range map[string]struct {
		r    Result
		want string
	}{
		"testdata/example.cnf": {Result{Satisfiable: true, Model: []bool{false, false, false, true}},
			"the model does not satisfy clause 1, [1 3 -4]"},
		"--random 3": {Result{Satisfiable: true}, "the model has 0 variables of 3"},
		"--pigeonhole 2": {Result{Satisfiable: true, Model: make([]bool, 6)},
			"pigeonhole 2 is known to be the opposite"},
		"--waerden 3,3,8": {Result{}, "van der Waerden 3,3,8 is known to be the opposite"},
	} {
		p, err := apptest.Setup(App, line)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Check(wrong.r); err == nil || err.Error() != wrong.want {
			t.Errorf("%s: check says %v, want %s", line, err, wrong.want)
		}
		if err := p.Check(p.Sequential()); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// The answer is in the form that solvers agree on, with its model broken into lines and ended by 0; and the command
// can describe the application, and its examples work.
func TestAnswer(t *testing.T) {
	p, err := apptest.Setup(App, "--random 40 --ratio 0")
	if err != nil {
		t.Fatal(err)
	}
	r := Result{Satisfiable: true, Model: make([]bool, 40)}
	r.Model[1] = true
	want := "s SATISFIABLE\n" +
		"v -1 2 -3 -4 -5 -6 -7 -8 -9 -10 -11 -12 -13 -14 -15 -16 -17 -18 -19 -20 -21\n" +
		"v -22 -23 -24 -25 -26 -27 -28 -29 -30 -31 -32 -33 -34 -35 -36 -37 -38 -39 -40\n" +
		"v 0"
	if a := p.Answer(r); a.Text != want || a.Fields["satisfiable"] != true {
		t.Errorf("answer %q %v, want %q", a.Text, a.Fields, want)
	}
	if a := p.Answer(Result{}); a.Text != "s UNSATISFIABLE" || a.Fields["satisfiable"] != false {
		t.Errorf("answer %q %v", a.Text, a.Fields)
	}
	apptest.Described(t, App, "formula.cnf")
}
