package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/preferences"
	"github.com/satin-peer/satin/peer/settings"
)

// A fakeMember is a daemon with a history. It remembers what it was asked, and computes what is submitted to
// it at once.
type fakeMember struct {
	mu      sync.Mutex
	asked   []string
	status  control.Status
	peers   []control.PeerInfo
	runs    []control.RunInfo
	found   []control.Finding
	modules []control.ModuleInfo
	module  []byte // what Module gives
	err     error  // what every call but Leave gives
	refused error  // what Join gives
	outcome control.Outcome
	resumed string        // what ResumeRun explains
	block   bool          // runs do not end by themselves
	help    *control.Help // for what is submitted
	waiting chan struct{}
	stopped chan struct{}
	left    chan struct{} // closed by Leave, if there is one: Wait ends then
	leave   sync.Once
	closed  bool
	prefers []preferences.Preferences
	leaving func(context.Context) error // instead of nothing

	deposits  map[string][]byte
	constants map[string][]byte
}

func (m *fakeMember) Prefer(p preferences.Preferences) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.prefers = append(m.prefers, p)
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
			Peer: "12D3KooWMe", Version: "v0.2.0", PID: 4711,
			Started: now.Add(-3*time.Hour - 5*time.Minute - 10*time.Second), Incarnation: 4,
			StateDir: "/home/me/state", Swarm: "satin", Trust: "invite", State: control.PeerWorking, Workers: 4,
			Busy: 3, Cluster: "home", Peers: 2,
			Addresses: []string{"/ip4/192.168.1.20/udp/4001/quic-v1/p2p/12D3KooWMe",
				"/ip4/192.168.1.20/tcp/4001/p2p/12D3KooWMe"},
			Reachability: control.Reachability{State: control.ReachPrivate, Why: "behind a NAT", Relay: "12D3KooWFar"},
			Clusters: []report.Cluster{
				{Name: "home", Mine: true, Reason: "same network 192.168.1.0/24", Peers: 2, Workers: 6, RTT: 0.00042},
				{Name: "far\x1b[2J", Reason: "label", Peers: 1, Workers: 2, RTT: 0.0213},
			},
			Runs: []control.RunInfo{{Run: runGoing, App: "count", Title: "a tree of depth 20", Mine: true,
				State: control.RunRunning, Share: 0.123, Elapsed: 62, Peers: 3}},
			Work: report.Work{Executed: 1_234_567, Rate: 45_600, Given: 12, Taken: 1_300, Busy: 40_000,
				Sent: 1_230_000, Received: 45, Verified: report.Verified{
					All: report.Thanks{Seconds: 5400, Results: 340, Runs: 12}, Owners: 7, By: []report.Thanks{
						{Owner: "12D3KooWNear", OwnerName: "desk\x1b[2J", Seconds: 5000, Results: 300, Runs: 11},
						{Owner: "12D3KooWFar", Seconds: 400, Results: 40, Runs: 1}}}},
		},
		peers: []control.PeerInfo{
			{Peer: "12D3KooWNear", Name: "desk\x1b[2J", Version: "v0.2.0", Connected: true, Alive: true,
				Heard: now.Add(-90*time.Minute - 20*time.Second), Cluster: "home", RTT: 0.00042,
				State: control.PeerWorking, Workers: 2, Given: 3, Taken: 4},
			{Peer: "12D3KooWFar", Version: "v0.2.0", Connected: true, Alive: true, Relayed: true,
				Cluster: "far\x1b[2J", State: control.PeerIdle, Workers: 2},
			{Peer: "12D3KooWMute", Version: "v0.1.9", Connected: true, Cluster: "home"},
			{Peer: "12D3KooWGone", Version: "v0.1.9", Cluster: "home"},
		},
		runs: []control.RunInfo{
			{Run: runGoing, App: "count", Args: []string{"20"}, Title: "a tree of depth 20", Mine: true,
				State: control.RunRunning, Share: 0.123, Elapsed: 62, Peers: 3},
			{Run: runDone, App: "count", Args: []string{"--add=1", "3"}, Title: "a tree of depth 3", Mine: true,
				State: control.RunDone, Share: 1, Elapsed: 3700, Peers: 0},
			{Run: runOther, App: "unheard-of", Args: []string{"x"}, Owner: "12D3KooWFar", State: control.RunRefused,
				Why: "this peer does not have the application"},
			{Run: runFailed, App: "gone", Mine: true, State: control.RunFailed, Why: "two\nlines"},
		},
		found: []control.Finding{
			{Check: "clock", Level: control.Good, Text: "0.1 s off the others'"},
			{Check: "reachable", Level: control.Warning, Text: "nobody could connect",
				Fix: "forward port 4001, or let a member relay"},
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

func (m *fakeMember) Watch(context.Context) ([]report.Part, error) { return nil, m.note("watch") }

func (m *fakeMember) Finish(context.Context) error { return m.note("finish") }
func (m *fakeMember) Resume(context.Context) error { return m.note("resume") }

func (m *fakeMember) Pause(_ context.Context, d time.Duration) error { return m.note("pause %v", d) }

func (m *fakeMember) Suspend(_ context.Context, run string) error {
	return m.note("suspend %s", run)
}

func (m *fakeMember) Refuse(_ context.Context, r control.Refused) error {
	return m.note("refuse %+v", r)
}

func (m *fakeMember) Revoke(_ context.Context, peer string) error { return m.note("revoke %s", peer) }

func (m *fakeMember) AddConstant(_ context.Context, c control.Constant, from io.Reader) (control.ConstantInfo, error) {
	if from == nil {
		there := m.constants[c.Digest] != nil
		return control.ConstantInfo{Here: there}, m.note("ask for %s of %d bytes", c.Name, c.Size)
	}
	b, err := io.ReadAll(from)
	if m.constants == nil {
		m.constants = map[string][]byte{}
	}
	m.constants[c.Digest] = b
	return control.ConstantInfo{Here: true}, cmp.Or(err, m.note("take %d bytes", len(b)))
}

func (m *fakeMember) AddModule(_ context.Context, f control.ModuleFile) (control.ModuleInfo, error) {
	m.note("add a module of %d bytes", len(f.Bytes))
	return control.ModuleInfo{Module: "ef"}, m.err
}

func (m *fakeMember) Modules(context.Context) ([]control.ModuleInfo, error) {
	return m.modules, m.note("modules")
}

func (m *fakeMember) Module(_ context.Context, name string) (control.ModuleFile, error) {
	if err := m.note("module %s", name); err != nil || m.module == nil {
		return control.ModuleFile{}, cmp.Or(err, control.Errorf(control.ErrNotFound, "there is no module %q", name))
	}
	return control.ModuleFile{Bytes: m.module}, nil
}

func (m *fakeMember) Publish(_ context.Context, p control.Publication) (control.ModuleInfo, error) {
	return control.ModuleInfo{Name: p.Name, Module: strings.Repeat("ef", 32), Publisher: m.status.Peer},
		m.note("publish %s, %q, %d bytes", p.Name, p.Summary, len(p.Bytes))
}

func (m *fakeMember) Deposit(_ context.Context, d control.Deposit) (control.DepositInfo, error) {
	if len(d.Bytes) == 0 {
		return control.DepositInfo{Hash: d.Hash, Copies: 2}, m.err
	}
	sum := sha256.Sum256(d.Bytes)
	name := hex.EncodeToString(sum[:])
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.deposits == nil {
		m.deposits = map[string][]byte{}
	}
	m.deposits[name] = d.Bytes
	return control.DepositInfo{Hash: name}, m.err
}

func (m *fakeMember) Deposited(_ context.Context, hash string) (control.Deposit, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b := m.deposits[hash]; b != nil {
		return control.Deposit{Hash: hash, Bytes: b}, m.err
	}
	return control.Deposit{}, control.Errorf(control.ErrUnavailable, "deposit %s cannot be had", hash)
}

func (m *fakeMember) Share(_ context.Context, s control.Sharing) (control.Shared, error) {
	return control.Shared{Link: "http://127.0.0.1:4711/#ticket"}, m.note("share %+v", s)
}

func (m *fakeMember) ResumeRun(_ context.Context, r control.Resumption) (control.RunInfo, error) {
	return control.RunInfo{Run: runGoing, Title: "a tree of depth 20", Why: m.resumed, App: "count",
		Args: []string{"--out=x", "20"}}, m.note("resume run %+v", r)
}

func (m *fakeMember) Join(_ context.Context, a string) (control.PeerInfo, error) {
	return control.PeerInfo{Peer: "12D3KooWNear"}, errors.Join(m.note("join %s", a), m.refused)
}

func (m *fakeMember) Leave(ctx context.Context) error {
	_ = m.note("leave")
	if m.left != nil {
		m.leave.Do(func() { close(m.left) })
	}
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
	if err := m.note("%s", strings.TrimSpace(fmt.Sprintf("submit %s %q as %s %s", s.App, s.Args, s.Function,
		s.Recovery))+strings.Repeat(fmt.Sprintf(", %d cores", s.MaxCores), min(s.MaxCores, 1))); err != nil {
		return control.RunInfo{}, err
	}
	var depth int
	if err := wire.Value().Decode(s.Argument, &depth); err != nil && s.Module == "" {
		return control.RunInfo{}, control.Errorf(control.ErrBadInput, "the argument: %v", err)
	}
	m.mu.Lock() // a batch submits several at a time
	defer m.mu.Unlock()
	if m.outcome.State == "" {
		result, err := wire.Value().Encode(1 << depth)
		if err != nil {
			return control.RunInfo{}, err
		}
		m.outcome = control.Outcome{State: control.RunDone, Result: result, Elapsed: 1.5, Peers: 3,
			Stats: report.RunStats{Jobs: report.Jobs{Spawns: 7, Executed: 8, Syncs: 7}, LocalStealAttempts: 20,
				LocalStealSuccesses: 3, UsefulTime: 4, StealTime: 1}}
	}
	return control.RunInfo{Run: runGoing, App: s.App, State: control.RunStarting, Help: m.help}, nil
}

func (m *fakeMember) Wait(ctx context.Context, run string, progress func(control.Progress)) (control.Outcome, error) {
	if err := m.note("wait %s", run); err != nil {
		return control.Outcome{}, err
	}
	progress(control.Progress{Run: run, Elapsed: 1, Share: 0.25, Executed: 100, Peers: 3, Workers: 7, Busy: 6})
	if left := m.left; m.block {
		m.waiting <- struct{}{}
		select {
		case <-ctx.Done():
			return control.Outcome{}, ctx.Err()
		case <-left:
			return control.Outcome{}, control.Errorf(control.ErrUnavailable, "the peer has left")
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
