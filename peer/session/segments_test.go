package session_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/steal"
)

// under says whether a job is under another one, or is it.
func under(job, top job.Path) bool {
	return len(job) >= len(top) && slices.Equal(job[:len(top)], top)
}

// Every job of a run is in exactly one segment, and each segment was stolen from another one.
func TestSegmentsAddUp(t *testing.T) {
	for _, workers := range []int{1, 2} {
		n := newNet(t, 3, workers, false, "")
		for n.moved() == 0 {
			if got, p, err := n.root(t, "session_test.fib", 30); got != 832040 || err != nil || p != nil {
				t.Fatalf("fib(30) = %v, %v, %v", got, err, p)
			}
		}
		var all []session.Segment
		roots := 0
		for _, s := range n.sessions {
			list, _, more, left := s.Segments(0, 1<<20)
			if more || left != (report.Forgotten{}) {
				t.Errorf("more: %v, left: %+v", more, left)
			}
			all = append(all, list...)
		}
		executed := uint64(0)
		for _, s := range all {
			if s.State != report.SegmentDone || s.End.Before(s.Start) {
				t.Errorf("segment %s ended in state %d, from %v to %v", s.Path, s.State, s.Start, s.End)
			}
			if executed += s.Executed; len(s.Path) == 0 {
				roots++
			} else if !slices.ContainsFunc(all, func(o session.Segment) bool {
				return len(o.Path) < len(s.Path) &&
					under(s.Path, o.Path)
			}) {
				t.Errorf("segment %s is under no other", s.Path)
			}
		}
		if want := uint64(roots) * 1346269; executed != want { // fib(31) jobs: fib(31)-1 spawned, and the root
			t.Errorf("%d workers: %d segments executed %d jobs, want %d", workers, len(all), executed, want)
		}
	}
}

// A reader that comes again is told what is new, and what runs; one that is far behind learns how much it has missed.
func TestSegmentsAreReadOn(t *testing.T) {
	n := newNet(t, 1, 1, false, "")
	s := n.sessions["p0"]
	after := uint64(0)
	for i := range 9000 {
		if got, _, _ := n.root(t, "session_test.fib", 1); got != 1 {
			t.Fatal(got)
		}
		if i%1000 != 0 || i > 5000 {
			continue
		}
		list, next, more, _ := s.Segments(after, 1<<20)
		if want := min(1000, i+1); len(list) != want || more || next != uint64(i+1) {
			t.Errorf("after %d: %d segments, next %d, more %v", after, len(list), next, more)
		}
		after = next
	}
	list, next, more, left := s.Segments(0, 10*48)
	if len(list) != 10 || !more || next == 0 || left.Segments == 0 || left.Executed != left.Segments {
		t.Errorf("%d segments, next %d, more %v, left %+v", len(list), next, more, left)
	}
	rest, last, more, _ := s.Segments(next, 1<<20)
	if uint64(len(rest))+10+left.Segments != 9000 || more || last != 9000 {
		t.Errorf("%d segments more, to %d", len(rest), last)
	}
	if again, same, _, _ := s.Segments(last, 1000); len(again) != 0 || same != last {
		t.Errorf("again %d segments, next %d", len(again), same)
	}
}

// What a closed session still ran was aborted.
func TestSegmentsOfAClosedSession(t *testing.T) {
	n := newNet(t, 1, 1, false, "")
	s := n.sessions["p0"]
	n.engines["p0"].root(s, "session_test.fib", []byte{0x18, 60}, func([]byte) {})
	if list, _, _, _ := s.Segments(0, 1000); len(list) != 1 || list[0].State != report.SegmentRunning ||
		!list[0].End.IsZero() {
		t.Errorf("running: %+v", list)
	}
	s.Close()
	if list, _, _, _ := s.Segments(0, 1000); len(list) != 1 || list[0].State != report.SegmentAborted ||
		list[0].End.IsZero() {
		t.Errorf("closed: %+v", list)
	}
}

func init() { satin.Register("session_test.hold", hold) }

// held says that a job holds its worker until mayRead.
var held atomic.Bool

// hold has a job of its own stolen, looking meanwhile for whoever wants one.
func hold(f *satin.Frame, depth int) int {
	if depth > 0 {
		x := satin.Spawn(f, hold, 0)
		for !held.Load() && !f.Aborted() {
			satin.Spawn(f, hold, -1).Get()
			time.Sleep(leafTime)
		}
		return 1 + x.Get()
	}
	for depth == 0 && !mayRead.Load() && !f.Aborted() {
		held.Store(true)
		time.Sleep(leafTime)
	}
	return 1 + depth
}

// A run that has its cores in turns steals a job while it has none, and says so: then it gets one.
func TestAsksWithoutACore(t *testing.T) {
	n := newNet(t, 2, 1, false, "")
	held.Store(false)
	mayRead.Store(false)
	n.sessions["p1"].SetCores(0, true)
	go func() {
		select {
		case <-n.wanted:
		case <-time.After(10 * time.Second):
			t.Error("nobody wants a core")
		}
		n.sessions["p1"].SetCores(1, true)
		for !held.Load() {
			time.Sleep(leafTime)
		}
		mayRead.Store(true)
	}()
	if got, p, err := n.root(t, "session_test.hold", 1); got != 2 || err != nil || p != nil {
		t.Errorf("%v, %v, %v", got, err, p)
	}
}

// terse is an engine that tells only what a core cannot conclude of idle workers, and counts no jobs.
type terse struct {
	port.Live
	told steal.Load
}

func (e *terse) Poll() ([]port.Event, time.Duration) {
	events, again := e.Live.Poll()
	return slices.DeleteFunc(events, func(ev port.Event) bool {
		ev.Load.Queued = 0
		if ev.Kind != port.LoadChanged || port.Differs(&ev.Load, &e.told) {
			if ev.Kind == port.LoadChanged {
				e.told = ev.Load
			}
			return false
		}
		return true
	}), again
}

func (w *world) engine(e port.Live) port.Live {
	if w.terse {
		return &terse{Live: e}
	}
	return e
}

// A worker that was idle, and got a job, is shown to work, though its engine need not tell that: nothing that looks at
// the load, such as who divides the cores, may take a peer that computes for one that does not.
func TestWorkersAreSeenToWork(t *testing.T) {
	held.Store(false)
	mayRead.Store(false)
	w := newWorld(t, 2, "session_test.hold", 1)
	w.terse = true
	w.start(0, nil)
	thief := w.start(1, nil)
	w.until("the thief has the job", func() bool { return held.Load() && thief.Stats().Held == 1 })
	w.until("the thief's worker works", func() bool {
		st := thief.Stats()
		return st.Load.Workers > 0 && st.Load.Idle == st.Load.Workers-1
	})
	mayRead.Store(true)
	if n := w.answer(); n != 2 {
		t.Errorf("%v jobs, want 2", n)
	}
}
