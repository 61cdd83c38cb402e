package session

import (
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/steal"
)

// Run gives the engine a job that the core knows nothing of.
func (s *Session) Run(id steal.SegmentID, fn string, arg []byte) {
	s.tell(func(time.Duration) {
		sides{s}.Do(&port.Order{Kind: port.Run, Segment: id, Job: &steal.Job{Function: fn, Arg: arg}})
	})
}
