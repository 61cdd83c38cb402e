package gateway

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
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

// A tab whose network is gone, so that nothing says that its connection has ended, makes room when its browser has not
// answered for so long; one that has nothing to say, but whose browser answers, stays.
func TestCutOffTabMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := inn{in: make(chan struct{}, 2), out: make(chan struct{}, 2)}
		s, err := Open(Config{House: h, Dist: dist})
		if err != nil {
			t.Fatal(err)
		}
		p := make(pipes)
		served := make(chan error, 1)
		go func() { served <- s.http.Serve(p) }()
		come := func() *websocket.Conn {
			d := websocket.Dialer{NetDialContext: p.dial}
			c, reply, err := d.DialContext(t.Context(), "ws://"+s.base.URL().Host+"/peer", s.own())
			if err != nil {
				t.Fatal(err)
			}
			_ = reply.Body.Close()
			if _, _, err := c.ReadMessage(); err != nil { // the greeting
				t.Fatal(err)
			}
			say(t, c, &tab.Frame{Visit: []byte("good")})
			<-h.in
			return c
		}
		idle := come()
		go hear(idle)
		cut := come()
		begun := time.Now()
		go func() { _, _ = io.Copy(io.Discard, cut.NetConn()) }() // what is sent to it gets lost
		<-h.out
		if took := time.Since(begun); took <= tab.StillEvery || took > tab.GoneAfter {
			t.Errorf("a tab that was cut off is believed to be there for %v", took)
		}
		time.Sleep(time.Hour)
		if s.tabs.n != 1 || len(h.out) != 0 {
			t.Errorf("%d tabs are inside after an hour, want the one that answers", s.tabs.n)
		}
		_ = idle.Close()
		<-h.out
		if err := errors.Join(s.Close(context.Background()), s.listener.Close()); err != nil {
			t.Error(err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
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
