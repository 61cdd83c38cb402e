package peer

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/durable"
)

// pausedFile is in the state directory while a pause is to last: when it ends, or nothing.
const pausedFile = "paused"

// storedPause keeps a pause on disk: whoever has paused a machine did not ask for it to compute after a restart, which
// he may know nothing of.
type storedPause struct {
	path string // empty: nothing is kept
	log  *slog.Logger
	mu   sync.Mutex // is held from when it is looked at what there is to keep until that is on disk
}

// keep writes down what now says.
func (s *storedPause) keep(now func() (paused bool, until time.Time)) {
	if s.path == "" {
		return
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
		s.log.Warn("the next start of this peer will not know whether it is paused", "error", err)
	}
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
