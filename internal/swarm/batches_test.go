//go:build swarm

package swarm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A batch goes on after the daemon that it asked was killed: every line has its answer in the end, what was answered is
// not asked again, and no run was begun twice.
func TestBatchOutlivesItsDaemon(t *testing.T) {
	s, ctx := start(t, 2)
	owner, dir := s.Peers[0], filepath.Join(t.TempDir(), "answers")
	file := filepath.Join(t.TempDir(), "lines")
	const lines = 8
	text := strings.Repeat("16\n", lines)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	batch := func() error {
		_, err := owner.Command(ctx, "run", "nqueens", "--each", file, "--results", dir, "--at-once", "2")
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- batch() }()
	there(t, ctx, filepath.Join(dir, "*.json"), 2)
	there(t, ctx, filepath.Join(dir, "*.run"), 2)
	if err := owner.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Fatal("the batch was over before its daemon was killed")
	}
	written := map[string]time.Time{}
	for _, name := range there(t, ctx, filepath.Join(dir, "*.json"), 2) {
		written[name] = changed(t, name)
	}
	if err := owner.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	if err := batch(); err != nil {
		t.Fatal(err)
	}
	for i, name := range there(t, ctx, filepath.Join(dir, "*.json"), lines) {
		b, err := os.ReadFile(name)
		right := strings.Contains(string(b), "14772512") && filepath.Base(name) == fmt.Sprintf("%04d.json", i+1)
		if err != nil || !right {
			t.Errorf("%s has %s, %v", name, b, err)
		}
		if was, ok := written[name]; ok && !changed(t, name).Equal(was) {
			t.Errorf("%s was written again", name)
		}
	}
	out, err := owner.Command(ctx, "runs", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var runs []json.RawMessage
	if err := json.Unmarshal([]byte(out), &runs); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if len(runs) > lines {
		t.Errorf("%d runs for %d lines: %s", len(runs), lines, out)
	}
}

// there waits until so many files are there, and gives all.
func there(t *testing.T, ctx context.Context, pattern string, n int) (found []string) {
	t.Helper()
	until(t, ctx, fmt.Sprintf("%d files %s are there", n, pattern), func() bool {
		var err error
		if found, err = filepath.Glob(pattern); err != nil {
			t.Fatal(err)
		}
		return len(found) >= n
	})
	return found
}

func changed(t *testing.T, name string) time.Time {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}
