//go:build browser

package gateway_test

import (
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/satin-peer/satin/peer/gateway"
)

// A wire carries connections, until it is cut: then what is sent on those that are open gets lost, and nobody is told.
// New ones are carried.
type wire struct {
	listener net.Listener
	to       string
	whole    atomic.Pointer[atomic.Bool] // of the connections that are made now
}

func newWire(t *testing.T, to string) *wire {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener: l, to: to}
	w.cut()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				if !errors.Is(err, net.ErrClosed) {
					t.Error(err)
				}
				return
			}
			there, err := net.Dial("tcp", to)
			if err != nil {
				t.Error(err)
				return
			}
			whole := w.whole.Load()
			go carry(c, there, whole)
			go carry(there, c, whole)
		}
	}()
	t.Cleanup(func() { _ = l.Close() })
	return w
}

func (w *wire) cut() {
	whole := new(atomic.Bool)
	whole.Store(true)
	if old := w.whole.Swap(whole); old != nil {
		old.Store(false)
	}
}

// carry copies what comes until there is no more.
func carry(from, to net.Conn, whole *atomic.Bool) {
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if whole.Load() {
			if _, bad := to.Write(b[:n]); bad != nil && err == nil {
				err = bad
			}
			if err != nil {
				_ = to.Close()
			}
		}
		if err != nil {
			return
		}
	}
}

// A page in Chromium at a gateway with a certificate that was given is cut off in the middle of its work: the answer is
// exact, and the page is there for the next run. The number is OEIS A000170's.
func TestCutOffInBrowser(t *testing.T) {
	x := newStage(t)
	l, err := net.Listen("tcp", "127.0.0.9:0") // which only says which port is free
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	w := newWire(t, at)
	cert, key := gateway.GivenCertificate(t)
	link := x.link("--all", "--listen", at, "--cert", cert, "--key", key,
		"--url", "https://"+w.listener.Addr().String())
	if !strings.HasPrefix(link, "https://127.0.0.1:") {
		t.Fatal("the link is ", link)
	}
	var queens <-chan string
	steps := []func(){
		func() { queens = x.run("nqueens", "17") },
		w.cut,
		func() { x.printed(queens, "95815104") },
	}
	x.show("cut.mjs", link, func() {
		steps[0]()
		steps = steps[1:]
	})
	if len(steps) > 0 {
		t.Errorf("the page has not come to the last %d steps", len(steps))
	}
}
