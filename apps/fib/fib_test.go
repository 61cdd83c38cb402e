package fib

import (
	"fmt"
	"testing"

	"github.com/satin-peer/satin/apps/apptest"
)

// The jobs come to the known values.
func TestKnownValues(t *testing.T) {
	// OEIS A000045.
	for n, want := range []int{0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597, 2584, 4181,
		6765} {
		if got := apptest.Solve(t, App, fmt.Sprint(n)); got != want {
			t.Errorf("fib(%d) = %v, want %d", n, got, want)
		}
	}
	if got := iterative(maxN); got != 2880067194370816120 {
		t.Errorf("fib(%d) = %d", maxN, got)
	}
}

// Wherever jobs give way to the sequential program, the number is the same.
func TestEveryThreshold(t *testing.T) {
	for threshold := range 17 {
		if got := apptest.Solve(t, App, fmt.Sprintf("15 --threshold %d", threshold)); got != 610 {
			t.Errorf("threshold %d: %v", threshold, got)
		}
	}
}

// Some two hundred thousand jobs, the smallest that there are, come to the known value.
func TestManyJobs(t *testing.T) {
	if got := apptest.Solve(t, App, "26"); got != 121393 {
		t.Error(got)
	}
}

// A wrong number is told from the right one, and the error names both.
func TestCheckNoticesAWrongAnswer(t *testing.T) {
	p, err := apptest.Setup(App, "10")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(56); err == nil || err.Error() != "fib(10) is 55, not 56" {
		t.Error(err)
	}
}

// A command line that makes no sense is refused with the word that is wrong and what is allowed there.
func TestBadInput(t *testing.T) {
	const want = ", want a whole number from 0 to 90"
	apptest.Refuse(t, App, map[string]string{
		"":                    `arguments: got "nothing", want exactly 1 (N)`,
		"1 2":                 `arguments: got "1 2", want exactly 1 (N)`,
		"91":                  `N: got "91"` + want,
		"ten":                 `N: got "ten"` + want,
		"9223372036854775808": `N: got "9223372036854775808"` + want,
		"5 --threshold=-1":    `--threshold: got "-1"` + want,
		"5 --threshold 91":    `--threshold: got "91"` + want,
	})
}

// The command can describe the application, and its examples work.
func TestDescribed(t *testing.T) { apptest.Described(t, App) }
