package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/settings"
)

// starter makes a console whose peers are m.
func starter(t *testing.T, m *fakeMember) *fake {
	f := newFake()
	f.dirs = home(t)
	f.open = func(context.Context, *settings.Loaded, []apps.App, *slog.Logger) (member, error) { return m, nil }
	return f
}

// connected waits for the daemon that f starts.
func (f *fake) connected(t *testing.T) *control.Client {
	t.Helper()
	for {
		d, err := control.Connect(filepath.Join(f.dirs.State, "control"))
		if err == nil {
			return d
		}
		if !errors.Is(err, control.ErrNotRunning) {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond) // until it listens
	}
}

// TestStart lives the daemon's life: it serves the commands, leaves when it is told to in each way, says
// goodbye, and lets go of all.
func TestStart(t *testing.T) {
	for _, way := range []string{"SIGTERM", "SIGHUP", "interrupt", "leave"} {
		m := newFakeMember()
		f := starter(t, m)
		code := make(chan int)
		go func() { code <- f.run("start", "--join", "some-address", "--workers", "2") }()
		d := f.connected(t)
		if s, err := d.Status(t.Context()); err != nil || s.Peer != m.status.Peer {
			t.Errorf("%s: status %+v, %v", way, s, err)
		}
		second := newFake()
		second.dirs, second.open = f.dirs, f.open
		if got := second.run("start"); got != exitFailed ||
			!strings.Contains(second.err.String(), fmt.Sprintf("process %d", os.Getpid())) {
			t.Errorf("%s: a second daemon: exit code %d, %s", way, got, &second.err)
		}
		switch way {
		case "SIGTERM":
			f.caught <- syscall.SIGTERM
		case "SIGHUP":
			f.caught <- syscall.SIGHUP
		case "interrupt":
			f.caught <- os.Interrupt
		case "leave":
			user := newFake()
			user.dirs = f.dirs
			if got := user.run("leave"); got != 0 || user.err.Len() > 0 {
				t.Errorf("leave: exit code %d, %s", got, &user.err)
			}
			if _, err := control.Connect(filepath.Join(f.dirs.State, "control")); !errors.Is(err,
				control.ErrNotRunning) {
				t.Errorf("after leave: %v", err)
			}
		}
		d.Close()
		if got := <-code; got != 0 || f.out.Len() > 0 {
			t.Errorf("%s: exit code %d, output %q, error %q", way, got, &f.out, &f.err)
		}
		if !slices.Contains(m.asked, "leave") || !m.closed || f.released == 0 {
			t.Errorf("%s: asked %q, closed: %v, signals released: %d", way, m.asked, m.closed, f.released)
		}
		if _, err := control.Connect(filepath.Join(f.dirs.State, "control")); !errors.Is(err, control.ErrNotRunning) {
			t.Errorf("%s: afterwards: %v", way, err)
		}
		for _, line := range []string{"msg=started peer=12D3KooWMe", "msg=listening", "satin-peer invite", "msg=left"} {
			if !strings.Contains(f.err.String(), line) {
				t.Errorf("%s: the log has no %q:\n%s", way, line, &f.err)
			}
		}
	}
}

// TestStartFails checks the ways in which a daemon does not come to life: nothing of it is left behind.
func TestStartFails(t *testing.T) {
	m := newFakeMember()
	f := starter(t, m)
	f.open = func(context.Context, *settings.Loaded, []apps.App, *slog.Logger) (member, error) {
		return nil, failed("port 4001 is taken: choose another one with --listen")
	}
	if code := f.run("start"); code != exitFailed ||
		f.err.String() != "satin-peer: port 4001 is taken: choose another one with --listen\n" {
		t.Errorf("a taken port: exit code %d, %s", code, &f.err)
	}
	m.err = control.Errorf(control.ErrBadInput, "no peer ID in it")
	f = starter(t, m)
	if code := f.run("start", "--join", "/ip4/1.2.3.4"); code != exitBadInput ||
		!strings.Contains(f.err.String(), "satin-peer: no peer ID in it\n") || !m.closed {
		t.Errorf("a bad address: exit code %d, %s", code, &f.err)
	}
	if _, err := control.Connect(filepath.Join(f.dirs.State, "control")); !errors.Is(err, control.ErrNotRunning) {
		t.Errorf("afterwards: %v", err)
	}
}

