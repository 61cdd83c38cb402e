package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Every mutant must still fit the source it changes, and the tests that are to notice be there; running them is for
// `make mutants`.
func TestMutantsFitTheSource(t *testing.T) {
	seen, tests := make(map[string]bool), make(map[string][]string)
	for _, m := range mutants() {
		if tests[m.pkg] == nil {
			tests[m.pkg] = testsOf(t, m.pkg)
		}
		name, _, _ := strings.Cut(m.run, "/")
		if run, err := regexp.Compile(name); err == nil && name != "" &&
			!slices.ContainsFunc(tests[m.pkg], run.MatchString) {
			t.Errorf("%s: %s has no test %s", m.name, m.pkg, name)
		}
		if seen[m.name] {
			t.Errorf("%s: the name is used twice", m.name)
		}
		seen[m.name] = true
		if _, err := m.apply("../.."); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		if _, err := regexp.Compile(m.run); err != nil || m.run == "" && m.schedules == 0 || m.pkg == "" ||
			m.wrong == "" || m.old == m.new {
			t.Errorf("%s: incomplete (%v)", m.name, err)
		}
	}
	if len(seen) < 10 {
		t.Errorf("%d mutants", len(seen))
	}
}

var testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)

// testsOf names the tests of a package.
func testsOf(t *testing.T, pkg string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range testFunc.FindAllSubmatch(b, -1) {
			names = append(names, string(m[1]))
		}
	}
	return names
}

// A mutant that changes nothing survives, one that changes much is killed, and one that is not Go is
// reported: the harness itself can fail.
func TestHarness(t *testing.T) {
	t.Parallel()
	m := mutant{name: "x", file: "steal/policy/draw.go", pkg: "steal/policy", run: "^TestByName$",
		old: "package policy\n",
		new: "package policy\n\n"}
	if killer, err := m.kill(t.Context(), "../.."); killer != "" || err != nil {
		t.Errorf("a mutant without a mistake: killed by %q, %v", killer, err)
	}
	m.file, m.old, m.new = "steal/policy/names.go", `case "", "adaptive":`, `case "adaptive":`
	if killer, err := m.kill(t.Context(), "../.."); killer != "TestByName" || err != nil {
		t.Errorf("a mutant with a mistake: killed by %q, %v", killer, err)
	}
	m.deadline = time.Nanosecond
	if killer, err := m.kill(t.Context(), "../.."); killer != "" || err == nil {
		t.Errorf("a mutant for which there was no time: killed by %q, %v", killer, err)
	}
	m.deadline, m.new = 0, "case ("
	if killer, err := m.kill(t.Context(), "../.."); killer != "" || err == nil {
		t.Errorf("a mutant that is not Go: killed by %q, %v", killer, err)
	}
	m.new, m.run = `case "adaptive":`, "^TestNobody$"
	if killer, err := m.kill(t.Context(), "../.."); killer != "" || err == nil {
		t.Errorf("a mutant without tests: killed by %q, %v", killer, err)
	}
	m.run = "^TestByName$"
	m.args = []string{"-test.nosuchflag"}
	if killer, err := m.kill(t.Context(), "../.."); killer != "" || err == nil {
		t.Errorf("a mutant whose tests were never run: killed by %q, %v", killer, err)
	}
	m.file, m.args = "steal/policy/names.go", nil
	m.old, m.new = "// Names lists", "func init() { panic(1) }\n\n// Names lists"
	if killer, err := m.kill(t.Context(), "../.."); killer != byPanic || err != nil {
		t.Errorf("a mutant that panics: killed by %q, %v", killer, err)
	}
}

// The short form of `make sim-mutants`: a schedule kills a mutant, by its seed, and none kills a mutant
// without a mistake.
func TestSchedules(t *testing.T) {
	t.Parallel()
	// It is one of the model: for one in package steal, much is compiled.
	m := mutant{name: "x", file: "internal/sim/engine.go", pkg: "cmd/satin-sim", schedules: 5,
		old: "		f.pending--\n", new: "		f.pending -= 2\n"}
	if killer, err := m.kill(t.Context(), "../.."); !strings.HasPrefix(killer, "satin-sim replay ") ||
		!strings.HasSuffix(killer, ": exact-result") || err != nil {
		t.Errorf("%s: killed by %q, %v", m.name, killer, err)
	}
	m.file, m.old, m.new = "cmd/satin-sim/main.go", "package main\n", "package main\n\n"
	if killer, err := m.kill(t.Context(), "../.."); killer != "" || err != nil {
		t.Errorf("a mutant without a mistake: killed by %q, %v", killer, err)
	}
}
