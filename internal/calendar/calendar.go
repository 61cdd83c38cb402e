// Package calendar says what date it is, as far as the clock on the wall is to be believed.
package calendar

import "time"

// A Calendar is for what ends by a date and cannot be brought back. The clock may be wrong for a while: years behind at
// a start without a battery, or ahead until its time server is mended. So a date ahead of the one that is believed must
// have been there for some time, and of several that the clock shows meanwhile the earliest counts. A clock that goes
// back is believed at once, as nothing ends by that.
type Calendar struct {
	date   time.Time // zero, a date before all others: none has been there for long enough
	read   time.Time // the clock, when it was read last
	doubts time.Time // since when it has been ahead of date; zero: it is not
	next   time.Time // the least that it has shown since
}

// slack is by how much a clock may be set forward without a doubt.
const slack = time.Minute

// Doubt is for how long a date must have been there, by default: time servers have been wrong for an hour. Desktops are
// on for longer, now and then.
const Doubt = 6 * time.Hour

// Pass reads the clock. What has passed since the last time is counted by the clock that nobody sets.
func (c *Calendar) Pass(now time.Time, doubt time.Duration) {
	if !c.read.IsZero() {
		passed := now.Sub(c.read)
		c.date, c.next = c.date.Add(passed), c.next.Add(passed)
	}
	c.read = now
	shown := now.Round(0)
	switch {
	case !shown.After(c.date.Add(slack)):
		c.date, c.doubts = shown, time.Time{}
	case c.doubts.IsZero():
		c.doubts, c.next = now, shown
	default:
		if shown.Before(c.next) {
			c.next = shown
		}
		if now.Sub(c.doubts) >= doubt {
			c.date, c.doubts = c.next, time.Time{}
		}
	}
}

// Date is what is believed: before all other dates if no date has been there for long enough.
func (c *Calendar) Date() time.Time { return c.date }

// Reached says whether it is that time, in seconds since 1970, or later.
func (c *Calendar) Reached(at int64) bool { return c.date.Unix() >= at }
