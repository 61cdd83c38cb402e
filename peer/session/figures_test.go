package session_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/steal/policy"
	"github.com/satin-peer/satin/verify"
)

// counter is an engine that does nothing but count, and how often it was asked to.
type counter struct {
	counts uint64
	late   uint64 // of these, the first ones that lack what a worker does
	silent bool   // it is asked and never counts
	events []port.Event
}

func (e *counter) Do(o *port.Order) {
	if o.Kind == port.Count && !e.silent {
		e.counts++
		f := &port.Figures{Whole: true, Executed: e.counts}
		if e.counts <= e.late {
			time.Sleep(20 * time.Millisecond)
			f.Late = 1
		}
		e.events = append(e.events, port.Event{Kind: port.Counted, Figures: f})
	}
}

func (e *counter) Bell() <-chan struct{} { return nil }

func (e *counter) Poll() ([]port.Event, time.Duration) {
	events := e.events
	e.events = nil
	return events, 0
}

func (e *counter) Close() {}

// alone is the session of a run that nobody else has, with an engine.
func alone(t *testing.T, e port.Live) *session.Session {
	t.Helper()
	p, err := policy.ByName("rs", "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.New(session.Config{
		Run:  steal.Run{ID: job.NewRunID(), Deputies: []steal.PeerID{"p0"}},
		Self: steal.Address{Peer: "p0", Inc: 1}, Core: impatient(), Policy: p, Shared: impatientShared(),
		Members: steal.NewMembers([]steal.Member{{ID: "p0"}}), Engine: e,
		Send: func(*steal.Message) {}, Tell: func(*steal.News) {}, Answer: func([]byte, verify.Authors) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A talker is an engine that always has something to tell.
type talker struct {
	counter
	polls atomic.Int64
}

func (e *talker) Poll() ([]port.Event, time.Duration) {
	time.Sleep(time.Millisecond)
	e.polls.Add(1)
	return []port.Event{{Kind: port.LoadChanged, Load: steal.Load{Workers: 1}}}, 0
}

// An engine that talks without end does not keep its session from ending, nor the core on which that listens.
func TestTalkativeEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &talker{}
		s := alone(t, e)
		time.Sleep(10 * time.Second)
		if n := e.polls.Load(); n < 7400 || n > 7700 {
			t.Errorf("for %d of 10,000 ms it was listened to", n)
		}
		began := time.Now()
		if s.Cancel(); time.Since(began) > 10*time.Second {
			t.Errorf("to cancel takes %v", time.Since(began))
		}
		s.Close()
	})
}

// An engine that has cores begins to work until it tells of its workers, were it for a minute; one without cores does
// not.
func TestEngineBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &counter{}
		s := alone(t, e)
		defer s.Close()
		s.SetCores(0, false)
		if synctest.Wait(); s.Stats().Begins {
			t.Error("it begins without a core")
		}
		s.SetCores(1, false)
		time.Sleep(time.Minute)
		if !s.Stats().Begins {
			t.Error("it has a core, has told nothing, and does not begin")
		}
		synctest.Wait()
		e.events = []port.Event{{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Idle: 1}}}
		s.Figures()
		if synctest.Wait(); s.Stats().Begins {
			t.Error("it has told of its workers, and still begins")
		}
	})
}

// Those who look at the figures in one moment share a count of the engine; whoever wants them as they are now has it
// count, and so has whoever comes later.
func TestFiguresAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := alone(t, &counter{})
		defer s.Close()
		first := s.Lately().Executed
		if again := s.Lately().Executed; first == 0 || again != first {
			t.Errorf("at the same time: %d, then %d", first, again)
		}
		if now := s.Figures().Executed; now != first+1 {
			t.Errorf("as they are now: %d, want %d", now, first+1)
		}
		time.Sleep(time.Second)
		if later := s.Lately().Executed; later != first+2 {
			t.Errorf("a second later: %d, want %d", later, first+2)
		}
	})
}

// What is left of a part when it has ended has all that its workers did: they may still be in a leaf, but not for ever.
func TestLastFiguresAreWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := alone(t, &counter{late: 3})
		defer s.Close()
		if f := s.Last(); f.Executed != 4 || f.Late != 0 {
			t.Errorf("after three counts that lacked something: %+v", f)
		}
		stuck := alone(t, &counter{late: 1000})
		defer stuck.Close()
		began := time.Now()
		if f := stuck.Last(); f.Late != 1 || time.Since(began) > time.Second {
			t.Errorf("a worker that never tells is waited for %v: %+v", time.Since(began), f)
		}
		busy := alone(t, &counter{silent: true})
		defer busy.Close()
		if f := busy.Last(); f.Late != 1 {
			t.Errorf("an engine that does not count has told everything: %+v", f)
		}
	})
}
