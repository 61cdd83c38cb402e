package session

import (
	"fmt"
	"time"

	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/steal"

	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/job"
)

// RootOf makes the root of a run. The error says that there is no such function here, or that the argument
// does not fit it.
func RootOf(fn string, arg []byte) (steal.Job, error) {
	if _, _, err := read(fn, arg); err != nil {
		return steal.Job{}, err
	}
	return steal.Job{Identity: job.Identify(fn, arg), Function: fn, Arg: arg}, nil
}

// read decodes an argument for a function.
func read(fn string, arg []byte) (f engine.Func, v any, err error) {
	f, ok := engine.Lookup(fn)
	if !ok {
		return f, nil, fmt.Errorf("there is no function %q here", clip(fn, maxFailureName))
	}
	if v, err = decodeValue(arg, f.Arg); err != nil {
		return f, nil, fmt.Errorf("the argument of %s: %w", fn, err)
	}
	return f, v, nil
}

// jobOf encodes a job that is on its way out. The error says that its argument is too large; Register has
// seen to the rest.
func jobOf(t *engine.Taken) (steal.Job, error) {
	j := t.Job()
	arg, err := wire.Value().Encode(j.Arg)
	if err != nil {
		return steal.Job{}, err
	}
	return steal.Job{Path: j.ID.Path, Identity: job.Identify(j.Func, arg), Function: j.Func, Arg: arg,
		Restarted: j.Restarted}, nil
}

// run starts a stolen job, or the root. One that cannot be run ends at once, as a job that panicked: its
// spawner has to learn of it.
func (s *Session) run(id steal.SegmentID, j *steal.Job, first bool) {
	s.runs++
	which := job.ID{Run: s.cfg.Run.ID, Path: j.Path}
	in := engine.Job{ID: which, Func: j.Function, Restarted: j.Restarted && !s.naive(), First: first}
	ended := func(outcome []byte, returned bool) {
		s.tell(func(now time.Duration) {
			if s.release(id); returned {
				s.store(j.Path, j.Identity, outcome)
			}
			s.carryOut(now, s.core.Finished(now, id, outcome))
		})
	}
	g, err := s.submit(in, j.Arg, j.Restarted, ended)
	if err != nil {
		s.bad++
		s.cfg.Log.Warn("job cannot be run", "job", which.String(), "error", err)
		ended(encodePanic(string(s.cfg.Self.Peer), which, j.Function,
			&job.Error{ID: which, Func: j.Function, Panic: err}), false)
		return
	}
	s.segments[id] = g
	if len(j.Path) == 0 {
		s.root = id
	}
}

// submit decodes an argument and gives the job to the pool. Of its outcome ended also learns whether the job
// returned: a panic is not worth keeping, since its cause may be this machine.
func (s *Session) submit(j engine.Job, arg []byte, restarted bool,
	ended func(outcome []byte, returned bool)) (g *engine.Guest, err error) {
	if _, j.Arg, err = read(j.Func, arg); err != nil {
		return nil, err
	}
	self, id, fn := string(s.cfg.Self.Peer), j.ID, j.Func // the argument is the engine's
	seg := s.trace.begin(id.Path, restarted)
	g, err = s.pool.Submit(j, func(o engine.Outcome) {
		s.trace.end(seg, report.SegmentDone)
		ended(encodeOutcome(self, id, fn, o))
	})
	if s.trace.runs(seg, g); err != nil {
		s.trace.end(seg, report.SegmentAborted)
	}
	return g, err
}

// release forgets a segment, which has ended or is not wanted.
func (s *Session) release(id steal.SegmentID) {
	delete(s.segments, id)
	if id == s.root {
		s.root = 0
	}
}

// given is a job that was taken out of the pool.
type given struct {
	t     *engine.Taken
	id    job.Identity
	found bool // not given to a thief, but found to be somewhere already
}

// give enters a job that was taken, under a new Ref.
func (s *Session) give(g given) steal.Ref {
	s.lastRef++
	s.given[s.lastRef], s.refs[g.t] = g, s.lastRef
	return s.lastRef
}

// forget ends a Ref; false if it has ended before.
func (s *Session) forget(ref steal.Ref) (given, bool) {
	g, ok := s.given[ref]
	if ok {
		delete(s.given, ref)
		delete(s.refs, g.t)
	}
	return g, ok
}

// putBack has a job that was given away run here after all. If it is restarted, what is under it may not need to.
func (s *Session) putBack(t *engine.Taken, restarted bool) {
	t.PutBack(restarted && !s.naive())
}

// deliver fills the slot of a given-away job. An outcome that makes no sense is not used: the job runs here again.
func (s *Session) deliver(ref steal.Ref, outcome []byte) {
	g, ok := s.forget(ref)
	if !ok {
		return
	}
	t, id := g.t, g.t.Job().ID
	fn, _ := engine.Lookup(t.Job().Func)
	result, err, panicked, bad := DecodeOutcome(s.cfg.Run.ID, outcome, fn)
	switch {
	case bad != nil:
	case panicked != nil:
		_, _ = t.End(engine.Outcome{Failure: panicked}) // a failure fits any function
		return
	default:
		_, bad = t.End(engine.Outcome{Result: result, Err: err})
	}
	if bad != nil {
		s.bad++
		s.cfg.Log.Warn("outcome cannot be used, the job runs again", "job", id.String(), "error", bad)
		t.PutBack(false)
		return
	}
	// The job was large enough to be stolen. If all peers are lost but this one, what others did for it
	// should not be.
	s.store(id.Path, g.id, outcome)
}
