package peer_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/compute/child"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
)

func init() { satin.Register("peertest.bottomless", bottomless) }

// bottomless recurses until no stack is deep enough, which nothing in the process can catch. Its frames are large: what
// takes time is to move many frames whenever the stack grows.
func bottomless(f *satin.Frame, n int) int {
	var room [1 << 11]int
	room[n%len(room)] = n
	//lint:ignore SA5007 that is what it is for
	return bottomless(f, n+1) + room[n/2%len(room)]
}

// TestMain is the process that a peer's jobs run in, or a daemon with a gateway, if it is told so.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "compute" {
		os.Exit(child.Main(os.Stdin, os.Stdout))
	}
	if len(os.Args) == 4 && os.Args[1] == "gateway" {
		if err := gatewayMain(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if !underRaceDetector { // it makes of tests that wait for each other tests that compute
		if err := flag.Set("test.parallel", "8"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// inProcesses has a peer's jobs run in processes of their own, with little memory, so that their stacks overflow soon:
// with half as much, memory may be short before. The race detector needs much more for itself.
func inProcesses(t testing.TB) func(*peer.Config) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	memory := int64(512 << 20)
	if underRaceDetector {
		memory = 8 << 30
	}
	return func(c *peer.Config) { c.Compute, c.Memory = []string{self, "compute"}, memory }
}

// A job that ends its process costs this peer its part, and the second time the run is left alone, after a restart
// too, until somebody lifts that. Everything else goes on.
func TestJobsThatKill(t *testing.T) {
	if testing.Short() {
		t.Skip("make race runs the short tests, and its detector needs more memory than the limit here leaves")
	}
	t.Parallel()
	dir := t.TempDir()
	a := open(t, hasty, in(dir), inProcesses(t))
	good := submit(t, a, "count", last(t).arg)
	bad := submit(t, a, "bottomless", 0)
	o, err := a.Wait(deadline(t), bad, nil)
	if err != nil {
		t.Fatal(err)
	}
	if o.State != control.RunRefused {
		t.Errorf("the run is %s: %+v", o.State, o)
	}
	why := runs(t, a)[bad].Why
	if !runs(t, a)[bad].Quarantined || runs(t, a)[good].Quarantined {
		t.Error("not that run alone is said to be in quarantine")
	}
	if !strings.HasPrefix(why, "in quarantine here: the process that computes for it ended twice (") ||
		!strings.Contains(why, "stack overflow") || !strings.Contains(why, bad) {
		t.Errorf("the user is told %q", why)
	}
	if stateOf(t, a, good) != control.RunRunning {
		t.Errorf("the other run is %s", stateOf(t, a, good))
	}
	if got := await[int](t, a, submit(t, a, "fib", 25)); got != 75025 {
		t.Errorf("fib(25) = %d", got)
	}
	found := ""
	findings, err := a.Doctor(deadline(t))
	for _, f := range findings {
		if f.Check == "quarantine" {
			found = f.Text + f.Fix
		}
	}
	if err != nil || !strings.Contains(found, bad) {
		t.Errorf("the doctor says %q, %v", found, err)
	}

	a.Close()
	a = open(t, hasty, in(dir), inProcesses(t))
	until(t, "the run is known again", func() bool { return runs(t, a)[bad].Why != "" })
	if r := runs(t, a)[bad]; r.State != control.RunRefused || !strings.Contains(r.Why, "quarantine") {
		t.Errorf("after a restart the run is %s: %s", r.State, r.Why)
	}
	if _, err := a.ResumeRun(deadline(t), control.Resumption{Run: bad}); err != nil {
		t.Fatal(err)
	}
	until(t, "the run is in quarantine again", func() bool {
		r := runs(t, a)[bad]
		return r.State == control.RunRefused && strings.Contains(r.Why, "quarantine")
	})
	if err := a.Cancel(deadline(t), bad); err != nil {
		t.Fatal(err)
	}
	until(t, "nothing is left of it", func() bool {
		left, err := filepath.Glob(filepath.Join(dir, "deaths", "*"))
		return err == nil && len(left) == 0
	})
}

// A job that has killed the processes of two peers fails the run, with its name, instead of travelling on: here the
// root, which goes to the deputy when its owner leaves the run alone.
func TestJobThatKillsTwo(t *testing.T) {
	if testing.Short() {
		t.Skip("make race runs the short tests, and its detector needs more memory than the limit here leaves")
	}
	t.Parallel()
	peers := swarm(t, 2, hasty, inProcesses(t))
	until(t, "they know each other", func() bool {
		for _, p := range peers {
			if list, err := p.Peers(deadline(t)); err != nil || len(list) == 0 {
				return false
			}
		}
		return true
	})
	bad := submit(t, peers[0], "bottomless", 0)
	o, err := peers[0].Wait(deadline(t), bad, nil)
	for err == nil && o.State == control.RunRefused { // its owner's own process has died twice before the deputy's
		until(t, "the other one has tried it", func() bool { return stateOf(t, peers[0], bad) != control.RunRefused })
		o, err = peers[0].Wait(deadline(t), bad, nil)
	}
	if err != nil || o.State != control.RunFailed {
		t.Fatalf("the run is %s, %v: %+v", o.State, err, o)
	}
	for _, want := range []string{"job " + bad[:8], "killed the processes of peers", "stack overflow"} {
		if !strings.Contains(o.Failure, want) {
			t.Errorf("the user is told %q, without %q", o.Failure, want)
		}
	}
}
