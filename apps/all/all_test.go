package all

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/apps/apptest"
	"github.com/satin-peer/satin/apps/sources"
)

// The versions that applications tell are those of their sources.
func TestVersions(t *testing.T) {
	for _, app := range Apps() {
		if err := sources.Check("../"+app.Name, app.Version); err != nil {
			t.Errorf("%s: %v", app.Name, err)
		}
	}
}

// A title, which all members see, says of a file what it is called, and not where it lies on its user's machine.
func TestTitlesSayNotWhere(t *testing.T) {
	for name, text := range map[string]string{
		"sat": "p cnf 1 1\n1 0\n", "grammar": "1 2 1 1 0\n",
		"raytracer": "v\nfrom 0 0 -5\nat 0 0 0\nup 0 1 0\nangle 45\nhither 1\nresolution 8 8\n" +
			"f 1 1 1 1 0 0 0 1\ns 0 0 0 1\n",
		"tsp": "TYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\n" +
			"EDGE_WEIGHT_SECTION\n0 1 1\n1 0 1\n1 1 0\nEOF\n",
	} {
		file := filepath.Join(t.TempDir(), "input")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		list := Apps()
		i := slices.IndexFunc(list, func(a apps.App) bool { return a.Name == name })
		p, err := apptest.Setup(list[i], file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(p.Title, "input") || strings.Contains(p.Title, filepath.Dir(file)) {
			t.Errorf("%s says that it is about %q", name, p.Title)
		}
	}
}

// The applications are listed by name, each once.
func TestSortedByName(t *testing.T) {
	byName := func(a, b apps.App) int { return strings.Compare(a.Name, b.Name) }
	if list := Apps(); !slices.IsSortedFunc(list, byName) {
		t.Error("the applications are not sorted by name")
	} else if len(slices.CompactFunc(list, func(a, b apps.App) bool { return a.Name == b.Name })) != len(Apps()) {
		t.Error("two applications have the same name")
	}
}
