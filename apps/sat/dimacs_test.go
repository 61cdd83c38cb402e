package sat

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/apps/apptest"
)

// Formulas in DIMACS are read as they are meant.
func TestParse(t *testing.T) {
	f, err := parse("f.cnf", []byte("c comment\r\n\np  cnf 3\t4 \r\n1 -2\n3 0 c3 is no comment"))
	if err == nil {
		t.Errorf("a comment within a line was accepted: %v", f)
	}
	f, err = parse("f.cnf", []byte("c comment\r\n\np  cnf 3\t4 \r\n1 -2\nc between\n3 0 0\n-1 0\n2 2 -2 0\n%\n0\n"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []int32{1, -2, 3, 0, 0, -1, 0, 2, 2, -2, 0}; f.Variables != 3 || f.Clauses != 4 ||
		!slices.Equal(f.Literals, want) {
		t.Errorf("%+v, want literals %v", f, want)
	}
}

// A file that is not a formula in DIMACS is refused with the line and what belongs there.
func TestBadFiles(t *testing.T) {
	for text, want := range map[string]string{
		"\x7fELF\x02":                `f.cnf:1: got "\x7fELF\x02", want p cnf VARIABLES CLAUSES`,
		"c nothing else\n":           `f.cnf:1: got "the end of the file", want the line "p cnf VARIABLES CLAUSES"`,
		"1 2 0\n":                    `f.cnf:1: got "1 2 0", want p cnf VARIABLES CLAUSES`,
		"p cnf 3\n":                  `f.cnf:1: got "p cnf 3", want p cnf VARIABLES CLAUSES`,
		"p wcnf 3 4\n":               `f.cnf:1: got "p wcnf 3 4", want p cnf VARIABLES CLAUSES`,
		"p cnf -1 4\n":               `f.cnf:1: got "-1", want VARIABLES from 0 to 1000000`,
		"p cnf 1000001 4\n":          `f.cnf:1: got "1000001", want VARIABLES from 0 to 1000000`,
		"p cnf 1 99999999999999\n":   `f.cnf:1: got "99999999999999", want CLAUSES from 0 to 5000000`,
		"p cnf 2 1\n1 x 0\n":         `f.cnf:2: got "x", want a literal from -2 to 2, or 0 after a clause`,
		"p cnf 2 1\n1 -3 0\n":        `f.cnf:2: got "-3", want a literal from -2 to 2, or 0 after a clause`,
		"p cnf 2 1\np cnf 2 1\n":     `f.cnf:2: got "p", want a literal from -2 to 2, or 0 after a clause`,
		"p cnf 2 1\n1 2\n":           `f.cnf:2: got "the end of the file", want a 0 after the last clause`,
		"p cnf 2 2\n1 2 0\n":         `f.cnf:2: got "1 clauses", want 2, as the line "p cnf" says`,
		"p cnf 2 1\n1 0\n2 0\n1 0":   `f.cnf:3: got "one more clause", want 1, as the line "p cnf" says`,
		"p cnf 2 1\n1 2 0\n\x00\x01": `f.cnf:3: got "\x00\x01", want a literal from -2 to 2, or 0 after a clause`,
	} {
		_, err := parse("f.cnf", []byte(text))
		var input *apps.InputError
		if !errors.As(err, &input) || err.Error() != want {
			t.Errorf("%q:\ngot  %v\nwant %s", text, err, want)
		}
	}
}

// A command line that makes no sense, or a file that cannot be read, is refused with what is wrong and what is allowed
// there.
func TestBadArguments(t *testing.T) {
	dir := t.TempDir()
	empty, cut := filepath.Join(dir, "empty"), filepath.Join(dir, "cut")
	for name, text := range map[string]string{empty: "", cut: "p cnf 9 9\n1 2 3 0\n4 5"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const waerden = "want J,K,N: two lengths from 2 to 20 and a number from 1 to 2000"
	const taken = `: got "a file that the run reads or writes", want another file to write to`
	apptest.Refuse(t, App, map[string]string{
		"":                          `arguments: got "nothing", want exactly 1 (FILE, or a formula to make)`,
		"a b":                       `arguments: got "a b", want exactly 1 (FILE, or a formula to make)`,
		"--pigeonhole 3 a":          `arguments: got "a and --pigeonhole", want FILE or --pigeonhole, not both`,
		"--pigeonhole 3 --random 9": `formula: got "--pigeonhole and --random", want one of --pigeonhole, --random and --waerden`,
		"--pigeonhole -1":           `--pigeonhole: got "-1", want a whole number from 1 to 50`,
		"--pigeonhole 51":           `--pigeonhole: got "51", want a whole number from 1 to 50`,
		"--random 2":                `--random: got "2", want a whole number from 3 to 100000`,
		"--random 100001":           `--random: got "100001", want a whole number from 3 to 100000`,
		"--random 9 --ratio -1":     `--ratio: got "-1", want a number from 0 to 40`,
		"--pigeonhole 9 --ratio 3":  `--ratio: got "3", want none without --random`,
		"--seed 5 a":                `--seed: got "5", want none without --random`,
		"--random 9 --ratio NaN":    `--ratio: got "NaN", want a number from 0 to 40`,
		"--random 9 --threshold 0":  `--threshold: got "0", want a whole number from 1 to 2147483647`,
		"--waerden 3,3":             `--waerden: got "3,3", ` + waerden,
		"--waerden 1,3,9":           `--waerden: got "1,3,9", ` + waerden,
		"--waerden 3,3,2001":        `--waerden: got "3,3,2001", ` + waerden,
		"--waerden 3,3,x":           `--waerden: got "3,3,x", ` + waerden,
		empty:                       empty + `: got "an empty file", want some input`,
		cut:                         cut + `:3: got "the end of the file", want a 0 after the last clause`,
		dir:                         dir + `: got "a directory", want a file`,
		filepath.Join(dir, "none"): filepath.Join(dir, "none") +
			`: got "no such file or directory", want a file that can be read`,
		"testdata/example.cnf --proof ./testdata/example.cnf":        "./testdata/example.cnf" + taken,
		"testdata/example.cnf --formula ./testdata/example.cnf":      "./testdata/example.cnf" + taken,
		"--random 9 --proof " + dir + "/x --formula " + dir + "/./x": dir + "/x" + taken,
	})
}

// Whatever a file holds, it is refused in one printable line or is a formula; of small ones the solver finds what
// trying all assignments finds.
func FuzzParse(f *testing.F) {
	for _, file := range []string{"example.cnf", "queens6.cnf", "groetzsch.cnf"} {
		data, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		formula, err := parse("f.cnf", data)
		if err != nil {
			var input *apps.InputError
			if !errors.As(err, &input) || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("not a line of input error: %q", err)
			}
			return
		}
		if formula.Variables > 7 || len(formula.Literals) > 200 {
			return
		}
		want := models(formula, nil) > 0
		for _, threshold := range []int{1, math.MaxInt32} {
			r := solveAlone(Cube{Formula: formula, Threshold: threshold})
			if err := formula.check(r); err != nil || r.Satisfiable != want {
				t.Fatalf("satisfiable %t, want %t (%v)", r.Satisfiable, want, err)
			}
		}
	})
}
