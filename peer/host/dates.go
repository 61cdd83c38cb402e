package host

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/calendar"
)

// datesEvery is how often it is written down what has been seen of the calendar: so much of a life is forgotten if it
// ends by a crash.
const datesEvery = 10 * time.Minute

// A datebook is the calendar of this peer, over all its lives.
type datebook struct {
	path  string
	found calendar.Seen // by earlier lives

	mu    sync.Mutex
	day   calendar.Calendar
	saved time.Time
}

// openDatebook reads what there is, and the clock: an earlier life may have believed one that was ahead. What cannot be
// read begins anew: nothing is over by that.
func openDatebook(path string, now time.Time) (*datebook, error) {
	b, err := readState(path)
	if err != nil {
		return nil, err
	}
	d := &datebook{path: path, saved: now}
	if json.Unmarshal(b, &d.found) != nil || d.found.For < 0 {
		d.found = calendar.Seen{}
	}
	d.day.Seen = d.found
	d.day.Pass(now, calendar.Doubt)
	return d, nil
}

// pass reads the clock, and writes down what has been seen, at once or when it is time.
func (d *datebook) pass(now time.Time, atOnce bool) error {
	d.mu.Lock()
	d.day.Pass(now, calendar.Doubt)
	due := atOnce || now.Sub(d.saved) >= datesEvery
	if due {
		d.saved = now
	}
	seen := d.day.Seen
	d.mu.Unlock()
	if !due {
		return nil
	}
	b, err := json.Marshal(&seen)
	if err != nil {
		return fmt.Errorf("the date %s: %w", seen.Date, err)
	}
	return writeDurably(d.path, append(b, '\n'))
}

// reached says whether it is that time, in seconds since 1970, or later, as far as the clock is believed.
func (d *datebook) reached(at int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.day.Reached(at)
}

// Seen is what earlier lives of this peer have seen of the calendar.
func (h *Host) Seen() calendar.Seen { return h.dates.found }
