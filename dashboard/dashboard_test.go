package dashboard_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/satin-peer/satin/dashboard"
	"github.com/satin-peer/satin/internal/report"
)

// A fake is a peer that can be changed.
type fake struct {
	mu      sync.Mutex
	status  dashboard.Status
	peers   []dashboard.Peer
	runs    []dashboard.Run
	err     error // of everything
	reports []report.Part
	actions []string
	asked   int

	preferences []dashboard.Preference

	computes bool    // each look at the runs finds that a second more of processor time went into them
	given    float64 // seconds so far
}

func (f *fake) Status(context.Context) (dashboard.Status, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	return f.status, f.err
}
func (f *fake) Peers(context.Context) ([]dashboard.Peer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.peers, f.err
}
func (f *fake) Runs(context.Context) ([]dashboard.Run, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.computes {
		return f.runs, f.err
	}
	f.given++
	runs := slices.Clone(f.runs)
	for i := range runs {
		runs[i].CPU = f.given
	}
	return runs, f.err
}
func (f *fake) Watch(context.Context) ([]report.Part, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	reports := f.reports
	f.reports = nil
	return reports, f.err
}
func (f *fake) did(what string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.actions = append(f.actions, what)
	return f.err
}
func (f *fake) Pause(_ context.Context, d time.Duration) error { return f.did("pause " + d.String()) }
func (f *fake) Finish(context.Context) error {
	f.change(func(f *fake) { f.status.State, f.status.JobsLeft = "finishing", 3 })
	return f.did("finish")
}
func (f *fake) Resume(context.Context) error               { return f.did("resume") }
func (f *fake) Cancel(_ context.Context, run string) error { return f.did("cancel " + run) }

func (f *fake) Preferences() ([]dashboard.Preference, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.preferences), f.err
}
func (f *fake) Prefer(name string, values []string) error {
	if slices.Contains(values, "noon") {
		return fmt.Errorf("%w: hours: got \"noon\", want hours", report.ErrBadInput)
	}
	f.change(func(f *fake) {
		for i := range f.preferences {
			if f.preferences[i].Name == name {
				f.preferences[i].Values = values
			}
		}
	})
	return f.did(fmt.Sprintf("prefer %s %q", name, values))
}

func (f *fake) Apps(context.Context) ([]dashboard.App, error) {
	return []dashboard.App{{Name: "nqueens", Args: "N", Summary: hostile},
		{Name: "tsp", Args: "FILE", Summary: "Tours."}}, nil
}
func (f *fake) Start(_ context.Context, app, arguments string) (string, error) {
	if arguments == "no" {
		return "", fmt.Errorf("%w: N: got \"no\"", report.ErrBadInput)
	}
	return "4567", f.did("start " + app + " " + arguments)
}
func (f *fake) Suspend(_ context.Context, run string) error    { return f.did("suspend " + run) }
func (f *fake) ResumeRun(_ context.Context, run string) error  { return f.did("resume " + run) }
func (f *fake) Answer(context.Context, string) (string, error) { return "the answer\n" + hostile, nil }

func (f *fake) change(do func(f *fake)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do(f)
}

// hostile is a text that would do something if it were taken for more than a text.
const hostile = "<img src=x onerror=alert(1)>\u202e\x00</script>\"'"

func newFake() *fake {
	until := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	return &fake{
		status: dashboard.Status{
			Peer: "12D3KooWA", Version: "v1", Started: until, Swarm: hostile, Trust: "open", State: "paused",
			Modules: "published", Executables: []string{"bc (/usr/bin/bc, 0a1b2c3d)"},
			WhyIdle: "no work", PausedUntil: &until,
			Workers: 2, Busy: 1, Peers: 1, Reach: "public", Address: []string{"/ip4/127.0.0.1/tcp/1"}, Cluster: "here",
			Clusters: []report.Cluster{{Name: "here", Mine: true, Reason: "label", Peers: 2, Workers: 4,
				RTT: 0.001}},
			Work: report.Work{Executed: 10, Rate: 2.5, Given: 1, Taken: 2, Busy: 3, Sent: 4, Received: 5},
		},
		preferences: []dashboard.Preference{
			{Name: "workers_here", About: hostile, Kind: "number", Values: []string{"-1"}},
			{Name: "on_battery", About: "Also on battery.", Kind: "yes_or_no", Values: []string{"false"}},
			{Name: "hours", About: "When.", Kind: "list", Values: []string{}},
			{Name: "workers", About: "Cores.", Kind: "number", Values: []string{"2"}, From: "--workers"}},
		peers: []dashboard.Peer{{Peer: "12D3KooWB", Name: hostile, Version: "v1", Connected: true, Alive: true,
			Cluster: "here", Reason: "label", State: "idle"}},
		runs: []dashboard.Run{{Run: "0123", App: "nqueens", Args: []string{"12"}, Title: hostile,
			Owner: "12D3KooWA", Mine: true, State: "running",
			Submitted: until, Elapsed: 1, Share: 0.5, Peers: 2, Executed: 7,
			Stats: &report.RunStats{LocalStealAttempts: 5, LocalStealSuccesses: 3}}},
	}
}

