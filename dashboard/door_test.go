package dashboard

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"golang.org/x/net/netutil"
)

// Connections that say nothing, or half of a request, keep nobody out, however many they are and however patient the
// server is with each; and they end no request that is being answered.
func TestHalfOpenConnections(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	begun, goOn := make(chan struct{}), make(chan struct{})
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(begun)
			<-goOn
		}
		fmt.Fprint(w, "here")
	})}
	newDoor().attach(s)
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
	for i := range 4 * maxConnections {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i%2 == 0 {
			_, _ = fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: ") // it may have been put out
		}
	}
	if err := get("/"); err != nil {
		t.Errorf("nobody answers: %v", err)
	}
	close(goOn)
	if err := <-slow; err != nil {
		t.Errorf("a request was ended: %v", err)
	}
}
