package all

import (
	"slices"
	"strings"
	"testing"

	"github.com/satin-peer/satin/apps"
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

// The applications are listed by name, each once.
func TestSortedByName(t *testing.T) {
	byName := func(a, b apps.App) int { return strings.Compare(a.Name, b.Name) }
	if list := Apps(); !slices.IsSortedFunc(list, byName) {
		t.Error("the applications are not sorted by name")
	} else if len(slices.CompactFunc(list, func(a, b apps.App) bool { return a.Name == b.Name })) != len(Apps()) {
		t.Error("two applications have the same name")
	}
}
