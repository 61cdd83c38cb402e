package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/apps/all"
	"github.com/satin-peer/satin/internal/campaign"
)

// Guards the whole way of a campaign on one machine: it is divided, computed in two goes, exported, checked, and made
// one proof; and that what was changed afterwards is noticed.
func TestCampaign(t *testing.T) {
	home, dir := home(t), filepath.Join(t.TempDir(), "w")
	try := func(code int, want string, args ...string) string {
		t.Helper()
		f := newFake()
		f.dirs = home
		got := f.runReal(append([]string{"campaign"}, args...)...)
		if text := f.out.String() + f.err.String(); got != code || !strings.Contains(text, want) {
			t.Fatalf("%v: exit code %d, %q", args, got, text)
		}
		return f.out.String()
	}
	try(0, "parts", "new", dir, "--parts", "6", "--", "sat", "--waerden", "3,5,22")
	try(exitBadInput, "a new one", "new", dir, "--", "sat", "--waerden", "3,5,22")
	try(exitBadInput, "can be divided", "new", dir+"2", "--", "nqueens", "8")
	try(0, "0 of 6 parts proved", "status", dir)
	try(exitFailed, "0 of 6 parts have a right proof", "check", dir)
	try(exitFailed, "has no proof here", "proof", dir, dir+".lrat")
	try(0, "all 6 parts are proved", "run", dir, "--workers", "1")
	try(0, "6 of 6 were done before", "run", dir, "--workers", "1")
	try(0, "6 of 6 parts proved", "status", dir)
	try(0, "s VERIFIED UNSAT", "check", dir)
	out := filepath.Join(t.TempDir(), "out")
	try(0, "", "export", dir, out)
	try(0, "s VERIFIED UNSAT", "check", out)
	plan, err := os.ReadFile(filepath.Join(out, planFile))
	if err != nil || strings.Contains(string(plan), "--waerden") {
		t.Errorf("the exported plan has the owner's arguments, or: %v", err)
	}
	try(exitBadInput, "another file to write to", "proof", out, filepath.Join(out, "..", "out", formulaFile))
	try(0, "", "proof", out, dir+".lrat.gz")
	f := newFake()
	if code := f.runReal("check", filepath.Join(dir, formulaFile), dir+".lrat.gz"); code != 0 {
		t.Errorf("the whole proof: exit code %d, %s", code, &f.err)
	}

	// a part is lost, and is computed again
	record := filepath.Join(dir, piecesDir, "0003.json")
	var p campaign.Piece
	text, err := os.ReadFile(record)
	if err != nil || json.Unmarshal(text, &p) != nil || p.Conflicts == 0 && p.Steps == 0 {
		t.Fatalf("the record is %s, %v", text, err)
	}
	if err := os.Remove(record); err != nil {
		t.Fatal(err)
	}
	try(0, "5 of 6 were done before", "run", dir, "--workers", "1", "--keep", "1")
	try(0, "s VERIFIED UNSAT", "check", dir)
	// there is no room for it
	d, err := openCampaign([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	d.keep(1)
	spare := filepath.Join(t.TempDir(), "spare.lrat.gz")
	if err := copyFile(d.pieceFile(d.pieces[2]), spare); err != nil {
		t.Fatal(err)
	}
	if err := d.take(3, spare, campaign.Piece{}); err == nil {
		t.Error("the piece of part 3 is taken for that of part 4")
	}
	if err := d.take(2, spare, campaign.Piece{}); err != nil || !d.pieces[2].Dropped {
		t.Errorf("a piece past the bound: %+v, %v", d.pieces[2], err)
	}
	try(exitFailed, "5 of 6 parts have a right proof", "check", dir)
	try(exitFailed, "part 3 has no proof here", "proof", dir, dir+".lrat")
	// the piece of another part, which is right
	other, err := os.ReadFile(filepath.Join(dir, piecesDir, "0004.json"))
	if err != nil {
		t.Fatal(err)
	}
	other = []byte(strings.Replace(string(other), `"part": 4`, `"part": 3`, 1))
	if err := os.WriteFile(record, other, 0o644); err != nil {
		t.Fatal(err)
	}
	try(exitFailed, "without "+record+" it is open again", "check", dir)
	// another formula
	if err := os.WriteFile(filepath.Join(dir, formulaFile), []byte("p cnf 1 1\n1 0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	try(exitBadInput, "the formula that the campaign began with", "check", dir)
}

// Guards that a part with a model ends the campaign: that is said from then on, in what is exported too, and nothing
// more is tried.
func TestCampaignOfAModel(t *testing.T) {
	home, dir := home(t), filepath.Join(t.TempDir(), "w")
	f := newFake()
	f.dirs = home
	if code := f.runReal("campaign", "new", dir, "--parts", "3", "--", "sat", "--waerden", "3,5,21"); code != 0 {
		t.Fatalf("exit code %d, %s", code, &f.err)
	}
	if code := f.runReal("campaign", "run", dir, "--workers", "1"); code != exitFailed ||
		!strings.Contains(f.err.String(), "it has a model") {
		t.Fatalf("exit code %d, %s", code, &f.err)
	}
	models, err := filepath.Glob(filepath.Join(dir, "*"+modelEnd))
	if err != nil || len(models) == 0 {
		t.Fatalf("no model is kept, %v", err)
	}
	out := filepath.Join(t.TempDir(), "out")
	for _, try := range []struct {
		code int
		want string
		args []string
	}{
		{exitFailed, "the formula has a model", []string{"run", dir}},
		{0, "a part has a model, and so the formula: it is in " + models[0], []string{"status", dir}},
		{0, `"model":`, []string{"status", dir, "--json"}},
		{0, "", []string{"export", dir, out}},
	} {
		f := newFake()
		f.dirs = home
		code := f.runReal(append([]string{"campaign"}, try.args...)...)
		if text := f.out.String() + f.err.String(); code != try.code || !strings.Contains(text, try.want) {
			t.Errorf("%v: exit code %d, %s", try.args, code, text)
		}
	}
	page, err := os.ReadFile(filepath.Join(out, pageFile))
	if err != nil || !strings.Contains(string(page), "A part has a model, and so the formula") {
		t.Errorf("the exported page does not say so, or: %v", err)
	}
	// of a part that was divided
	inner := filepath.Join(dir, partsDir, "0002")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range models {
		if err := os.Rename(name, filepath.Join(inner, filepath.Base(name))); err != nil {
			t.Fatal(err)
		}
	}
	d, err := openCampaign([]string{dir})
	if err != nil || hasModel(d.dir) == nil {
		t.Errorf("the model of a part of a part is not found, %v", err)
	}
}

// Guards that two runs of a campaign do not take each other's proofs, and that a proof that is not there is not taken
// for a model, which would end the campaign for good.
func TestTwoRunsOfACampaign(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "w")
	f := newFake()
	f.dirs = home(t)
	if code := f.runReal("campaign", "new", dir, "--parts", "2", "--piece", "0", "--", "sat", "--waerden", "3,5,22"); code != 0 {
		t.Fatalf("exit code %d, %s", code, &f.err)
	}
	d, err := openCampaign([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := lockCampaign(dir)
	if err != nil {
		t.Fatal(err)
	}
	if code := f.runReal("campaign", "run", dir, "--workers", "1"); code != exitFailed ||
		!strings.Contains(f.err.String(), "another satin-peer campaign run works on") {
		t.Errorf("a second run: exit code %d, %s", code, &f.err)
	}
	unlock()
	b := &batch{console: f.console, o: &options{}}
	refuted := solution{answer: apps.Answer{Fields: map[string]any{"satisfiable": false}}}
	in := &input{line: 1, task: &task{problem: &apps.Problem{}}}
	if err := b.takePiece(d, in, refuted); err == nil || d.pieces[0] != nil || hasModel(dir) != nil {
		t.Errorf("a piece that is not there: %v, %+v, %v", err, d.pieces[0], hasModel(dir))
	}
}

// Guards that the clauses of a formula are counted as the checker counts them, also long ones.
func TestProofOfALongClause(t *testing.T) {
	const variables = 20_000
	formula, dir := filepath.Join(t.TempDir(), "f.cnf"), filepath.Join(t.TempDir(), "w")
	var some, none strings.Builder
	for v := range variables {
		fmt.Fprintf(&some, "%d ", v+1)
		fmt.Fprintf(&none, "-%d 0\n", v+1)
	}
	text := fmt.Sprintf("p cnf %d %d\n%s0\n%s", variables, variables+1, &some, &none)
	if err := os.WriteFile(formula, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"campaign", "new", dir, "--parts", "1", "--piece", "0", "--", "sat", formula},
		{"campaign", "run", dir, "--workers", "1"},
		{"campaign", "proof", dir, dir + ".lrat"},
		{"check", formula, dir + ".lrat"},
	} {
		f := newFake()
		f.dirs = home(t)
		if code := f.runReal(args...); code != 0 {
			t.Fatalf("%v: exit code %d, %s", args, code, &f.err)
		}
	}
}

// Guards that a campaign is its directory: the file that its formula was read from may be gone, as on another machine,
// and that what members see of its runs does not say where it lies.
func TestCampaignNeedsNoOtherFile(t *testing.T) {
	place := t.TempDir()
	formula, dir := filepath.Join(place, "-f.cnf"), filepath.Join(place, "w")
	try := func(args ...string) {
		t.Helper()
		f := newFake()
		f.dirs = home(t)
		if code := f.runReal(args...); code != 0 {
			t.Fatalf("%v: exit code %d, %s", args, code, &f.err)
		}
	}
	try("run", "sat", "--pigeonhole", "5", "--formula", formula)
	try("campaign", "new", dir, "--parts", "3", "--piece", "0.001", "--", "sat", "--threshold", "100", "--", formula)
	if err := os.Remove(formula); err != nil {
		t.Fatal(err)
	}
	try("campaign", "run", dir, "--workers", "1")
	try("campaign", "check", dir)
	d, err := openCampaign([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	if inner, err := filepath.Glob(filepath.Join(dir, partsDir, "*", planFile)); err != nil || len(inner) == 0 {
		t.Errorf("no part was divided again, %v", err)
	}
	whole, err := wholeOf(d, all.Apps())
	if err != nil || strings.Contains(whole.problem.Title, place) || whole.flags["threshold"] == nil {
		t.Errorf("the problem is %+v, %v", whole, err)
	}
}

// Guards that neither an export nor a proof is written over a campaign, nor over another one's export, which would not
// be checked any more; and that what is exported again is what is there now.
func TestCampaignIsNotOverwritten(t *testing.T) {
	home, at := home(t), t.TempDir()
	a, b, out := filepath.Join(at, "a"), filepath.Join(at, "b"), filepath.Join(at, "out")
	formulas := map[string]string{a: "p cnf 1 2\n1 0\n-1 0\n", b: "p cnf 1 2\n-1 0\n1 0\n"} // of one length
	try := func(code int, want string, args ...string) {
		t.Helper()
		f := newFake()
		f.dirs = home
		got := f.runReal(append([]string{"campaign"}, args...)...)
		if text := f.out.String() + f.err.String(); got != code || !strings.Contains(text, want) {
			t.Errorf("%v: exit code %d, %q", args, got, text)
		}
	}
	for dir, formula := range formulas {
		if err := os.WriteFile(dir+".cnf", []byte(formula), 0o644); err != nil {
			t.Fatal(err)
		}
		try(0, "", "new", dir, "--parts", "1", "--", "sat", dir+".cnf")
		try(0, "", "run", dir, "--workers", "1")
	}
	const refused = "a directory with a campaign"
	try(exitBadInput, refused, "export", a, a)
	try(exitBadInput, refused, "export", a, b)
	try(0, "", "export", a, out)
	try(exitBadInput, refused, "export", b, out)
	if err := os.WriteFile(filepath.Join(out, formulaFile), []byte(formulas[b]), 0o644); err != nil {
		t.Fatal(err)
	}
	try(0, "", "export", a, out)
	for _, name := range []string{planFile, copiesFile, pageFile, formulaFile, "pieces/0001.json", "pieces/new"} {
		try(exitBadInput, "want another", "proof", a, filepath.Join(a, filepath.FromSlash(name)))
	}
	try(0, "", "proof", a, filepath.Join(a, "whole.lrat"))
	for _, dir := range []string{a, b, out} {
		try(0, "s VERIFIED UNSAT", "check", dir)
	}
}

// Guards that what is published of a problem that was read from a file does not say where that lies.
func TestExportSaysNotWhere(t *testing.T) {
	home, place := home(t), filepath.Join(t.TempDir(), "private")
	file, dir, out := filepath.Join(place, "<b>four.cnf"), filepath.Join(place, "w"), filepath.Join(t.TempDir(), "out")
	if err := os.Mkdir(place, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"run", "sat", "--pigeonhole", "4", "--formula", file},
		{"campaign", "new", dir, "--parts", "3", "--", "sat", file},
		{"campaign", "run", dir, "--workers", "1"},
		{"campaign", "export", dir, out},
	} {
		f := newFake()
		f.dirs = home
		if code := f.runReal(args...); code != 0 {
			t.Fatalf("%v: exit code %d, %s", args, code, &f.err)
		}
	}
	names, err := filepath.Glob(filepath.Join(out, "*"))
	if err != nil || len(names) < 4 {
		t.Fatalf("%q, %v", names, err)
	}
	for _, name := range append(names, filepath.Join(out, piecesDir, "0001.json")) {
		text, err := os.ReadFile(name)
		if filepath.Base(name) != piecesDir && err != nil || strings.Contains(string(text), "private") {
			t.Errorf("%s: %.200s, %v", name, text, err)
		}
	}
	page, err := os.ReadFile(filepath.Join(out, pageFile))
	if err != nil || !strings.Contains(string(page), "&lt;b&gt;four.cnf") || strings.Contains(string(page), "<b>") {
		t.Errorf("the page: %.300s, %v", page, err)
	}
}
