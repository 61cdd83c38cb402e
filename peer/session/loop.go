package session

import (
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/wire"
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
			if now := s.now(); !s.gone {
				s.carryOut(now, s.core.Step(now, m))
			}
		case <-s.bell:
			s.hear()
		case <-timer.C:
			now := s.now()
			s.carryOut(now, s.core.Tick(now))
		case <-s.quit:
			return
		}
		s.report()
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

// report tells the core how busy the workers are, if it would want to know. It goes on until the core is content: an order
// that it gives may change what there is to report.
func (s *Session) report() {
	for !s.gone {
		l := steal.Load{Workers: s.pool.Cores(), Idle: s.pool.Idle(), Runs: s.runs, Queued: s.pool.Queued()}
		if s.everSaid && l.Idle == s.reported.Idle && l.Workers == s.reported.Workers && class(l) == class(s.reported) {
			break
		}
		s.reported, s.everSaid = l, true
		now := s.now()
		s.carryOut(now, s.core.Report(now, l))
	}
	s.stats.Store(&Stats{Steal: s.core.Stats(), Load: s.reported, Held: len(s.segments), Given: len(s.given), Malformed: s.bad})
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
	return wait
}

// carryOut does what the core wants, in its order.
func (s *Session) carryOut(now time.Duration, out steal.Output) {
	// The slices are the core's, and what an order leads to may be its next input: keep them.
	orders := append([]steal.Order(nil), out.Orders...)
	for _, m := range out.Messages {
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
	case steal.Run:
		s.run(now, o.Segment, &o.Job)
	case steal.PutBack:
		if t := s.forget(o.Ref); t != nil {
			t.PutBack()
		}
	case steal.Deliver:
		s.deliver(o.Ref, o.Outcome)
	case steal.AbortSegment:
		if g := s.segments[o.Segment]; g != nil {
			delete(s.segments, o.Segment)
			g.Cancel()
		}
	}
}

// run starts a stolen job. One that cannot be run ends at once, as a job that panicked: its spawner has to learn of it.
func (s *Session) run(_ time.Duration, id steal.SegmentID, j *steal.Job) {
	s.runs++
	finished := func(outcome []byte) {
		s.tell(func(now time.Duration) {
			delete(s.segments, id)
			s.carryOut(now, s.core.Finished(now, id, outcome))
		})
	}
	job := satin.JobID{Run: s.cfg.Run, Path: j.Path}
	g, err := s.submit(job, j.Function, j.Arg, finished)
	if err != nil {
		s.bad++
		s.cfg.Log.Warn("stolen job cannot be run", "job", job.String(), "error", err)
		finished(encodeOutcome(string(s.cfg.Self.Peer), job, j.Function, nil, &satin.JobError{ID: job, Func: j.Function, Panic: err}))
		return
	}
	s.segments[id] = g
}

// deliver fills the slot of a given-away job. An outcome that makes no sense is not used: the job runs here again.
func (s *Session) deliver(ref steal.Ref, outcome []byte) {
	t := s.forget(ref)
	if t == nil {
		return
	}
	fn, _ := satin.Lookup(t.Func())
	result, err, panicked, bad := DecodeOutcome(s.cfg.Run, outcome, fn)
	switch {
	case bad != nil:
	case panicked != nil:
		t.Fail(panicked)
	default:
		_, bad = t.Complete(result, err)
	}
	if bad != nil {
		s.bad++
		s.cfg.Log.Warn("outcome cannot be used, the job runs again", "job", t.ID().String(), "error", bad)
		t.PutBack()
	}
}

// forget ends a Ref; nil if it has ended before.
func (s *Session) forget(ref steal.Ref) *satin.Taken {
	t := s.given[ref]
	if t != nil {
		delete(s.given, ref)
		delete(s.refs, t)
	}
	return t
}

// takeOrder is a Take for the taker.
type takeOrder struct {
	ticket steal.Ticket
	max    int
}

// taker takes jobs out of the pool, which may wait for a worker, and encodes them.
func (s *Session) taker() {
	defer s.wg.Done()
	for {
		select {
		case o := <-s.takes:
			s.take(o)
		case <-s.quit:
			return
		}
	}
}

func (s *Session) take(o takeOrder) {
	var taken []*satin.Taken
	var jobs []steal.Taken
	for len(jobs) < o.max {
		t := s.pool.Take()
		if t == nil {
			break
		}
		arg, err := wire.Value().Encode(t.Arg())
		if err != nil { // it stays; Register has seen to it that only its size can be wrong
			t.PutBack()
			break
		}
		taken = append(taken, t)
		jobs = append(jobs, steal.Taken{Job: steal.Job{
			Path: t.ID().Path, Identity: steal.Identify(t.Func(), arg, 0), Function: t.Func(), Arg: arg,
		}})
	}
	s.tell(func(now time.Duration) {
		wanted := jobs[:0]
		for i, t := range taken {
			if s.early[t] {
				continue
			}
			s.lastRef++
			jobs[i].Ref = s.lastRef
			s.given[s.lastRef], s.refs[t] = t, s.lastRef
			wanted = append(wanted, jobs[i])
		}
		if s.taking--; s.taking == 0 {
			clear(s.early)
		}
		s.carryOut(now, s.core.Taken(now, o.ticket, wanted))
	})
}
