//go:build browser

package gateway_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/swarm"
	"github.com/satin-peer/satin/peer/control"
)

// Pages in Chromium help two daemons: what visitors see and do, with a run that lasts until it is cancelled; and four
// cores of two pages, one of which is closed in the middle, with one whose answer was published. go test -tags browser,
// after npm ci in dashboard/web and go run ./internal/tab/pack.
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
	run := func(queens string) (ended <-chan string) {
		out := make(chan string, 1)
		go func() {
			text, err := s.Run(ctx, owner, "nqueens", queens)
			out <- fmt.Sprint(text, err)
		}()
		return out
	}
	visit := func(part, not string) (name string) {
		for name == "" { // until it has heard of the run
			runs, err := gateway.Client().Runs(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range runs {
				if r.State == control.RunRunning && r.Run != not {
					name = r.Run
				}
			}
			time.Sleep(10 * time.Millisecond)
		}
		link, err := gateway.Command(ctx, "share", name)
		if err != nil {
			t.Fatal(err)
		}
		page := exec.CommandContext(ctx, "node", "testdata/page.mjs", strings.TrimSpace(link), part)
		page.Stdout, page.Stderr = os.Stderr, os.Stderr
		if err := page.Run(); err != nil {
			t.Error("the page:", err)
		}
		return name
	}
	long := run("20")
	first := visit("looks", "")
	if _, err := owner.Command(ctx, "cancel", first); err != nil {
		t.Fatal(err)
	}
	<-long
	exact := run("18")
	visit("helps", first)
	if out := <-exact; !strings.Contains(strings.NewReplacer(",", "", " ", "").Replace(out), "666090624") {
		t.Errorf("18 queens: %s", out)
	}
}
