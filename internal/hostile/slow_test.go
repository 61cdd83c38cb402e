package hostile

import (
	"io"
	"runtime"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/statement"
)

const (
	slowStreams = 60      // of the 64 that one member may have of a protocol
	slowSize    = 8 << 20 // bytes of what is asked for, or brought, on each
	mostForSlow = 100 << 20
)

func init() { satin.Register("hostile.bulky", bulky) }

// bulky waits for the leaves.
func bulky(f *satin.Frame, b []byte) int { return leaf(f, Part{"TestSlowReaders", len(b)}) }

// slowly opens streams on which something is asked for, or brought: all but the last byte of it. It returns when each
// answer has begun to come, or was refused, or all that is brought is gone; begun are those that have begun.
func (r *rogue) slowly(t *testing.T, proto protocol.ID, what any, brings []byte) (begun int) {
	t.Helper()
	came := make(chan bool, slowStreams)
	frame, err := wire.Frame(brings, wire.MaxValue)
	if err != nil {
		t.Fatal(err)
	}
	for range slowStreams {
		s, err := r.Network().NewStream(network.WithNoDial(patience(t), "connected"), r.victim, proto)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Reset() })
		b, err := wire.Value().Encode(what)
		if err != nil {
			t.Fatal(err)
		}
		if err := wire.WriteFrame(s, b, wire.MaxValue); err != nil {
			t.Fatal(err)
		}
		var sent chan struct{}
		if brings != nil {
			sent = make(chan struct{})
			go func() {
				defer close(sent)
				_, _ = s.Write(frame[:len(frame)-1])
			}()
		}
		answered := make(chan bool, 1)
		go func() {
			_, err := io.ReadFull(s, make([]byte, wire.FrameHead))
			answered <- err == nil
		}()
		go func() {
			select {
			case <-sent: // never, if nothing is brought
				came <- true
			case ok := <-answered:
				came <- ok && brings == nil
			}
		}()
	}
	for range slowStreams {
		if <-came {
			begun++
		}
	}
	return begun
}

// live is the memory that is in use in this process.
func live() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A member that asks for the same large answer, or the same large manifest, on all streams that it may have, and reads
// none of what comes, or brings an answer on all of them and never the last byte, takes little memory by it, and
// another gets what it asks for meanwhile. (Each stream held all of it, for up to ten minutes.)
func TestSlowReaders(t *testing.T) {
	v, w := computing(t), computing(t)
	join(t, v, w, control.Invitation{})
	r, friend := invited(t, v), invited(t, v)
	run, _ := pairs(t, v, 4, control.Submission{})
	until(t, "the other takes part", func() bool { return infoAt(t, w, run).State == control.RunRunning })
	atHome, guest := r, friend
	r, friend = r.at(t, w), friend.at(t, w)

	large := make([]byte, slowSize)
	large[0] = 1
	hash := statement.HashOutcome(large)
	before := live()
	request := map[int]any{1: says(t, keyOf(r), run, large)}
	if n := r.slowly(t, "/satin/keep/1", request, large); n == 0 || n > slowStreams/4 {
		t.Errorf("it may bring %d answers at a time", n)
	}
	if held := live() - before; held > mostForSlow {
		t.Errorf("%d MiB are held of what never comes", held>>20)
	}
	if !friend.keeps(t, says(t, keyOf(friend), run, large), large) {
		t.Fatal("what another brings is not kept")
	}

	before = live()
	question := map[int]any{1: run[:], 2: hash[:]}
	if n := r.slowly(t, "/satin/answer/1", question, nil); n != slowStreams {
		t.Errorf("%d of %d are answered", n, slowStreams)
	}
	if held := live() - before; held > mostForSlow {
		t.Errorf("%d MiB are held of answers", held>>20)
	}
	if got := friend.gets(t, "/satin/answer/1", question); statement.HashOutcome(got) != hash {
		t.Errorf("another is given %d bytes", len(got))
	}

	arg, err := wire.Value().Encode(large)
	if err != nil {
		t.Fatal(err)
	}
	info, err := v.Submit(patience(t), control.Submission{App: "hostile", Function: "hostile.bulky", Argument: arg})
	if err != nil {
		t.Fatal(err)
	}
	run, _ = job.ParseRunID(info.Run)
	until(t, "the other has its manifest", func() bool { return infoAt(t, w, run).State == control.RunRunning })
	before, question = live(), map[int]any{1: run[:], 2: true}
	if n := atHome.slowly(t, "/satin/run/2", question, nil); n == 0 || n > slowStreams/4 {
		t.Errorf("%d manifests are given to it", n)
	}
	if held := live() - before; held > mostForSlow {
		t.Errorf("%d MiB are held of manifests", held>>20)
	}
	if got := guest.gets(t, "/satin/run/2", question); len(got) < slowSize {
		t.Errorf("another is given %d bytes of a manifest", len(got))
	}
}

// gets asks for something, and gives what comes.
func (r *rogue) gets(t *testing.T, proto protocol.ID, question any) []byte {
	t.Helper()
	s, err := r.Network().NewStream(network.WithNoDial(patience(t), "connected"), r.victim, proto)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Reset()
	b, err := wire.Value().Encode(question)
	if err != nil {
		t.Fatal(err)
	}
	if err := wire.WriteFrame(s, b, 1<<10); err != nil {
		t.Fatal(err)
	}
	got, err := wire.ReadFrame(s, nil, wire.MaxOutcome)
	if err != nil {
		t.Fatal(err)
	}
	return got
}
