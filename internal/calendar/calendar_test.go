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
		if c.date.Sub(x.want).Abs() > time.Second {
			t.Errorf("%d: after %s it is %s, not %s", i, x.after, c.date, x.want)
		}
	}
}
