package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/report"
)

// A fake is a Daemon that remembers what it was asked and says what it is told to.
type fake struct {
	asked  []any
	err    error
	status Status
	peers  []PeerInfo
	runs   []RunInfo
	found  []Finding
	wait   func(ctx context.Context, progress func(Progress)) (Outcome, error)
}

func (f *fake) note(what ...any) error {
	f.asked = append(f.asked, what...)
	return f.err
}

func (f *fake) Status(context.Context) (Status, error)     { return f.status, f.note("status") }
func (f *fake) Peers(context.Context) ([]PeerInfo, error)  { return f.peers, f.note("peers") }
func (f *fake) Runs(context.Context) ([]RunInfo, error)    { return f.runs, f.note("runs") }
func (f *fake) Doctor(context.Context) ([]Finding, error)  { return f.found, f.note("doctor") }
func (f *fake) Leave(context.Context) error                { return f.note("leave") }
func (f *fake) Finish(context.Context) error               { return f.note("finish") }
func (f *fake) Resume(context.Context) error               { return f.note("resume") }
func (f *fake) Cancel(_ context.Context, run string) error { return f.note("cancel", run) }
func (f *fake) Suspend(_ context.Context, run string) error {
	return f.note("suspend", run)
}
func (f *fake) Refuse(_ context.Context, r Refused) error   { return f.note("refuse", r) }
func (f *fake) Revoke(_ context.Context, peer string) error { return f.note("revoke", peer) }
func (f *fake) ResumeRun(_ context.Context, r Resumption) (RunInfo, error) {
	return RunInfo{Run: "cd"}, f.note("resume run", r)
}
func (f *fake) Pause(_ context.Context, d time.Duration) error {
	return f.note("pause", d)
}
func (f *fake) Submit(_ context.Context, s Submission) (RunInfo, error) {
	return RunInfo{Run: "ab", App: s.App}, f.note("submit", s)
}
func (f *fake) Deposit(_ context.Context, d Deposit) (DepositInfo, error) {
	return DepositInfo{Hash: "gh", Copies: 2}, f.note("deposit", d)
}
func (f *fake) Deposited(_ context.Context, hash string) (Deposit, error) {
	return Deposit{Hash: hash, Bytes: []byte("bytes")}, f.note("deposited", hash)
}
func (f *fake) AddConstant(_ context.Context, c Constant, from io.Reader) (ConstantInfo, error) {
	if from == nil {
		return ConstantInfo{}, f.note("is there", c)
	}
	b, err := io.ReadAll(from)
	return ConstantInfo{Here: true}, errors.Join(err, f.note("add", c, string(b)))
}
func (f *fake) AddModule(_ context.Context, m ModuleFile) (ModuleInfo, error) {
	return ModuleInfo{Module: "ef"}, f.note("add module", m)
}
func (f *fake) Modules(context.Context) ([]ModuleInfo, error) {
	return []ModuleInfo{{Module: "ef", Here: true}}, f.note("modules")
}
func (f *fake) Publish(_ context.Context, p Publication) (ModuleInfo, error) {
	return ModuleInfo{Name: p.Name}, f.note("publish", p)
}
func (f *fake) Share(_ context.Context, s Sharing) (Shared, error) {
	return Shared{Link: "http://x"}, f.note("share", s)
}
func (f *fake) Module(_ context.Context, hash string) (ModuleFile, error) {
	return ModuleFile{Bytes: []byte("wasm")}, f.note("module", hash)
}
func (f *fake) Invite(_ context.Context, i Invitation) (Invited, error) {
	return Invited{Line: "line"}, f.note("invite", i)
}
func (f *fake) Join(_ context.Context, address string) (PeerInfo, error) {
	return PeerInfo{Peer: "them"}, f.note("join", address)
}
func (f *fake) Wait(ctx context.Context, run string, progress func(Progress)) (Outcome, error) {
	if err := f.note("wait", run); err != nil {
		return Outcome{}, err
	}
	return f.wait(ctx, progress)
}

// newDir makes a control directory whose socket's path is short enough.
func newDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "satin")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return filepath.Join(dir, "control")
}

// serve starts a server for d and a client of it.
func serve(t *testing.T, d Daemon) (*Server, *Client, string) {
	t.Helper()
	dir := newDir(t)
	s, err := Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(d) }()
	c, err := Connect(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		if err := s.Close(t.Context()); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s, c, dir
}

