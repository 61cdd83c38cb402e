//go:build checkers

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/campaign"
	"github.com/satin-peer/satin/internal/lrat"
)

// publicCheckers are checkers that others wrote, with what each prints of a proof that is right. `make test-checkers`
// builds them.
var publicCheckers = []struct {
	command []string
	right   string
}{
	{[]string{"lrat-check"}, "c VERIFIED"},
	{[]string{"lrat-trim", "--no-trim"}, "s VERIFIED"},
	{[]string{"cake_lpr"}, "s VERIFIED UNSAT"},
}

// accepted has a public checker judge a proof.
func accepted(t *testing.T, command []string, right, formula, proof string) (bool, string) {
	t.Helper()
	dir := os.Getenv("SATIN_CHECKERS")
	args := append(slices.Clone(command[1:]), formula, proof)
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, command[0]), args...)
	cmd.Env = append(os.Environ(), "CML_HEAP_SIZE=1000", "CML_STACK_SIZE=200") // MB
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	t.Logf("%s, %s: %.2f s of processor time, %.2f s", filepath.Base(command[0]), filepath.Base(proof),
		(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), time.Since(began).Seconds())
	return slices.Contains(strings.Split(string(out), "\n"), right), string(out)
}

// Guards that whoever does not believe our checker may use another: those that others wrote accept our proofs, of a run
// and of a whole campaign, and refuse, as ours does, those that were broken on purpose.
func TestPublicCheckers(t *testing.T) {
	home, dir := home(t), t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	try := func(args ...string) {
		t.Helper()
		f := newFake()
		f.dirs = home
		if code := f.runReal(args...); code != 0 {
			t.Fatalf("%v: exit code %d, %s", args, code, &f.err)
		}
	}
	write := func(name, text string) string {
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return in(name)
	}
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	run := [2]string{in("run.cnf"), in("run.lrat")}
	try("run", "sat", "--workers", "1", "--waerden", "3,8,58", "--formula", run[0], "--proof", run[1])
	whole := [2]string{filepath.Join(in("w"), formulaFile), in("whole.lrat")}
	try("campaign", "new", in("w"), "--parts", "6", "--", "sat", "--waerden", "3,6,32")
	try("campaign", "run", in("w"), "--workers", "1")
	try("campaign", "proof", in("w"), whole[1])
	for _, files := range [][2]string{run, whole} {
		for _, c := range publicCheckers {
			if ok, said := accepted(t, c.command, c.right, files[0], files[1]); !ok {
				t.Errorf("%s refuses %s: %s", c.command[0], files[1], said)
			}
		}
	}

	var plan campaign.Plan
	if err := json.Unmarshal([]byte(read(filepath.Join(in("w"), planFile))), &plan); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(read(whole[1]), "\n"), "\n")
	goal := func(part int) int { // where a part's piece ends
		words := ""
		for _, l := range plan.Cubes[part] {
			words += fmt.Sprint(-l, " ")
		}
		i := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, " "+words+"0 ") })
		if i < 0 {
			t.Fatalf("no line of part %d: %s", part+1, words)
		}
		return i
	}
	first, second := goal(0), goal(1)
	lemma := slices.IndexFunc(lines, func(line string) bool { // one that a later step needs
		id, _, _ := strings.Cut(line, " ")
		return slices.ContainsFunc(lines, func(step string) bool {
			return !strings.Contains(step, " d ") && strings.Contains(step, " "+id+" ")
		})
	})
	change := func(line int, to func(words []string) []string) string {
		changed := slices.Clone(lines)
		changed[line] = strings.Join(to(strings.Fields(lines[line])), " ") + "\n"
		return strings.Join(changed, "")
	}
	body := func(line int) []string { // its literals, with the 0
		words := strings.Fields(lines[line])[1:]
		return words[:slices.Index(words, "0")+1]
	}
	exchanged := slices.Clone(lines)
	for to, from := range map[int]int{first: second, second: first} {
		id, rest, _ := strings.Cut(lines[to], " ")
		exchanged[to] = id + " " + strings.Join(body(from), " ") + strings.TrimPrefix(rest, strings.Join(body(to), " "))
	}
	without := func(line int) string { return strings.Join(slices.Delete(slices.Clone(lines), line, line+1), "") }
	for what, broken := range map[string][2]string{
		"a missing lemma":    {whole[0], without(lemma)},
		"a cube left out":    {whole[0], without(first)},
		"no end":             {whole[0], without(len(lines) - 1)},
		"two pieces swapped": {whole[0], strings.Join(exchanged, "")},
		"a wrong hint": {whole[0], change(first, func(words []string) []string {
			return append(words[:len(words)-2], "1", "0")
		})},
		"a literal too few": {whole[0], change(lemma, func(words []string) []string {
			return slices.Delete(words, 1, 2)
		})},
		"of another formula": {in("other.cnf"), strings.Join(lines, "")},
	} {
		if what == "of another formula" {
			try("run", "sat", "--workers", "1", "--waerden", "3,6,31", "--formula", broken[0])
		}
		proof := write("broken.lrat", broken[1])
		if _, err := lrat.Check(strings.NewReader(read(broken[0])), strings.NewReader(broken[1])); err == nil {
			t.Errorf("%s: our checker accepts it", what)
		}
		for _, c := range publicCheckers {
			if ok, said := accepted(t, c.command, c.right, broken[0], proof); ok {
				t.Errorf("%s: %s accepts it: %s", what, c.command[0], said)
			}
		}
	}
}
