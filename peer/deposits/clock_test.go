package deposits

import (
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/wallclock"
)

// A clock that is years ahead for some hours, at a start or later, has no deposit go; what is over by a clock that is
// right goes.
func TestClockAhead(t *testing.T) {
	begin := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, from := range []time.Duration{0, 20 * time.Hour} {
		h := Hash{1}
		until := begin.Add(100 * time.Hour)
		c := New(DefaultConfig(), "self", &member{}, func(Hash) int64 { return 1 },
			[]Item{{Deposit: Deposit{h, 1, until}}})
		for after := time.Duration(0); after < 120*time.Hour; after += time.Hour {
			off := time.Duration(0)
			if after >= from && after < from+5*time.Hour {
				off = 3 * 365 * 24 * time.Hour
			}
			c.Tick(wallclock.Time(begin.Add(after+off), after))
			if _, here := c.Copies(h); here != (after < 100*time.Hour) {
				t.Fatalf("ahead after %s: after %s it is here: %v", from, after, here)
			}
		}
	}
}

// What was left here while the clock was decades behind is kept for as long as anything, counted by what has passed.
func TestClockBehind(t *testing.T) {
	cfg := DefaultConfig()
	begin, h := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), Hash{1}
	c := New(cfg, "self", &member{}, func(Hash) int64 { return 1 }, nil)
	c.Deposit(wallclock.Time(time.Unix(0, 0), 0), h, 1)
	for after := time.Hour; after < cfg.Life+20*time.Hour; after += time.Hour {
		saved := c.Tick(wallclock.Time(begin.Add(after), after)).Save
		if _, here := c.Copies(h); here != (after < cfg.Life) {
			t.Fatalf("after %s it is here: %t", after, here)
		}
		for _, i := range saved {
			if want := begin.Add(cfg.Life); i.Until.Sub(want).Abs() > time.Hour {
				t.Errorf("it is kept until %s, and not %s", i.Until, want)
			}
		}
	}
}
