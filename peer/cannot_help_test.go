package peer

import (
	"reflect"
	"strings"
	"testing"

	"github.com/satin-peer/satin/internal/compute/child"
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
	if err != nil || !reflect.DeepEqual(built, again) {
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

// A run goes to those whose owners have allowed the very files that it needs, under whatever names. It cannot be
// verified: of what libraries, memory and time a machine has for them honest members would be put out.
func TestExecutables(t *testing.T) {
	bc := child.Program{Name: "bc", Path: "/bin/bc", Hash: [32]byte{1}}
	dc := child.Program{Name: "dc", Hash: [32]byte{2}}
	owner := &catalog{programs: []child.Program{bc, dc}}
	app := Application{Name: "sums", Executables: []string{"dc", "bc"}}
	needs, why := owner.needs(app)
	if why != "" || len(needs) != 2 || needs[0].Name != "dc" {
		t.Fatal(needs, why)
	}
	app.Executables = append(app.Executables, "ed")
	if _, why := owner.needs(app); !strings.HasPrefix(why, `sums needs the executable "ed": allow it by executables`) {
		t.Errorf("%q", why)
	}
	m := &statement.SignedManifest{Manifest: statement.Manifest{App: "sums", Executables: needs}}
	same := &catalog{programs: []child.Program{{Name: "mine", Path: "/x", Hash: [32]byte{1}},
		{Name: "bc", Hash: [32]byte{2}}}}
	lent, why := same.lent(m)
	if why != "" || !reflect.DeepEqual(lent, []child.Program{{Name: "dc", Hash: [32]byte{2}},
		{Name: "bc", Path: "/x", Hash: [32]byte{1}}}) {
		t.Errorf("%+v, %q", lent, why)
	}
	none := &catalog{programs: []child.Program{{Name: "dc", Hash: [32]byte{2}}, {Name: "bc", Hash: [32]byte{3}}}}
	const want = `the run needs the executable "bc" with the hash 01000000, which the setting executables does not ` +
		`allow here`
	if why := none.unfit(m); why != want {
		t.Errorf("%q, want %q", why, want)
	}
	verified := *m
	verified.Verify = "quorum=2"
	if why := owner.unfit(&verified); !strings.Contains(why, "cannot be verified") {
		t.Errorf("verified: %q", why)
	}
	for c, able := range map[*catalog]bool{owner: true, same: true, none: false, {}: false} {
		var card statement.Card
		for _, p := range c.programs {
			card.Apps = append(card.Apps, statement.App{Name: executableApp, Version: p.Hash})
		}
		card.Apps = append(card.Apps, statement.App{Name: "sums"})
		head := manifestOf(m)
		why := owner.lacks(&card, head)
		has := owner.has(&card, head, true)
		if has != able || able != (why == "") || !able && !strings.Contains(why, "executable") {
			t.Errorf("%+v: %v, %q", card.Apps, has, why)
		}
	}
}
