package lrat

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// two has no model: all four clauses of two variables.
const two = "c all of them\np cnf 2 4\n1 2 0\n-1 2 0\n1 -2 0\n-1\n-2 0\n"

// Proofs that prove are accepted, and broken ones are refused with the step.
func TestCheck(t *testing.T) {
	r, err := Check(strings.NewReader(two), strings.NewReader("5 2 0 1 2 0\n5 d 1 2 0\n6 0 5 3 4 0\n"))
	if want := (Report{Clauses: 4, Added: 2, Deleted: 2, Hints: 5, Most: 5}); err != nil || r != want {
		t.Fatalf("got %+v, %v; want %+v", r, err, want)
	}
}

// What the files of SATLIB have after their formulas is no clause: not an empty one, from which all would follow.
func TestSATLIB(t *testing.T) {
	if _, err := Check(strings.NewReader(two+"%\n0\n\n"), strings.NewReader("5 2 0 1 2 0\n6 0 5 3 4 0\n")); err != nil {
		t.Error(err)
	}
	if _, err := Check(strings.NewReader(two+"%\n0\n"), strings.NewReader("6 0 5 0\n")); err == nil {
		t.Error("what comes after the formula is taken for an empty clause")
	}
}

// TestRefused has proofs that are wrong in one point each.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct{ formula, proof, want string }{
		"a lemma is missing":           {two, "6 0 5 3 4 0\n", "clause 6 has the hint 5, which is not there"},
		"a wrong hint":                 {two, "5 2 0 1 3 0\n", "true already"},
		"hints in another order":       {two, "5 2 0 1 2 0\n6 0 3 5 4 0\n", "several literals"},
		"a hint that says nothing new": {two, "5 2 0 1 1 2 0\n", "true already"},
		"a hint too few":               {two, "5 2 0 1 0\n", "do not end in a contradiction"},
		"a deleted clause is used": {two, "5 2 0 1 2 0\n5 d 3 0\n6 0 5 3 4 0\n",
			"hint 3, which is not there"},
		"a deletion of what is not there": {two, "5 d 9 0\n", "clause 9 is deleted"},
		"no empty clause":                 {two, "5 2 0 1 2 0\n", "ends without the empty clause"},
		"an empty proof":                  {two, "", "ends without the empty clause"},
		"another formula": {strings.Replace(two, "-1 2 0", "-1 3 0", 1), "5 2 0 1 2 0\n",
			"do not end"},
		"an ID that does not grow":           {two, "4 2 0 1 2 0\n", "IDs must grow"},
		"an ID that comes twice":             {two, "5 2 0 1 2 0\n5 1 0 1 3 0\n", "IDs must grow"},
		"an ID past all bounds":              {two, "9223372036854775808 2 0 1 2 0\n", "want the ID"},
		"a hint past all bounds":             {two, "5 2 0 1 18446744073709551616 0\n", "want the ID"},
		"a hint to itself":                   {two, "5 0 5 0\n", "which is not there"},
		"a hint to what comes later":         {two, "5 2 0 6 2 0\n6 2 0 1 2 0\n", "which is not there"},
		"a clause that is deleted twice":     {two, "5 d 1 1 0\n", "clause 1 is deleted, but"},
		"a clause of another formula":        {two, "5 268435456 0 1 2 0\n", "of which the formula says nothing"},
		"no formula":                         {"", "1 0 0\n", "do not end in a contradiction"},
		"an empty clause without a reason":   {two, "5 0 0\n", "do not end in a contradiction"},
		"the proof of something weaker":      {two, "5 1 2 0 1 0\n6 0 5 3 4 0\n", "several literals"},
		"a clause that is always true":       {two, "5 1 -1 0 1 0\n", "a literal and its opposite"},
		"a RAT step":                         {two, "5 2 0 -1 2 0\n", `hint "-1"`},
		"no end of the literals":             {two, "5 2\n", "no 0 at its end"},
		"no end of the hints":                {two, "5 2 0 1\n", "no 0 at their end"},
		"no end of a deletion":               {two, "5 d 1\n", "with a 0 at its end"},
		"a word":                             {two, "five 2 0 1 2 0\n", "want the ID"},
		"a literal that is a word":           {two, "5 x 0 1 2 0\n", "want a literal"},
		"a variable that is too high":        {two, "5 268435457 0 1 0\n", "want a literal"},
		"a formula whose last clause is cut": {"1 2", "", "no 0 at its end"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Check(strings.NewReader(c.formula), strings.NewReader(c.proof))
			if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want a refusal that says %q", err, c.want)
			}
		})
	}
}

// TestPieces has proofs of a clause behind which others can be put, and such as would spoil these.
func TestPieces(t *testing.T) {
	const right = "5 2 0 1 2 0\n6 1 0 5 3 0\n"
	for name, c := range map[string]struct{ proof, want string }{
		"right":                            {right + "6 d 5 0\n", ""},
		"a part of the goal":               {"5 2 0 1 2 0\n6 0 5 3 4 0\n", ""},
		"more after the goal":              {right + "7 2 1 0 5 0\n", "ends without clause [1]"},
		"the goal is taken back":           {right + "6 d 6 0\n", "ends without clause [1]"},
		"the formula is taken from others": {right + "6 d 4 0\n", "clause 4 is deleted, which is the formula's"},
		"numbers past all others":          {"9223372036854775807 2 0 1 2 0\n", "have no gap"},
	} {
		_, err := Derive(strings.NewReader(two), strings.NewReader(c.proof), []int32{1})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUnreadable has readers that fail in the middle of a line: their failure is what is said.
func TestUnreadable(t *testing.T) {
	broken := errors.New("cut off")
	cut := func(text string) io.Reader { return io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)) }
	if _, err := Check(strings.NewReader(two), cut("5 2 0 1")); !errors.Is(err, broken) || errors.Is(err, ErrRefused) {
		t.Errorf("a proof that cannot be read to its end: got %v, want %v", err, broken)
	}
	if _, err := Check(cut("1 2 0\n1 x"), strings.NewReader("")); !errors.Is(err, broken) {
		t.Errorf("a formula that cannot be read to its end: got %v, want %v", err, broken)
	}
}

// FuzzCheck looks for proofs that are accepted although there is a model: all formulas here have one.
func FuzzCheck(f *testing.F) {
	f.Add("5 2 0 1 2 0\n6 0 5 3 4 0\n")
	f.Add("5 d 1 0\n5 0 2 3 0\n")
	f.Fuzz(func(t *testing.T, proof string) {
		if _, err := Check(strings.NewReader("1 2 0\n-1 2 0\n1 -2 0\n-1 -2 3 0\n"),
			strings.NewReader(proof)); err == nil {
			t.Fatalf("accepted a proof that a formula with a model has none: %q", proof)
		}
	})
}

// A line of a proof is bounded: a compressed piece of some kilobytes could else take gigabytes from whoever checks it.
func TestLongSteps(t *testing.T) {
	long := "5 " + strings.Repeat("1 ", maxStep/2) + "0 1 2 0\n"
	if _, err := Check(strings.NewReader(two), strings.NewReader(long)); !errors.Is(err, ErrRefused) ||
		!strings.Contains(err.Error(), "a line of more than") {
		t.Errorf("a step of %d bytes: %v", len(long), err)
	}
}
