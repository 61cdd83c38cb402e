//go:build browser

package dashboard_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/swarm"
)

// The page of a daemon in Chromium, in a swarm of four real processes that solve a run together: what each
// view shows, what it says when a process is killed, and when its own daemon is.
func TestLiveSwarmInBrowser(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
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
		for i, p := range s.Peers {
			if t.Failed() {
				log := strings.Split(p.Log(), "\n")
				t.Logf("peer %d:\n%s", i, strings.Join(log[max(0, len(log)-20):], "\n"))
			}
		}
	}()
	for i := range 4 {
		if _, err := s.Start(ctx, fmt.Sprintf("SATIN_CLUSTER=site%d", i%2)); err != nil {
			t.Fatal(err)
		}
	}
	mine, last := s.Peers[0], s.Peers[3]
	lost, err := last.Client().Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan string, 1)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	converse(t, ctx, "web/test/live.mjs", func(w wish) map[string]any {
		answer := map[string]any{}
		switch w.Do {
		case "link":
			link, err := mine.Command(ctx, "dashboard")
			must(err)
			answer["link"] = strings.TrimSpace(link)
		case "run": // for longer than anybody waits
			go func() {
				_, err := s.Run(ctx, mine, "nqueens", "20")
				ended <- fmt.Sprint(err)
			}()
		case "ended":
			select {
			case answer["why"] = <-ended:
			case <-ctx.Done():
				must(ctx.Err())
			}
		case "kill":
			must(last.Kill())
			answer["peer"] = lost.Peer
		case "stop":
			must(mine.Signal(syscall.SIGKILL))
			<-mine.Ended()
		case "restart":
			must(mine.Restart(ctx))
		case "again":
			out, err := s.Run(ctx, mine, "nqueens", "10")
			must(err)
			answer["out"] = out
		case "module":
			out, err := s.Run(ctx, mine, "../examples/queens-c/queens.wasm", "13")
			must(err)
			answer["out"] = out
		}
		return answer
	})
}