// TestCalls checks that each call reaches the daemon with its parameters, and that its reply comes back as it was.
func TestCalls(t *testing.T) {
	when := time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)
	f := &fake{
		status: Status{
			Peer: "me", State: PeerPaused, PausedUntil: &when, Started: when,
			Addresses:    []string{"/ip4/1.2.3.4/tcp/5/p2p/me"},
			Clusters:     []report.Cluster{{Name: "here", Mine: true, RTT: 0.001}},
			Runs:         []RunInfo{{Run: "ab", Mine: true, Args: []string{}, Share: 0.5}},
			Reachability: Reachability{State: ReachPrivate, Why: "a NAT"}, Work: report.Work{Executed: 1 << 60},
		},
		peers: []PeerInfo{{Peer: "<them>", Heard: when}},
		runs: []RunInfo{{Run: "cd", Args: []string{"1"}, State: RunDone,
			Stats: &report.RunStats{Jobs: report.Jobs{Spawns: 3}}}},
		found: []Finding{{Check: "clock", Level: Warning, Text: "late", Fix: "set it"}},
	}
	_, c, _ := serve(t, f)
	submission := Submission{App: "nqueens", Args: []string{"18"}, Function: "nqueens.search", Argument: []byte{0, 255}}
	ctx := t.Context()
	constant := Constant{"ab", "constant [][]string & more", 5}
	for _, call := range []struct {
		name  string
		call  func() (any, error)
		want  any
		asked []any
	}{
		{"status", func() (any, error) { return c.Status(ctx) }, f.status, []any{"status"}},
		{"peers", func() (any, error) { return c.Peers(ctx) }, f.peers, []any{"peers"}},
		{"runs", func() (any, error) { return c.Runs(ctx) }, f.runs, []any{"runs"}},
		{"doctor", func() (any, error) { return c.Doctor(ctx) }, f.found, []any{"doctor"}},
		{"submit", func() (any, error) { return c.Submit(ctx, submission) }, RunInfo{Run: "ab", App: "nqueens"},
			[]any{"submit", submission}},
		{"ask for a constant", func() (any, error) { return c.AddConstant(ctx, constant, nil) }, ConstantInfo{},
			[]any{"is there", constant}},
		{"add a constant", func() (any, error) { return c.AddConstant(ctx, constant, strings.NewReader("bytes")) },
			ConstantInfo{Here: true}, []any{"add", constant, "bytes"}},
		{"add a module", func() (any, error) { return c.AddModule(ctx, ModuleFile{[]byte("x")}) },
			ModuleInfo{Module: "ef"}, []any{"add module", ModuleFile{[]byte("x")}}},
		{"modules", func() (any, error) { return c.Modules(ctx) }, []ModuleInfo{{Module: "ef", Here: true}},
			[]any{"modules"}},
		{"module", func() (any, error) { return c.Module(ctx, "12D3/x") }, ModuleFile{[]byte("wasm")},
			[]any{"module", "12D3/x"}},
		{"deposit", func() (any, error) { return c.Deposit(ctx, Deposit{Bytes: []byte("x")}) },
			DepositInfo{Hash: "gh", Copies: 2}, []any{"deposit", Deposit{Bytes: []byte("x")}}},
		{"deposited", func() (any, error) { return c.Deposited(ctx, "gh") },
			Deposit{Hash: "gh", Bytes: []byte("bytes")}, []any{"deposited", "gh"}},
		{"publish", func() (any, error) { return c.Publish(ctx, Publication{Name: "x"}) }, ModuleInfo{Name: "x"},
			[]any{"publish", Publication{Name: "x"}}},
		{"share", func() (any, error) { return c.Share(ctx, Sharing{Run: "ab", Seconds: 5}) }, Shared{Link: "http://x"},
			[]any{"share", Sharing{Run: "ab", Seconds: 5}}},
		{"invite", func() (any, error) { return c.Invite(ctx, Invitation{Uses: 3, MayInvite: true, Valid: 60}) },
			Invited{Line: "line"}, []any{"invite", Invitation{Uses: 3, MayInvite: true, Valid: 60}}},
		{"join", func() (any, error) { return c.Join(ctx, "/ip4/1.2.3.4") }, PeerInfo{Peer: "them"},
			[]any{"join", "/ip4/1.2.3.4"}},
		{"cancel", func() (any, error) { return nil, c.Cancel(ctx, "0ab1") }, nil, []any{"cancel", "0ab1"}},
		{"suspend", func() (any, error) { return nil, c.Suspend(ctx, "0ab1") }, nil, []any{"suspend", "0ab1"}},
		{"resume a run", func() (any, error) { return c.ResumeRun(ctx, Resumption{Run: "0ab1"}) },
			RunInfo{Run: "cd"}, []any{"resume run", Resumption{Run: "0ab1"}}},
		{"resume a copy", func() (any, error) { return c.ResumeRun(ctx, Resumption{Directory: "/mnt/x"}) },
			RunInfo{Run: "cd"}, []any{"resume run", Resumption{Directory: "/mnt/x"}}},
		{"revoke", func() (any, error) { return nil, c.Revoke(ctx, "12D3KooW") }, nil, []any{"revoke", "12D3KooW"}},
		{"refuse", func() (any, error) { return nil, c.Refuse(ctx, Refused{Run: "ab", Lift: true}) }, nil,
			[]any{"refuse", Refused{Run: "ab", Lift: true}}},
		{"pause", func() (any, error) { return nil, c.Pause(ctx, 90*time.Second) }, nil,
			[]any{"pause", 90 * time.Second}},
		{"finish", func() (any, error) { return nil, c.Finish(ctx) }, nil, []any{"finish"}},
		{"pause for good", func() (any, error) { return nil, c.Pause(ctx, 0) }, nil, []any{"pause", time.Duration(0)}},
		{"resume", func() (any, error) { return nil, c.Resume(ctx) }, nil, []any{"resume"}},
		{"leave", func() (any, error) { return nil, c.Leave(ctx) }, nil, []any{"leave"}},
	} {
		f.asked = nil
		got, err := call.call()
		if err != nil || !reflect.DeepEqual(got, call.want) || !reflect.DeepEqual(f.asked, call.asked) {
			t.Errorf("%s: got %+v, %v; the daemon was asked %v", call.name, got, err, f.asked)
		}
	}
}

