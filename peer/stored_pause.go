package peer

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/durable"
	"github.com/satin-peer/satin/peer/control"
)

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
