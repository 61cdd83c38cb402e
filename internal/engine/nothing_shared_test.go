package engine_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pathOfSpawn are the functions that a spawn, and the Get of its job, go through.
const pathOfSpawn = `^main\.fib$|satin\.(spawnSlow|mustGet|getSlow|by)|engine\.\(\*Worker\)\.(Spawn|SyncTo)$`

// TestSharingCostsASpawnNothing: that a program has functions which share values changes no instruction of a job that
// spawns and shares nothing, nor of what it calls for that.
func TestSharingCostsASpawnNothing(t *testing.T) {
	alone, sharing := instructions(t, "alone"), instructions(t, "sharing")
	if len(alone["main.fib"]) == 0 || len(alone) < 3 {
		t.Fatalf("found the instructions of %d functions", len(alone))
	}
	all, differ := 0, 0
	for name, want := range alone {
		got := sharing[name]
		all += len(want)
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				differ++
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwith sharing:\n%s", name, strings.Join(want, "\n"), strings.Join(got, "\n"))
		}
	}
	t.Logf("%d of %d instructions of %d functions differ", differ, all, len(alone))
}

var (
	instruction = regexp.MustCompile(`^\s+\S+\s+0x([0-9a-f]+)\s+[0-9a-f]+\s+(.*?)\s*$`)
	toData      = regexp.MustCompile(`-?0x[0-9a-f]+\((IP|PC)\)|\$\S*0x[0-9a-f]{6,}`)
	toCode      = regexp.MustCompile(`\b0x[0-9a-f]{5,}\b`)
)

// instructions are those of one of two programs, by function. Where data lie is left out, and jumps are relative.
func instructions(t *testing.T, program string) map[string][]string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), program)
	run := func(args ...string) string {
		out, err := exec.Command("go", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run("build", "-trimpath", "-o", binary, "./testdata/spawn/"+program)
	found := map[string][]string{}
	name, start := "", uint64(0)
	for line := range strings.Lines(run("tool", "objdump", "-s", pathOfSpawn, binary)) {
		if text, ok := strings.CutPrefix(line, "TEXT "); ok {
			name, _, _ = strings.Cut(text, "(SB)")
			start = 0
			continue
		}
		m := instruction.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		at, _ := strconv.ParseUint(m[1], 16, 64)
		if start == 0 {
			start = at
		}
		op := toData.ReplaceAllString(m[2], "DATA")
		op = toCode.ReplaceAllStringFunc(op, func(hex string) string {
			to, _ := strconv.ParseUint(hex[2:], 16, 64)
			return "+" + strconv.FormatInt(int64(to-start), 10)
		})
		found[name] = append(found[name], op)
	}
	return found
}
