package session

import (
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/steal"
)

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
	g, err := s.submit(job, j.Function, j.Arg, j.Restarted, finished)
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
