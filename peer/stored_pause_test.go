package peer

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/peer/control"
)

// Guards that whoever pauses a machine whose disk is full hears that a restart will end it: it holds until then.
func TestPauseThatCannotBeKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "full")
	s := &presence{told: func() {}, changed: func(bool, bool) {},
		stored: storedPause{path: filepath.Join(dir, pausedFile)}}
	for what, command := range map[string]func() error{
		"pause":  func() error { return s.pause(true, time.Time{}) },
		"finish": s.finish,
	} {
		err := command()
		if !errors.Is(err, control.ErrUnavailable) || !strings.Contains(err.Error(), "the next start of this peer") {
			t.Errorf("%s: %v", what, err)
		}
		if paused, _ := s.lasting(); !paused {
			t.Errorf("%s: it is not in force", what)
		}
		if err := s.pause(false, time.Time{}); err != nil {
			t.Errorf("after %s there is nothing to remove: %v", what, err)
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := s.pause(true, time.Time{}); err != nil {
		t.Errorf("with room: %v", err)
	}
}
