package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckOfAProof has sat write a formula and its proof, and check accept the two; and refuse them when one
// is changed.
func TestCheckOfAProof(t *testing.T) {
	dir := t.TempDir()
	formula, proof := filepath.Join(dir, "w.cnf"), filepath.Join(dir, "w.lrat.gz")
	try := func(args ...string) (code int, out, errs string) {
		f := newFake()
		code = f.runReal(args...)
		return code, f.out.String(), f.err.String()
	}
	made := []string{"run", "sat", "--local", "--waerden", "3,6,32", "--formula", formula, "--proof", proof}
	if code, out, errs := try(made...); code != 0 || !strings.Contains(out, "s UNSATISFIABLE") {
		t.Fatalf("run: exit code %d, %q, %q", code, out, errs)
	}
	if code, out, errs := try("check", formula, proof); code != 0 || !strings.HasPrefix(out, "s VERIFIED UNSAT\n") {
		t.Errorf("check: exit code %d, %q, %q", code, out, errs)
	}
	if code, out, _ := try("check", "--json", formula, proof); code != 0 || !strings.Contains(out, `"verified": true`) {
		t.Errorf("check --json: exit code %d, %q", code, out)
	}
	text, err := os.ReadFile(formula)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(dir, "cut.cnf")
	if err := os.WriteFile(cut, []byte("p cnf 2 1\n1 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "other.cnf")
	if code, _, errs := try("run", "sat", "--local", "--waerden", "3,6,31", "--formula", other); code != 0 {
		t.Fatalf("run: exit code %d, %q", code, errs)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"check", other, proof}, 1, proof + ": the proof: line "},
		{[]string{"check", formula, formula}, 1, formula + ": the proof: line "},
		{[]string{"check", cut, proof}, 1, cut + ": the formula: refused: its last clause has no 0 at its end"},
		{[]string{"check", formula}, 2, "FORMULA and PROOF"},
		{[]string{"check", formula, filepath.Join(dir, "none")}, 2, "no such file"},
		{[]string{"run", "sat", "--local", formula, "--proof", formula}, 2, "another file to write to"},
		{[]string{"run", "sat", "--local", formula, "--formula", formula}, 2, "another file to write to"},
	} {
		if code, _, errs := try(c.args...); code != c.code || !strings.Contains(errs, c.want) ||
			strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: exit code %d, %q; want %d and one line with %q", c.args, code, errs, c.code, c.want)
		}
	}
	if again, err := os.ReadFile(formula); err != nil || !bytes.Equal(again, text) {
		t.Errorf("the formula was changed: %v", err)
	}
}
