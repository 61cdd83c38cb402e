package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/settings"
)

// A fakeMember is a daemon with a history. It remembers what it was asked, and computes what is submitted to it at once.
type fakeMember struct {
	mu      sync.Mutex
	asked   []string
	status  control.Status
	peers   []control.PeerInfo
	runs    []control.RunInfo
	found   []control.Finding
	err     error // what every call but Leave gives
	refused error // what Join gives
	outcome control.Outcome
	resumed string // what ResumeRun explains
	block   bool   // runs do not end by themselves
	waiting chan struct{}
	stopped chan struct{}
	closed  bool
	leaving func(context.Context) error // instead of nothing
}

const (
	runDone   = "aaaa0000000000000000000000000001"
	runOther  = "aabb0000000000000000000000000002"
	runGoing  = "cccc0000000000000000000000000003"
	runFailed = "dddd0000000000000000000000000004"
)

func newFakeMember() *fakeMember {
	now := time.Now()
	return &fakeMember{
		waiting: make(chan struct{}, 1), stopped: make(chan struct{}),
		status: control.Status{
			Peer: "12D3KooWMe", Version: "v0.2.0", PID: 4711, Started: now.Add(-3*time.Hour - 5*time.Minute - 10*time.Second), Incarnation: 4,
			StateDir: "/home/me/state", Swarm: "satin", Trust: "invite", State: control.PeerWorking, Workers: 4, Busy: 3, Cluster: "home", Peers: 2,
			Addresses:    []string{"/ip4/192.168.1.20/udp/4001/quic-v1/p2p/12D3KooWMe", "/ip4/192.168.1.20/tcp/4001/p2p/12D3KooWMe"},
			Reachability: control.Reachability{State: control.ReachPrivate, Why: "behind a NAT", Relay: "12D3KooWFar"},
			Clusters: []control.ClusterInfo{
				{Name: "home", Mine: true, Reason: "same network 192.168.1.0/24", Peers: 2, Workers: 6, RTT: 0.00042},
				{Name: "far\x1b[2J", Reason: "label", Peers: 1, Workers: 2, RTT: 0.0213},
			},
			Runs: []control.RunInfo{{Run: runGoing, App: "count", Title: "a tree of depth 20", Mine: true, State: control.RunRunning, Share: 0.123, Elapsed: 62, Peers: 3}},
			Work: control.Work{Executed: 1_234_567, Rate: 45_600, Given: 12, Taken: 1_300, Busy: 40_000, Sent: 1_230_000, Received: 45},
		},
		peers: []control.PeerInfo{
			{Peer: "12D3KooWNear", Version: "v0.2.0", Connected: true, Alive: true, Heard: now.Add(-90*time.Minute - 20*time.Second), Cluster: "home", RTT: 0.00042, State: control.PeerWorking, Workers: 2, Given: 3, Taken: 4},
			{Peer: "12D3KooWFar", Version: "v0.2.0", Connected: true, Alive: true, Relayed: true, Cluster: "far\x1b[2J", State: control.PeerIdle, Workers: 2},
			{Peer: "12D3KooWMute", Version: "v0.1.9", Connected: true, Cluster: "home"},
			{Peer: "12D3KooWGone", Version: "v0.1.9", Cluster: "home"},
		},
		runs: []control.RunInfo{
			{Run: runGoing, App: "count", Args: []string{"20"}, Title: "a tree of depth 20", Mine: true, State: control.RunRunning, Share: 0.123, Elapsed: 62, Peers: 3},
			{Run: runDone, App: "count", Args: []string{"--add=1", "3"}, Title: "a tree of depth 3", Mine: true, State: control.RunDone, Share: 1, Elapsed: 3700, Peers: 0},
			{Run: runOther, App: "unheard-of", Args: []string{"x"}, Owner: "12D3KooWFar", State: control.RunRefused, Why: "this peer does not have the application"},
			{Run: runFailed, App: "gone", Mine: true, State: control.RunFailed, Why: "two\nlines"},
		},
		found: []control.Finding{
			{Check: "clock", Level: control.Good, Text: "0.1 s off the others'"},
			{Check: "reachable", Level: control.Warning, Text: "nobody could connect", Fix: "forward port 4001, or let a member relay"},
		},
	}
}

