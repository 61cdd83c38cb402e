package session_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/steal"
)

func init() {
	satin.Register("session_test.makers", makers)
	satin.Register("session_test.maker", maker)
	satin.Register("session_test.weigh", weigh)
}

// made is a result with a handle in it.
type made struct {
	Place int
	Scene satin.Constant[[]byte]
}

const (
	makersN   = 40
	madeBytes = 40 << 10
)

// collected counts the frames that have all results and have read none; they read on when they may.
var (
	collected atomic.Int32
	mayRead   atomic.Bool
)

// makersWait holds up all who make values, until others have stolen some of their jobs.
var makersWait atomic.Bool

// maker makes a value and returns its handle.
func maker(f *satin.Frame, place int) made {
	for makersWait.Load() && !f.Aborted() {
		fib(f, 5) // lets thieves have what waits
		time.Sleep(leafTime)
	}
	time.Sleep(2 * leafTime)
	b := make([]byte, madeBytes)
	for i := range b {
		b[i] = byte(place + i*i>>3)
	}
	return made{place, satin.ShareConstant(f, b)}
}

// weigh reads a value whose handle came in a result.
func weigh(f *satin.Frame, m made) int {
	b := m.Scene.Read(f)
	if len(b) != madeBytes || b[1000] != byte(m.Place+1000*1000>>3&255) {
		return -1 << 40
	}
	return m.Place
}

// makers collects handles, and has what they name read: in its own frame, and by jobs that others may steal.
func makers(f *satin.Frame, n int) int {
	var all []made
	g := satin.Fork(f, maker)
	for i := range n {
		g.Spawn(i)
	}
	for m := range g.Results() {
		all = append(all, m)
	}
	collected.Add(1)
	for !mayRead.Load() && !f.Aborted() {
		time.Sleep(leafTime)
	}
	collected.Add(-1)
	sum := 0
	h := satin.Fork(f, weigh)
	for i, m := range all {
		if i%2 == 0 {
			sum += weigh(f, m)
		} else {
			h.Spawn(m)
		}
	}
	for w := range h.Results() {
		sum += w
	}
	return sum
}

// A value that a job has made and returned by its handle is read although all who made such values are gone by then:
// thieves, or the master, whose deputy collects them again from those that are left.
func TestReturnedHandlesSurvive(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		victims []int
		lossy   bool
	}{"all thieves": {victims: []int{1, 2}}, "lossy": {victims: []int{1, 2}, lossy: true},
		"the master": {victims: []int{0}}} {
		t.Run(name, func(t *testing.T) {
			mayRead.Store(false)
			makersWait.Store(true)
			w := newWorld(t, 3, "session_test.makers", makersN)
			w.lossy = c.lossy
			var peers []*worldPeer
			for i := range 3 {
				peers = append(peers, w.start(i, nil))
			}
			w.until("everybody has stolen or been stolen from", func() bool { return w.sum(taken) >= 2 })
			makersWait.Store(false)
			w.until("all handles are there", func() bool { return collected.Load() > 0 })
			for _, v := range c.victims {
				w.kill(peers[v])
			}
			if c.victims[0] == 0 { // its frame has ended
				w.until("all handles are there again", func() bool { return collected.Load() > 0 })
			}
			mayRead.Store(true)
			if got, want := w.answer(), makersN*(makersN-1)/2; got != want {
				t.Errorf("%v, want %d", got, want)
			}
			if n := w.sum(func(s *steal.Stats) uint64 { return s.ResultsUsed }); n == 0 {
				t.Error("no result came from another peer")
			}
			t.Log(w)
		})
	}
}
