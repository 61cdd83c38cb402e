package main

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/satin-peer/satin/apps/all"
)

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
