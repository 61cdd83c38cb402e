package sat

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps/apptest"
	"github.com/satin-peer/satin/internal/lrat"
	"github.com/satin-peer/satin/internal/rup"
	"pgregory.net/rapid"
)

// lratOf is the proof of a result as text.
func lratOf(t testing.TB, f *Formula, r Result) string {
	t.Helper()
	var b strings.Builder
	if err := (&Cube{Formula: f}).writeProof(&b, r.Proof); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// compose writes the proof of a formula that these pieces make.
func compose(f *Formula, proof [][]byte) error {
	return (&Cube{Formula: f}).writeProof(io.Discard, proof)
}

func dimacsOf(f *Formula) string {
	var b strings.Builder
	_ = f.write(&b) // a Builder takes all
	return b.String()
}

// TestProof has the checker accept the refutations of formulas without a model, whoever made them, and of all
// thresholds: with one conflict an attempt, nearly all of the proof are splits.
func TestProof(t *testing.T) {
	pools := apptest.Pools(t)
	for name, f := range map[string]*Formula{
		"pigeonhole 5": pigeonhole(5), "waerden 3,4,18": waerden(3, 4, 18), "waerden 3,6,32": waerden(3, 6, 32),
		"random 60": randomFormula(60, 360, 1), "empty clause": {Variables: 1, Clauses: 2, Literals: []int32{1, 0, 0}},
		"units": {Variables: 2, Clauses: 3, Literals: []int32{1, 0, -1, 2, 0, -2, 0}},
	} {
		for _, threshold := range []int{1, 20, endless} {
			c := Cube{Formula: f, Threshold: threshold, Proof: true}
			for workers, pool := range pools {
				r, err := satin.Run(context.Background(), pool, solve, c)
				if err != nil || r.Satisfiable {
					t.Fatalf("%s, %s: %v, satisfiable %t", name, workers, err, r.Satisfiable)
				}
				if _, err := lrat.Check(strings.NewReader(dimacsOf(f)),
					strings.NewReader(lratOf(t, f, r))); err != nil {
					t.Errorf("%s, %s, threshold %d: %v", name, workers, threshold, err)
				}
			}
			if ordered(solveAlone(c).Proof) == nil {
				t.Errorf("%s, twin, threshold %d: its parts have no order", name, threshold)
			}
			proof := lratOf(t, f, solveAlone(c))
			if _, err := lrat.Check(strings.NewReader(dimacsOf(f)), strings.NewReader(proof)); err != nil {
				t.Errorf("%s, twin, threshold %d: %v", name, threshold, err)
			}
			if err := rup.Check(dimacsOf(f), proof); len(proof) < 20_000 && err != nil {
				t.Errorf("%s, twin, threshold %d, by the other checker: %v", name, threshold, err)
			}
		}
	}
}

// TestEssence has a refutation be the same in whatever order its parts came, one with a gap be none, and a model be
// believed only if it is one.
func TestEssence(t *testing.T) {
	c := Cube{Formula: pigeonhole(4), Threshold: 1, Proof: true}
	proof := solveAlone(c).Proof
	var swap func(p [][]byte) (node, rest [][]byte)
	swap = func(p [][]byte) (node, rest [][]byte) {
		if p[0][0] != nodeSplit {
			return p[:1], p[1:]
		}
		a, rest := swap(p[1:])
		b, rest := swap(rest)
		return slices.Concat(p[:1], b, a), rest
	}
	other, _ := swap(proof)
	if len(proof) < 5 || slices.EqualFunc(proof, other, bytes.Equal) {
		t.Fatalf("%d pieces, and no other order", len(proof))
	}
	x, _ := c.essence(Result{Proof: proof})
	y, _ := c.essence(Result{Proof: other})
	if !slices.EqualFunc(x.Proof, y.Proof, bytes.Equal) || len(x.Proof) != len(proof) {
		t.Error("two orders of one refutation differ")
	}
	one, bad := c.compressed(proof)
	if two, err := c.compressed(other); bad != nil || err != nil || !bytes.Equal(one, two) {
		t.Errorf("two orders of one refutation are left as %d and %d bytes, %v, %v", len(one), len(two), bad, err)
	}
	if !follow([]byte(dimacsOf(c.Formula)), one, nil).Accepted {
		t.Error("what is left is no proof")
	}
	for _, gap := range [][][]byte{nil, proof[1:], proof[:len(proof)-1], append(slices.Clone(proof), proof[0]), {{}}} {
		if r, err := c.essence(Result{Proof: gap}); err != nil || r.Proof != nil {
			t.Errorf("%d pieces, %v: they are taken for a refutation", len(r.Proof), err)
		}
	}
	f := &Formula{Variables: 2, Clauses: 1, Literals: []int32{1, 2, 0}}
	for _, r := range []struct {
		Result
		proven, wrong bool
	}{
		{Result{Satisfiable: true, Model: []bool{true, false}}, true, false},
		{Result{Satisfiable: true, Model: []bool{false, true}}, true, false},
		{Result{Satisfiable: true, Model: []bool{false, false}}, true, true},
		{Result{Satisfiable: true}, true, true},
		{Result{}, false, false},
	} {
		if proven, err := (Cube{Formula: f}).proves(r.Result); proven != r.proven || (err != nil) != r.wrong {
			t.Errorf("%+v: proven %v, %v", r.Result, proven, err)
		}
	}
}

// TestProofOfRandomFormulas does it for formulas that rapid draws, with clauses of any length, twice and
// tautological.
func TestProofOfRandomFormulas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &Formula{Variables: rapid.IntRange(1, 8).Draw(t, "variables")}
		for range rapid.IntRange(1, 60).Draw(t, "clauses") {
			c := rapid.SliceOfN(rapid.IntRange(1, 2*f.Variables), 0, 4).Draw(t, "clause")
			for i, l := range c {
				c[i] = int(literal(l - 1).dimacs())
			}
			f.add(c...)
		}
		c := Cube{Formula: f, Threshold: rapid.IntRange(1, 4).Draw(t, "threshold"), Proof: true}
		r := solveAlone(c)
		if want := models(f, nil) > 0; r.Satisfiable != want {
			t.Fatalf("satisfiable %t, want %t", r.Satisfiable, want)
		}
		if r.Satisfiable {
			return
		}
		var proof bytes.Buffer
		if err := (&Cube{Formula: f}).writeProof(&proof, r.Proof); err != nil {
			t.Fatal(err)
		}
		if err := rup.Check(dimacsOf(f), proof.String()); err != nil {
			t.Fatal(err)
		}
		if _, err := lrat.Check(strings.NewReader(dimacsOf(f)), &proof); err != nil {
			t.Fatal(err)
		}
	})
}

