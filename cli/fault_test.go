package cli

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A fault on the command line is read, or refused with what is allowed.
func TestParseFault(t *testing.T) {
	for text, want := range map[string]fault{
		"kill@30s":       {faultKill, 30 * time.Second, 0},
		"leave@1m30s":    {faultLeave, 90 * time.Second, 0},
		"stall@0s+500ms": {faultStall, 0, 500 * time.Millisecond},
	} {
		got, err := parseFault(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "kill", "kill@", "kill@soon", "kill@-1s", "kill@25h", "kill@30", "explode@3s", "@3s", "stall@3s",
		"stall@3s+", "stall@+3s", "stall@3s+0s", "stall@3s+-1s", "kill@3s+2s", "Kill@3s",
	} {
		if got, err := parseFault(text); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
}

// TestFaults lets a daemon have each fault: what is done to the process is said in the log, and leaving is
// what SIGTERM does.
func TestFaults(t *testing.T) {
	m := newFakeMember()
	f := starter(t, m)
	struck := make(chan fault, 2)
	f.strike = func(f fault) error {
		struck <- f
		return errors.New("not\ntoday")
	}
	code := make(chan int)
	go func() { code <- f.run("start", "--fault", "kill@1ms", "--fault", "stall@1ms+1h") }()
	got := []string{(<-struck).kind, (<-struck).kind}
	if slices.Sort(got); !slices.Equal(got, []string{faultKill, faultStall}) {
		t.Errorf("it was struck by %q", got)
	}
	f.caught <- syscall.SIGTERM
	if got := <-code; got != 0 || !strings.Contains(f.err.String(), `--fault kill@1ms: not\\ntoday`) {
		t.Errorf("exit code %d, %s", got, &f.err)
	}

	m = newFakeMember()
	f = starter(t, m)
	if got := f.run("start", "--fault", "leave@1ms"); got != 0 || !slices.Contains(m.asked, "leave") ||
		!strings.Contains(f.err.String(), "msg=leaving fault=leave@1ms") {
		t.Errorf("leave: exit code %d, asked %q, %s", got, m.asked, &f.err)
	}
}

// Whoever ends waits for the fault that it is having, and says what became of it; those to come do not come.
func TestDisarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := console{strike: func(fault) error { time.Sleep(time.Second); return errors.New("not today") }}
		said := make(chan string, 9)
		_, disarm := c.arm([]fault{{faultKill, time.Millisecond, 0}, {faultKill, 2 * time.Second, 0}},
			func(what string) { said <- what })
		<-said
		if disarm(); len(said) != 1 || <-said != "--fault kill@1ms: not today" {
			t.Error("nothing says what became of a fault")
		}
		time.Sleep(3 * time.Second)
		if len(said) > 0 {
			t.Errorf("after the end comes %q", <-said)
		}
	})
}

// TestFaultsOfRuns checks where a run may have faults.
func TestFaultsOfRuns(t *testing.T) {
	f := newFake().withDaemon(t, newFakeMember())
	if code := f.run("run", "count", "3", "--fault", "kill@1s"); code != exitBadInput ||
		!strings.Contains(f.err.String(), "give it to satin-peer start") {
		t.Errorf("with a daemon: exit code %d, %s", code, &f.err)
	}
	f = newFake()
	f.dirs = home(t)
	if code := f.run("run", "count", "3", "--fault", "leave@1s"); code != exitBadInput ||
		!strings.Contains(f.err.String(), "no swarm to leave") {
		t.Errorf("leaving without a swarm: exit code %d, %s", code, &f.err)
	}
	f = newFake()
	f.dirs = home(t)
	if code := f.run("run", "count", "3", "--recovery", "naive"); code != exitFailed ||
		!strings.Contains(f.err.String(), "start a daemon") {
		t.Errorf("recovery without a swarm: exit code %d, %s", code, &f.err)
	}
	m := newFakeMember()
	m.block = true
	f = starter(t, m)
	f.patience = time.Minute
	m.left = make(chan struct{})
	if code := f.run("run", "count", "3", "--join", "a", "--fault", "leave@1ms"); code != exitFailed ||
		!slices.Contains(m.asked, "leave") {
		t.Errorf("a peer of its own that leaves: exit code %d, asked %q, %s", code, m.asked, &f.err)
	}
}