func (m *fakeMember) note(format string, args ...any) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, fmt.Sprintf(format, args...))
	return m.err
}

func (m *fakeMember) Status(context.Context) (control.Status, error) {
	return m.status, m.note("status")
}
func (m *fakeMember) Peers(context.Context) ([]control.PeerInfo, error) {
	return m.peers, m.note("peers")
}
func (m *fakeMember) Runs(context.Context) ([]control.RunInfo, error) { return m.runs, m.note("runs") }
func (m *fakeMember) Doctor(context.Context) ([]control.Finding, error) {
	return m.found, m.note("doctor")
}
func (m *fakeMember) Resume(context.Context) error                   { return m.note("resume") }
func (m *fakeMember) Pause(_ context.Context, d time.Duration) error { return m.note("pause %v", d) }
func (m *fakeMember) Suspend(_ context.Context, run string) error {
	return m.note("suspend %s", run)
}
func (m *fakeMember) Revoke(_ context.Context, peer string) error { return m.note("revoke %s", peer) }
func (m *fakeMember) ResumeRun(_ context.Context, r control.Resumption) (control.RunInfo, error) {
	return control.RunInfo{Run: runGoing, Title: "a tree of depth 20", Why: m.resumed}, m.note("resume run %+v", r)
}
func (m *fakeMember) Join(_ context.Context, a string) (control.PeerInfo, error) {
	return control.PeerInfo{Peer: "12D3KooWNear"}, errors.Join(m.note("join %s", a), m.refused)
}

func (m *fakeMember) Leave(ctx context.Context) error {
	_ = m.note("leave")
	if m.leaving != nil {
		return m.leaving(ctx)
	}
	return nil
}

func (m *fakeMember) Close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
}

func (m *fakeMember) Invite(_ context.Context, i control.Invitation) (control.Invited, error) {
	expires := time.Date(2026, 11, 21, 12, 0, 0, 0, time.Local)
	if i.Peer != "" {
		return control.Invited{Line: m.status.Addresses[0], Swarm: "satin"}, m.note("invite %+v", i)
	}
	return control.Invited{Line: "satin-invite-1:abc", Swarm: "satin", Expires: expires}, m.note("invite %+v", i)
}

func (m *fakeMember) Cancel(_ context.Context, run string) error {
	err := m.note("cancel %s", run)
	if m.block && err == nil {
		close(m.stopped)
	}
	return err
}

// Submit computes count, which is what is submitted here.
func (m *fakeMember) Submit(_ context.Context, s control.Submission) (control.RunInfo, error) {
	if err := m.note("submit %s %q as %s", s.App, s.Args, s.Function); err != nil {
		return control.RunInfo{}, err
	}
	var depth int
	if err := wire.Value().Decode(s.Argument, &depth); err != nil {
		return control.RunInfo{}, control.Errorf(control.ErrBadInput, "the argument: %v", err)
	}
	if m.outcome.State == "" {
		result, err := wire.Value().Encode(1 << depth)
		if err != nil {
			return control.RunInfo{}, err
		}
		m.outcome = control.Outcome{State: control.RunDone, Result: result, Elapsed: 1.5, Peers: 3, Stats: control.RunStats{Spawns: 7, Executed: 8, Syncs: 7, LocalStealAttempts: 20, LocalStealSuccesses: 3, UsefulTime: 4, StealTime: 1}}
	}
	return control.RunInfo{Run: runGoing, App: s.App, State: control.RunStarting}, nil
}

