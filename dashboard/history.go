package dashboard

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"
)

// A Moment is how fast the peer was at one time.
type Moment struct {
	At   time.Time `json:"at"`
	Here float64   `json:"here"`           // jobs per second of this peer
	All  float64   `json:"all"`            // of all peers of its runs
	Busy *float64  `json:"busy,omitempty"` // part of its workers that run jobs, 0 to 1; missing while there is no run
}

const (
	momentsKept = 360
	// momentEvery is how many times as long as the source is asked apart moments are: with the default an hour is kept.
	momentEvery = 10
)

// A history is the last hour, kept whether or not somebody watches, so that a page that is opened does not begin empty.
type history struct {
	mu      sync.Mutex
	moments []Moment // oldest first, at most momentsKept
}

// keep takes a moment now and then until ctx ends.
func (h *history) keep(ctx context.Context, source Source, every time.Duration) {
	tick := time.NewTicker(momentEvery * every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			ask, cancel := context.WithTimeout(ctx, askWithin)
			s, err := source.Status(ask)
			cancel()
			if err == nil { // else there is a gap
				h.add(momentOf(&s, now))
			}
		}
	}
}

func momentOf(s *Status, now time.Time) Moment {
	m := Moment{At: now.UTC(), Here: s.Work.Rate, All: s.Work.AllRate}
	if (s.State == "working" || s.Busy > 0) && s.Workers > 0 {
		busy := min(float64(s.Busy)/float64(s.Workers), 1)
		m.Busy = &busy
	}
	return m
}

func (h *history) add(m Moment) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.moments) == momentsKept {
		h.moments = slices.Delete(h.moments, 0, 1)
	}
	h.moments = append(h.moments, m)
}

func (h *history) serve(*http.Request) (any, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Moment{}, h.moments...), nil
}
