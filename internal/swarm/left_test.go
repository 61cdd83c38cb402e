//go:build swarm

package swarm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Proofs that stay with whoever finds them outlive a machine that is switched off without a word: those of parts that
// were too much for one run and were divided, and of parts of these. They are left by a verified run, in which two
// members have to leave the same; others check them when the machine is gone, and they are had from the copies of
// others.
func TestLeftProofsOutliveTheirMaker(t *testing.T) {
	s, ctx := empty(t)
	s.Invited = true   // else nobody can tell whether two are two
	for i := range 5 { // idle jobs would wait for those of other tests
		if _, err := s.Start(ctx, fmt.Sprintf("SATIN_CLUSTER=site%d", i%3), "SATIN_PRIORITY=normal"); err != nil {
			t.Fatal(err)
		}
	}
	owner, maker, dir := s.Peers[0], s.Peers[1], filepath.Join(t.TempDir(), "w8")
	try := func(want string, args ...string) {
		t.Helper()
		out, said, err := owner.CommandSays(ctx, append([]string{"campaign"}, args...)...)
		if err != nil || !strings.Contains(out+said, want) {
			t.Fatalf("%q: %q, %q, %v", args, out, said, err)
		}
	}
	try("2 parts", "new", dir, "--parts", "2", "--piece", "0.02", "--", "sat", "--waerden", "3,8,58")
	try("parts are with those who found them", "run", dir, "--stay", "--verify", "quorum=2")
	deeper, err := filepath.Glob(filepath.Join(dir, "parts", "*", "campaign.json"))
	if err != nil || len(deeper) == 0 {
		t.Fatalf("no part was divided: %v", err)
	}
	if home, err := filepath.Glob(filepath.Join(dir, "*", "*.lrat.gz")); err != nil || len(home) > 0 {
		t.Fatalf("%q have come home, %v", home, err)
	}
	head := copies(t, ctx, owner, dir, 2)
	if err := maker.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(maker.Dir); err != nil {
		t.Fatal(err)
	}
	try("pieces are checked by 2 others", "verdicts", dir)
	try("", "run", dir)
	again := filepath.Join(t.TempDir(), "again")
	try("campaign check", "collect", head, again)
	try("s VERIFIED UNSAT", "check", again)
	try("checks it", "proof", again, filepath.Join(t.TempDir(), "whole.lrat"))
}
