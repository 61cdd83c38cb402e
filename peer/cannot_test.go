package peer

import (
	"strings"
	"testing"

	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
)

// A card says what keeps its peer from a run: another version of the application, both named, or none of it.
func TestLacks(t *testing.T) {
	built, err := Built(map[string]string{"life": "aaa", "fib": ""})
	if err != nil {
		t.Fatal(err)
	}
	again, err := Built(map[string]string{"life": "aaa", "fib": ""})
	if err != nil || built[0] != again[0] || built[1] != again[1] {
		t.Errorf("%v and %v, %v: the same sources have two versions", built, again, err)
	}
	changed, err := Built(map[string]string{"life": "bbb"})
	if err != nil || changed[0].Version == built[1].Version {
		t.Errorf("%v: other sources have the same version, or %v", changed, err)
	}
	life := built[1]
	m := &runs.Manifest{App: "life", Version: string(life.Version[:]), Entry: "life.step"}
	c := &catalog{}
	for want, apps := range map[string][]statement.App{
		"": {{Name: "life", Version: life.Version}},
		"have version " + changed[0].Version.String() + " of life and the run needs " + life.Version.String(): {
			{Name: "fib", Version: life.Version}, {Name: "life", Version: changed[0].Version}},
		"do not have life": {{Name: "fib", Version: life.Version}},
	} {
		why := c.lacks(&statement.Card{Apps: apps}, m)
		if !strings.HasPrefix(why, want) || want == "" && why != "" {
			t.Errorf("%q, want %q", why, want)
		}
	}
}
