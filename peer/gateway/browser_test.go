//go:build browser

package gateway_test

import (
	"bufio"
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

// A stage is two daemons of one core each: one has runs, the other one a gateway.
type stage struct {
	t              *testing.T
	ctx            context.Context
	swarm          *swarm.Swarm
	owner, gateway *swarm.Process
	seen           []string // runs that pages were opened for
}

func newStage(t *testing.T) *stage {
	ctx, cancel := context.WithTimeout(t.Context(), 12*time.Minute)
	t.Cleanup(cancel)
	binary, err := swarm.Build(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &swarm.Swarm{Binary: binary, Dir: t.TempDir()}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	for range 2 {
		if _, err := s.Start(ctx, "SATIN_WORKERS=1"); err != nil {
			t.Fatal(err)
		}
	}
	return &stage{t: t, ctx: ctx, swarm: s, owner: s.Peers[0], gateway: s.Peers[1]}
}

// run runs a program, and gives what it printed when it has ended.
func (x *stage) run(args ...string) (ended <-chan string) {
	out := make(chan string, 1)
	go func() {
		text, err := x.swarm.Run(x.ctx, x.owner, args...)
		out <- fmt.Sprint(strings.NewReplacer(",", "", " ", "").Replace(text), err)
	}()
	return out
}

// begun waits until the gateway's daemon has heard of the run that has begun last.
func (x *stage) begun() (run string) {
	for run == "" { // until it has heard of the run
		runs, err := x.gateway.Client().Runs(x.ctx)
		if err != nil {
			x.t.Fatal(err)
		}
		for _, r := range runs {
			if r.State == control.RunRunning && !slices.Contains(x.seen, r.Run) {
				run = r.Run
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	x.seen = append(x.seen, run)
	return run
}

// visit opens pages for the run that has begun last, as a part of page.mjs says, and waits for them.
func (x *stage) visit(part string) (run string) {
	run = x.begun()
	x.open(part, nil, run)
	return run
}

// link is one by the gateway.
func (x *stage) link(args ...string) string {
	x.t.Helper()
	text, err := x.gateway.Command(x.ctx, append([]string{"share"}, args...)...)
	if err != nil {
		x.t.Fatal(err)
	}
	return strings.TrimSpace(text)
}

// open opens pages by a link, and waits for them. ready is called once when they have work to begin.
func (x *stage) open(part string, ready func(), link ...string) {
	x.t.Helper()
	x.show("page.mjs", x.link(link...), ready, part)
}

// show runs a script that opens pages by a link. Asked is called whenever it asks for something.
func (x *stage) show(script, link string, asked func(), more ...string) {
	x.t.Helper()
	page := exec.CommandContext(x.ctx, "node", append([]string{"testdata/" + script, link}, more...)...)
	page.Stderr = os.Stderr
	in, err := page.StdinPipe()
	if err != nil {
		x.t.Fatal(err)
	}
	out, err := page.StdoutPipe()
	if err == nil {
		err = page.Start()
	}
	if err != nil {
		x.t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		asked()
		_, _ = in.Write([]byte("{}\n")) // the script says what is wrong then
	}
	if err := page.Wait(); err != nil {
		x.t.Error("the page:", err)
	}
}

func (x *stage) printed(ended <-chan string, want string) {
	x.t.Helper()
	if out := <-ended; !strings.Contains(out, want) {
		x.t.Errorf("want %q: %s", want, out)
	}
}

// Pages in Chromium help two daemons: what visitors see and do, with a run that lasts until it is cancelled; and four
// of one core each, one of which crashes in the middle, with one whose answer was published; four with one whose jobs
// share a lattice. go test -tags browser, after npm ci in dashboard/web and go run ./internal/tab/pack.
func TestVisitorsInBrowser(t *testing.T) {
	x := newStage(t)
	long := x.run("nqueens", "20")
	if _, err := x.owner.Command(x.ctx, "cancel", x.visit("looks")); err != nil {
		t.Fatal(err)
	}
	<-long
	exact := x.run("nqueens", "18")
	x.visit("helps")
	x.printed(exact, "666090624")
	var tour <-chan string
	x.open("waits", func() { tour = x.run("tsp", "--random", "128", "--seed", "2") }, "--all")
	x.printed(tour, "length85661")
}

// Four tabs and two daemons solve modules exactly: one from C, which the browsers' own engine runs, one tab of which
// crashes, and one whose jobs share a lattice. The numbers are OEIS A000170 and A003022.
func TestModulesInBrowser(t *testing.T) {
	x := newStage(t)
	var queens, ruler <-chan string
	x.open("waits and crashes", func() { queens = x.run("../../examples/queens-c/queens.wasm", "16") }, "--all")
	x.printed(queens, "14772512")
	x.open("waits", func() { ruler = x.run("../../examples/golomb-c/golomb.wasm", "11") }, "--all")
	x.printed(ruler, "72")
}
