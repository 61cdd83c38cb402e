package session

import (
	"time"

	"github.com/satin-peer/satin/steal"
)

// loop is where all inputs of the core happen.
func (s *Session) loop() {
	defer s.wg.Done()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case m := <-s.inbox:
			if m.Reply != nil {
				s.trace.answered.Store(int64(s.now()))
			}
			if now := s.now(); !s.gone {
				s.storeHandedOver(m)
				s.carryOut(now, s.core.Step(now, m))
			}
		case n := <-s.gossip:
			now := s.now()
			s.carryOut(now, s.core.Hear(now, n))
		case <-s.bell:
			s.hear()
		case <-timer.C:
			now := s.now()
			s.carryOut(now, s.core.Tick(now))
		case <-s.quit:
			return
		}
		s.report()
		s.pulse()
		if !s.gone && s.core.Gone() {
			s.gone = true
			close(s.left)
		}
		timer.Reset(s.pause())
	}
}

// hear takes the news in, in order.
func (s *Session) hear() {
	s.mu.Lock()
	news, found := s.news, s.found
	s.news, s.found = nil, nil
	s.mu.Unlock()
	s.hearKept()
	s.hearFound(found)
	for _, f := range news {
		f(s.now())
	}
}

// report tells the core how busy the workers are, if it would want to know. It goes on until the core is
// content: an order that it gives may change what there is to report.
func (s *Session) report() {
	for !s.gone {
		l := steal.Load{Workers: s.pool.Cores(), Idle: s.pool.Idle(), Runs: s.runs, Queued: s.pool.Queued()}
		// A worker that has run a segment to its end since the last report is idle again, but not as it was:
		// the core counts its order until it is told, and would give it nothing more.
		same := l.Idle == s.reported.Idle && (l.Idle == 0 || l.Runs == s.reported.Runs)
		if s.everSaid && same && l.Workers == s.reported.Workers && class(l) == class(s.reported) {
			break
		}
		s.reported, s.everSaid = l, true
		now := s.now()
		s.carryOut(now, s.core.Report(now, l))
	}
	s.count()
}

// count publishes the counters.
func (s *Session) count() {
	st := &Stats{
		Steal: s.core.Stats(), Load: s.reported, Held: len(s.segments), Given: len(s.given), Master: s.root != 0,
		Malformed: s.bad,
		Unheard:   s.unheard.Load(), Unkept: s.kept.lost(), Stored: s.stored, Unstored: s.unstored,
		Trouble: s.trouble(),
	}
	if st.Master {
		st.Held-- // it is nobody else's
	}
	s.stats.Store(st)
}

// pulse has the workers show now and then what they hide in frames, as long as any of them works.
func (s *Session) pulse() {
	if s.cfg.KeepAfter == 0 || s.gone || s.reported.Idle >= s.reported.Workers {
		s.pulseAt = 0
		return
	}
	now := s.now()
	switch {
	case s.pulseAt == 0:
	case now < s.pulseAt:
		return
	default:
		s.pool.Pulse()
	}
	s.pulseAt = now + pulseShare*s.cfg.KeepAfter
}

// class is what a report must be exact about: none queued, at most as many as workers, more.
func class(l steal.Load) int {
	switch {
	case l.Queued == 0:
		return 0
	case l.Queued <= l.Workers:
		return 1
	}
	return 2
}

// pause is how long the loop may sleep if nothing happens.
func (s *Session) pause() time.Duration {
	if s.gone {
		return time.Hour
	}
	wait := time.Hour
	if at, ok := s.core.Next(); ok {
		wait = max(at-s.now(), 0)
	}
	if s.reported.Queued == 0 && s.reported.Idle < s.reported.Workers && s.members.Len() > 1 {
		wait = min(wait, lookEvery)
	}
	if s.pulseAt > 0 {
		wait = min(wait, max(s.pulseAt-s.now(), 0))
	}
	return wait
}

// carryOut does what the core wants, in its order.
func (s *Session) carryOut(now time.Duration, out steal.Output) {
	// The slices are the core's, and what an order leads to may be its next input: keep them.
	orders := append([]steal.Order(nil), out.Orders...)
	for _, m := range out.Messages {
		if m.Request != nil {
			s.trace.asked.Store(int64(now))
		}
		s.cfg.Send(m)
	}
	for i := range orders {
		s.obey(now, &orders[i])
	}
}

func (s *Session) obey(now time.Duration, o *steal.Order) {
	switch o.Kind {
	case steal.Take:
		select {
		case s.takes <- takeOrder{o.Ticket, o.Max}:
			s.taking++
		default: // the taker is far behind: there is nothing to take at the moment
			s.carryOut(now, s.core.Taken(now, o.Ticket, nil))
		}
	case steal.RunSegment:
		s.run(o.Segment, &o.Job, o.First)
	case steal.PutBack:
		if g, ok := s.forget(o.Ref); ok {
			if o.Restarted && !g.found {
				s.trace.lost(g.t.Job().ID.Path)
			}
			s.putBack(g.t, o.Restarted)
		}
	case steal.Deliver:
		s.deliver(o.Ref, o.Outcome)
	case steal.AbortSegment:
		if g := s.segments[o.Segment]; g != nil {
			s.release(o.Segment)
			s.trace.aborted(g)
			g.Cancel()
		}
	case steal.Watch:
		s.orphans.Store(o.Orphans)
		s.pool.Resalvage()
	case steal.Tell:
		if s.cfg.Tell != nil {
			s.cfg.Tell(o.News)
		}
	case steal.Answer:
		if s.cfg.Answer != nil {
			s.cfg.Answer(o.Outcome)
		}
	}
}