// A site is a server under test with its source and the folder of its files.
type site struct {
	*dashboard.Server
	source *fake
	dir    string
	base   string
}

func open(t *testing.T, source *fake) *site {
	t.Helper()
	dir := t.TempDir()
	s, err := dashboard.Open(dashboard.Config{Source: source, Dir: dir, Every: 10 * time.Millisecond,
		Preferences: source, Desk: source})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error("closing:", err)
		}
		if err := <-served; err != nil {
			t.Error("serving:", err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
			t.Error("files are left behind:", left)
		}
	})
	return &site{s, source, dir, line(t, dir, dashboard.AddressFile)}
}

// line reads a file of the server, and sees that nobody else can.
func line(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("%s has mode %v", name, info.Mode())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(text), "\n")
}

// enter opens a link as a browser does.
func (s *site) enter(t *testing.T, l dashboard.Level) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	var session dashboard.Session
	if code, text := s.do(t, client, login(t, s.Link(l))); code != http.StatusOK ||
		json.Unmarshal([]byte(text), &session) != nil || session.Level != l || session.Session == "" {
		t.Fatalf("the link: %d %s", code, text)
	}
	client.Transport = holding{session.Session}
	return client
}

// holding sends what the page holds.
type holding struct{ session string }

func (h holding) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Satin-Session", h.session)
	return http.DefaultTransport.RoundTrip(r)
}

// login is what the page does with a link.
func login(t *testing.T, link string) request {
	t.Helper()
	_, secret, ok := strings.Cut(link, "/#login=")
	if !ok {
		t.Fatalf("the link is %q", link)
	}
	return request{method: http.MethodPost, path: "/api/v1/login", body: `{"token":"` + secret + `"}`}
}

// A request of the tables: what is not given is what the page itself would send.
type request struct {
	method, path, body string
	header             map[string]string
}

// do sends a request and gives the reply's status and body.
func (s *site) do(t *testing.T, client *http.Client, q request) (int, string) {
	t.Helper()
	method := q.method
	if method == "" {
		method = http.MethodGet
	}
	r, err := http.NewRequest(method, s.base+q.path, strings.NewReader(q.body))
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", s.base)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for name, value := range q.header {
		switch {
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header.Set(name, value)
		}
	}
	reply, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, string(text)
}

// The API shows what the peer says, and passes commands on to it.
func TestReadsAndActs(t *testing.T) {
	s := open(t, newFake())
	client := s.enter(t, dashboard.Control)
	var status dashboard.Status
	if code, text := s.do(t, client, request{path: "/api/v1/status"}); code != 200 ||
		json.Unmarshal([]byte(text), &status) != nil || status.Swarm != hostile {
		t.Errorf("status: %d %s", code, text)
	}
	for _, c := range []struct{ path, body, want string }{
		{"/pause", `{"for_seconds": 3600}`, "pause 1h0m0s"},
		{"/finish", `{}`, "finish"},
		{"/resume", `{}`, "resume"},
		{"/runs/0123/cancel", `{}`, "cancel 0123"},
	} {
		code, text := s.do(t, client, request{method: "POST", path: "/api/v1" + c.path, body: c.body})
		if code != 200 || s.source.actions[len(s.source.actions)-1] != c.want {
			t.Errorf("%s: %d %s, and the peer did %q", c.path, code, text, s.source.actions)
		}
	}
}

// Whoever asks is told by the status whether the request was bad, named nothing, was refused or came when nobody could
// answer, and the reason in words, which do not say that again.
func TestTellsErrorsApart(t *testing.T) {
	s := open(t, newFake())
	client := s.enter(t, dashboard.Control)
	for err, want := range map[error]int{report.ErrBadInput: 400, report.ErrNotFound: 404,
		report.ErrRefused: 409, report.ErrUnavailable: 503, context.DeadlineExceeded: 503, io.ErrUnexpectedEOF: 500} {
		s.source.change(func(f *fake) { f.err = fmt.Errorf("%w: so it is", err) })
		says := "so it is"
		if want == 500 {
			says = err.Error() + ": " + says
		}
		for _, q := range []request{{path: "/api/v1/runs"},
			{method: "POST", path: "/api/v1/runs/12/cancel", body: "{}"}} {
			if code, text := s.do(t, client, q); code != want || !strings.Contains(text, `"text":"`+says+`"`) {
				t.Errorf("%v: %s %s: %d %s, want %d", err, q.method, q.path, code, text, want)
			}
		}
	}
}

