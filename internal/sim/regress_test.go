package sim

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestRegressions runs the schedules again that once broke an invariant: testdata/regressions has their
// seeds, and what was wrong. Seeds mean other runs when Schedule draws otherwise; then those that were found
// before are only seeds like any other.
func TestRegressions(t *testing.T) {
	file, err := os.Open("testdata/regressions")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		word, about, _ := strings.Cut(lines.Text(), "#")
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		seed, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			t.Fatalf("testdata/regressions: %q is not a seed", word)
		}
		if _, err := Run(Schedule(seed, FaultKinds())); err != nil {
			t.Errorf("seed %d, where once%s: %v", seed, about, err)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}
