package sim

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestKnownWaste keeps the runs in view in which more work is done again than Config.Frugal allows, and
// nobody knows yet why: each seed of testdata/again/seeds must go wrong as it did when its trace was taken.
// When one does not, either the protocol has been cured, and the seed belongs to testdata/regressions, or the
// order of events is another, and the seed means nothing any more: then take its line out and leave the trace.
func TestKnownWaste(t *testing.T) {
	file, err := os.Open("testdata/again/seeds")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line, _, _ := strings.Cut(lines.Text(), "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		var seed uint64
		var again, of int
		if _, err := fmt.Sscan(line, &seed, &again, &of); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		_, err := Run(Schedule(seed, FaultKinds()))
		var v *Violation
		if !errors.As(err, &v) || v.Invariant != nothingInVain ||
			!strings.HasPrefix(v.Text, fmt.Sprintf("%d of %d leaves", again, of)) {
			t.Errorf("seed %d, in which %d of %d leaves ran again: %v", seed, again, of, err)
		}
		if n := traceLines(t, seed); n < 1000 {
			t.Errorf("the trace of seed %d has %d lines", seed, n)
		}
	}
}

// traceLines counts the lines of the trace that was taken of a seed.
func traceLines(t *testing.T, seed uint64) (n int) {
	file, err := os.Open(fmt.Sprintf("testdata/again/%d.trace.gz", seed))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(z); lines.Scan(); {
		n++
	}
	return n
}
