package session

import (
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/job"
)

// Root runs a job without the core, as often as a test wants; ended is called once, by a worker.
func (s *Session) Root(fn string, arg []byte, ended func(outcome []byte)) error {
	_, err := s.submit(engine.Job{ID: job.ID{Run: s.cfg.Run.ID}, Func: fn}, arg, false,
		func(outcome []byte, _ bool) { ended(outcome) })
	return err
}
