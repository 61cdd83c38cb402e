package peer

import (
	"sync"
	"time"
)

// presence is whether this peer takes part: it may be paused, because the volunteer wants the machine for himself,
// about to be when the jobs that it has are done, or about to leave.
type presence struct {
	changed func(paused, finishing bool) // called without the mutex

	mu        sync.Mutex
	paused    bool
	until     time.Time // zero: until it is lifted
	finishing bool
	leaving   bool
	left      chan struct{} // closed when this peer has left the swarm
}

// pause says from now on whether the peer computes.
func (s *presence) pause(paused bool, until time.Time) {
	s.mu.Lock()
	s.paused, s.until, s.finishing = paused, until, false
	s.mu.Unlock()
	s.changed(paused, false)
}

// finish has it paused as soon as it holds nothing; if it is paused it stays so.
func (s *presence) finish() {
	s.mu.Lock()
	s.finishing = !s.paused
	on := s.finishing
	s.until = time.Time{}
	s.mu.Unlock()
	if on {
		s.changed(false, true)
	}
}

// keepUp ends a pause whose time is over, and what is finishing and holds nothing any more; and says which.
func (s *presence) keepUp(now time.Time, holding func() int) (over, finished bool) {
	s.mu.Lock()
	over = s.paused && !s.until.IsZero() && !now.Before(s.until)
	finishing := s.finishing
	s.mu.Unlock()
	if finished = finishing && holding() == 0; over || finished {
		s.pause(finished, time.Time{})
	}
	return over, finished
}

// onPause says whether the peer is paused, and until when; zero: until it is lifted.
func (s *presence) onPause() (paused bool, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paused, s.until
}

// isFinishing says whether the peer is to be paused when it holds nothing any more.
func (s *presence) isFinishing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.finishing
}

// leave is said once; first says whether it was now.
func (s *presence) leave() (first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first, s.leaving = !s.leaving, true
	return first
}

// isLeaving says whether the peer is about to leave, or has left.
func (s *presence) isLeaving() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leaving
}
