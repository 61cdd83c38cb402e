package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/campaign"
)

// Guards that parts that are too much for one run are divided again, and parts of these, that the whole is one
// proof all the same, here, exported and in one file, and that what is wrong or missing in a part of a part is
// noticed.
func TestDividedAgain(t *testing.T) {
	t.Parallel()
	home, dir := home(t), filepath.Join(t.TempDir(), "w")
	try := func(code int, want string, args ...string) {
		t.Helper()
		f := newFake()
		f.dirs = home
		got := f.runReal(args...)
		if text := f.out.String() + f.err.String(); got != code || !strings.Contains(text, want) {
			t.Fatalf("%v: exit code %d, %q", args, got, text)
		}
	}
	try(0, "conflicts are guessed", "campaign", "new", dir, "--parts", "4", "--piece", "0.02", "--", "sat", "--waerden", "3,9,77")
	try(0, "all 4 parts are proved", "campaign", "run", dir, "--workers", "1")
	try(0, "4 of 4 were done before", "campaign", "run", dir, "--workers", "1")
	try(0, "s VERIFIED UNSAT", "campaign", "check", dir)
	deeper, err := filepath.Glob(filepath.Join(dir, partsDir, "*", partsDir, "*", planFile))
	if err != nil || len(deeper) == 0 {
		t.Fatalf("no part of a part was divided: %v", err)
	}
	formulas, err := filepath.Glob(filepath.Join(dir, partsDir, "*", formulaFile))
	if err != nil || len(formulas) > 0 {
		t.Errorf("the formula is there again: %v, %v", formulas, err)
	}
	out, whole := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "w.lrat")
	try(0, "", "campaign", "export", dir, out)
	try(0, "s VERIFIED UNSAT", "campaign", "check", out)
	try(0, "", "campaign", "proof", out, whole)
	try(0, "s VERIFIED UNSAT", "check", filepath.Join(dir, formulaFile), whole)
	inner := filepath.Dir(deeper[0])
	try(exitFailed, "all parts are right, but of a part", "campaign", "check", inner)
	plan, err := os.ReadFile(filepath.Join(out, partsDir, filepath.Base(filepath.Dir(filepath.Dir(inner))), planFile))
	if err != nil || strings.Contains(string(plan), "--waerden") {
		t.Errorf("the exported plan of a part has the owner's arguments, or: %v", err)
	}

	d, err := openCampaign([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	most := uint64(d.Most)
	var look func(d *campaignDir)
	look = func(d *campaignDir) {
		for part, p := range d.pieces {
			if !p.Divided {
				if p.Conflicts > 3*most { // four probes may be wrong
					t.Errorf("a piece of %d conflicts, %d are wanted", p.Conflicts, most)
				}
				continue
			}
			in, err := d.inner(part)
			if err != nil {
				t.Fatal(err)
			}
			if sum := in.state(time.Time{}).Sum(); sum.Conflicts != p.Conflicts || sum.Bytes != p.Bytes {
				t.Errorf("part %d: %d conflicts, in it are %d", part+1, p.Conflicts, sum.Conflicts)
			}
			look(in)
		}
	}
	look(d)

	records, err := filepath.Glob(filepath.Join(inner, piecesDir, "*.json"))
	if err != nil || len(records) < 2 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	record, err := os.ReadFile(records[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(records[0]); err != nil {
		t.Fatal(err)
	}
	try(exitFailed, "3 of 4 parts have a right proof", "campaign", "check", dir)
	if err := os.WriteFile(records[0], record, 0o644); err != nil {
		t.Fatal(err)
	}
	// a part of another part in its place
	other, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(inner)), planFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(inner, planFile), other, 0o644); err != nil {
		t.Fatal(err)
	}
	try(exitFailed, errInner.Error(), "campaign", "check", dir)
	try(exitFailed, errInner.Error(), "campaign", "proof", dir, whole)
}

// Guards that the proof of a part is not taken for one of the whole: the formula here has a model.
func TestPartIsNotTheWhole(t *testing.T) {
	formula, dir := filepath.Join(t.TempDir(), "f.cnf"), filepath.Join(t.TempDir(), "w")
	if err := os.WriteFile(formula, []byte("p cnf 2 2\n-1 2 0\n-1 -2 0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	try := func(code int, args ...string) {
		t.Helper()
		f := newFake()
		f.dirs = home(t)
		if got := f.runReal(append([]string{"campaign"}, args...)...); got != code ||
			strings.Contains(f.out.String(), "UNSAT\n") {
			t.Errorf("%v: exit code %d, %s%s", args, got, &f.out, &f.err)
		}
	}
	try(0, "new", dir, "--parts", "1", "--piece", "0", "--", "sat", formula)
	d, err := openCampaign([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	d.Of, d.Cubes = []int32{1}, [][]int32{{1}}
	if err := d.writeJSON(d.path(planFile), d.Plan); err != nil {
		t.Fatal(err)
	}
	try(0, "run", dir, "--workers", "1")
	try(exitFailed, "check", dir)
	if err := d.writePage(); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, pageFile))
	if err != nil || strings.Contains(string(page), "there is no model.") {
		t.Errorf("the page: %.1500s, %v", page, err)
	}
}

// Guards that what was proved of a part of a part is not computed again.
func TestDividedGoesOn(t *testing.T) {
	t.Parallel()
	home, dir := home(t), filepath.Join(t.TempDir(), "w")
	run := func(args ...string) string {
		t.Helper()
		f := newFake()
		f.dirs = home
		if code := f.runReal(append([]string{"campaign"}, args...)...); code != 0 {
			t.Fatalf("%v: exit code %d, %s", args, code, &f.err)
		}
		return f.out.String()
	}
	run("new", dir, "--parts", "2", "--piece", "0.02", "--", "sat", "--waerden", "3,8,58")
	all := strings.Count(run("run", dir, "--workers", "1"), "UNSATISFIABLE")
	records, err := filepath.Glob(filepath.Join(dir, partsDir, "*", piecesDir, "*.json"))
	if err != nil || len(records) < 2 || all != len(records) {
		t.Fatalf("%d records of %d, %v", len(records), all, err)
	}
	part := filepath.Base(filepath.Dir(filepath.Dir(records[0])))
	kept := func() int64 {
		t.Helper()
		d, err := openCampaign([]string{dir})
		if err != nil {
			t.Fatal(err)
		}
		return keptIn(d)
	}
	var lost campaign.Piece
	if text, err := os.ReadFile(records[0]); err != nil || json.Unmarshal(text, &lost) != nil || lost.Bytes == 0 {
		t.Fatalf("%s: %v", text, err)
	}
	rest := kept() - lost.Bytes
	for _, gone := range []string{records[0], filepath.Join(dir, piecesDir, part+".json")} {
		if err := os.Remove(gone); err != nil {
			t.Fatal(err)
		}
	}
	if got := kept(); got != rest || got == 0 { // which --keep bounds
		t.Errorf("%d bytes are kept while a part of them is open, want %d", got, rest)
	}
	if again := strings.Count(run("run", dir, "--workers", "1"), "UNSATISFIABLE"); again != 1 {
		t.Errorf("%d parts were computed again, one was missing", again)
	}
	run("check", dir)
}
