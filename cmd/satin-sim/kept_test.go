package main

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/satin-peer/satin/internal/sim"
)

// Guards that a page that was interrupted goes on with the runs that had ended, those that were given up with them, and
// with those of no other program or page.
func TestRunsAreKept(t *testing.T) {
	dir, ran := t.TempDir(), 0
	made := &sim.Report{Elapsed: 7, Result: sim.Result{Leaves: 3}, Counts: sim.Counts{Events: 1 << 60},
		Timeline: [][]float64{{0.1, 1.0 / 3}}}
	get := func(program, page, name string, want *sim.Report, fail error) error {
		in, err := keptBy(dir, program, page)
		if err != nil {
			t.Fatal(err)
		}
		r, err := in.once(name, func() (*sim.Report, error) { ran++; return want, fail })
		if err == nil && !reflect.DeepEqual(r, want) {
			t.Errorf("%s of %s by %s is %+v, want %+v", name, page, program, r, want)
		}
		return err
	}
	failed := errors.New("failed")
	for _, c := range []struct {
		program, page, name string
		want                *sim.Report
		fail                error
		ran                 int
	}{
		{"a", "x", "0-1", made, nil, 1}, {"a", "x", "0-1", made, nil, 1}, {"a", "x", "0-2", nil, nil, 2},
		{"a", "x", "0-2", nil, nil, 2}, {"a", "x", "0-3", nil, failed, 3}, {"a", "x", "0-3", made, nil, 4},
		{"b", "x", "0-1", &sim.Report{}, nil, 5}, {"a", "y", "0-1", &sim.Report{Peers: 1}, nil, 6},
	} {
		if err := get(c.program, c.page, c.name, c.want, c.fail); !errors.Is(err, c.fail) || ran != c.ran {
			t.Errorf("%+v: %v after %d runs", c, err, ran)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "a", "x", "0-1.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := get("a", "x", "0-1", made, nil); err == nil {
		t.Error("half a report is read")
	}
}
