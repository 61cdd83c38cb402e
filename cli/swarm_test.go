package cli

import (
	"context"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/satin-peer/satin/apps/all"
	"github.com/satin-peer/satin/peer/control"
)

// runReal runs the command with the applications that are built in.
func (f *fake) runReal(args ...string) int { return run(args, all.Apps(), f.console) }

// startReal starts a real daemon on loopback, and gives a client of it and what ends it.
func startReal(t *testing.T, args ...string) (f *fake, d *control.Client, end func()) {
	t.Helper()
	f = newFake()
	f.dirs, f.open = home(t), openPeer(nil)
	quiet := []string{
		"start", "--trust", "open", "--workers", "1", "--mdns=false", "--dht=false", "--nat=false",
		"--listen", "/ip4/127.0.0.1/udp/0/quic-v1", "--listen", "/ip4/127.0.0.1/tcp/0",
		"--priority", "normal", // other tests may want all cores, and idle jobs would wait for them
	}
	code := make(chan int, 1)
	go func() { code <- f.runReal(append(quiet, args...)...) }()
	d = f.connected(t)
	return f, d, func() {
		d.Close()
		f.caught <- syscall.SIGTERM
		if got := <-code; got != 0 {
			t.Errorf("the daemon ended with exit code %d:\n%s", got, &f.err)
		}
	}
}

// asUser makes a console of the same user as another one.
func (f *fake) asUser() *fake {
	other := newFake()
	other.dirs, other.open = f.dirs, f.open
	return other
}

// TestRealSwarm forms a swarm of two daemons with the commands, and runs on it: in the foreground, detached,
// and from a peer that is there for one run only.
func TestRealSwarm(t *testing.T) {
	t.Parallel()
	first, d, endFirst := startReal(t)
	defer endFirst()
	status, err := d.Status(t.Context())
	if err != nil || len(status.Addresses) == 0 {
		t.Fatalf("status %+v, %v", status, err)
	}
	second, d2, endSecond := startReal(t, "--join", status.Addresses[0])
	defer endSecond()
	awaitPeers(t, d, 1)
	awaitPeers(t, d2, 1)

	for _, user := range []*fake{first.asUser(), second.asUser()} {
		if code := user.runReal("run", "nqueens", "9"); code != 0 || user.out.String() != "9 queens: 352 solutions\n" {
			t.Errorf("exit code %d, output %q, error %s", code, &user.out, &user.err)
		}
	}

	user := first.asUser()
	if code := user.runReal("run", "nqueens", "8", "--detach"); code != 0 {
		t.Fatalf("exit code %d: %s", code, &user.err)
	}
	id := strings.TrimSpace(user.out.String())
	for range 2 { // as often as one likes
		user = first.asUser()
		if code := user.runReal("wait", id[:8]); code != 0 || user.out.String() != "8 queens: 92 solutions\n" {
			t.Errorf("waiting for %s: exit code %d, output %q, error %s", id, code, &user.out, &user.err)
		}
	}
	id = knownRun(t, first, d2)
	user = second.asUser()
	if code := user.runReal("wait", id[:8]); code != exitFailed || user.out.Len() > 0 {
		t.Errorf("the answer to another's run: exit code %d, output %q, error %s", code, &user.out, &user.err)
	}

	guest := newFake()
	guest.dirs, guest.open = home(t), openPeer(nil)
	guest.environ = []string{"SATIN_TRUST=open", "SATIN_MDNS=false", "SATIN_DHT=false", "SATIN_NAT=false",
		"SATIN_LISTEN=/ip4/127.0.0.1/tcp/0", "SATIN_PRIORITY=normal"}
	if code := guest.runReal("run", "nqueens", "9", "--join", status.Addresses[0], "--workers", "1"); code != 0 ||
		guest.out.String() != "9 queens: 352 solutions\n" {
		t.Errorf("a guest: exit code %d, output %q, error %s", code, &guest.out, &guest.err)
	}
}

// knownRun submits runs until another daemon has heard of one: a short one may be over before it does, and then it
// never will.
func knownRun(t *testing.T, owner *fake, other control.Daemon) (id string) {
	t.Helper()
	for {
		user := owner.asUser()
		if code := user.runReal("run", "nqueens", "13", "--detach"); code != 0 {
			t.Fatalf("exit code %d: %s", code, &user.err)
		}
		id = strings.TrimSpace(user.out.String())
		if code := owner.asUser().runReal("wait", id[:8]); code != 0 {
			t.Fatalf("waiting for %s: exit code %d", id, code)
		}
		list, err := other.Runs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(list, func(r control.RunInfo) bool { return r.Run == id }) {
			return id
		}
	}
}

// awaitPeers waits until a daemon is connected to so many others.
func awaitPeers(t *testing.T, d control.Daemon, want int) {
	t.Helper()
	for {
		peers, err := d.Peers(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if len(peers) >= want {
			return
		}
		time.Sleep(time.Millisecond) // they tell each other
	}
}
