package house_test

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// Guards that no pinned dependency is forgotten: each folder with a go.mod or a package.json, which are the only names
// that dependabot finds them by, stands in its configuration, and no other file pins any.
func TestUpdatesAreAskedFor(t *testing.T) {
	b, err := os.ReadFile("../../.github/dependabot.yml")
	if err != nil {
		t.Fatal(err)
	}
	asked := strings.FieldsFunc(string(b), func(r rune) bool { return strings.ContainsRune(" ,[]\n", r) })
	err = fs.WalkDir(os.DirFS("../.."), ".", func(name string, d fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case d.IsDir() && (base == "node_modules" || base == ".git" || base == "bin"):
			return fs.SkipDir
		case base == "go.mod" || base == "package.json":
			if folder := path.Join("/", path.Dir(name)); !slices.Contains(asked, folder) {
				t.Errorf(".github/dependabot.yml has no %s, which has a %s", folder, base)
			}
		case path.Ext(base) == ".mod" && !d.IsDir():
			t.Errorf("%s: dependabot looks for go.mod only: give it a folder of its own", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