// TestOwnPeer runs in a swarm without a daemon: a peer joins, submits, and leaves. If it is paused nobody is sent to a
// daemon that is not there.
func TestOwnPeer(t *testing.T) {
	m := newFakeMember()
	f := starter(t, m)
	if code := f.run("run", "count", "3", "--join", "a", "--workers", "1"); code != 0 ||
		f.out.String() != "8 leaves, 0 flags\n" {
		t.Errorf("exit code %d, output %q, error %s", code, &f.out, &f.err)
	}
	want := []string{"join a", `submit count ["3"] as test.count`, "status", "wait " + runGoing, "leave"}
	if !slices.Equal(m.asked, want) || !m.closed {
		t.Errorf("asked %q, closed: %v", m.asked, m.closed)
	}
	m = newFakeMember()
	m.status.State = control.PeerPaused // since before its daemon ended
	f = starter(t, m)
	if code := f.run("run", "count", "3", "--join", "a"); code != 0 ||
		!strings.Contains(f.err.String(), "satin-peer resume ends the pause, when it is a daemon again; "+insteadHere+"\n") {
		t.Errorf("paused: exit code %d, error %s", code, &f.err)
	}
	m = newFakeMember()
	m.err = control.Errorf(control.ErrUnavailable, "nobody answers at a")
	f = starter(t, m)
	if code := f.run("run", "count", "3", "--join", "a"); code != exitFailed ||
		f.err.String() != "satin-peer: nobody answers at a\n" || !m.closed {
		t.Errorf("exit code %d, %s", code, &f.err)
	}
}

// TestLeaving checks that a second signal would end a daemon that is leaving, and that leaving takes no
// longer than it may.
func TestLeaving(t *testing.T) {
	m := newFakeMember()
	f := starter(t, m)
	released := 0
	m.leaving = func(ctx context.Context) error {
		released = f.released
		<-ctx.Done()
		return ctx.Err()
	}
	code := make(chan int)
	go func() { code <- f.run("start", "--leave-after", "10ms") }()
	f.connected(t).Close()
	f.caught <- syscall.SIGTERM
	if got := <-code; got != exitFailed || !strings.Contains(f.err.String(),
		"satin-peer: leaving took longer than 10ms") {
		t.Errorf("exit code %d, %s", got, &f.err)
	}
	if released != 1 || !m.closed {
		t.Errorf("signals released %d times before leaving, closed: %v", released, m.closed)
	}
}

// TestLogs checks the log's format and level.
func TestLogs(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--log-format", "json"}, `"msg":"started"`},
		{[]string{"--log-level", "error"}, ""},
	} {
		m := newFakeMember()
		f := starter(t, m)
		code := make(chan int)
		go func() { code <- f.run(append([]string{"start"}, c.args...)...) }()
		f.connected(t).Close()
		f.caught <- syscall.SIGTERM
		if got := <-code; got != 0 || !strings.Contains(f.err.String(), c.want) || c.want == "" && f.err.Len() > 0 {
			t.Errorf("%q: exit code %d, %s", c.args, got, &f.err)
		}
	}
}

// A daemon, whose jobs run elsewhere, leaves most of a machine alone, and none too small for it to run.
func TestProcessorsFor(t *testing.T) {
	for cores, want := range map[int]int{1: 1, 2: 1, 4: 1, 7: 1, 8: 2, 64: 16} {
		if got := processorsFor(cores); got != want {
			t.Errorf("of %d cores it uses %d, want %d", cores, got, want)
		}
	}
}
