package house_test

import (
	"os"
	"testing"

	"github.com/satin-peer/satin/internal/house"
)

// rules are all the rules, by the name of the test that applies them.
var rules = map[string]func(*house.Tree) []string{
	"Imports":     house.Imports,
	"Sizes":       house.Sizes,
	"Methods":     house.Methods,
	"Width":       house.Width,
	"Prints":      house.Prints,
	"Guards":      house.Guards,
	"PackageDocs": house.PackageDocs,
	"Names":       house.Names,
	"State":       house.State,
	"Links":       house.Links,
	"Citations":   house.Citations,
	"CitedTests":  house.CitedTests,
	"NamedRooms":  house.NamedRooms,
	"Model":       house.Model,
	"Blocking":    house.Blocking,
}

// TestRepository applies every rule to this repository.
func TestRepository(t *testing.T) {
	tree, err := house.Load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.Files) == 0 || tree.Module != "github.com/satin-peer/satin" {
		t.Fatalf("read %d Go files of module %q: this is not the repository", len(tree.Files), tree.Module)
	}
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			for _, problem := range rule(tree) {
				t.Error(problem)
			}
		})
	}
}
