package sat

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps/apptest"
	"github.com/satin-peer/satin/internal/lrat"
)

// TestDivide guards that the parts of a formula have all its models between them, none twice, and that the refutation
// of each stands alone: it names nothing but the formula, and ends with the clause that its cube is none.
func TestDivide(t *testing.T) {
	f := waerden(3, 5, 22)
	cubes := Cube{Formula: f, Threshold: 10}.divide(20)
	if len(cubes) < 10 || len(cubes) > 20 {
		t.Fatalf("%d parts", len(cubes))
	}
	for i, c := range cubes {
		proof, goal := solveAlone(c).Proof, []int32{}
		for _, d := range c.Decisions {
			goal = append(goal, -d)
		}
		var b strings.Builder
		if err := c.writeProof(&b, proof); err != nil {
			t.Fatal(err)
		}
		if _, err := lrat.Derive(strings.NewReader(dimacsOf(f)), strings.NewReader(b.String()), goal); err != nil {
			t.Errorf("part %d, %d: %v", i, c.Decisions, err)
		}
		if _, err := lrat.Check(strings.NewReader(dimacsOf(f)), strings.NewReader(b.String())); err == nil {
			t.Errorf("part %d is taken for the whole", i)
		}
		if _, err := lrat.Derive(strings.NewReader(dimacsOf(f)), strings.NewReader(b.String()), goal[1:]); err == nil {
			t.Errorf("part %d is taken for a larger one", i)
		}
		if other := cubes[(i+1)%len(cubes)]; other.check(proof) == nil {
			t.Errorf("the proof of %d is taken for that of %d", c.Decisions, other.Decisions)
		}
	}
	g := randomFormula(9, 20, 3)
	all := 0
	for _, c := range (Cube{Formula: g, Threshold: 1}).divide(6) {
		all += models(g, c.Decisions)
	}
	if want := models(g, nil); all != want || want == 0 {
		t.Errorf("the parts have %d models, the formula %d", all, want)
	}
}

// TestCertificates guards that a refutation proves itself, also that of a part of a job whose facts came with it, and
// that a wrong one puts its author out.
func TestCertificates(t *testing.T) {
	f := waerden(3, 5, 22)
	halves := []Cube{{Formula: f, Splits: 9, Threshold: 4, Proof: true}}
	for len(halves[len(halves)-1].premises()) == 0 {
		if _, halves = halves[len(halves)-1].solve(nil); len(halves) != 2 {
			t.Fatal("solved before it had a fact that nobody decided")
		}
	}
	c, other := halves[1], halves[0]
	r := solveAlone(c)
	if proven, err := c.proves(r); !proven || err != nil {
		t.Errorf("a right refutation: %v, %v", proven, err)
	}
	if proven, err := c.proves(Result{}); proven || err != nil {
		t.Errorf("none: %v, %v", proven, err)
	}
	for what, wrong := range map[string][][]byte{
		"a part left out": r.Proof[:len(r.Proof)-1],
		"of another cube": solveAlone(other).Proof,
		"no hints":        {{nodeClosed, byte(madeBy(c.Decisions)), pieceAdds, 0, 0, pieceEnds}},
	} {
		if proven, err := c.proves(Result{Proof: wrong}); proven || err == nil {
			t.Errorf("%s: %v, %v", what, proven, err)
		}
	}
}

// TestHugeLiteral guards that a literal that the formula has not is refused before the checker makes room for it.
func TestHugeLiteral(t *testing.T) {
	c := Cube{Formula: waerden(3, 4, 18), Proof: true}
	piece := []byte{nodeClosed, 0, pieceAdds, 1, 0xfe, 0xff, 0xff, 0x7f, 0, pieceEnds}
	err := c.writeProof(io.Discard, [][]byte{piece})
	if !errors.Is(err, errProof) || !strings.Contains(err.Error(), "literal") {
		t.Errorf("got %v", err)
	}
}

// TestCubeFlag has a part be solved as the command line names it, with a proof of its own.
func TestCubeFlag(t *testing.T) {
	p, err := apptest.Setup(App, "--waerden 3,4,18 --cube 3,-7 --proof "+t.TempDir()+"/p.lrat")
	if err != nil {
		t.Fatal(err)
	}
	c := p.Arg.(Cube)
	if !slices.Equal(c.Facts, []int32{3, -7}) || !slices.Equal(c.Decisions, c.Facts) {
		t.Errorf("the cube is %+v", c)
	}
	if err := p.Check(p.Sequential()); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"0", "19", "3,-3", "x", "3,"} {
		if _, err := apptest.Setup(App, "--waerden 3,4,18 --cube "+bad); err == nil {
			t.Errorf("--cube %s is taken", bad)
		}
	}
}

// TestEstimate guards that the mean of many probes is near what a refutation takes, that jobs and the sequential
// program agree, and that bad numbers are refused.
func TestEstimate(t *testing.T) {
	c := Cube{Formula: waerden(3, 7, 46), Threshold: 20}
	want := float64(solveAlone(c).Conflicts)
	pool, err := satin.NewPool(satin.Config{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	g := Guess{Cube: c, First: 1, Count: 200}
	probes, err := satin.Run(context.Background(), pool, guess, g)
	if err != nil {
		t.Fatal(err)
	}
	mean, deviation := spread(probes)
	if math.Abs(mean-want) > 4*deviation || deviation > want/4 {
		t.Errorf("200 probes say %.0f with a deviation of %.0f, it takes %.0f", mean, deviation, want)
	}
	p, err := apptest.Setup(App, "--waerden 3,7,46 --threshold 20 --estimate 200")
	if err != nil {
		t.Fatal(err)
	}
	if alone := p.Sequential().([]float64); !slices.Equal(alone, probes) || p.Check(alone) != nil {
		t.Error("the sequential program probes otherwise")
	}
	for _, bad := range []string{"--estimate 1", "--estimate -1", "--estimate 2 --proof x.lrat"} {
		if _, err := apptest.Setup(App, "--waerden 3,4,18 "+bad); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
