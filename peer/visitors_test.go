package peer_test

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/gorilla/websocket"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/tab/visitor"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/gateway"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/statement"
)

func init() { satin.Register("peertest.lend", lend) }

// lend has its whole tree in one child, and waits for that only when there is a file beside End: whoever has stolen the
// child until then is all that works.
func lend(f *satin.Frame, x Forest) int {
	all := satin.Spawn(f, count, x)
	for _, err := os.Stat(x.End + ".go"); err != nil; _, err = os.Stat(x.End + ".go") {
		satin.Spawn(f, count, Forest{End: x.End}).Get() // whoever wants the other one is heard
	}
	return all.Get()
}

// browsers is a program for browsers that has the applications of these tests.
func browsers(c *peer.Config) {
	c.Visitors = fstest.MapFS{
		gateway.WasmFile: {Data: []byte("wasm")}, gateway.ExecFile: {Data: []byte("exec")},
		gateway.AppsFile: {Data: []byte(`{"peertest": "` + hex.EncodeToString(make([]byte, 32)) + `"}`)},
	}
}

// link is one to a peer's gateway.
func link(t *testing.T, p *peer.Peer, run string) string {
	t.Helper()
	s, err := p.Share(t.Context(), control.Sharing{Run: run})
	if err != nil {
		t.Fatal(err)
	}
	return s.Link
}

// dial connects to the gateway of a link, and gives its ticket.
func dial(t *testing.T, link string) (*websocket.Conn, []byte) {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	ticket, err := base64.RawURLEncoding.DecodeString(u.Fragment)
	if err != nil {
		t.Fatal(err)
	}
	conn, reply, err := websocket.DefaultDialer.DialContext(t.Context(), "ws://"+u.Host+"/peer",
		http.Header{"Origin": {"http://" + u.Host}})
	if err != nil {
		t.Fatal(err)
	}
	_ = reply.Body.Close()
	t.Cleanup(func() { _ = conn.Close() })
	return conn, ticket
}

// visit opens a link as the page does, in this process.
func visit(t *testing.T, link string) (*visitor.Visitor, *websocket.Conn) {
	return visitWith(t, link, nil)
}

// visitWith is visit by whoever can run modules, and fetches them like that.
func visitWith(t *testing.T, link string, fetch func([]byte, module.Hash) ([]byte, error)) (*visitor.Visitor,
	*websocket.Conn) {
	t.Helper()
	conn, ticket := dial(t, link)
	var writing sync.Mutex
	cfg := visitor.Config{Ticket: ticket, Apps: []statement.App{{Name: "peertest"}}, Send: func(b []byte) {
		writing.Lock()
		defer writing.Unlock()
		_ = conn.WriteMessage(websocket.BinaryMessage, b)
	}}
	if fetch != nil {
		cfg.Module = func(h module.Hash) ([]byte, error) { return fetch(ticket, h) }
	}
	v, err := visitor.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	reading.Go(func() {
		for {
			_, b, err := conn.ReadMessage()
			if err != nil {
				return
			}
			if err := v.Received(b); err != nil {
				t.Error(err)
				return
			}
		}
	})
	t.Cleanup(func() {
		_ = conn.Close()
		reading.Wait()
		v.Leave()
	})
	return v, conn
}

// A visitor steals from its member and is stolen from, and the answer is right although it closes its page in the
// middle of its work.
func TestVisitorHelps(t *testing.T) {
	t.Parallel()
	a := open(t, browsers)
	work := last(t)
	run := submit(t, a, "lend", work.arg)
	v, conn := visit(t, link(t, a, run))
	until(t, "the visitor has stolen", func() bool { return v.Status().Taken > 0 })
	if err := os.WriteFile(work.arg.End+".go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, "the visitor is stolen from", func() bool { return v.Status().Given > 0 })
	second, _ := visit(t, link(t, a, ""))
	until(t, "a second one works, too", func() bool { return second.Status().Executed > 0 })
	if s := second.Status(); s.App != "peertest" || !strings.HasPrefix(s.Title, "lend") {
		t.Errorf("it says that it works for %q, %q", s.App, s.Title)
	}
	_ = conn.Close()
	work.end(t)
	if got := await[int](t, a, run); got != work.want {
		t.Errorf("the answer is %d, want %d", got, work.want)
	}
	until(t, "the second one has heard of the end", func() bool { return second.Status().App == "" })
}

// A book keeps what peers log.
type book struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *book) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(line)
}

func (b *book) has(text string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Contains(b.text.String(), text)
}

func (b *book) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func (b *book) logger() *slog.Logger { return slog.New(slog.NewTextHandler(b, nil)) }

const refusal = "an outcome is refused"