// TestBrokenProofs breaks a right proof in each of its lines: what the checker then refuses, or accepts, the
// other one must find as wrong, or right, too.
func TestBrokenProofs(t *testing.T) {
	f := waerden(3, 4, 18)
	formula, lines := dimacsOf(f), strings.SplitAfter(lratOf(t, f,
		solveAlone(Cube{Formula: f, Threshold: 4, Proof: true})), "\n")
	refused := 0
	for i, line := range lines {
		if strings.Contains(line, " d ") {
			continue
		}
		for what, broken := range map[string][]string{
			"left out":          slices.Delete(slices.Clone(lines), i, i+1),
			"without a literal": slices.Concat(lines[:i], []string{withoutLiteral(line)}, lines[i+1:]),
			"swapped with the next": slices.Concat(lines[:i], lines[min(i+1, len(lines)-1):min(i+2, len(lines))],
				[]string{line}, lines[min(i+2, len(lines)):]),
		} {
			proof := strings.Join(broken, "")
			_, err := lrat.Check(strings.NewReader(formula), strings.NewReader(proof))
			if err != nil {
				refused++
			} else if err := rup.Check(formula, proof); err != nil {
				t.Errorf("line %d %s: accepted, but the other checker says: %v", i+1, what, err)
			}
		}
	}
	if refused < len(lines)/2 {
		t.Errorf("%d of the proofs were refused, of %d lines broken in three ways", refused, len(lines))
	}
	if _, err := lrat.Check(strings.NewReader(dimacsOf(waerden(3, 4, 17))),
		strings.NewReader(strings.Join(lines, ""))); err == nil {
		t.Error("the proof was accepted for another formula, which has a model")
	}
}

// withoutLiteral strengthens the clause of a line by its first literal.
func withoutLiteral(line string) string {
	words := strings.Fields(line)
	if len(words) < 2 || words[1] == "0" {
		return line
	}
	return strings.Join(slices.Delete(words, 1, 2), " ") + "\n"
}

