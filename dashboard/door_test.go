package dashboard

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"golang.org/x/net/netutil"
)

// Connections that say nothing, or half of a request, or all of one but its body, keep nobody out, however many they
// are and however patient the server is with each; and they end no request of who may look that is being answered.
func TestHalfOpenConnections(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	begun, goOn := make(chan struct{}), make(chan struct{})
	d := newDoor()
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/slow" {
			d.passes(r)
			close(begun)
			<-goOn
		}
		fmt.Fprint(w, "here")
	})}
	d.attach(s)
	go func() { _ = s.Serve(netutil.LimitListener(l, maxConnections)) }()
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	get := func(path string) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+l.Addr().String()+path, nil)
		if err != nil {
			return err
		}
		answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if b, err := io.ReadAll(answer.Body); err != nil || string(b) != "here" {
			return fmt.Errorf("%q, %w", b, err)
		}
		return nil
	}
	slow := make(chan error, 1)
	go func() { slow <- get("/slow") }()
	<-begun
	half := [...]string{"", "GET / HTTP/1.1\r\nHost: ", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"}
	for i := range 4 * maxConnections {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = fmt.Fprint(c, half[i%len(half)]) // it may have been put out
	}
	if err := get("/"); err != nil {
		t.Errorf("nobody answers: %v", err)
	}
	close(goOn)
	if err := <-slow; err != nil {
		t.Errorf("a request was ended: %v", err)
	}
}

// Guards against a program of another user that holds connections by requests that are refused: only who may look
// leaves those that make room.
func TestDoorForStrangers(t *testing.T) {
	s := &Server{door: newDoor(), sessions: newSessions(1)}
	c, other := net.Pipe()
	defer other.Close()
	s.door.waits(c)
	for _, token := range []string{"", "made up", s.sessions.tokens[View]} {
		ctx := context.WithValue(t.Context(), connection{}, c)
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		s.need(View, func(http.ResponseWriter, *http.Request) {})(httptest.NewRecorder(), r)
		if may := token == s.sessions.tokens[View]; (s.door.places[c] == nil) != may {
			t.Errorf("by the token %q its connection makes room: %v", token, may)
		}
	}
}
