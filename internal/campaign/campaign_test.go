package campaign

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/satin-peer/satin/internal/lrat"
	"pgregory.net/rapid"
)

// follow has the checker follow the cover of cubes.
func follow(p *Plan) error {
	var goals, cover strings.Builder
	if err := p.WriteGoals(&goals); err != nil {
		return err
	}
	if err := p.Cover(&cover, func(part int) int { return part + 1 }, len(p.Cubes)); err != nil {
		return err
	}
	_, err := lrat.Derive(strings.NewReader(goals.String()), strings.NewReader(cover.String()), p.Conclusion())
	return err
}

// drawTree draws the cubes of a tree whose splits are by variables that the path to them has not.
func drawTree(t *rapid.T, path []int32) [][]int32 {
	const deepest = 5
	if len(path) == deepest || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
		return [][]int32{slices.Clone(path)}
	}
	v := int32(len(path)*10 + rapid.IntRange(1, 9).Draw(t, "variable"))
	if rapid.Bool().Draw(t, "negative first") {
		v = -v
	}
	return append(drawTree(t, append(slices.Clone(path), v)), drawTree(t, append(slices.Clone(path), -v))...)
}

// Guards that the cover of all cubes of a tree, or of what is below a cube, is a proof, and that without any of
// them, with one twice, or with two exchanged literals, there is none.
func TestCover(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := []int32{7, -61}[:rapid.IntRange(0, 2).Draw(t, "below")]
		p := &Plan{Cubes: drawTree(t, of), Of: of}
		if err := follow(p); err != nil {
			t.Fatalf("%d: %v", p.Cubes, err)
		}
		i := rapid.IntRange(0, len(p.Cubes)-1).Draw(t, "cube")
		for what, broken := range map[string][][]int32{
			"left out": slices.Delete(slices.Clone(p.Cubes), i, i+1),
			"twice":    slices.Insert(slices.Clone(p.Cubes), i, p.Cubes[i]),
			"longer":   slices.Replace(slices.Clone(p.Cubes), i, i+1, append(slices.Clone(p.Cubes[i]), 99)),
		} {
			if err := follow(&Plan{Cubes: broken, Of: of}); !errors.Is(err, ErrCubes) {
				t.Fatalf("%s, cube %d of %d: got %v", what, i, p.Cubes, err)
			}
			if err := follow(&Plan{Cubes: p.Cubes, Of: []int32{-7}}); !errors.Is(err, ErrCubes) {
				t.Fatalf("%d as parts of another: got %v", p.Cubes, err)
			}
		}
	})
}

// A formula of four clauses without a model, and the pieces of its halves by 1.
const (
	formula = "p cnf 2 4\n1 2 0\n1 -2 0\n-1 2 0\n-1 -2 0\n"
	without = "5 2 -1 0 3 0\n5 d 0\n6 -1 0 5 4 0\n6 d 5 0\n"
	with    = "5 1 0 1 2 0\n"
)

func pieces(texts ...string) func(int) (io.ReadCloser, error) {
	return func(part int) (io.ReadCloser, error) {
		if part >= len(texts) {
			return nil, errors.New("not there")
		}
		return io.NopCloser(strings.NewReader(texts[part])), nil
	}
}

// Guards that pieces and cover are one proof that the checker takes, and that pieces which say too little are none.
func TestWhole(t *testing.T) {
	p := &Plan{Cubes: [][]int32{{1}, {-1}}}
	check := func(open func(int) (io.ReadCloser, error)) error {
		var proof strings.Builder
		if err := p.Whole(&proof, 4, open); err != nil {
			return err
		}
		_, err := lrat.Check(strings.NewReader(formula), strings.NewReader(proof.String()))
		return err
	}
	if err := check(pieces(without, with)); err != nil {
		t.Error(err)
	}
	for what, wrong := range map[string]func(int) (io.ReadCloser, error){
		"twice":      pieces(with, with),
		"cut":        pieces(without[:20], with),
		"missing":    pieces(without),
		"empty":      pieces("", ""),
		"no numbers": pieces("five 1 0 1 2 0\n", with),
	} {
		if check(wrong) == nil {
			t.Errorf("pieces that are %s are taken for a proof", what)
		}
	}
}

func state(conflicts ...uint64) *State {
	s := &State{Plan: &Plan{Title: "<b>two</b>", Formula: "00"}}
	for i := range conflicts {
		s.Cubes = append(s.Cubes, []int32{int32(i + 1)})
	}
	s.Pieces = make([]*Piece, len(conflicts))
	for n, part := range s.Order() {
		s.Pieces[part] = &Piece{Part: part + 1, Conflicts: conflicts[n]}
	}
	return s
}

// Guards that the estimate is that of the parts begun first, whatever else is done, that there is none of a few, and
// that its standard error holds what it says.
func TestLeft(t *testing.T) {
	counts := make([]uint64, 100)
	total := 0.0
	for i := range counts {
		counts[i] = uint64(i%7) * 100
		total += float64(counts[i])
	}
	s := state(counts...)
	order := s.Order()
	s.Pieces[order[60]] = nil
	done := s.Sum().Conflicts
	e, ok := s.Left()
	if !ok || e.From != 60 {
		t.Fatalf("%+v, %v: want it from the 60 before the first that is open", e, ok)
	}
	miss := math.Abs(e.Conflicts + float64(done) - total)
	if miss > 3*e.StandardError || e.StandardError == 0 {
		t.Errorf("%+v with %d done: there are %.0f", e, done, total)
	}
	s.Pieces[order[fewest-1]] = nil
	if e, ok := s.Left(); ok {
		t.Errorf("%+v from %d parts", e, fewest-1)
	}
}

// Guards that the page says what is done and nothing that a title or a name could make of it.
func TestPage(t *testing.T) {
	s := state(5, 6, 7)
	s.Pieces[1].Gave = map[string]float64{"<script>": 1.5, "boasts": 1e9}
	s.Pieces[2] = nil
	var page strings.Builder
	if err := s.WritePage(&page); err != nil {
		t.Fatal(err)
	}
	text := page.String()
	for _, want := range []string{"2 of 3 parts are proved", "&lt;script&gt;", "&lt;b&gt;two", "default-src 'none'", "open"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if strings.Index(text, "boasts") < strings.Index(text, "&lt;script") {
		t.Error("who tells of more is named first")
	}
	if strings.Contains(text, "<script") || strings.Contains(text, "<b>") {
		t.Error("the page has what a name said")
	}
	if strings.Contains(text, fmt.Sprint(nil)) {
		t.Error("the page shows what is not there")
	}
}

// Guards that a part whose proof stayed with who found it does not count before somebody else has checked it, neither
// as done nor as a sample of the rest.
func TestUncheckedDoesNotCount(t *testing.T) {
	counts := make([]uint64, 30)
	for i := range counts {
		counts[i] = 10
	}
	s := state(counts...)
	p := s.Pieces[s.Order()[22]]
	p.Kept = []string{"x"}
	e, _ := s.Left()
	if s.Done() != 29 || s.Unchecked() != 1 || s.Sum().Conflicts != 290 || e.From != 22 {
		t.Errorf("%d done, %d unchecked, %d conflicts, an estimate of %d", s.Done(), s.Unchecked(),
			s.Sum().Conflicts, e.From)
	}
	if p.Verdicts = []string{"a"}; s.Done() != 30 || s.Unchecked() != 0 {
		t.Errorf("%d done when it is checked", s.Done())
	}
}
