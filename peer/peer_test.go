package peer_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/host"
)

func init() {
	satin.Register("peertest.fib", fib)
}

func fib(f *satin.Frame, n int) int {
	if n < 2 {
		return n
	}
	x := satin.Spawn(f, fib, n-1)
	y := fib(f, n-2)
	return x.Get() + y
}

// open makes a peer of an open swarm on loopback.
func open(t testing.TB, change ...func(*peer.Config)) *peer.Peer {
	t.Helper()
	cfg := peer.Config{
		Host: host.Config{
			StateDir: t.TempDir(), Swarm: "test", Trust: host.TrustOpen,
			Listen: []string{"/ip4/127.0.0.1/udp/0/quic-v1", "/ip4/127.0.0.1/tcp/0"},
		},
		Workers: 1, Cluster: "here", Every: 50 * time.Millisecond,
		FullPriority: true, // or jobs would get nothing for minutes beside other tests and compilers
	}
	var log io.Writer = os.Stderr
	if os.Getenv("SATIN_TEST_LOG") == "" {
		log = lastWords(t)
	}
	cfg.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	cfg.Host.Logger = cfg.Log
	for _, c := range change {
		c(&cfg)
	}
	p, err := peer.Open(context.Background(), cfg, []peer.Application{{Name: "peertest"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// lastWords keeps what a peer says, and shows the end of it if the test fails: whatever happens once in a hundred runs
// is not seen again when somebody looks.
func lastWords(t testing.TB) io.Writer {
	log := new(book)
	t.Cleanup(func() {
		if t.Failed() {
			text := log.String()
			t.Logf("the last words of a peer:\n%s", text[max(0, len(text)-mostWords):])
		}
	})
	return log
}

const mostWords = 32 << 10

// deadline bounds what a test waits for; it is long because the machine may be busy.
func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func address(t testing.TB, p *peer.Peer) string {
	t.Helper()
	s, err := p.Status(context.Background())
	if err != nil || len(s.Addresses) == 0 {
		t.Fatalf("no address: %v", err)
	}
	return s.Addresses[0]
}

func submit(t testing.TB, p *peer.Peer, fn string, arg any) string {
	t.Helper()
	b, err := wire.Value().Encode(arg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Submit(context.Background(), control.Submission{App: "peertest", Function: "peertest." + fn,
		Argument: b, Title: fmt.Sprint(fn, " ", arg), Args: []string{fn, fmt.Sprint(arg)}})
	if err != nil {
		t.Fatal(err)
	}
	return r.Run
}

// await waits for a run and gives its result.
func await[R any](t testing.TB, p *peer.Peer, run string) (r R) {
	t.Helper()
	o, err := p.Wait(deadline(t), run, nil)
	if err != nil {
		t.Fatal(err)
	}
	if o.State != control.RunDone {
		t.Fatalf("run %s: %s: %s", run, o.State, o.Failure)
	}
	if err := wire.Outcomes().Decode(o.Result, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// until asks again and again whether something has come true.
func until(t testing.TB, what string, true func() bool) {
	t.Helper()
	ctx := deadline(t)
	for !true() {
		select {
		case <-ctx.Done():
			t.Fatalf("not within eight minutes: %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func taken(p *peer.Peer) uint64 {
	s, _ := p.Status(context.Background())
	return s.Work.Taken
}

// Two peers that have met compute one run together, and the owner has the answer.
func TestTwoPeersShareARun(t *testing.T) {
	t.Parallel()
	a, b := open(t), open(t)
	if _, err := b.Join(deadline(t), address(t, a)); err != nil {
		t.Fatal(err)
	}
	share(t, a, b)
}

// share has two peers share a run of the first one's.
func share(t *testing.T, a, b *peer.Peer) {
	t.Helper()
	work := last(t)
	run := submit(t, a, "count", work.arg)
	until(t, "the other takes part", func() bool { return taken(b) > 0 })
	work.end(t)
	if got := await[int](t, a, run); got != work.want {
		t.Errorf("the answer is %d, want %d", got, work.want)
	}
}
