package session

import (
	"github.com/satin-peer/satin/job"
)

// Root runs a job without the core, as often as a test wants; ended is called once, by a worker.
func (s *Session) Root(fn string, arg []byte, ended func(outcome []byte)) error {
	_, err := s.submit(job.ID{Run: s.cfg.Run.ID}, fn, arg, false, func(outcome []byte, _ bool) { ended(outcome) })
	return err
}