// TestEmptyLists checks that lists without elements are lists, for those who read the JSON.
func TestEmptyLists(t *testing.T) {
	_, c, _ := serve(t, &fake{runs: []RunInfo{{Run: "ab", Mine: true}}})
	if runs, err := c.Runs(t.Context()); err != nil || len(runs) != 1 || runs[0].Args == nil {
		t.Errorf("got %v, %v", runs, err)
	}
	s, err := c.Status(t.Context())
	if err != nil || s.Addresses == nil || s.Clusters == nil || s.Runs == nil {
		t.Errorf("got %+v, %v", s, err)
	}
	if peers, err := c.Peers(t.Context()); err != nil || peers == nil {
		t.Errorf("got %v, %v", peers, err)
	}
}

// TestNotKnown checks that what a peer does not know of others' runs is missing, and that a share of 0 of an
// own one is not.
func TestNotKnown(t *testing.T) {
	for _, r := range []RunInfo{{Run: "ab", Args: []string{}, Executed: 7},
		{Run: "ab", Mine: true, Args: []string{}, Executed: 7}} {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		_, args := got["args"]
		_, share := got["share"]
		if args != r.Mine || share != r.Mine || got["executed"] != 7.0 || got["run"] != "ab" {
			t.Errorf("mine: %v: %s", r.Mine, text)
		}
	}
}

