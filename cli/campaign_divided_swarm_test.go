package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// Guards that parts are divided again where their runs are a swarm's: guesses, and parts of parts, are handed in to a
// daemon among three; all of it is proved, has copies, and is had again from these where the directory is not.
func TestDividedInASwarm(t *testing.T) {
	if testing.Short() {
		t.Skip("it is a minute of proofs under the race detector, by daemons that other tests have there")
	}
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "w")
	owner, d, end := startReal(t)
	defer end()
	status, err := d.Status(t.Context())
	if err != nil || len(status.Addresses) == 0 {
		t.Fatalf("status %+v, %v", status, err)
	}
	for range 2 {
		_, _, stop := startReal(t, "--join", status.Addresses[0])
		defer stop()
	}
	awaitPeers(t, d, 2)
	try := func(want string, args ...string) string {
		t.Helper()
		user := owner.asUser()
		got := user.runReal(append([]string{"campaign"}, args...)...)
		if text := user.out.String() + user.err.String(); got != 0 || !strings.Contains(text, want) {
			t.Fatalf("%v: exit code %d, %s", args, got, text)
		}
		return user.out.String()
	}
	try("2 parts", "new", dir, "--parts", "2", "--piece", "0.07", "--", "sat", "--waerden", "3,9,77")
	try("all 2 parts are proved", "run", dir)
	deeper, err := filepath.Glob(filepath.Join(dir, partsDir, "*", partsDir, "*", planFile))
	if err != nil || len(deeper) == 0 {
		t.Fatalf("no part of a part was divided: %v", err)
	}
	try("s VERIFIED UNSAT", "check", dir)
	var said struct{ Head string }
	if err := json.Unmarshal([]byte(try("", "copies", dir, "--json")), &said); err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(t.TempDir(), "again")
	try("campaign check", "collect", said.Head, again)
	try("s VERIFIED UNSAT", "check", again)
	try("2 of 2 were done before", "run", again)
}
