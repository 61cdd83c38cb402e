package peer

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/durable"
	"github.com/satin-peer/satin/internal/report"
)

// hours are the processor time that this peer has given to others' runs, by its own figures, and that others have
// given to its runs, as they have told, over all its lives. They are for people: nothing depends on them.
type hours struct {
	path    string
	savedAt time.Time // of keepUp

	mu    sync.Mutex
	now   spentHours
	saved spentHours
	said  bool // that it cannot be saved
}

type spentHours struct {
	Given report.Span `json:"given_seconds"`
	Used  report.Span `json:"used_seconds"`
}

// hoursFile is in the state directory.
const hoursFile = "hours.json"

// openHours reads what there is. What cannot be read begins anew.
func openHours(dir string) *hours {
	h := &hours{path: filepath.Join(dir, hoursFile)}
	if text, err := os.ReadFile(h.path); err == nil {
		_ = json.Unmarshal(text, &h.now)
		h.saved = h.now
	}
	return h
}

// count takes in what has been spent on a run since it was looked at last. The conductor's mutex is held.
func (h *hours) count(r *part, mine bool, own report.RunStats, now time.Time) {
	// Nobody has had more than this, whatever it says; nor has a process of jobs here, which may have left its sandbox.
	most := report.SpanOf(now.Sub(r.began) * maxCoresTold)
	spent := min(processors(&own), most)
	if mine {
		spent = 0
		for _, l := range r.loads {
			spent += min(processors(&l.Stats), most)
		}
	}
	more := spent - min(spent, r.counted)
	r.counted += more
	h.mu.Lock()
	defer h.mu.Unlock()
	if mine {
		h.now.Used += more
	} else {
		h.now.Given += more
	}
}

// maxCoresTold is how many cores of one peer are believed.
const maxCoresTold = 1024

// processors is the time of processors in figures, or where the system does not tell that, the time of jobs.
func processors(s *report.RunStats) report.Span {
	return cmp.Or(s.CPUTime, s.UsefulTime)
}

// spent gives what there is.
func (h *hours) spent() spentHours {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

// keepUp counts, and writes down what was counted when it is time. It is for one goroutine.
func (h *hours) keepUp(t *conductor, now time.Time) {
	t.mu.Lock()
	for _, r := range t.parts {
		if r.final == nil {
			h.count(r, r.manifest.Owner == t.self, r.lately(), now)
		}
	}
	t.mu.Unlock()
	if now.Sub(h.savedAt) >= saveHoursEvery {
		h.savedAt = now
		h.save(t.Log)
	}
}

// saveHoursEvery is how much of it a crash costs.
const saveHoursEvery = time.Minute

// save writes it down, if it has changed.
func (h *hours) save(log *slog.Logger) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now == h.saved {
		return
	}
	text, err := json.Marshal(h.now)
	if err == nil {
		err = durable.Write(h.path, 0o600, false, durable.Bytes(append(text, '\n')))
	}
	switch {
	case err == nil:
		h.saved, h.said = h.now, false
	case !h.said && !errors.Is(err, fs.ErrNotExist): // then the directory is gone, which the archive says
		h.said = true
		log.Warn("the processor time given and used cannot be written down", "error", err)
	}
}
