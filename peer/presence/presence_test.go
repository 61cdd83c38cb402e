package presence

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/peer/control"
)

// hands are those of a clock.
type hands struct{ at time.Time }

func (h *hands) now() time.Time          { return h.at }
func (h *hands) forward(d time.Duration) { h.at = h.at.Add(d) }

func newClock() *hands { return &hands{time.Unix(1_000_000_000, 0)} }

// A pause ends by itself when its time is over, or never; leaving is said once.
func TestPresence(t *testing.T) {
	clock := newClock()
	var said []bool
	s := &Presence{changed: func(paused, _ bool) { said = append(said, paused) }, told: func() {}}
	ends := func() bool {
		over, _ := s.KeepUp(clock.now(), func() int { panic("nothing is to be finished") })
		return over
	}
	s.Pause(true, time.Time{})
	clock.forward(1000 * time.Hour)
	if ends() {
		t.Error("a pause without an end has ended")
	}
	s.Pause(true, clock.now().Add(time.Minute))
	clock.forward(time.Minute - 1)
	if paused, _ := s.Paused(); ends() || !paused {
		t.Error("a pause has ended too soon")
	}
	clock.forward(1)
	over := ends()
	if paused, _ := s.Paused(); !over || paused || ends() {
		t.Error("a pause has not ended once")
	}
	if want := []bool{true, true, false}; !slices.Equal(said, want) {
		t.Errorf("said %v, want %v", said, want)
	}
	if s.Leaving() || !s.Leave() || s.Leave() || !s.Leaving() {
		t.Error("a peer leaves twice, or not at all")
	}
}

// Guards "finish": what is here is done first, then it is a pause until it is lifted, in which nothing is taken either
// that was asked for before; Resume and Pause take it back.
func TestPresenceFinishes(t *testing.T) {
	clock := newClock()
	var said []string
	s := &Presence{told: func() {},
		changed: func(paused, sated bool) { said = append(said, fmt.Sprint(paused, sated)) }}
	left := 2
	ends := func() bool {
		_, finished := s.KeepUp(clock.now(), func() int { return left })
		return finished
	}
	ended := func() bool { // in two rounds, since a job may come after the first
		first := ends()
		return ends() || first
	}
	s.Finish()
	if paused, _ := s.Paused(); ended() || paused || !s.Finishing() {
		t.Error("with jobs here it is paused")
	}
	s.Pause(false, time.Time{})
	if left = 0; ended() || s.Finishing() {
		t.Error("what was taken back is done")
	}
	s.Finish()
	if early := ends(); early {
		t.Error("a job that comes at that moment is left")
	}
	if done := ends(); !done || s.Finishing() || ends() {
		t.Error("with no job left it is not paused once")
	}
	clock.forward(1000 * time.Hour)
	s.Finish()
	if paused, until := s.Paused(); !paused || !until.IsZero() || s.Finishing() {
		t.Error("a pause is not kept by what would lead to one")
	}
	if want := []string{"false true", "false false", "false true", "true true"}; !slices.Equal(said, want) {
		t.Errorf("said %v, want %v", said, want)
	}
}

// Guards that what was said last holds when others decide at the same moment: a pause is not undone by the end of the
// one before, and who has taken "finish" back is not paused by a look that began earlier.
func TestPresenceKeepsTheLastWord(t *testing.T) {
	clock := newClock()
	var paused bool
	overtakes := make(chan struct{})
	s := &Presence{told: func() {}}
	s.changed = func(is, _ bool) {
		if was := paused; was && !is {
			go func() {
				defer close(overtakes)
				s.Pause(true, time.Time{})
			}()
			select {
			case <-overtakes:
			case <-time.After(10 * time.Millisecond): // it has to wait for the end of this
			}
		}
		paused = is
	}
	s.Pause(true, clock.now())
	s.KeepUp(clock.now(), nil)
	<-overtakes
	if said, _ := s.Paused(); !said || !paused {
		t.Errorf("it is said to be paused: %v, and is: %v", said, paused)
	}
	s = &Presence{told: func() {}, changed: func(is, _ bool) { paused = is }}
	s.Finish()
	s.KeepUp(clock.now(), func() int { return 0 })
	_, finished := s.KeepUp(clock.now(), func() int {
		s.Pause(false, time.Time{})
		return 0
	})
	if finished || paused {
		t.Error("it is paused although that was taken back")
	}
}

// A pause outlasts the daemon, until its time is over or it is lifted; so does one that was to begin as soon as all is
// done, as nothing is left to do after a restart. What the file says wrongly is a pause: the machine is its owner's.
func TestPauseOutlastsTheDaemon(t *testing.T) {
	clock := newClock()
	path := filepath.Join(t.TempDir(), pausedFile)
	start := func() *Presence {
		s := &Presence{told: func() {}, changed: func(bool, bool) {},
			stored: storedPause{path: path}}
		s.Recall(clock.now())
		return s
	}
	is := func(what string, want bool, end time.Time) {
		t.Helper()
		if paused, until := start().Paused(); paused != want || !until.Equal(end) {
			t.Errorf("%s: after a restart it is paused: %v, until %v", what, paused, until)
		}
	}
	is("never paused", false, time.Time{})
	s, end := start(), clock.now().Add(time.Hour)
	s.Pause(true, end)
	is("for an hour", true, end)
	clock.forward(time.Hour)
	is("an hour later", false, time.Time{})
	s.Pause(true, time.Time{})
	is("until it is lifted", true, time.Time{})
	s.Pause(true, end)
	s.Finish() // it stays paused then, until that is lifted
	is("finishing while paused", true, time.Time{})
	s.Pause(false, time.Time{})
	is("lifted", false, time.Time{})
	s.Finish()
	is("finishing", true, time.Time{})
	s.Pause(false, time.Time{})
	if err := os.WriteFile(path, []byte("tomorrow"), 0o600); err != nil {
		t.Fatal(err)
	}
	is("a damaged file", true, time.Time{})
}

// Guards that whoever pauses a machine whose disk is full hears that a restart will end it: it holds until then.
func TestPauseThatCannotBeKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "full")
	s := &Presence{told: func() {}, changed: func(bool, bool) {},
		stored: storedPause{path: filepath.Join(dir, pausedFile)}}
	for what, command := range map[string]func() error{
		"pause":  func() error { return s.Pause(true, time.Time{}) },
		"finish": s.Finish,
	} {
		err := command()
		if !errors.Is(err, control.ErrUnavailable) || !strings.Contains(err.Error(), "the next start of this peer") {
			t.Errorf("%s: %v", what, err)
		}
		if paused, _ := s.lasting(); !paused {
			t.Errorf("%s: it is not in force", what)
		}
		if err := s.Pause(false, time.Time{}); err != nil {
			t.Errorf("after %s there is nothing to remove: %v", what, err)
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := s.Pause(true, time.Time{}); err != nil {
		t.Errorf("with room: %v", err)
	}
}