// A command whose body is not exactly what it takes, is a form, or names what cannot be, is refused, and the peer does
// nothing. Of a field that it does not know it says which it does.
func TestBadBodies(t *testing.T) {
	s := open(t, newFake())
	client := s.enter(t, dashboard.Control)
	for name, q := range map[string]request{
		"no JSON":           {path: "/pause", body: "for_seconds=1"},
		"nothing":           {path: "/pause", body: ""},
		"two values":        {path: "/pause", body: `{"for_seconds":1}{}`},
		"an unknown field":  {path: "/pause", body: `{"for_seconds":1,"by":"me"}`},
		"below zero":        {path: "/pause", body: `{"for_seconds":-1}`},
		"more than a month": {path: "/pause", body: `{"for_seconds":1e9}`},
		"a giant":           {path: "/pause", body: `{"for_seconds":1` + strings.Repeat(" ", 1<<16) + `}`},
		"a form": {path: "/pause", body: `{"for_seconds":1}`,
			header: map[string]string{"Content-Type": "text/plain"}},
		"no type":          {path: "/resume", body: `{}`, header: map[string]string{"Content-Type": ""}},
		"a long run":       {path: "/runs/" + strings.Repeat("a", 65) + "/cancel", body: `{}`},
		"an unknown level": {path: "/links", body: `{"level":"root"}`},
	} {
		q.method, q.path = "POST", "/api/v1"+q.path
		if code, text := s.do(t, client, q); code != 400 {
			t.Errorf("%s: %d %s", name, code, text)
		}
	}
	for _, c := range []struct{ path, body, says string }{
		{"/runs", `{"argumnets":"4"}`, "known are: app, arguments"}, {"/resume", `{"argumnets":"4"}`, "known are: none"},
		{"/runs", `{"arguments":["4"]}`, "arguments: got array, want string"}, {"/runs", `[]`, "all of it: got array, want struct"},
		{"/resume", "", "it is empty: want a JSON object, {} where"},
	} {
		q := request{method: "POST", path: "/api/v1" + c.path, body: c.body}
		if _, text := s.do(t, client, q); !strings.Contains(text, c.says) {
			t.Errorf("%s with %s does not say what it takes: %s", c.path, c.body, text)
		}
	}
	if len(s.source.actions) > 0 {
		t.Errorf("the peer did %q", s.source.actions)
	}
}

// The dashboard listens to this machine alone, at an address that nothing can lead elsewhere.
func TestOnlyLoopback(t *testing.T) {
	for _, listen := range []string{"0.0.0.0:0", "192.168.1.2:80", "[::]:0", "[::ffff:127.0.0.1]:0", "localhost:0",
		"127.0.0.1", ":8080", "[fe80::1%lo]:0", "example.org:80"} {
		s, err := dashboard.Open(dashboard.Config{Source: newFake(), Dir: t.TempDir(), Listen: listen})
		if err == nil {
			t.Errorf("listens on %s", listen)
			_ = s.Close(context.Background())
		}
	}
}

// A link that is asked for opens the page; without a daemon, or if the token beside it is not the daemon's, that is
// said.
func TestAsk(t *testing.T) {
	ctx := context.Background()
	if _, err := dashboard.Ask(ctx, t.TempDir(), dashboard.View); err != dashboard.ErrNotRunning {
		t.Errorf("in an empty folder: %v", err)
	}
	s := open(t, newFake())
	link, err := dashboard.Ask(ctx, s.dir, dashboard.View)
	if err != nil {
		t.Fatal(err)
	}
	if reply, err := http.Get(link); err != nil || reply.StatusCode != 200 {
		t.Errorf("%s: %v %v", link, reply, err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, dashboard.ControlFile), []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = dashboard.Ask(ctx, s.dir, dashboard.View); err == nil ||
		!strings.Contains(err.Error(), "not the current one") {
		t.Errorf("with an old token: %v", err)
	}
}

// Guards that a server whose directory was removed, and which ends when another one has begun in its place, does not
// take that one's files away: no command would find its page.
func TestAnotherInItsPlace(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	serve := func() *dashboard.Server {
		s, err := dashboard.Open(dashboard.Config{Source: newFake(), Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first, second := serve(), serve()
	if err := first.Close(ctx); err != nil {
		t.Error(err)
	}
	for _, name := range []string{dashboard.ViewFile, dashboard.ControlFile, dashboard.AddressFile} {
		line(t, dir, name)
	}
	if err := second.Close(ctx); err != nil {
		t.Error(err)
	}
}

// Guards against what a daemon leaves that was killed: another program at its port, of any user, would have the browser
// open what it likes, or a terminal obey it.
func TestAskAnotherProgram(t *testing.T) {
	says := ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(dashboard.Link{Link: says})
	}))
	defer s.Close()
	dir := t.TempDir()
	for name, text := range map[string]string{dashboard.AddressFile: s.URL, dashboard.ControlFile: "T"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, says = range []string{"", "file:///etc/passwd", "--help", "https://evil.example/#login=A", s.URL + "/#login=\x1b[2J",
		s.URL + ".evil.example/#login=A"} {
		if link, err := dashboard.Ask(t.Context(), dir, dashboard.View); !errors.Is(err, dashboard.ErrNotRunning) {
			t.Errorf("%q is to be opened, %v", link, err)
		}
	}
	says = s.URL + "/#login=A2"
	if link, err := dashboard.Ask(t.Context(), dir, dashboard.View); link != says {
		t.Error(err)
	}
}
