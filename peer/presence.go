package peer

import (
	"sync"
	"time"
)

// presence is whether this peer takes part: it may be paused, because the volunteer wants the machine for himself,
// about to be when the jobs that it has are done, or about to leave.
type presence struct {
	// changed is told whether the peer computes, and whether it takes nothing more from others, with the mutex held:
	// what was said last is carried out last. told is called afterwards, without it, as stored is (lasting).
	changed func(paused, sated bool)
	told    func()
	stored  storedPause

	mu        sync.Mutex
	paused    bool
	until     time.Time // zero: until it is lifted
	finishing bool
	empty     bool // it held nothing when that was looked at last
	leaving   bool
	left      chan struct{} // closed when this peer has left the swarm
}

// pause says from now on whether the peer computes, also if there is an error: then the daemon's end is the end of it.
func (s *presence) pause(paused bool, until time.Time) error {
	s.mu.Lock()
	s.become(paused, until, false)
	s.mu.Unlock()
	return s.said()
}

// become is pause with the mutex held.
func (s *presence) become(paused bool, until time.Time, sated bool) {
	s.paused, s.until, s.finishing = paused, until, false
	s.changed(paused, sated)
}

// recall has the peer paused if it was when its daemon ended, unless that is over by now: nobody is told of it then.
func (s *presence) recall(now time.Time) {
	if paused, until := s.stored.read(); paused && (until.IsZero() || now.Before(until)) {
		s.mu.Lock()
		s.become(true, until, false)
		s.mu.Unlock()
	}
}

// said tells of what has changed, and has it outlast the daemon.
func (s *presence) said() error {
	s.told()
	return s.stored.keep(s.lasting)
}

// lasting is what holds after a restart: a pause, also one that was to begin as soon as all is done, which it is then.
func (s *presence) lasting() (paused bool, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paused || s.finishing, s.until
}

// finish has it paused as soon as it holds nothing; if it is paused it stays so.
func (s *presence) finish() error {
	s.mu.Lock()
	s.finishing, s.empty = !s.paused, false
	on := s.finishing
	if s.until = (time.Time{}); on {
		s.changed(false, true)
	}
	s.mu.Unlock()
	return s.said()
}

// keepUp ends a pause whose time is over, and what is finishing and holds nothing any more, and says which. That is
// looked at twice, as a job may come in that moment. Whoever has finished goes on sending back what comes: it was asked
// for before, and waits with its victim for up to some seconds.
func (s *presence) keepUp(now time.Time, holding func() int) (over, finished bool) {
	empty := s.isFinishing() && holding() == 0 // which takes a while, and other locks
	s.mu.Lock()
	over = s.paused && !s.until.IsZero() && !now.Before(s.until)
	empty = empty && s.finishing
	if finished = empty && s.empty; over || finished {
		s.become(finished, time.Time{}, finished)
	}
	s.empty = empty
	s.mu.Unlock()
	if over || finished {
		_ = s.said() // what the file says comes to the same already, or whoever commanded it knows
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
