package courtesy

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/peer/arbiter"
	"github.com/satin-peer/satin/peer/preferences"
)

// Guards the owner of a machine: what was seen of it decides at the next look, what he changes at once, and the others
// are told of each other number of cores once.
func TestCourtesy(t *testing.T) {
	now := time.Unix(1000, 0)
	a := arbiter.New(4)
	run := -1
	a.Join(&arbiter.Allotment{Most: 4, Finish: func(bool) {}, Dry: func() bool { return false },
		Set: func(c int, _ bool) { run = c }})
	var seen preferences.Seen
	var told []int
	c := New(Config{Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }, Cores: 4, Allow: a.Allow,
		Bound: func(*preferences.Preferences) {}})
	c.look = func(_ *preferences.Preferences, slow bool, before preferences.Seen) preferences.Seen {
		s := seen
		if !slow {
			s.Running = before.Running
		}
		return s
	}
	c.Told = func() { told = append(told, c.Allowed()) } // as the card does: it must not wait for itself
	expect := func(what string, cores int, limit string) {
		t.Helper()
		v := c.InForce()
		right := strings.Contains(v.Limit, limit) && (v.Limit == "") == (limit == "")
		if v.Cores != cores || run != cores || !right {
			t.Errorf("%s: %d cores, the run has %d, %q", what, v.Cores, run, v.Limit)
		}
	}
	c.Begin(preferences.Preferences{Workers: 1024, Here: 1, AwayAfter: time.Minute, YieldTo: []string{"game"}})
	expect("nobody there", 4, "")
	seen.Watched, seen.Untouched = true, time.Second
	c.round(false)
	expect("somebody there", 1, "workers_here")
	c.round(false)
	c.Prefer(preferences.Preferences{Workers: 2, Here: preferences.Same})
	expect("as many as else", 2, "")
	c.Prefer(preferences.Preferences{Workers: 2, Here: preferences.Same, YieldTo: []string{"game"}})
	seen.Running = "game"
	c.round(false)
	expect("programs are looked at now and then", 2, "")
	c.round(true)
	expect("a game", 0, "game is running")
	seen = preferences.Seen{}
	c.round(true)
	expect("no game", 2, "")
	later, ok := preferences.ParseHours("00:00-00:00") // the whole day
	if !ok {
		t.Fatal("hours are not read")
	}
	c.Prefer(preferences.Preferences{Workers: 2, Hours: []preferences.Hours{later}, Here: preferences.Same})
	now = now.Add(30 * time.Hour)
	c.round(true)
	expect("the whole day, next day", 2, "")
	early, ok := preferences.ParseHours("00:00-08:00")
	if !ok {
		t.Fatal("hours are not read")
	}
	at := now.UTC()
	seen.Zone = time.FixedZone("", (12-at.Hour())*3600)
	c.Prefer(preferences.Preferences{Workers: 2, Hours: []preferences.Hours{early}, Here: preferences.Same})
	c.round(true)
	expect("noon", 0, "not the time")
	seen.Zone = time.FixedZone("", (4-at.Hour())*3600)
	c.round(true)
	expect("eight hours further west", 2, "")
	if want := []int{1, 2, 0, 2, 0, 2}; !slices.Equal(told, want) {
		t.Errorf("told of %v cores, want %v", told, want)
	}
}

// Guards the swarm, and the log: beside programs that want all cores for hours jobs are tried every few seconds, and
// that is told when it begins and when it is over, though what jobs lost is known only when they have had a core.
func TestACrowdIsToldOfOnce(t *testing.T) {
	now := time.Unix(1000, 0)
	cores, tried, held, lasts := 4, 0, 1, true
	var told []int
	var log bytes.Buffer
	c := New(Config{Log: slog.New(slog.NewTextHandler(&log, nil)), Now: func() time.Time { return now }, Cores: 4,
		Bound: func(*preferences.Preferences) {},
		Allow: func(n, _ int) {
			if cores = n; n > 0 {
				tried++
			}
		}})
	c.look = func(*preferences.Preferences, bool, preferences.Seen) (s preferences.Seen) {
		if s.Taken = 0.1; lasts {
			if s.Taken, held = 1, held+1; cores == 0 {
				held = 0
			} else if held > 1 {
				s.Lost = 1
			}
		}
		return s
	}
	c.Told = func() { told = append(told, c.Allowed()) }
	c.allowed = preferences.Preferences{Workers: 4, Here: preferences.Same}
	for second := range 60 {
		lasts = second < 50
		now = now.Add(time.Second)
		if c.round(false); lasts && c.Allowed() != 0 {
			t.Errorf("second %d: whoever asks hears of %d cores", second, c.Allowed())
		}
	}
	if want := []int{0, 4}; !slices.Equal(told, want) || tried < 9 {
		t.Errorf("told of %v cores, want %v; jobs were tried %d times", told, want, tried)
	}
	if n := strings.Count(log.String(), "\n"); n != 2 {
		t.Errorf("the log has %d lines, want 2:\n%s", n, &log)
	}
}
