package session

import (
	"errors"
	"time"

	"github.com/satin-peer/satin/internal/port"
)

// loop is where all that the driver is fed comes in.
func (s *Session) loop() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case m := <-s.inbox:
			if m.Reply != nil {
				s.trace.answered.Store(int64(s.now()))
			}
			if !s.gone {
				s.driver.Step(s.now(), m)
			}
		case n := <-s.gossip:
			s.driver.Hear(s.now(), n)
		case m := <-s.shared.inbox:
			if !s.gone {
				s.driver.StepShared(s.now(), m)
			}
		case n := <-s.shared.gossip:
			if !s.gone {
				s.driver.HearShared(s.now(), n.from, n.news)
			}
		case <-s.bell:
			s.hear()
		case <-s.cfg.Engine.Bell():
		case <-timer.C:
			s.driver.Tick(s.now())
			s.rate = s.driver.Core().BestRate()
		case <-s.quit:
			return
		}
		s.collect()
		s.count()
		if !s.gone && s.driver.Core().Gone() {
			s.gone = true
			close(s.left)
		}
		timer.Reset(s.pause())
	}
}

// hear takes the news in, in order.
func (s *Session) hear() {
	s.mu.Lock()
	news := s.news
	s.news = nil
	s.mu.Unlock()
	for _, f := range news {
		f(s.now())
	}
}

// atOnce is how long what the engine tells may keep everybody else waiting; if it talks on, a quarter of the time is
// for others, or for nobody.
const atOnce = 100 * time.Millisecond

// collect takes in what the engine has to tell. It goes on until there is nothing more, as an order that follows may
// change what there is; or, where an engine talks without end, until it is time to listen to others.
func (s *Session) collect() {
	now := s.now()
	s.heard, s.heardAt = max(0, s.heard-3*(now-s.heardAt)), now
	for s.died == nil {
		if over := s.heard - atOnce; over > 0 {
			s.again = over/3 + 1
			return
		}
		events, again := s.cfg.Engine.Poll()
		if s.again = again; len(events) == 0 {
			return
		}
		for i := range events {
			s.note(&events[i])
		}
		s.driver.Happened(s.now(), s.lasting.take(events)...)
		now = s.now()
		s.heard, s.heardAt = s.heard+now-s.heardAt, now
	}
}

// maxTrouble is how many bytes are logged of what went wrong with a job.
const maxTrouble = 4 << 10

// note takes down what people want to know of an event.
func (s *Session) note(e *port.Event) {
	switch e.Kind {
	case port.LoadChanged:
		s.load, s.spoke = e.Load, true
	case port.Taken:
		s.trace.away(e.Jobs)
	case port.Dropped:
		s.trace.back(e.Refs...)
	case port.Delivered:
		s.trace.back(e.Ref)
	case port.Finished:
		s.trace.end(e.Segment, e.Tally)
	case port.Stopped:
		s.trace.aborted(e.Segment, e.Tally)
	case port.Counted:
		s.counted(e.Figures)
	case port.Troubled:
		s.cfg.Log.Warn("a job has trouble", "text", e.Text[:min(len(e.Text), maxTrouble)])
	case port.Died:
		s.died = errors.New(e.Text)
		s.asking = answer(s.asking, false, true)
		d := Death{Why: s.died}
		if e.Good {
			d.Jobs = s.driver.Names()
		}
		// What was here is lost, as though this peer had crashed, but the others need not find out by silence.
		s.tell(func(now time.Duration) {
			s.driver.Leave(now, 0)
			if s.cfg.Died != nil {
				s.cfg.Died(d)
			}
		})
	}
}

// count publishes the counters.
func (s *Session) count() {
	d := s.driver
	shared := d.SharedStats()
	st := &Stats{
		Steal: d.Core().Stats(), Shared: shared.Stats, Load: s.load, Held: d.Held(), Given: d.Given(),
		Master: d.Master(), MasterID: d.Core().Masters.Who(), Holding: d.Core().Holding(),
		Proofs: d.Proofs(), Lack: shared.Lack, Rate: s.rate,
		Begins: s.cores > 0 && !s.spoke && s.died == nil,
	}
	st.Load.Idle = s.load.IdleAfter(s.ordered) // an engine need not tell of who has got a job since
	if st.Master {
		st.Held-- // it is nobody else's
	}
	before := s.stats.Swap(st)
	if s.cfg.Wanted != nil && s.cores == 0 && s.stance.Turns && st.has() && !before.has() {
		s.cfg.Wanted()
	}
}

// pause is how long the loop may sleep if nothing happens.
func (s *Session) pause() time.Duration {
	if s.gone {
		return time.Hour
	}
	wait := time.Hour
	if at, ok := s.driver.Next(); ok {
		wait = max(at-s.now(), 0)
	}
	if s.again > 0 {
		wait = min(wait, s.again)
	}
	return wait
}