// TestErrors checks that errors keep their kind and text on the way.
func TestErrors(t *testing.T) {
	f := &fake{}
	_, c, _ := serve(t, f)
	for _, kind := range []error{ErrBadInput, ErrNotFound, ErrRefused, ErrUnavailable} {
		f.err = fmt.Errorf("no run %q: %w", "ab", kind)
		if err := c.Cancel(t.Context(), "ab"); !errors.Is(err, kind) || err.Error() != f.err.Error() {
			t.Errorf("got %v, want %v", err, f.err)
		}
		if _, err := c.Wait(t.Context(), "ab", nil); !errors.Is(err, kind) || err.Error() != f.err.Error() {
			t.Errorf("waiting: got %v, want %v", err, f.err)
		}
	}
	f.err = errors.New("disk full")
	err := c.Resume(t.Context())
	if err == nil || err.Error() != "disk full" || errors.Is(err, ErrBadInput) || errors.Is(err, ErrRefused) {
		t.Errorf("got %v", err)
	}
	f.err = context.DeadlineExceeded
	if err := c.Resume(t.Context()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

// TestUnwritableReply checks that a reply which JSON cannot have is an error, and not half a reply.
func TestUnwritableReply(t *testing.T) {
	nan := 0.0
	nan /= nan
	_, c, _ := serve(t, &fake{status: Status{Work: report.Work{Rate: nan}}})
	if _, err := c.Status(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("got %v", err)
	}
}

// TestWait follows a run to its end, with an answer as large as answers may be.
func TestWait(t *testing.T) {
	large := make([]byte, 16<<20)
	large[len(large)-1] = 7
	f := &fake{wait: func(_ context.Context, progress func(Progress)) (Outcome, error) {
		for i := range 3 {
			progress(Progress{Run: "ab", Share: float64(i) / 4})
		}
		return Outcome{Run: "ab", State: RunDone, Result: large}, nil
	}}
	_, c, _ := serve(t, f)
	var shares []float64
	got, err := c.Wait(t.Context(), "ab", func(p Progress) { shares = append(shares, p.Share) })
	if err != nil || got.State != RunDone || !reflect.DeepEqual(got.Result, large) {
		t.Errorf("got %s with %d bytes, %v", got.State, len(got.Result), err)
	}
	if !reflect.DeepEqual(shares, []float64{0, 0.25, 0.5}) {
		t.Errorf("progress %v", shares)
	}
}

// A counted is a reply whose deadlines are counted.
type counted struct {
	http.ResponseWriter
	deadlines int
}

func (c *counted) SetWriteDeadline(time.Time) error {
	c.deadlines++
	return nil
}

// Guards that an answer of many megabytes comes on a machine that is so busy that it takes longer than one deadline:
// each piece has its own.
func TestLargeReplyTakesItsTime(t *testing.T) {
	w := &counted{ResponseWriter: httptest.NewRecorder()}
	n, err := inPieces{w}.Write(make([]byte, 10*writePiece+1))
	if n != 10*writePiece+1 || err != nil || w.deadlines != 11 {
		t.Errorf("%d bytes with %d deadlines, %v", n, w.deadlines, err)
	}
}

// A waited is a daemon whose runs take long.
type waited struct {
	fake
	begun chan struct{}
}

func (w *waited) Wait(ctx context.Context, _ string, _ func(Progress)) (Outcome, error) {
	w.begun <- struct{}{}
	<-ctx.Done()
	return Outcome{}, ctx.Err()
}

// Guards that a daemon whose user waits for as many runs as it may have hears other commands: it heard none from 64 on.
func TestManyWait(t *testing.T) {
	const runs = 256
	d := &waited{begun: make(chan struct{}, runs)}
	_, c, _ := serve(t, d)
	ctx, stop := context.WithCancel(t.Context())
	var waits sync.WaitGroup
	for range runs {
		waits.Go(func() { _, _ = c.Wait(ctx, "ab", nil) })
	}
	for range runs / 4 {
		<-d.begun
	}
	if err := c.Finish(t.Context()); err != nil {
		t.Error(err)
	}
	stop()
	waits.Wait()
}

// TestWaitGivenUp checks that the daemon learns when a client goes: nobody waits for ever.
func TestWaitGivenUp(t *testing.T) {
	gone := make(chan struct{})
	f := &fake{wait: func(ctx context.Context, progress func(Progress)) (Outcome, error) {
		progress(Progress{})
		<-ctx.Done()
		close(gone)
		return Outcome{}, ctx.Err()
	}}
	_, c, _ := serve(t, f)
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := c.Wait(ctx, "ab", func(Progress) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	<-gone
}

// TestWaitDaemonEnds checks what a waiting client is told when the daemon leaves.
func TestWaitDaemonEnds(t *testing.T) {
	f := &fake{wait: func(ctx context.Context, progress func(Progress)) (Outcome, error) {
		progress(Progress{})
		<-ctx.Done()
		return Outcome{}, ctx.Err()
	}}
	s, c, dir := serve(t, f)
	closed := make(chan error, 1)
	_, err := c.Wait(t.Context(), "ab", func(Progress) { go func() { closed <- s.Close(t.Context()) }() })
	if !errors.Is(err, ErrUnavailable) || err.Error() != "the daemon is ending" {
		t.Errorf("got %v", err)
	}
	if err := c.AwaitEnd(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if _, err := Connect(dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("connecting after the end: %v", err)
	}
}

// TestNoAnswer asks a daemon that does not answer: its socket is open and nobody serves it.
func TestNoAnswer(t *testing.T) {
	dir := newDir(t)
	s, err := Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	c, err := Connect(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Status(ctx); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if err := c.AwaitEnd(ctx); !errors.Is(err, ErrUnavailable) {
		t.Errorf("waiting for the end of a daemon that lives: %v", err)
	}
	ctx, cancel2 := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel2()
	if _, err := c.Wait(ctx, "ab", nil); !errors.Is(err, ErrUnavailable) {
		t.Errorf("waiting: got %v", err)
	}
}
