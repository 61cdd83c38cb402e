//go:build swarm

package swarm_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pieces waits until so many parts of a campaign are proved.
func pieces(t *testing.T, ctx context.Context, dir string, n int) {
	t.Helper()
	there(t, ctx, filepath.Join(dir, "pieces", "*.json"), n)
}

// A campaign goes on after its owner's daemon and a worker were killed, with what it had: its proofs are right, and the
// swarm goes on with parts that it was given.
func TestCampaignOutlivesItsOwner(t *testing.T) {
	s, ctx := start(t, 3)
	owner, dir := s.Peers[0], filepath.Join(t.TempDir(), "w10")
	if _, err := owner.Command(ctx, "campaign", "new", dir, "--parts", "24", "--", "sat", "--waerden",
		"3,10,97"); err != nil {
		t.Fatal(err)
	}
	run := func() error {
		_, err := owner.Command(ctx, "campaign", "run", dir, "--at-once", "3")
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- run() }()
	pieces(t, ctx, dir, 2)
	if err := s.Peers[2].Kill(); err != nil {
		t.Fatal(err)
	}
	pieces(t, ctx, dir, 4)
	if err := owner.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Fatal("the campaign was over before its owner was killed")
	}
	before, err := os.ReadDir(filepath.Join(dir, "pieces"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []int{2, 0} {
		if err := s.Peers[p].Restart(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(); err != nil {
		t.Fatal(err)
	}
	for _, f := range before { // what was proved was not computed again
		was, err := f.Info()
		if err != nil || !strings.HasSuffix(f.Name(), ".json") {
			continue
		}
		is, err := os.Stat(filepath.Join(dir, "pieces", f.Name()))
		if err != nil || !is.ModTime().Equal(was.ModTime()) {
			t.Errorf("%s was written again, or is gone: %v", f.Name(), err)
		}
	}
	out := filepath.Join(t.TempDir(), "out")
	if _, err := owner.Command(ctx, "campaign", "export", dir, out); err != nil {
		t.Fatal(err)
	}
	proof := filepath.Join(t.TempDir(), "w10.lrat.gz")
	if _, err := owner.Command(ctx, "campaign", "proof", out, proof); err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{{"campaign", "check", out}, {"check", filepath.Join(out, "formula.cnf"), proof}} {
		if text, err := owner.Command(ctx, words...); err != nil || !strings.HasPrefix(text, "s VERIFIED UNSAT") {
			t.Errorf("%q: %q, %v", words, text, err)
		}
	}
	page, err := os.ReadFile(filepath.Join(out, "index.html"))
	if err != nil || !strings.Contains(string(page), "24 of 24 parts are proved") {
		t.Errorf("the page says otherwise, %v", err)
	}
	if strings.Contains(string(page), "12D3KooW") {
		t.Error("the page names peers")
	}
}
