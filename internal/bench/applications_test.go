package main

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/satin-peer/satin/apps/all"
	"github.com/satin-peer/satin/internal/bench/ask"
)

// Guards that a speedup compares equals: the better of two runs is faster than one, of the twin as of two workers.
func TestTwinHasAsManyRuns(t *testing.T) {
	list := contestants(instances, make([]*ask.Program, 3))
	for _, e := range list {
		if runs := e.question[2]; runs != list[2].question[2] {
			t.Errorf("%s: of %v runs the best counts, and of %s of %v", e.name, runs, list[2].name, list[2].question[2])
		}
	}
}

// Every application is measured, and its instances are understood.
func TestEachApplicationIsMeasured(t *testing.T) {
	for _, app := range all.Apps() {
		if !slices.ContainsFunc(instances, func(i instance) bool { return i.app == app.Name }) {
			t.Errorf("%s has no instance", app.Name)
		}
		for _, i := range instances {
			if i.app == app.Name {
				fs := flag.NewFlagSet(app.Name, flag.ContinueOnError)
				read := app.Setup(fs)
				if err := fs.Parse(strings.Fields(i.args)); err != nil {
					t.Fatalf("%s: %v", i.name(), err)
				}
				if _, err := read(fs.Args()); err != nil {
					t.Errorf("%s: %v", i.name(), err)
				}
			}
		}
	}
}
