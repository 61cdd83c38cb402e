//go:build browser

package gateway_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/swarm"
)

// Four cores of two pages in Chromium help two daemons with a run, one page is closed in the middle of it, and the
// answer is the published one: go test -tags browser, after npm ci in dashboard/web and go run ./internal/tab/pack.
func TestVisitorsInBrowser(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	binary, err := swarm.Build(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &swarm.Swarm{Binary: binary, Dir: t.TempDir()}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	for range 2 {
		if _, err := s.Start(ctx, "SATIN_WORKERS=1"); err != nil {
			t.Fatal(err)
		}
	}
	owner, gateway := s.Peers[0], s.Peers[1]
	answer, failed := make(chan string, 1), make(chan error, 1)
	go func() {
		out, err := s.Run(ctx, owner, "nqueens", "17")
		failed <- err
		answer <- out
	}()
	link := ""
	for link == "" {
		runs, err := gateway.Client().Runs(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(runs) == 0 {
			time.Sleep(10 * time.Millisecond) // until it has heard of the run
			continue
		}
		if link, err = gateway.Command(ctx, "share", runs[0].Run); err != nil {
			t.Fatal(err)
		}
	}
	page := exec.CommandContext(ctx, "node", "testdata/page.mjs", strings.TrimSpace(link))
	page.Stdout, page.Stderr = os.Stderr, os.Stderr
	if err := page.Run(); err != nil {
		t.Error("the page:", err)
	}
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	if out := <-answer; !strings.Contains(strings.NewReplacer(",", "", " ", "").Replace(out), "95815104") {
		t.Errorf("17 queens: %s", out)
	}
}
