package hostile

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/stream"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
)

// said is what a peer has logged.
type said struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *said) count(text string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Count(s.b.String(), text)
}

// A member that announces values without an end, of which no piece ever comes, is refused in one line; what another
// member announces is fetched beside them, and the run ends as if nothing was.
func TestFloodOfShared(t *testing.T) {
	log := &said{}
	v := computing(t, func(c *peer.Config) { c.Log = slog.New(slog.NewTextHandler(log, nil)) })
	run, end := pairs(t, v, 3, control.Submission{})
	announcer := func(asked *atomic.Int64) (announce func(n int, size uint64)) {
		r := invited(t, v)
		r.volunteers(t)
		to := stream.New(r.Network(), stream.Config{}, stream.Handler{Received: func(*steal.Message) {},
			Failed: func(*steal.Message, error) {}, SharedFailed: func(*stream.Shared, error) {},
			Shared: func(m *stream.Shared) {
				if m.Message.Get != nil {
					asked.Add(1)
				}
			}})
		t.Cleanup(func() { _ = to.Close() })
		self := sharedobj.PeerID(r.ID().String())
		return func(n int, size uint64) {
			x := sharedobj.Recipe{Kind: sharedobj.Phased, Name: "x", Write: sharedobj.Blob{Size: size},
				State: sharedobj.Blob{Size: size, Top: sha256.Sum256(fmt.Append(nil, self, n))}}
			x.Parent, x.Write.Top = sharedobj.Digest(x.State.Top), x.State.Top
			to.SendShared(&stream.Shared{Run: run, Message: &sharedobj.Message{From: self,
				To: sharedobj.PeerID(r.victim.String()), Announce: &sharedobj.Announce{Origin: self, Recipe: x}}})
		}
	}
	var liars, others atomic.Int64
	flood, honest := announcer(&liars), announcer(&others)
	const line = "has sent more of what jobs share"
	n := 0
	until(t, "it is refused", func() bool {
		n++
		flood(n, 60<<20)
		n++
		flood(n, 300<<20) // alone it is more than a quarter
		return log.count(line) > 0
	})
	until(t, "what another announces is fetched", func() bool {
		n++
		flood(n, 60<<20)
		honest(0, 1<<20) // the same: who announces without an end while it waits is refused too
		return others.Load() > 0
	})
	until(t, "what the flood began with is asked for", func() bool { return liars.Load() > 0 })
	if n := log.count(line); n != 1 {
		t.Errorf("it was said %d times", n)
	}
	if got := answer(t, end()); got != 14 {
		t.Errorf("the run ends with %d", got)
	}
}
