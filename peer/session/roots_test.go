package session_test

import (
	"sync"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/steal"
)

// rootEngine is an engine that runs jobs for a test besides those that the core wants.
type rootEngine struct {
	port.Live
	mu    sync.Mutex
	ended map[steal.SegmentID]func(outcome []byte)
	last  steal.SegmentID
	runs  uint64
}

// firstRoot is above all segments of the core.
const firstRoot = 1 << 60

func newRootEngine(t testing.TB, run job.RunID, self steal.PeerID, workers int) *rootEngine {
	t.Helper()
	e, err := compute.New(compute.Config{Run: run, Self: string(self), Workers: workers, Naive: true})
	if err != nil {
		t.Fatal(err)
	}
	return &rootEngine{Live: e, ended: map[steal.SegmentID]func([]byte){}, last: firstRoot}
}

// root runs a job in a session that has this engine; ended is called once.
func (e *rootEngine) root(s *session.Session, fn string, arg []byte, ended func(outcome []byte)) {
	e.mu.Lock()
	e.last++
	id := e.last
	e.ended[id] = ended
	e.mu.Unlock()
	s.Run(id, fn, arg)
}

func (e *rootEngine) Do(o *port.Order) {
	if o.Kind == port.Run && o.Segment > firstRoot {
		e.runs++
	}
	e.Live.Do(o)
}

// Poll takes the outcomes of these jobs out, and hides from the core that they were ordered.
func (e *rootEngine) Poll() ([]port.Event, time.Duration) {
	events, again := e.Live.Poll()
	for i := range events {
		ev := &events[i]
		switch {
		case ev.Kind == port.LoadChanged:
			ev.Load.Runs -= e.runs
		case ev.Kind == port.Finished && ev.Segment > firstRoot:
			e.mu.Lock()
			e.ended[ev.Segment](ev.Outcome)
			e.mu.Unlock()
		}
	}
	return events, again
}
