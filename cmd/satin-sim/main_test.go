package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/satin-peer/satin/apps/all"
	"github.com/satin-peer/satin/internal/sim/paper"
)

func output(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := run(args, &out, io.Discard); err != nil {
		t.Fatalf("satin-sim %s: %v", strings.Join(args, " "), err)
	}
	return out.String()
}

// Bad arguments give one line that names the argument and what is allowed.
func TestBadArguments(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.wan")
	badTree := filepath.Join(dir, "bad.tree")
	for name, text := range map[string]string{bad: "clusters 2 2\nset all 100 fast\n",
		badTree: "satin-tree 1 x\n1 5 5 5\n0 5 5\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args string
		want string
	}{
		{"", "no command is given"},
		{"walk", `there is no command "walk"; there are run, table, huge, exact, soak, liars, replay, record, nws, list`},
		{"run --policy best", `unknown steal policy "best"; there are acrs, adaptive,`},
		{"run --app fib", `there is no application model "fib"; there are integrate, nqueens, tsp, raytracer`},
		{"run --scenario scenario12", "--scenario: open scenario12: file does not exist"},
		{"run --scenario " + bad, `--scenario: bad.wan:2: latency (seconds, one way) "fast" is not a decimal number`},
		{"run --clusters 4,x", `--clusters "4,x": "x" is not a number of peers from 1 to 10000`},
		{"run --clusters 9999,9999", "--clusters: 19998 peers in 2 clusters; at most 10000 in 256 are possible"},
		{"run --latency -1s", "--latency -1s: 0 to 1h are possible"},
		{"run --bandwidth 0", "--bandwidth 0: 1 to 1e12 bytes per second are possible"},
		{"run --queens 30", "--queens 30: 8 to 16 are possible"},
		{"run --tree " + badTree, "--tree: bad.tree:3: 3 numbers; a job is four: children, cost, argument, result"},
		{"run --tree nowhere", "--tree: open nowhere: no such file or directory"},
		{"run --fault crash", `"crash" does not say when: KIND@TIME`},
		{"run --fault boredom@1s", `"boredom" is not a kind of fault; satin-sim list names them`},
		{"run --fault crash@soon", `time "soon": want something like 30s`},
		{"run --fault stall@1s+x", `duration "x": want something like 10s`},
		{"run --fault crash@1s,peer=x", `peer "x" is not a whole number`},
		{"run --fault crash@1s,pier=1", `"pier" is none of peer, peers, cluster, other, amount`},
		{"run --fault drop@1s,amount=lots", `amount "lots" is not a number`},
		{"run --fault crash@1s,peer=99", "fault crash: the peer is 99; peers are 0 to 63"},
		{"run --fault blackout@1s", "fault blackout: its length is 0s; somebody must come back"},
		{"run now", "run takes no arguments, not 1"},
		{"liars --rows 101", "at most 1000000000, as many, and 0 to 100"},
		{"table", "which table? satin-sim list names them"},
		{"table table9", `there is no table "table9"`},
		{"table table1 --seeds 0", "--seeds 0: 1 to 100 are possible"},
		{"exact --seeds 0", "--seeds 0: 1 to 1000000000 are possible"},
		{"exact --seeds many", `invalid value "many" for flag -seeds`},
		{"exact --kinds boredom", `"boredom" is not a kind of fault; satin-sim list names them`},
		{"huge --peers 65 --clusters 4", "65 peers in 4 clusters: 2 to 100000 are possible, as many in each cluster"},
		{"huge --peers 64", "--peers 64 in --clusters 4,64,80 for 1h0m0s: as many numbers of both, and 10s to 24h, are possible"},
		{"soak --seeds 0", "--seeds 0: 1 to 1000000000 are possible"},
		{"replay", "replay takes 1 argument, not 0"},
		{"record", "record what? satin-sim record --help shows examples"},
		{"record chess",
			`there is no application "chess"; there are barneshut, fib, gene, `},
		{"record nqueens", `arguments: got "nothing"`},
		{"record --runs nqueens", "record --runs N APP"},
		{"record --runs 0 nqueens 9", `--runs: got "0", want a whole number from 1 to 100`},
		{"record nqueens 99", `N: got "99"`},
		{"replay x", `"x" is not a seed, a whole number`},
	} {
		err := run(strings.Fields(c.args), io.Discard, io.Discard)
		if !errors.Is(err, errUsage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("satin-sim %s: error\n%v, want\n%s", c.args, err, c.want)
		}
	}
}

// A run prints its timeline and its figures, the same for the same command; with a trace it shows each fault and
// message.
func TestRun(t *testing.T) {
	args := []string{"run", "--queens", "10", "--clusters", "3,2", "--policy", "crs", "--timeline"}
	out := output(t, args...)
	for _, want := range []string{"cluster 1\np000 |", "cluster 2\np003 |", "run time ", "speedup ", "messages "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	figures := func(s string) string { // all but how long it took
		s, _, _ = strings.Cut(s, "simulation")
		return s
	}
	if again := output(t, args...); figures(again) != figures(out) {
		t.Errorf("the same command printed\n%sand\n%s", out, again)
	}
	faulty := output(t, "run", "--queens", "12", "--clusters", "3,2", "--fault", "crash@500ms,peer=2", "--fault",
		"drop@0s+1s,amount=0.5",
		"--fault", "partition-short@1s+300ms,peers=1-3", "--fault", "link-down@1s+1s,cluster=1,other=2", "--trace")
	for _, want := range []string{"fault begins: crash at 500ms, peer p002", "peers [1 3]", "link 1-2", "-> p001 ",
		"<- p000 ", " answers "} {
		if !strings.Contains(faulty, want) {
			t.Errorf("no %q in the trace", want)
		}
	}
}

// TestRecordedTreeRuns: what record prints, run --tree reads.
func TestRecordedTreeRuns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "queens.tree")
	text := output(t, "record", "--runs", "2", "nqueens", "8", "--threshold", "6")
	if !strings.HasPrefix(text, "satin-tree 1 nqueens 8 --threshold 6\n") {
		t.Errorf("the recording begins with %.60q", text)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := output(t, "run", "--tree", file, "--clusters", "2,2"); !strings.Contains(out, " on 4 workers") {
		t.Errorf("the run prints %s", out)
	}
}

