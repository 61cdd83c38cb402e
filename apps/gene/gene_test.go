package gene

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/satin-peer/satin/apps/apptest"
	"pgregory.net/rapid"
)

// The command can describe the application, and its examples work.
func TestDescribed(t *testing.T) { apptest.Described(t, App, "queries.fasta database.fasta --best 3") }

// TestPublished aligns a pair whose score is known: match 3, mismatch -3, gap 2.
func TestPublished(t *testing.T) {
	s := Scoring{3, -3, 2}
	if got := s.score([]byte("TGTTACGG"), []byte("GGTTGACTA"), make([]int32, 10)); got != 13 {
		t.Errorf("the score is %d, want 13", got)
	}
}

// TestScoreByDefinition compares with the recurrence as it is published, on a whole matrix, with gaps of any length.
func TestScoreByDefinition(t *testing.T) {
	word := rapid.SliceOfN(rapid.SampledFrom([]byte("ACGT")), 0, 20)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		s := Scoring{rapid.Int32Range(1, 5).Draw(t, "match"), -rapid.Int32Range(0, 5).Draw(t, "mismatch"),
			rapid.Int32Range(1, 5).Draw(t, "gap")}
		h := make([][]int32, len(a)+1)
		want := int32(0)
		for i := range h {
			h[i] = make([]int32, len(b)+1)
			for j := range h[i] {
				if i == 0 || j == 0 {
					continue
				}
				pair := s.Mismatch
				if a[i-1] == b[j-1] {
					pair = s.Match
				}
				h[i][j] = max(0, h[i-1][j-1]+pair)
				for k := 1; k <= i; k++ {
					h[i][j] = max(h[i][j], h[i-k][j]-int32(k)*s.Gap)
				}
				for k := 1; k <= j; k++ {
					h[i][j] = max(h[i][j], h[i][j-k]-int32(k)*s.Gap)
				}
				want = max(want, h[i][j])
			}
		}
		row := make([]int32, max(len(a), len(b)))
		if got, back := s.score(a, b, row), s.score(b, a, row); got != want || back != want {
			t.Fatalf("%s and %s: %d, and %d the other way round, want %d", a, b, got, back, want)
		}
	})
}

// In both variants and on every pool, jobs find the alignments that the twin finds, however many of the best are
// wanted.
func TestJobsAgreeWithTheTwin(t *testing.T) {
	for _, line := range []string{"--generate 5,20,40 --threshold 2000", "--generate 1,30,30 --threshold 500 --best 3",
		"--generate 7,3,30 --threshold 1 --best 5", "--generate 2,2,50"} {
		dc := apptest.Solve(t, App, line)
		if mw := apptest.Solve(t, App, line+" --variant mw"); !reflect.DeepEqual(dc, mw) {
			t.Errorf("%s: %v by mw, %v by dc", line, mw, dc)
		}
	}
}

// TestEqualScores has many of them: the order must not depend on who compared what.
func TestEqualScores(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	queries := write("q.fa", ">one\nACGT\nacgt*\n>two\nTTTT\n")
	database := write("db.fa", ">a\nACGT\n>b\nTTTT\n>c\nACGT\n; a comment\n>d\nTTTTT\n>e\nACGT\n")
	got := apptest.Solve(t, App, queries+" "+database+" --threshold 1 --best 3")
	want := [][]Hit{{{12, 0}, {12, 2}, {12, 4}}, {{12, 1}, {12, 3}, {3, 0}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	p, err := apptest.Setup(App, queries+" "+database+" --best 3")
	if err != nil {
		t.Fatal(err)
	}
	for name, wrong := range map[string][][]Hit{
		"a query too few":  want[:1],
		"a hit too few":    {want[0][:2], want[1]},
		"a wrong score":    {{{12, 0}, {12, 2}, {11, 4}}, want[1]},
		"a wrong order":    {{{12, 2}, {12, 0}, {12, 4}}, want[1]},
		"a hit twice":      {{{12, 0}, {12, 0}, {12, 4}}, want[1]},
		"nothing of there": {{{12, 0}, {12, 2}, {12, 5}}, want[1]},
	} {
		if p.Check(wrong) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	empty, unnamed := write("empty.fa", ">a\n>b\nA\n"), write("unnamed.fa", "ACGT\n")
	digit, last := write("digit.fa", ">a\nAC1\n"), write("last.fa", ">a\nA\n>b\n")
	long := write("long.fa", ">a\n"+strings.Repeat("A", 2_200_000)+"\n")
	apptest.Refuse(t, App, map[string]string{
		long + " " + long + " --match 1000":    `--match: got "1000", want at most 976 for sequences of 2200000 letters`,
		"":                                     `arguments: got "nothing", want exactly 2 (QUERIES and DATABASE, or --generate Q,N,LENGTH)`,
		"--generate 1,2":                       `--generate: got "1,2", want Q,N,LENGTH: numbers from 1 to 1000, 20000 and 5000, of at most 12582912 letters in all`,
		"--generate 1,20000,5000":              `--generate: got "1,20000,5000", want Q,N,LENGTH: numbers from 1 to 1000, 20000 and 5000, of at most 12582912 letters in all`,
		"--generate 1,2,3 x":                   `arguments: got "x", want none`,
		"--generate 1,2,3 --gap 0":             `--gap: got "0", want a whole number from 1 to 1000`,
		"--generate 1,2,3 --variant x":         `--variant: got "x", want dc or mw`,
		queries + " " + database + " --seed 3": `--seed: got "3", want none without --generate`,
		empty + " " +
			database: fmt.Sprintf(`%s:2: got ">b", want letters of the sequence before it`, empty),
		unnamed + " " + database: fmt.Sprintf(
			`%s:1: got "ACGT", want a line that begins with > and names a sequence`, unnamed),
		digit + " " + database: fmt.Sprintf(`%s:2: got "1", want letters from A to Z`, digit),
		last + " " + database: fmt.Sprintf(
			`%s: got "the end of the file", want letters of the last sequence`, last),
	})
}

// Whatever a file holds, what is read from it are sequences that have letters, and names that are not too long, not cut
// within a letter, and no more than one column of the answer.
func FuzzParse(f *testing.F) {
	f.Add([]byte(">a\nACGT\n>b\nTT\n"))
	f.Add([]byte(">a\tb" + strings.Repeat("é", maxName) + "\nA\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := parse("f", data)
		if err != nil {
			return
		}
		for _, s := range list {
			if len(s.Letters) == 0 || len(s.Name) > maxName || !utf8.ValidString(s.Name) ||
				strings.ContainsRune(s.Name, '\t') {
				t.Fatalf("read %+v", s)
			}
		}
	})
}
