package dashboard

import (
	"context"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/satin-peer/satin/internal/report"
)

// A counter is a peer that counts how often it is asked.
type counter struct {
	Source
	asked int
}

func (c *counter) Status(context.Context) (Status, error) {
	c.asked++
	return Status{Busy: c.asked}, nil
}
func (c *counter) Peers(context.Context) ([]Peer, error)        { return nil, nil }
func (c *counter) Watch(context.Context) ([]report.Part, error) { return nil, nil }
func (c *counter) Runs(context.Context) ([]Run, error)          { return make([]Run, maxRuns+3), nil }

// The peer is asked once a second while at least one watcher wants something, at once when the first does,
// and otherwise not.
func TestAsksWhileWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &counter{}
		h := newHub(source, time.Second)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go h.run(ctx)
		after := func(d time.Duration, want int, what string) {
			t.Helper()
			time.Sleep(d) // virtual time
			synctest.Wait()
			if source.asked != want {
				t.Errorf("%s: asked %d times, want %d", what, source.asked, want)
			}
			source.asked = 0
		}
		after(time.Hour, 0, "nobody")
		one, other := h.add(), h.add()
		after(time.Hour, 0, "two that want nothing")
		h.subscribe(one, true)
		after(100*time.Millisecond, 1, "one begins")
		if !h.isFresh() || len(one.wake) != 1 || len(other.wake) != 0 {
			t.Errorf("fresh: %v, woken: %d and %d", h.isFresh(), len(one.wake), len(other.wake))
		}
		h.subscribe(other, true)
		after(10*time.Second, 10, "two")
		h.subscribe(one, false)
		h.remove(one)
		after(10*time.Second, 10, "one of them goes")
		h.subscribe(other, false)
		if h.isFresh() {
			t.Error("what nobody keeps up to date counts as fresh")
		}
		after(time.Hour, 0, "the last is hidden")
		h.subscribe(other, true)
		after(0, 1, "it is seen again")
		h.remove(other)
	})
}

// What is too much to send is counted.
func TestCountsWhatIsLeftOut(t *testing.T) {
	h := newHub(&counter{}, time.Second)
	h.refresh(t.Context())
	c := h.store.since(0, true, topics[:])
	if got := string(c.Set[statusTopic]["left_out"]); got != `{"peers":0,"runs":3,"clusters":0}` {
		t.Errorf("left out: %s", got)
	}
}

// A piped listener has the connections that it is given, which wait for virtual time.
type piped struct {
	net.Listener
	conns chan net.Conn
}

func (p piped) Accept() (net.Conn, error) {
	if c, ok := <-p.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p piped) Close() error {
	close(p.conns)
	return p.Listener.Close()
}

// Guards against a page that is sent something and reads nothing, as one that sleeps behind a forwarded port: the
// daemon waited for it when it was to end.
func TestCloseWaitsForNoReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(Config{Source: &counter{}, Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		l := piped{s.listener, make(chan net.Conn)}
		served := make(chan error)
		go func() { served <- s.http.Serve(l) }()
		d := websocket.Dialer{NetDialContext: func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			l.conns <- there
			return here, nil
		}}
		conn, reply, err := d.Dial("ws://"+s.at.String()+livePath,
			http.Header{"Authorization": {"Bearer " + s.sessions.tokens[View]}})
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		defer conn.Close()
		if err := conn.WriteJSON(Subscription{Topics: topics[:]}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second) // by when it is sent everything
		begun := time.Now()
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took > closeWithin {
			t.Errorf("it has closed after %v", took)
		}
		if err := <-served; err != http.ErrServerClosed {
			t.Error(err)
		}
	})
}