// TestApplicationsAreRecorded: each job is done three times, which comes to the same if no job changes what it was
// given or what its children came to.
func TestApplicationsAreRecorded(t *testing.T) {
	lines := []string{"barneshut 100 --steps 2", "barneshut 100 --steps 2 --variant tree", "fib 10",
		"gene --generate 3,20,60 --threshold 9000", "grammar --generate 12 --words 300", "integrate sqrt",
		"knapsack 50 100 50 --generate strong --threshold 50", "nqueens 9 --threshold 5", "othello --depth 8",
		"othello --perft 5 --threshold 3", "raytracer balls --factor 2 --size 40x40",
		"sat --pigeonhole 5 --threshold 5", "tsp --random 12", "uts --depth 7 --threshold 50"}
	for _, app := range all.Apps() {
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, app.Name+" ") }) {
			t.Errorf("%s is not in this test", app.Name)
		}
	}
	for _, line := range lines {
		t.Run(line, func(t *testing.T) { output(t, append([]string{"record"}, strings.Fields(line)...)...) })
	}
}

// A schedule is replayed with every message as it was, so that a failure can be looked at; without some kinds of
// faults it is another one.
func TestReplayIsExact(t *testing.T) {
	first, second := output(t, "replay", "7"), output(t, "replay", "7")
	cut := func(s string) string { return s[:strings.LastIndex(s, "simulation")] }
	if cut(first) != cut(second) {
		t.Error("two replays of one seed differ")
	}
	if !strings.Contains(first, "policy ") || !strings.Contains(first, " answers ") {
		t.Errorf("the replay prints\n%.500s", first)
	}
	if calmer := output(t, "replay", "--kinds", "join,slow", "7"); cut(calmer) == cut(first) {
		t.Error("--kinds changes nothing")
	}
}

// Each of the other commands does its work and prints the form that its readers expect, and a portion of a soak is
// added to those of before.
func TestOtherCommands(t *testing.T) {
	if out := output(t, "exact", "--seeds", "3", "--from", "100"); !strings.HasPrefix(out,
		"3 schedules, 0 violations;") {
		t.Errorf("exact prints %s", out)
	}
	if out := output(t, "soak", "--seeds", "4", "--from", "96"); !strings.Contains(out,
		"4 of 4 schedules, 0 violations") || !strings.Contains(out, "--from 100 goes on") {
		t.Errorf("soak prints %s", out)
	}
	page := filepath.Join(t.TempDir(), "soak.md")
	for _, n := range []string{"5", "3"} { // an earlier portion is gone on with, and stays
		output(t, "soak", "--seeds", n, "--add", page, "--of", "c0ffee")
	}
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text),
		"| 0 | 4 | 5 | c0ffee | 0 |  |\n| 5 | 7 | 3 | c0ffee | 0 |  |\n\n8 schedules, 0 violations.") {
		t.Errorf("soaks add up to %s, %v", text, err)
	}
	if out := output(t, "huge", "--peers", "8,16", "--clusters", "2,2", "--time", "10s"); strings.Count(out, "| 16 | 2 |") != 2 ||
		!strings.Contains(out, "--time 10s`, ") {
		t.Errorf("huge prints %s", out)
	}
	if out := output(t, "list"); !strings.Contains(out, "scenario1 to scenario11") ||
		!strings.Contains(out, "clock-drift") {
		t.Errorf("list prints %s", out)
	}
	if out := output(t, "nws", "--seed", "2"); !strings.HasPrefix(out,
		"# Synthetic, not recorded: satin-sim nws --seed 2.") {
		t.Errorf("nws prints %.80s", out)
	}
	if out := output(t, "help"); !strings.Contains(out, "Examples:") {
		t.Errorf("help prints %s", out)
	}
	var out bytes.Buffer
	if err := run([]string{"run", "--help"}, &out, io.Discard); err == nil ||
		!strings.Contains(out.String(), "-timeline") {
		t.Errorf("run --help prints %s (%v)", out.String(), err)
	}
}

// TestPagesAreWrittenWhole: a page replaces the one before in one step and leaves nothing beside it.
func TestPagesAreWrittenWhole(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results")
	for range 2 {
		if err := deliver(new(paper.Document), dir, "page", io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "sim-page.md" {
		t.Errorf("the folder holds %v, %v", left, err)
	}
	if err := deliver(new(paper.Document), filepath.Join(dir, "sim-page.md"), "page", io.Discard); err == nil {
		t.Error("a page was written into a file as if it were a folder")
	}
}
