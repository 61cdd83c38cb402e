package dashboard_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/satin-peer/satin/dashboard"
	"github.com/satin-peer/satin/internal/report"
)

// A change as a page reads it.
type change struct {
	Kind   string
	Epoch  string
	After  uint64
	Number uint64
	Set    map[string]map[string]json.RawMessage
	Gone   map[string][]string
}

func (s *site) dial(t *testing.T) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.base, "http")+"/api/v1/live",
		http.Header{"Authorization": {"Bearer " + line(t, s.dir, dashboard.ViewFile)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func say(t *testing.T, conn *websocket.Conn, v any) {
	t.Helper()
	if err := conn.WriteJSON(v); err != nil {
		t.Fatal(err)
	}
}

func hear(t *testing.T, conn *websocket.Conn) (c change) {
	t.Helper()
	if err := conn.ReadJSON(&c); err != nil {
		t.Fatal(err)
	}
	return c
}

type subscription struct {
	Topics []string `json:"topics"`
	Epoch  string   `json:"epoch,omitempty"`
	After  uint64   `json:"after,omitempty"`
}

var everything = []string{"status", "clusters", "peers", "runs", "trouble"}

// A page gets everything once, and then what changes.
func TestSnapshotThenChanges(t *testing.T) {
	s := open(t, newFake())
	conn := s.dial(t)
	say(t, conn, subscription{Topics: everything})
	first := hear(t, conn)
	if first.Kind != "snapshot" || len(first.Set["peers"]) != 1 || len(first.Set["clusters"]) != 1 ||
		first.Set["status"]["me"] == nil {
		t.Fatalf("first came %+v", first)
	}
	s.source.change(func(f *fake) { f.peers = []dashboard.Peer{{Peer: "12D3KooWC"}} })
	// Two polls may see the change: what is sent continues without a gap in any case.
	at := first.Number
	for got, gone := false, false; !got || !gone; {
		c := hear(t, conn)
		if c.Kind != "delta" || c.After != at || c.Epoch != first.Epoch || len(c.Set["runs"]) > 0 {
			t.Fatalf("then came %+v after %d", c, at)
		}
		got = got || c.Set["peers"]["12D3KooWC"] != nil
		gone = gone || len(c.Gone["peers"]) == 1
		at = c.Number
	}
	conn.Close()

	// What happened while nobody watched comes as a change, when the number is still known.
	s.source.change(func(f *fake) { f.runs = nil })
	conn = s.dial(t)
	say(t, conn, subscription{everything, first.Epoch, at})
	for {
		c := hear(t, conn)
		if c.Kind != "delta" || c.After != at {
			t.Fatalf("resumed with %+v, after %d", c, at)
		}
		if at = c.Number; len(c.Gone["runs"]) == 1 {
			break
		}
	}
}

// A page that comes back when nothing has happened gets no more than that.
func TestResumeWithNothingNew(t *testing.T) {
	s := open(t, newFake())
	conn := s.dial(t)
	say(t, conn, subscription{Topics: everything})
	first := hear(t, conn)
	say(t, conn, subscription{everything, first.Epoch, first.Number})
	if c := hear(t, conn); c.Kind != "delta" || c.After != first.Number || c.Number != first.Number ||
		len(c.Set)+len(c.Gone) > 0 {
		t.Errorf("got %+v", c)
	}
}

// A page that saw another daemon, or more than has happened here, or wants other topics gets everything anew.
func TestSnapshotWhenItCannotResume(t *testing.T) {
	s := open(t, newFake())
	conn := s.dial(t)
	say(t, conn, subscription{Topics: everything})
	first := hear(t, conn)
	for name, sub := range map[string]subscription{
		"of another daemon":  {everything, "other", first.Number},
		"from what is to be": {everything, first.Epoch, first.Number + 1000},
	} {
		say(t, conn, sub)
		if c := hear(t, conn); c.Kind != "snapshot" || len(c.Set["peers"]) != 1 {
			t.Errorf("%s: %+v", name, c)
		}
	}
	say(t, conn, subscription{Topics: []string{"runs"}})
	if c := hear(t, conn); c.Kind != "snapshot" || len(c.Set) != 1 || len(c.Set["runs"]) != 1 {
		t.Errorf("one topic: %+v", c)
	}
}

// A peer that cannot say how it is leaves what was known, and says why.
func TestTrouble(t *testing.T) {
	s := open(t, newFake())
	conn := s.dial(t)
	say(t, conn, subscription{Topics: everything})
	hear(t, conn)
	s.source.change(func(f *fake) { f.err = report.ErrUnavailable })
	if c := hear(t, conn); c.Kind != "delta" || c.Set["trouble"]["source"] == nil || len(c.Gone) > 0 {
		t.Errorf("got %+v", c)
	}
	s.source.change(func(f *fake) { f.err = nil })
	if c := hear(t, conn); len(c.Gone["trouble"]) != 1 {
		t.Errorf("got %+v", c)
	}
}

// The websocket takes subscriptions and nothing else.
func TestTakesSubscriptionsOnly(t *testing.T) {
	s := open(t, newFake())
	for name, text := range map[string]string{
		"an action":        `{"action": "pause"}`,
		"no JSON":          `pause`,
		"nothing":          ``,
		"two":              `{"topics":[]}{"topics":[]}`,
		"an unknown topic": `{"topics":["secrets"]}`,
		"many topics":      `{"topics":["runs"` + strings.Repeat(`,"runs"`, 9) + `]}`,
		"a long epoch":     `{"topics":[],"epoch":"` + strings.Repeat("x", 65) + `"}`,
		"a giant":          `{"topics":[` + strings.Repeat(" ", 5000) + `]}`,
		"a negative":       `{"topics":[],"after":-1}`,
	} {
		conn := s.dial(t)
		if err := conn.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, got, err := conn.ReadMessage(); !websocket.IsCloseError(err, websocket.ClosePolicyViolation,
			websocket.CloseMessageTooBig) {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	conn := s.dial(t)
	if err := conn.WriteMessage(websocket.BinaryMessage, []byte(`{"topics":[]}`)); err != nil {
		t.Fatal(err)
	}
	if _, got, err := conn.ReadMessage(); !websocket.IsCloseError(err, websocket.ClosePolicyViolation) {
		t.Errorf("binary: %q %v", got, err)
	}
	if len(s.source.actions) > 0 {
		t.Errorf("the peer did %q", s.source.actions)
	}
}

// There are so many websockets at once, and one more is refused.
func TestManyWebsockets(t *testing.T) {
	s := open(t, newFake())
	for range 32 {
		s.dial(t)
	}
	_, reply, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.base, "http")+"/api/v1/live",
		http.Header{"Authorization": {"Bearer " + line(t, s.dir, dashboard.ViewFile)}})
	if err == nil || reply == nil || reply.StatusCode != 503 {
		t.Errorf("the 33rd: %v %v", reply, err)
	}
}
