package gateway

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/satin-peer/satin/internal/tab"
)

// pipes are connections within this process, which wait for virtual time.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p pipes) Close() error {
	close(p)
	return nil
}

func (pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p <- there
	return here, nil
}

// A virtual is an inn whose tabs come by pipes, in virtual time.
type virtual struct {
	t *testing.T
	*Server
	inn
	pipes
	served chan error
}

// inVirtualTime does something in an inn, and closes it. Whatever it puts to who comes in has room.
func inVirtualTime(t *testing.T, do func(x *virtual)) {
	synctest.Test(t, func(t *testing.T) {
		x := &virtual{t: t, pipes: make(pipes), served: make(chan error, 1),
			inn: inn{in: make(chan struct{}, 2), out: make(chan struct{}, 2), puts: make(chan *tab.Over, 100)}}
		var err error
		if x.Server, err = Open(Config{House: x.inn, Dist: dist}); err != nil {
			t.Fatal(err)
		}
		go func() { x.served <- x.http.Serve(x.pipes) }()
		do(x)
	})
}

// greeted opens a websocket, and reads the greeting.
func (x *virtual) greeted() *websocket.Conn {
	x.t.Helper()
	d := websocket.Dialer{NetDialContext: x.dial}
	c, reply, err := d.DialContext(x.t.Context(), "ws://"+x.base.URL().Host+"/peer", x.own())
	if err != nil {
		x.t.Fatal(err)
	}
	_ = reply.Body.Close()
	if _, _, err := c.ReadMessage(); err != nil {
		x.t.Fatal(err)
	}
	return c
}

// come is a tab that is let in.
func (x *virtual) come() *websocket.Conn {
	c := x.greeted()
	say(x.t, c, &tab.Frame{Visit: []byte("good")})
	<-x.in
	return c
}

// close closes the inn within a time.
func (x *virtual) close(within time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if err := errors.Join(x.Server.Close(ctx), x.listener.Close()); err != nil {
		x.t.Error(err)
	}
	if err := <-x.served; !errors.Is(err, http.ErrServerClosed) {
		x.t.Error(err)
	}
}

// A tab whose network is gone, so that nothing says that its connection has ended, makes room when its browser has not
// answered for so long; one that has nothing to say, but whose browser answers, stays.
func TestCutOffTabMakesRoom(t *testing.T) {
	inVirtualTime(t, func(x *virtual) {
		idle := x.come()
		go hear(idle)
		cut := x.come()
		begun := time.Now()
		go func() { _, _ = io.Copy(io.Discard, cut.NetConn()) }() // what is sent to it gets lost
		<-x.out
		if took := time.Since(begun); took <= tab.StillEvery || took > tab.GoneAfter {
			t.Errorf("a tab that was cut off is believed to be there for %v", took)
		}
		time.Sleep(time.Hour)
		if x.tabs.n != 1 || len(x.out) != 0 {
			t.Errorf("%d tabs are inside after an hour, want the one that answers", x.tabs.n)
		}
		_ = idle.Close()
		<-x.out
		x.close(time.Second)
	})
}

// Guards against a tab that reads a frame now and then, with many on their way to it: the daemon waited for it to read
// them all before it ended, and so did the command that closes the gateway.
func TestCloseWaitsForNoReader(t *testing.T) {
	inVirtualTime(t, func(x *virtual) {
		ofRun := &tab.Over{}
		ofRun.Run[0] = 1
		for range cap(x.puts) {
			x.puts <- ofRun
		}
		slow, gone := x.come(), make(chan struct{})
		go func() {
			defer close(gone)
			for err := error(nil); err == nil; _, _, err = slow.ReadMessage() {
				time.Sleep(writeWithin - time.Second)
			}
		}()
		time.Sleep(time.Minute)
		begun := time.Now()
		x.close(2 * time.Second)
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("it has closed after %v", took)
		}
		<-gone
	})
}

// Guards against a tab that reads too little to be put out: what it is put out by has room, and waits for nothing else.
func TestLastWordHasRoom(t *testing.T) {
	l := &line{bell: make(chan struct{}, 1)}
	for size := maxQueue / 4; size > 0; size /= 2 {
		for l.send(&tab.Frame{Show: &tab.Show{Node: make([]byte, size)}}) {
		}
	}
	last := &tab.Frame{Over: &tab.Over{Why: strings.Repeat("x", tab.MaxText)}}
	if !l.send(last) || l.send(&tab.Frame{Still: &tab.Still{}}) {
		t.Error("it cannot be put out, or hears more")
	}
	l.end()
	if f, err := tab.Decode(l.queue[0]); err != nil || len(l.queue) != 1 || f.Over == nil {
		t.Errorf("%d frames are to leave, %v", len(l.queue), err)
	}
}

// Guards against whoever has no ticket and keeps a place: answers to what the gateway asks a browser are no first word.
func TestPongsAreNoTicket(t *testing.T) {
	inVirtualTime(t, func(x *virtual) {
		c := x.greeted()
		go hear(c)
		for begun := time.Now(); c.WriteControl(websocket.PongMessage, nil, time.Now().Add(time.Hour)) == nil; {
			if time.Sleep(time.Second); time.Since(begun) > time.Hour {
				t.Error("it is there for an hour")
				_ = c.Close()
			}
		}
		x.close(time.Second)
	})
}

// A house that puts a tab out says so as its last word, whatever the tab goes on to say or not.
func TestPutOut(t *testing.T) {
	s, h := keep(t, Config{})
	ofRun := &tab.Over{Why: "of a run"}
	ofRun.Run[0] = 1
	h.puts <- ofRun
	h.puts <- &tab.Over{Why: "a result was wrong"}
	h.puts <- &tab.Over{Why: "never said"}
	c, _ := knock(t, s, s.own())
	_ = c.SetReadDeadline(time.Now().Add(8 * time.Minute)) // or it would wait for ever if it were not put out
	say(t, c, &tab.Frame{Visit: []byte("good")})
	if why := hear(c); why != "a result was wrong" {
		t.Errorf("it was told %q", why)
	}
	<-h.out
}

// Guards against whoever has the gateway answer pings as fast as it can: a browser sends hardly any.
func TestPingsAreAnsweredSeldom(t *testing.T) {
	inVirtualTime(t, func(x *virtual) {
		c := x.greeted()
		var answers atomic.Int32
		c.SetPongHandler(func(string) error {
			answers.Add(1)
			return nil
		})
		go hear(c)
		for range 3 {
			for range 100 {
				if err := c.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Hour)); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(2 * time.Second)
		}
		if n := answers.Load(); n != 3 {
			t.Errorf("%d pings are answered", n)
		}
		x.close(time.Second)
	})
}
