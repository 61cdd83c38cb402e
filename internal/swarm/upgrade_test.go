//go:build swarm

package swarm_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/swarm"
)

// A campaign goes on while daemons are upgraded, one after the other, to this version from an earlier one, whose
// program SATIN_OLD names: both work for it at the same time, for the owner of either version, and the proof is whole.
func TestUpgradedHalfWay(t *testing.T) {
	old := os.Getenv("SATIN_OLD")
	if old == "" {
		t.Skip("make test-upgrade says which version is the earlier one")
	}
	s, ctx := empty(t)
	s.Others = map[int]string{0: old, 1: old, 2: old, 3: old}
	for range 4 {
		if _, err := s.Start(ctx); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "w")
	if _, err := s.Peers[0].Command(ctx, "campaign", "new", dir, "--parts", "24", "--", "sat", "--waerden",
		"3,11,114"); err != nil {
		t.Fatal(err)
	}
	upgrade := func(p *swarm.Process) {
		t.Helper()
		delete(s.Others, p.Number)
		if err := p.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := p.Restart(ctx); err != nil {
			t.Fatal(err)
		}
	}
	campaign := func() <-chan error {
		ended := make(chan error, 1)
		go func() {
			_, err := s.Peers[0].Command(ctx, "campaign", "run", dir, "--at-once", "2")
			ended <- err
		}()
		return ended
	}
	taken := func(p *swarm.Process) uint64 {
		t.Helper()
		st, err := p.Client().Status(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return st.Work.Taken
	}
	// until waits for something while the campaign goes on.
	until := func(ended <-chan error, what string, is func() bool) {
		t.Helper()
		for !is() {
			select {
			case err := <-ended:
				t.Fatalf("it ended before %s: %v", what, err)
			case <-ctx.Done():
				t.Fatalf("never %s", what)
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	ended := campaign()
	until(ended, "a part was proved", func() bool { return proved(t, dir) > 0 })
	for _, p := range s.Peers[1:3] {
		upgrade(p)
		until(ended, "who was upgraded stole from who was not", func() bool { return taken(p) > 0 })
	}
	upgrade(s.Peers[0]) // the owner
	<-ended             // its command may have failed with the old daemon
	half := proved(t, dir)
	last := s.Peers[3]
	before := taken(last)
	ended = campaign()
	until(ended, "who was not upgraded stole from who was", func() bool { return taken(last) > before })
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if out, err := s.Peers[0].Command(ctx, "campaign", "check", dir); err != nil ||
		!strings.HasPrefix(out, "s VERIFIED UNSAT") {
		t.Errorf("%q, %v", out, err)
	}
	t.Logf("%d of %d parts were proved when the owner had been upgraded", half, proved(t, dir))
}

// proved counts the parts of a campaign that are.
func proved(t *testing.T, dir string) int {
	records, err := filepath.Glob(filepath.Join(dir, "pieces", "[0-9]*[0-9].json"))
	if err != nil {
		t.Fatal(err)
	}
	return len(records)
}
