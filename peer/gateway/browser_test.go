//go:build browser

package gateway_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/swarm"
	"github.com/satin-peer/satin/peer/control"
)

// Pages in Chromium help two daemons: what visitors see and do, with a run that lasts until it is cancelled; and four
// cores of two pages, one of which crashes in the middle, with one whose answer was published; the same four with one
// whose jobs share a lattice. go test -tags browser, after npm ci in dashboard/web and go run ./internal/tab/pack.
func TestVisitorsInBrowser(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 12*time.Minute)
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
	run := func(args ...string) (ended <-chan string) {
		out := make(chan string, 1)
		go func() {
			text, err := s.Run(ctx, owner, args...)
			out <- fmt.Sprint(text, err)
		}()
		return out
	}
	visit := func(part string, not ...string) (name string) {
		for name == "" { // until it has heard of the run
			runs, err := gateway.Client().Runs(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range runs {
				if r.State == control.RunRunning && !slices.Contains(not, r.Run) {
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
	long := run("nqueens", "20")
	first := visit("looks")
	if _, err := owner.Command(ctx, "cancel", first); err != nil {
		t.Fatal(err)
	}
	<-long
	exact := run("nqueens", "18")
	second := visit("helps", first)
	if out := <-exact; !strings.Contains(strings.NewReplacer(",", "", " ", "").Replace(out), "666090624") {
		t.Errorf("18 queens: %s", out)
	}
	tour := run("tsp", "--random", "128", "--seed", "2") // its jobs share the best tour
	visit("shares", first, second)
	if out := <-tour; !strings.Contains(out, "length 85661") {
		t.Errorf("the tour: %s", out)
	}
}
