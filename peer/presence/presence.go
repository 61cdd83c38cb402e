// Package presence says whether a peer takes part: it may be paused, because its owner wants the machine for himself,
// about to be when the jobs that it has are done, or about to leave. A pause outlasts the daemon.
package presence

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/durable"
	"github.com/satin-peer/satin/peer/control"
)

// A Presence is one peer's. Its methods may be called at the same time.
type Presence struct {
	changed func(paused, sated bool)
	told    func()
	stored  storedPause

	mu        sync.Mutex
	paused    bool
	until     time.Time // zero: until it is lifted
	finishing bool
	empty     bool // it held nothing when that was looked at last
	leaving   bool
	gone      chan struct{} // closed when this peer has left the swarm
}

// New makes one that keeps a pause in a directory; "": nowhere. Changed is told whether the peer is paused, and whether
// it takes nothing more from others, with the mutex held: what was said last is carried out last. Told is called
// afterwards, without it.
func New(dir string, changed func(paused, sated bool), told func()) *Presence {
	s := &Presence{changed: changed, told: told, gone: make(chan struct{})}
	if dir != "" {
		s.stored.path = filepath.Join(dir, pausedFile)
	}
	return s
}

// Pause says from now on whether the peer computes, also if there is an error: then the daemon's end is the end of it.
func (s *Presence) Pause(paused bool, until time.Time) error {
	s.mu.Lock()
	s.become(paused, until, false)
	s.mu.Unlock()
	return s.said()
}

// become is Pause with the mutex held.
func (s *Presence) become(paused bool, until time.Time, sated bool) {
	s.paused, s.until, s.finishing = paused, until, false
	s.changed(paused, sated)
}

// Recall has the peer paused if it was when its daemon ended, unless that is over by now: nobody is told of it then.
func (s *Presence) Recall(now time.Time) {
	if paused, until := s.stored.read(); paused && (until.IsZero() || now.Before(until)) {
		s.mu.Lock()
		s.become(true, until, false)
		s.mu.Unlock()
	}
}

// said tells of what has changed, and has it outlast the daemon.
func (s *Presence) said() error {
	s.told()
	return s.stored.keep(s.lasting)
}

// lasting is what holds after a restart: a pause, also one that was to begin as soon as all is done, which it is then.
func (s *Presence) lasting() (paused bool, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paused || s.finishing, s.until
}

// Finish has it paused as soon as it holds nothing; if it is paused it stays so.
func (s *Presence) Finish() error {
	s.mu.Lock()
	s.finishing, s.empty = !s.paused, false
	on := s.finishing
	if s.until = (time.Time{}); on {
		s.changed(false, true)
	}
	s.mu.Unlock()
	return s.said()
}

// KeepUp ends a pause whose time is over, and what is finishing and holds nothing any more, and says which. That is
// looked at twice, as a job may come in that moment. Whoever has finished goes on sending back what comes: it was asked
// for before, and waits with its victim for up to some seconds.
func (s *Presence) KeepUp(now time.Time, holding func() int) (over, finished bool) {
	empty := s.Finishing() && holding() == 0 // which takes a while, and other locks
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

// Paused says whether the peer is paused, and until when; zero: until it is lifted.
func (s *Presence) Paused() (paused bool, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paused, s.until
}

// Finishing says whether the peer is to be paused when it holds nothing any more.
func (s *Presence) Finishing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.finishing
}

// Leave says that the peer is about to leave, once; first says whether it was now.
func (s *Presence) Leave() (first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first, s.leaving = !s.leaving, true
	return first
}

// Leaving says whether the peer is about to leave, or has left.
func (s *Presence) Leaving() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leaving
}

// Left says that the peer has left: once, after Leave.
func (s *Presence) Left() { close(s.gone) }

// Gone is closed when it has.
func (s *Presence) Gone() <-chan struct{} { return s.gone }

// pausedFile is in the state directory while a pause is to last: when it ends, or nothing.
const pausedFile = "paused"

// storedPause keeps a pause on disk: whoever has paused a machine did not ask for it to compute after a restart, which
// he may know nothing of.
type storedPause struct {
	path string     // empty: nothing is kept
	mu   sync.Mutex // is held from when it is looked at what there is to keep until that is on disk
}

// keep writes down what now says. It holds all the same if that fails, until the daemon ends.
func (s *storedPause) keep(now func() (paused bool, until time.Time)) error {
	if s.path == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	paused, until := now()
	var err error
	if paused {
		text := ""
		if !until.IsZero() {
			text = until.Format(time.RFC3339Nano)
		}
		err = durable.Write(s.path, 0o600, true, durable.Bytes([]byte(text)))
	} else {
		err = durable.Remove(s.path)
	}
	if err != nil {
		return control.Errorf(control.ErrUnavailable,
			"it is so now, but cannot be written down, and the next start of this peer will not know it: %v", err)
	}
	return nil
}

// read says what was kept. A file that says no time, or cannot be read, is a pause without an end.
func (s *storedPause) read() (paused bool, until time.Time) {
	text, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, time.Time{}
	}
	until, _ = time.Parse(time.RFC3339Nano, string(text))
	return true, until
}
