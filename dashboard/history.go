package dashboard

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/report"
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
	// rosterKept bounds what is remembered of who came and went: a look adds three entries at most, which name so many.
	rosterKept, mostNamed = 100, 4
)

// A history is the last hour, kept whether or not somebody watches, so that a page that is opened does not begin empty.
type history struct {
	mu      sync.Mutex
	moments []Moment // oldest first, at most momentsKept

	present map[string]string    // the names of those that were heard at the last look; a daemon begins with nobody
	roster  []report.RosterEntry // oldest first, at most rosterKept
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
			if s, err := source.Status(ask); err == nil { // else there is a gap
				h.add(momentOf(&s, now))
			}
			if peers, err := source.Peers(ask); err == nil {
				h.look(peers, now)
			}
			cancel()
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

// look notes which members are heard that were not at the last look, and the other way round.
func (h *history) look(peers []Peer, now time.Time) {
	here, silent := map[string]string{}, map[string]bool{}
	for _, p := range peers {
		if silent[p.Peer] = !p.Alive; p.Alive {
			here[p.Peer] = peerName(p)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	was := h.present
	h.present = here
	var came, lost, gone []string
	for id, name := range here {
		if _, ok := was[id]; !ok {
			came = append(came, name)
		}
	}
	for id, name := range was {
		switch _, ok := here[id]; {
		case silent[id]:
			lost = append(lost, name)
		case !ok:
			gone = append(gone, name)
		}
	}
	h.note(now, "joined", "joined", came)
	h.note(now, "left", "not heard any more", lost)
	h.note(now, "left", "gone", gone)
}

func (h *history) note(now time.Time, kind, what string, names []string) {
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	text := what + ": " + strings.Join(names[:min(len(names), mostNamed)], ", ")
	if more := len(names) - mostNamed; more > 0 {
		text += fmt.Sprint(" and ", more, " more")
	}
	h.roster = append(h.roster, report.RosterEntry{At: now.UTC(), Kind: kind, Text: text})
	h.roster = h.roster[max(0, len(h.roster)-rosterKept):]
}

func (h *history) past() []Moment {
	h.mu.Lock()
	defer h.mu.Unlock()
	return listed(h.moments)
}

// members are those that came and went.
func (h *history) members() []report.RosterEntry {
	h.mu.Lock()
	defer h.mu.Unlock()
	return listed(h.roster)
}