// TestProofWithAGap composes trees that no correct job returns.
func TestProofWithAGap(t *testing.T) {
	f := waerden(3, 4, 18)
	whole := solveAlone(Cube{Formula: f, Threshold: 1, Proof: true}).Proof
	for i := range whole {
		if err := compose(f, slices.Delete(slices.Clone(whole), i, i+1)); !errors.Is(err, errProof) {
			t.Errorf("without piece %d of %d: got %v, want a gap", i, len(whole), err)
		}
	}
	if err := compose(f, append(slices.Clone(whole), whole[0])); !errors.Is(err, errProof) {
		t.Errorf("a piece too many: got %v, want a gap", err)
	}
	for i := range len(whole) - 1 {
		// halves of one cube
		if whole[i][0] == nodeClosed && whole[i+1][0] == nodeClosed && whole[i][1]^whole[i+1][1] == 3 {
			twice := slices.Clone(whole)
			twice[i+1] = whole[i]
			if err := compose(f, twice); !errors.Is(err, errProof) {
				t.Errorf("the half %d twice: got %v, want a gap", i, err)
			}
		}
	}
	if err := compose(f, nil); !errors.Is(err, errProof) {
		t.Errorf("nothing: got %v, want a gap", err)
	}
}

// FuzzCompose reads pieces that a peer may send: they may be refused, and the rest is for the checker.
func FuzzCompose(f *testing.F) {
	g := waerden(3, 3, 9)
	for _, b := range solveAlone(Cube{Formula: g, Threshold: 1, Proof: true}).Proof {
		f.Add(b, b)
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var proof bytes.Buffer
		if (&Cube{Formula: g}).writeProof(&proof, [][]byte{a, b, a, b}) == nil {
			_, _ = lrat.Check(strings.NewReader(dimacsOf(g)), &proof)
		}
	})
}

// TestProofAfterForgetting has one attempt long enough that the solver forgets clauses and compacts its
// arena: the proof deletes them, and never names one by its old place.
func TestProofAfterForgetting(t *testing.T) {
	f := waerden(3, 8, 58)
	c := Cube{Formula: f, Threshold: endless, Proof: true}
	report, err := lrat.Check(strings.NewReader(dimacsOf(f)), strings.NewReader(lratOf(t, f, solveAlone(c))))
	if err != nil {
		t.Fatal(err)
	}
	if report.Added < 2500 {
		t.Fatalf("%d clauses were learned: too few for any to be forgotten", report.Added)
	}
	if report.Most > report.Clauses+2500 {
		t.Errorf("%d clauses are there at one time, of %d learned: the proof keeps what the solver forgot",
			report.Most, report.Added)
	}
}

// Guards that numbers are written as strconv has them, wherever in a buffer they end.
func TestDigits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int().Draw(t, "number")
		if n == math.MinInt { // no number of a clause, nor a literal
			n++
		}
		room := rapid.IntRange(0, 30).Draw(t, "room")
		if got := string(appendWord(make([]byte, 0, room), n)); got != " "+strconv.Itoa(n) {
			t.Fatalf("%q, want %d", got, n)
		}
	})
	for n, p := 0, 1; n < 19; n, p = n+1, p*10 {
		for _, x := range []int{p - 1, p, p + 1} {
			if got := string(appendDigits(nil, x)); got != strconv.Itoa(x) {
				t.Errorf("%q, want %d", got, x)
			}
		}
	}
}

// Guards that a fact of one half of a cube is none in the other.
func TestFactsEndWithTheirCube(t *testing.T) {
	f := &Formula{Variables: 2}
	f.add(1, 2)
	f.add(-1, -2)
	node := func(tag byte, made int32, entries ...uint64) []byte {
		b := []byte{tag, 0}
		if made != 0 {
			b[1] = byte(toLiteral(made)) + 1
		}
		for _, e := range entries {
			b = binary.AppendUvarint(b, e)
		}
		return append(b, pieceEnds)
	}
	two := uint64(toLiteral(2))
	ends := func(h hint) []uint64 { return []uint64{pieceAdds, 0, 1, uint64(h)} }
	unit := []uint64{pieceAdds, 1, two, 1, uint64(hintTo(ofFormula, 1))}
	split, first := node(nodeSplit, 0), node(nodeClosed, 1, append(unit, ends(hintTo(ofFormula, 2))...)...)
	for _, c := range []struct {
		other []uint64
		right bool
	}{{append(unit, ends(hintTo(ofFact, int(two)))...), true}, {ends(hintTo(ofFact, int(two))), false}} {
		err := (&Cube{Formula: f}).writeProof(io.Discard, [][]byte{split, first, node(nodeClosed, -1, c.other...)})
		if (err == nil) != c.right || err != nil && !errors.Is(err, errProof) {
			t.Errorf("%v: %v", c.other, err)
		}
	}
}