// Through a member that does nothing itself visitors work for a run of another one, who knows that member only: it
// takes what they have computed because that member stands for it.
func TestVisitorHelpsAnotherMember(t *testing.T) {
	t.Parallel()
	var log book
	closed := func(c *peer.Config) { c.Host.Trust, c.Host.Swarm = host.TrustInvite, "" } // nobody is known by himself
	list := []*peer.Peer{open(t, closed, logging(&log), func(c *peer.Config) { c.Host.Swarm = "lab" }),
		open(t, closed, logging(&log), browsers)}
	inv, err := list[0].Invite(t.Context(), control.Invitation{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := list[1].Join(deadline(t), inv.Line); err != nil {
		t.Fatal(err)
	}
	work := last(t)
	if err := list[1].Pause(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	run := submit(t, list[0], "count", work.arg)
	until(t, "the other takes part", func() bool { return runs(t, list[1])[run].State == control.RunRunning })
	v, _ := visit(t, link(t, list[1], run))
	until(t, "the visitor has stolen", func() bool { return v.Status().Taken > 0 && v.Status().Executed > 0 })
	work.end(t)
	if got := await[int](t, list[0], run); got != work.want {
		t.Errorf("the answer is %d, want %d", got, work.want)
	}
	if log.has(refusal) {
		t.Errorf("the log: %s", log.String())
	}
}

// Who stops sharing ends all visits, once; a later link leads to a new page.
func TestSharingStops(t *testing.T) {
	t.Parallel()
	a := open(t, browsers)
	conn, _ := dial(t, link(t, a, ""))
	stop := control.Sharing{Stop: true}
	if _, err := a.Share(t.Context(), control.Sharing{Stop: true, Seconds: 5}); !errors.Is(err, control.ErrBadInput) {
		t.Errorf("to stop for five seconds: %v", err)
	}
	if s, err := a.Share(t.Context(), stop); err != nil || s.Link != "" {
		t.Errorf("%+v, %v", s, err)
	}
	for err := error(nil); err == nil; { // the greeting comes first
		_, _, err = conn.ReadMessage()
	}
	if _, err := a.Share(t.Context(), stop); !errors.Is(err, control.ErrNotFound) {
		t.Errorf("a second time: %v", err)
	}
	_, _ = dial(t, link(t, a, ""))
}

// A gateway that has ended by itself, as when its listener fails, is opened again for the next link, elsewhere too.
func TestGatewayThatHasEnded(t *testing.T) {
	t.Parallel()
	a := open(t, browsers)
	_, _ = dial(t, link(t, a, ""))
	a.BreakGateway()
	s, err := a.Share(t.Context(), control.Sharing{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = dial(t, s.Link)
}

// There is no link to help with a run that has ended.
func TestShareOfAnEndedRun(t *testing.T) {
	t.Parallel()
	a := open(t, browsers)
	work := last(t)
	run := submit(t, a, "count", work.arg)
	work.end(t)
	await[int](t, a, run)
	if _, err := a.Share(t.Context(), control.Sharing{Run: run}); !errors.Is(err, control.ErrRefused) ||
		!strings.Contains(err.Error(), "is done: there is nothing to help with") {
		t.Error(err)
	}
}

// Who rests gives all back, and is asked again when it wants to. It tells of its segments, of each that ended once,
// and of those that end because it rests.
func TestVisitorRests(t *testing.T) {
	t.Parallel()
	a := open(t, browsers)
	work := last(t)
	run := submit(t, a, "count", work.arg)
	v, _ := visit(t, link(t, a, run))
	until(t, "it works", func() bool { return v.Status().Taken > 0 })
	seen := map[uint64]bool{} // whether it has ended, by its number
	until(t, "a segment runs", func() bool {
		s := v.Segments()
		for _, x := range s.List {
			if seen[x.Serial] {
				t.Errorf("segment %d is told of after its end", x.Serial)
			}
			seen[x.Serial] = x.State.Ended()
		}
		return s.Part == 1 && len(s.List) > 0 && !s.List[len(s.List)-1].State.Ended()
	})
	v.Rest(true)
	if s := v.Status(); s.App != "" || !s.Resting {
		t.Errorf("it rests: %+v", s)
	}
	over := v.Segments()
	for _, x := range over.List {
		if seen[x.Serial] || !x.State.Ended() || x.End.IsZero() {
			t.Errorf("at the end it tells of %+v", x)
		}
		seen[x.Serial] = true
	}
	for serial, ended := range seen {
		if !ended {
			t.Errorf("the end of segment %d is not told", serial)
		}
	}
	if again := v.Segments(); over.Part != 1 || again.Part != 0 {
		t.Errorf("it tells of part %d, then of %d", over.Part, again.Part)
	}
	had := v.Status().Taken
	v.Rest(false)
	until(t, "it works again", func() bool { return v.Status().Taken > had })
	if s := v.Segments(); s.Part != 2 {
		t.Errorf("it works in part %d", s.Part)
	}
	work.end(t)
	if got := await[int](t, a, run); got != work.want {
		t.Errorf("the answer is %d, want %d", got, work.want)
	}
}