func (m *fakeMember) Wait(ctx context.Context, run string, progress func(control.Progress)) (control.Outcome, error) {
	if err := m.note("wait %s", run); err != nil {
		return control.Outcome{}, err
	}
	progress(control.Progress{Run: run, Elapsed: 1, Share: 0.25, Executed: 100, Peers: 3, Workers: 7, Busy: 6})
	if m.block {
		m.waiting <- struct{}{}
		select {
		case <-ctx.Done():
			return control.Outcome{}, ctx.Err()
		case <-m.stopped:
			return control.Outcome{State: control.RunCancelled}, nil
		}
	}
	return m.outcome, nil
}

// home makes a user with a directory for its socket.
func home(t *testing.T) settings.Dirs {
	t.Helper()
	dir, err := os.MkdirTemp("", "satin") // shorter than t.TempDir: it is part of a socket's path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return settings.Dirs{Config: filepath.Join(dir, "config"), State: filepath.Join(dir, "state"), Home: dir}
}

// withDaemon gives a console a running daemon.
func (f *fake) withDaemon(t *testing.T, d control.Daemon) *fake {
	t.Helper()
	f.dirs = home(t)
	s, err := control.Open(filepath.Join(f.dirs.State, "control"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(d) }()
	t.Cleanup(func() {
		if err := errors.Join(s.Close(context.Background()), <-ended); err != nil {
			t.Error(err)
		}
	})
	return f
}

// TestAsked checks what the commands ask of the daemon.
func TestAsked(t *testing.T) {
	for _, c := range []struct {
		args  []string
		asked []string
	}{
		{[]string{"pause"}, []string{"pause 0s"}},
		{[]string{"pause", "1h"}, []string{"pause 1h0m0s"}},
		{[]string{"resume"}, []string{"resume"}},
		{[]string{"join", "/ip4/1.2.3.4"}, []string{"join /ip4/1.2.3.4"}},
		{[]string{"cancel", "cc"}, []string{"runs", "cancel " + runGoing}},
		{[]string{"invite"}, []string{"invite {Peer: Uses:1 MayInvite:false Valid:86400}"}},
		{[]string{"invite", "--uses", "3", "--valid", "2h", "--may-invite"}, []string{"invite {Peer: Uses:3 MayInvite:true Valid:7200}"}},
		{[]string{"invite", "12D3KooW"}, []string{"invite {Peer:12D3KooW Uses:0 MayInvite:false Valid:0}"}},
		{[]string{"run", "count", "3", "--add", "2"}, []string{`submit count ["--add=2" "3"] as test.count`, "status", "wait " + runGoing}},
		{[]string{"run", "count", "3", "--detach"}, []string{`submit count ["3"] as test.count`}},
		{[]string{"run", "count", "3", "--join", "a", "--join", "b"}, []string{"join a", "join b", `submit count ["3"] as test.count`, "status", "wait " + runGoing}},
		{[]string{"run", "count", "3", "--local"}, nil},
		{[]string{"run", "count", "3", "--workers", "1"}, nil},
		{[]string{"run", "count", "3", "--sequential"}, nil},
	} {
		m := newFakeMember()
		f := newFake().withDaemon(t, m)
		if code := f.run(c.args...); code != 0 || !slices.Equal(m.asked, c.asked) {
			t.Errorf("%q: exit code %d, asked %q\n%s", c.args, code, m.asked, &f.err)
		}
	}
}

// TestDaemonRefuses checks what becomes of the daemon's errors.
func TestDaemonRefuses(t *testing.T) {
	for _, c := range []struct {
		kind error
		code int
	}{{control.ErrBadInput, exitBadInput}, {control.ErrRefused, exitFailed}, {control.ErrNotFound, exitFailed}, {control.ErrUnavailable, exitFailed}, {nil, exitFailed}} {
		for _, args := range [][]string{{"status"}, {"peers"}, {"runs", "--json"}, {"pause"}, {"resume"}, {"join", "x"}, {"invite"}, {"cancel", "cc"}, {"wait", "cc"}, {"run", "count", "3"}, {"run", "count", "3", "--join", "x"}} {
			m := newFakeMember()
			m.err = control.Errorf(c.kind, "not today")
			f := newFake().withDaemon(t, m)
			if code := f.run(args...); code != c.code || f.out.Len() > 0 || f.err.String() != "satin-peer: not today\n" {
				t.Errorf("%q, %v: exit code %d, output %q, error %q", args, c.kind, code, &f.out, &f.err)
			}
		}
	}
}

// TestOutcomes checks what a run in the swarm may come to besides a right answer.
func TestOutcomes(t *testing.T) {
	encoded := func(v any) []byte {
		b, err := wire.Value().Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	stack := "goroutine 7\n"
	for _, c := range []struct {
		outcome control.Outcome
		code    int
		want    string
	}{
		{control.Outcome{State: control.RunFailed, Failure: "ab/1.2 on 12D3KooWFar panicked: no\nway", Stack: stack}, exitFailed, "satin-peer: ab/1.2 on 12D3KooWFar panicked: no\\nway\n" + stack},
		{control.Outcome{State: control.RunCancelled}, exitFailed, "satin-peer: the run was cancelled\n"},
		{control.Outcome{State: control.RunCancelled, Failure: "cancelled by its owner"}, exitFailed, "satin-peer: the run was cancelled by its owner\n"},
		{control.Outcome{State: control.RunCancelled, Failure: "its manifest has expired"}, exitFailed, "satin-peer: the run was cancelled: its manifest has expired\n"},
		{control.Outcome{State: control.RunDone, Result: encoded(7)}, exitFailed, "satin-peer: WRONG ANSWER to a tree of depth 3: 7 leaves, want 8; the answer was: 7 leaves, 0 flags\n"},
		{control.Outcome{State: control.RunDone, Result: encoded("seven")}, exitFailed, "satin-peer: the answer cannot be read: encoding: "},
		{control.Outcome{State: control.RunDone, Result: []byte{0x9f}}, exitFailed, "satin-peer: the answer cannot be read: encoding: "},
		{control.Outcome{State: control.RunDone}, exitFailed, "satin-peer: the answer cannot be read: encoding: "},
	} {
		m := newFakeMember()
		m.outcome = c.outcome
		f := newFake().withDaemon(t, m)
		if code := f.run("run", "count", "3", "--verbose"); code != c.code || f.out.Len() > 0 || !strings.HasPrefix(f.err.String(), c.want) {
			t.Errorf("%+v: exit code %d, output %q, error %q", c.outcome, code, &f.out, &f.err)
		}
		if c.outcome.Stack == "" {
			continue
		}
		m = newFakeMember()
		m.outcome = c.outcome
		f = newFake().withDaemon(t, m)
		if code := f.run("run", "count", "3"); code != c.code || strings.Contains(f.err.String(), stack) {
			t.Errorf("without --verbose: exit code %d, error %q", code, &f.err)
		}
	}
}

// TestBesidesTheAnswer checks what is said when the answer could not be kept, and when this peer is paused.
func TestBesidesTheAnswer(t *testing.T) {
	result, err := wire.Value().Encode(8)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"run", "count", "3"}, {"wait", "cc"}, {"run", "count", "3", "--json"}} {
		m := newFakeMember()
		m.outcome = control.Outcome{State: control.RunDone, Result: result, Warning: "not kept:\ndisk full"}
		m.status.State = control.PeerPaused
		m.runs[0].Args = []string{"3"}
		f := newFake().withDaemon(t, m)
		code := f.run(args...)
		paused := strings.HasPrefix(f.err.String(), "satin-peer: this peer is paused until satin-peer resume")
		if code != 0 || !paused || !strings.HasSuffix(f.err.String(), "satin-peer: not kept:\\ndisk full\n") || f.out.Len() == 0 {
			t.Errorf("%q: exit code %d, output %q, error %s", args, code, &f.out, &f.err)
		}
	}
}

