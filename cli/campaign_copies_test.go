package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satin-peer/satin/peer/control"
)

// Guards that a campaign is had again from what members keep of it; that what cannot be had is said, tried again and
// not counted as proved; and that a list which others made writes nothing outside of the directory.
func TestCampaignCopies(t *testing.T) {
	m, dir := newFakeMember(), filepath.Join(t.TempDir(), "w")
	f := newFake()
	f.dirs = home(t)
	try := func(code int, want string, args ...string) string {
		t.Helper()
		f.out.Reset()
		f.err.Reset()
		got := f.runReal(append([]string{"campaign"}, args...)...)
		if text := f.out.String() + f.err.String(); got != code || !strings.Contains(text, want) {
			t.Fatalf("%v: exit code %d, %q", args, got, text)
		}
		return f.out.String()
	}
	try(0, "parts", "new", dir, "--parts", "4", "--", "sat", "--waerden", "3,5,22")
	try(exitFailed, "no daemon", "copies", dir)
	try(0, "all 4 parts are proved", "run", dir, "--workers", "1")
	f = f.withDaemon(t, m)
	var said struct {
		Deposits int
		Fewest   int `json:"fewest_copies"`
		Head     string
	}
	if err := json.Unmarshal([]byte(try(0, "", "copies", dir, "--json")), &said); err != nil {
		t.Fatal(err)
	}
	if said.Deposits != 11 || said.Fewest != 2 { // plan, formula, four pieces and their records, and the head
		t.Errorf("it says %+v", said)
	}
	again := filepath.Join(t.TempDir(), "again")
	try(0, "campaign check", "collect", said.Head, again)
	try(0, "s VERIFIED UNSAT", "check", again)

	// another campaign, a file and a whole one that is there again
	other := filepath.Join(t.TempDir(), "other")
	try(0, "parts", "new", other, "--parts", "4", "--", "sat", "--waerden", "3,5,23")
	try(exitBadInput, "a directory with another campaign", "collect", said.Head, other)
	if err := os.Remove(filepath.Join(other, planFile)); err != nil { // as one that is half there
		t.Fatal(err)
	}
	try(exitBadInput, "a directory with another campaign", "collect", said.Head, other)
	try(exitFailed, "not a directory", "collect", said.Head, filepath.Join(dir, formulaFile))
	try(0, "campaign check", "collect", said.Head, again)

	// a record is renewed: copies are of what it is now
	record := filepath.Join(piecesDir, "0002.json")
	was, err := os.ReadFile(filepath.Join(dir, record))
	if err != nil {
		t.Fatal(err)
	}
	now := strings.Replace(string(was), "{", `{ "note": "later",`, 1)
	if err := os.WriteFile(filepath.Join(dir, record), []byte(now), 0o644); err != nil {
		t.Fatal(err)
	}
	renewed := filepath.Join(t.TempDir(), "renewed")
	_, line, _ := strings.Cut(try(0, "campaign collect", "run", dir)+f.err.String(), "campaign collect ")
	try(0, "campaign check", "collect", strings.Fields(line)[0], renewed)
	if got, err := os.ReadFile(filepath.Join(renewed, record)); err != nil || string(got) != now {
		t.Errorf("of a record that was renewed there is %s, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(dir, record), was, 0o644); err != nil {
		t.Fatal(err)
	}

	// one piece is with nobody
	var list copyList
	text, err := os.ReadFile(filepath.Join(dir, copiesFile))
	if err != nil || json.Unmarshal(text, &list) != nil {
		t.Fatal(err)
	}
	for name, hashes := range list.Files {
		if strings.HasSuffix(name, pieceEnd) {
			defer func(h string, b []byte) { m.deposits[h] = b }(hashes[0], m.deposits[hashes[0]])
			delete(m.deposits, hashes[0])
			break
		}
	}
	part := filepath.Join(t.TempDir(), "part")
	try(exitFailed, "2 files could not be had", "collect", said.Head, part)
	try(exitFailed, "3 of 4 parts have a right proof", "check", part)
	try(0, "", "copies", dir) // by whom it was made
	try(0, "campaign check", "collect", said.Head, part)
	try(0, "s VERIFIED UNSAT", "check", part)

	long := `{"files":{"formula.cnf":["` + strings.Repeat(said.Head+`","`, maxCut) + said.Head + `"]}}`
	for _, evil := range []string{`{"files":{"../x":[]}}`, `{"files":{"pieces/../../x.json":[]}}`, `{"files":[]}`, long} {
		l, err := m.Deposit(t.Context(), control.Deposit{Bytes: []byte(evil)})
		if err != nil {
			t.Fatal(err)
		}
		head, err := m.Deposit(t.Context(), control.Deposit{Bytes: []byte(`{"campaign_list":["` + l.Hash + `"]}`)})
		if err != nil {
			t.Fatal(err)
		}
		try(exitBadInput, "want the hash of a campaign's copies", "collect", head.Hash,
			filepath.Join(t.TempDir(), "evil"))
	}
	try(exitFailed, "cannot be had", "collect", strings.Repeat("ab", 32), part)
}
