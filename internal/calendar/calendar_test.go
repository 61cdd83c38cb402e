package calendar

import (
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/wallclock"
)

// A date is believed when the clock has not shown an earlier one for some time; going back is believed at once, and
// what passes is counted in between.
func TestCalendar(t *testing.T) {
	const doubt = time.Hour
	right := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	var c Calendar
	for i, x := range []struct {
		after, off time.Duration
		want       time.Time // zero: any before 1970
	}{
		{0, 0, time.Time{}}, {doubt - 1, 0, time.Time{}}, {doubt, 0, right.Add(doubt)},
		{doubt + 30*time.Second, 20 * time.Second, right.Add(doubt + 50*time.Second)}, // slewed
		{2 * doubt, 1e17, right.Add(2*doubt + 20*time.Second)},                        // by three years
		{2*doubt + doubt/2, 0, right.Add(2*doubt + doubt/2)},
		{3 * doubt, 1e17, right.Add(3 * doubt)}, {4*doubt - 1, 2e17, right.Add(4*doubt - 1)},
		{4 * doubt, 2e17, right.Add(4*doubt + 1e17)}, // the least that it was
		{5 * doubt, -2e17, right.Add(5*doubt - 2e17)}, {6 * doubt, 0, right.Add(6*doubt - 2e17)},
		{6*doubt + doubt/2, 1e17, right.Add(6*doubt + doubt/2 - 2e17)}, {7 * doubt, 1e17, right.Add(7 * doubt)},
	} {
		c.Pass(wallclock.Time(right.Add(x.after+x.off), x.after), doubt)
		if x.want.IsZero() && !c.Reached(0) {
			continue
		}
		if c.Date.Sub(x.want).Abs() > time.Second {
			t.Errorf("%d: after %s it is %s, not %s", i, x.after, c.Date, x.want)
		}
	}
}

// Hours add up over lives: a machine that is on for two hours a day believes a date on its third day, one that its
// clock has not been behind of, and not before; one that was ahead in one of its lives is not believed.
func TestHoursAddUp(t *testing.T) {
	const on = 2 * time.Hour
	start := time.Date(2027, 1, 1, 19, 0, 0, 0, time.UTC)
	for _, ahead := range []int{-1, 0, 1, 2} { // the life in which it is, by a year
		var seen Seen
		for life := range 12 {
			began := start.AddDate(0, 0, life)
			if before := seen.Date.After(start); before != (life > 2) && life < 4 {
				t.Errorf("ahead in life %d: at the start of life %d %s is believed", ahead, life, seen.Date)
			}
			c := Calendar{Seen: seen}
			for after := time.Duration(0); after <= on; after += 10 * time.Minute {
				now := began.Add(after)
				if life == ahead {
					now = now.AddDate(1, 0, 0)
				}
				c.Pass(wallclock.Time(now, after), 3*on)
				if right := began.Add(after + slack); c.Date.After(right) {
					t.Fatalf("ahead in life %d: %s is believed in life %d", ahead, c.Date, life)
				}
			}
			seen = c.Seen
		}
		if late := start.AddDate(0, 0, 11).Sub(seen.Date); late > 6*24*time.Hour {
			t.Errorf("ahead in life %d: after twelve lives %s is believed, %s behind", ahead, seen.Date, late)
		}
	}
}
