package sat

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
)

// Guards that who could not have a piece has no answer, and nobody is put out for that.
func TestLostIsNoAnswer(t *testing.T) {
	for _, v := range []Verdict{{Lost: true}, {}, {Accepted: true}} {
		one, _ := engine.Lookup("sat.verdict")
		_, proven, err := one.Judge(Claim{}, v)
		several, _ := engine.Lookup("sat.verdicts")
		_, all, why := several.Judge(Hearing{}, []Verdict{{Accepted: true}, v, {}})
		if proven || all || errors.Is(err, satin.ErrNothing) != v.Lost || !v.Lost && err != nil || why != err {
			t.Errorf("%+v: %v, %v; among others: %v, %v", v, proven, err, all, why)
		}
	}
}

// Guards that pieces are checked as a campaign has them: each for its own cube, compressed or not, and that one that is
// about something else, or broken, is refused; and that jobs in a pool say what the sequential twin does.
func TestPiecesAreChecked(t *testing.T) {
	f, dir := waerden(3, 5, 22), t.TempDir()
	name := func(file string) string { return filepath.Join(dir, file) }
	write := func(file string, content []byte) {
		t.Helper()
		if err := os.WriteFile(name(file), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var formula bytes.Buffer
	if err := f.write(&formula); err != nil {
		t.Fatal(err)
	}
	write("f.cnf", formula.Bytes())
	args := []string{name("f.cnf")}
	cubes := [][]int32{{11}, {-11}}
	for i, cube := range cubes {
		c := Cube{Formula: f, Facts: cube, Decisions: cube, Threshold: defaultThreshold, Proof: true}
		var text, packed bytes.Buffer
		solved, err := satin.Run(t.Context(), nil, solve, c)
		if err == nil {
			err = c.writeProof(&text, solved.Proof)
		}
		if err != nil {
			t.Fatal(err)
		}
		z := gzip.NewWriter(&packed)
		_, _ = z.Write(text.Bytes())
		_ = z.Close()
		write([]string{"a=1.lrat", "b.lrat"}[i], text.Bytes())
		write([]string{"a.gz", "b.gz"}[i], packed.Bytes())
		write([]string{"a.short", "b.short"}[i], text.Bytes()[:text.Len()/2])
	}
	for _, piece := range []string{"a=1.lrat=11", "a.gz=11", "b.gz=-11", "b.lrat=-11", "a.gz=-11", "a.short=11", "f.cnf=11"} {
		args = append(args, name(piece))
	}
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	build := setup(fs)
	if err := fs.Parse([]string{"--check"}); err != nil {
		t.Fatal(err)
	}
	p, err := build(args)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := satin.NewPool(satin.Config{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	said, err := pool.RunNamed(t.Context(), p.Root, p.Arg)
	if err != nil || p.Check(said) != nil || !slices.Equal(said.([]Verdict), p.Sequential().([]Verdict)) {
		t.Fatalf("%v, %v; the twin says %v", said, err, p.Sequential())
	}
	for i, want := range []bool{true, true, true, true, false, false, false} {
		if v := said.([]Verdict)[i]; v.Right() != want || want && v.Steps == 0 {
			t.Errorf("%s: %+v", args[i+1], v)
		}
	}
	for _, bad := range [][]string{args[:1], {args[0], name("a.gz=99")}, {args[0], name("missing=11")}} {
		if _, err := build(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// mislead is told which of its files is not the one that it names.
func mislead(f *satin.Frame, swap int) Verdict {
	text, piece := []byte("p cnf 1 2\n1 0\n-1 0\n"), []byte("3 0 1 2 0\n")
	c := Claim{Formula: sum(text), Piece: sum(piece), FormulaText: satin.ShareConstant(f, text),
		Content: satin.ShareConstant(f, piece)}
	switch swap {
	case 1:
		c.Formula = sum(piece)
	case 2:
		c.Piece = sum(text)
	}
	return verdictOf(f, c)
}

// Guards that a job that is given another file than it names does not say that this is right.
func TestVerdictNamesWhatItIsAbout(t *testing.T) {
	satin.Register("sat.mislead", mislead)
	pool, err := satin.NewPool(satin.Config{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	for swap := range 3 {
		v, err := pool.RunNamed(t.Context(), "sat.mislead", swap)
		if err != nil || v.(Verdict).Accepted != (swap == 0) {
			t.Errorf("%d: %+v, %v", swap, v, err)
		}
	}
}

// What a few bytes inflate to is read to a bound: else a piece of a campaign kept whoever checks it busy for minutes.
func TestInflatedPieces(t *testing.T) {
	formula := "1 0\n-1 0\n"
	for padding, accepted := range map[int]bool{1 << 10: true, 16 << 20: false} {
		var piece bytes.Buffer
		z := gzip.NewWriter(&piece)
		for range padding >> 10 {
			_, _ = z.Write([]byte("c" + strings.Repeat(" ", 1022) + "\n"))
		}
		_, _ = z.Write([]byte("3 0 1 2 0\n"))
		_ = z.Close()
		if v := follow([]byte(formula), piece.Bytes(), nil); v.Accepted != accepted {
			t.Errorf("%d bytes that stand for %d: accepted %v", piece.Len(), padding, v.Accepted)
		}
		if !accepted { // nor what begins with a proof, and goes on past the bound
			var first bytes.Buffer
			z := gzip.NewWriter(&first)
			_, _ = z.Write([]byte("3 0 1 2 0\n"))
			_ = z.Close()
			if v := follow([]byte(formula), append(first.Bytes(), piece.Bytes()...), nil); v.Accepted {
				t.Error("a piece is right whose end nobody has seen")
			}
		}
	}
}