// TestWaitSaves checks that waiting reads the arguments as they were given, a negative number too, and saves what run would have.
func TestWaitSaves(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	m := newFakeMember()
	m.runs = []control.RunInfo{{Run: runDone, App: "count", Mine: true, State: control.RunDone, Args: commandLine(&task{args: []string{"3"}, flags: map[string]any{"out": out, "add": int64(-2), "twice": true}})}}
	result, err := wire.Value().Encode(8)
	if err != nil {
		t.Fatal(err)
	}
	m.outcome = control.Outcome{State: control.RunDone, Result: result}
	f := newFake().withDaemon(t, m)
	if code := f.run("wait", "a"); code != 0 || f.out.String() != "12 leaves, 3 flags\n" {
		t.Errorf("exit code %d, output %q, error %s", code, &f.out, &f.err)
	}
	if saved, err := os.ReadFile(out); err != nil || string(saved) != "8\n" {
		t.Errorf("saved %q, %v", saved, err)
	}
	if got := commandLine(&task{args: []string{"-5", "x"}, flags: map[string]any{"b": 1, "a": "y z"}}); !slices.Equal(got, []string{"--a=y z", "--b=1", "--", "-5", "x"}) {
		t.Errorf("got %q", got)
	}
}

// TestWaitAfterRestart waits for a run that the daemon knows no more by name, but has the answer to.
func TestWaitAfterRestart(t *testing.T) {
	m := newFakeMember()
	f := newFake().withDaemon(t, m)
	if code := f.run("run", "count", "3", "--add", "1", "--detach"); code != 0 {
		t.Fatalf("exit code %d: %s", code, &f.err)
	}
	m.runs = nil
	for _, c := range []struct {
		name string
		code int
		want string
	}{{"cc", 0, "9 leaves, 1 flags\n"}, {runGoing, 0, "9 leaves, 1 flags\n"}, {"aa", exitFailed, ""}} {
		user := newFake()
		user.dirs = f.dirs
		if code := user.run("wait", c.name); code != c.code || user.out.String() != c.want {
			t.Errorf("%s: exit code %d, output %q, error %s", c.name, code, &user.out, &user.err)
		}
	}
	another := strings.Replace(runGoing, "3", "4", 1)
	if err := rememberRun(f.dirs.State, control.RunInfo{Run: another, App: "count", Args: []string{"3"}}); err != nil {
		t.Fatal(err)
	}
	user := newFake()
	user.dirs = f.dirs
	if code := user.run("wait", "cc"); code != exitBadInput || !strings.Contains(user.err.String(), "several begin with these") {
		t.Errorf("two of them: exit code %d, error %s", code, &user.err)
	}
	if err := os.WriteFile(filepath.Join(f.dirs.State, submittedDir, another), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code := user.run("wait", another); code != exitFailed {
		t.Errorf("a damaged one: exit code %d, error %s", code, &user.err)
	}
}

// TestForgotten checks that what is written down of runs is bounded, and that the newest remain.
func TestForgotten(t *testing.T) {
	dir := t.TempDir()
	name := func(i int) string { return fmt.Sprintf("%032x", i) }
	const extra = 3
	for i := range maxSubmitted + extra {
		if err := rememberRun(dir, control.RunInfo{Run: name(i), App: "count"}); err != nil {
			t.Fatal(err)
		}
		when := time.Unix(int64(1_000_000+i), 0)
		if err := os.Chtimes(filepath.Join(dir, submittedDir, name(i)), when, when); err != nil {
			t.Fatal(err)
		}
	}
	left, err := os.ReadDir(filepath.Join(dir, submittedDir))
	if err != nil || len(left) != maxSubmitted || left[0].Name() != name(extra) {
		t.Errorf("%d are left, %v", len(left), err)
	}
	if run, err := recallRun(dir, name(maxSubmitted)); err != nil || run.App != "count" || !run.Mine {
		t.Errorf("got %+v, %v", run, err)
	}
	if _, err := recallRun(dir, name(0)); !errors.Is(err, control.ErrNotFound) {
		t.Errorf("a forgotten one: %v", err)
	}
}

// TestSwarmInterrupt interrupts a run in the swarm: it is cancelled there; and one that is only waited for, which is not.
func TestSwarmInterrupt(t *testing.T) {
	for _, c := range []struct {
		args      []string
		cancelled bool
		said      string
	}{{[]string{"run", "count", "20"}, true, "satin-peer: interrupted after "}, {[]string{"wait", "cc"}, false, "satin-peer: interrupted: the run goes on, "}} {
		m := newFakeMember()
		m.block = true
		f := newFake().withDaemon(t, m)
		code := make(chan int)
		go func() { code <- f.run(c.args...) }()
		<-m.waiting
		f.caught <- os.Interrupt
		if got := <-code; got != 130 || f.out.Len() > 0 || !strings.Contains(f.err.String(), c.said) {
			t.Errorf("%q: exit code %d, output %q, error %q", c.args, got, &f.out, &f.err)
		}
		if cancelled := slices.Contains(m.asked, "cancel "+runGoing); cancelled != c.cancelled {
			t.Errorf("%q: the daemon was asked %q", c.args, m.asked)
		}
	}
}

// starter makes a console whose peers are m.
func starter(t *testing.T, m *fakeMember) *fake {
	f := newFake()
	f.dirs = home(t)
	f.open = func(context.Context, *settings.Loaded, []apps.App, *slog.Logger) (member, error) { return m, nil }
	return f
}

// connect waits for the daemon that f starts.
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

// TestStart lives the daemon's life: it serves the commands, leaves when it is told to in each way, says goodbye, and lets go of all.
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
		if got := second.run("start"); got != exitFailed || !strings.Contains(second.err.String(), fmt.Sprintf("process %d", os.Getpid())) {
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
			if _, err := control.Connect(filepath.Join(f.dirs.State, "control")); !errors.Is(err, control.ErrNotRunning) {
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
	if code := f.run("start"); code != exitFailed || f.err.String() != "satin-peer: port 4001 is taken: choose another one with --listen\n" {
		t.Errorf("a taken port: exit code %d, %s", code, &f.err)
	}
	m.err = control.Errorf(control.ErrBadInput, "no peer ID in it")
	f = starter(t, m)
	if code := f.run("start", "--join", "/ip4/1.2.3.4"); code != exitBadInput || !strings.Contains(f.err.String(), "satin-peer: no peer ID in it\n") || !m.closed {
		t.Errorf("a bad address: exit code %d, %s", code, &f.err)
	}
	if _, err := control.Connect(filepath.Join(f.dirs.State, "control")); !errors.Is(err, control.ErrNotRunning) {
		t.Errorf("afterwards: %v", err)
	}
}

// TestOwnPeer runs in a swarm without a daemon: a peer joins, submits, and leaves.
func TestOwnPeer(t *testing.T) {
	m := newFakeMember()
	f := starter(t, m)
	if code := f.run("run", "count", "3", "--join", "a", "--workers", "1"); code != 0 || f.out.String() != "8 leaves, 0 flags\n" {
		t.Errorf("exit code %d, output %q, error %s", code, &f.out, &f.err)
	}
	want := []string{"join a", `submit count ["3"] as test.count`, "status", "wait " + runGoing, "leave"}
	if !slices.Equal(m.asked, want) || !m.closed {
		t.Errorf("asked %q, closed: %v", m.asked, m.closed)
	}
	m = newFakeMember()
	m.err = control.Errorf(control.ErrUnavailable, "nobody answers at a")
	f = starter(t, m)
	if code := f.run("run", "count", "3", "--join", "a"); code != exitFailed || f.err.String() != "satin-peer: nobody answers at a\n" || !m.closed {
		t.Errorf("exit code %d, %s", code, &f.err)
	}
}

// TestLeaving checks that a second signal would end a daemon that is leaving, and that leaving takes no longer than it may.
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
	if got := <-code; got != exitFailed || !strings.Contains(f.err.String(), "satin-peer: leaving took longer than 10ms") {
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
