package peer

import (
	"sync"
	"time"
)

// presence is whether this peer takes part: it may be paused, because the volunteer wants the machine for himself, or
// about to leave.
type presence struct {
	changed func(paused bool) // called without the mutex

	mu      sync.Mutex
	paused  bool
	until   time.Time // zero: until it is lifted
	leaving bool
	left    chan struct{} // closed when this peer has left the swarm
}

// pause says from now on whether the peer computes.
func (s *presence) pause(paused bool, until time.Time) {
	s.mu.Lock()
	s.paused, s.until = paused, until
	s.mu.Unlock()
	s.changed(paused)
}

// keepUp ends a pause whose time is over, and says so.
func (s *presence) keepUp(now time.Time) (over bool) {
	s.mu.Lock()
	over = s.paused && !s.until.IsZero() && !now.Before(s.until)
	s.mu.Unlock()
	if over {
		s.pause(false, time.Time{})
	}
	return over
}

// onPause says whether the peer is paused, and until when; zero: until it is lifted.
func (s *presence) onPause() (paused bool, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paused, s.until
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
