// Package calendar says what date it is, as far as the clock on the wall is to be believed.
package calendar

import "time"

// A Calendar is for what ends by a date and cannot be brought back. The clock may be wrong for a while: years behind at
// a start without a battery, or ahead until its time server is mended. So a date ahead of the one that is believed must
// have been there for some time, and of several that the clock shows meanwhile the earliest counts. A clock that goes
// back is believed at once, as nothing ends by that. What a process has seen of all this its next one goes on with, so
// that hours add up on a desktop that is never on for long: while it is off the earliest date stands still, and what is
// believed in the end may be some days behind.
type Calendar struct {
	Seen
	read time.Time // the clock, when it was read last
}

// Seen is what outlives a process.
type Seen struct {
	Date time.Time     // that is believed; zero, a date before all others: none has been there for long enough
	Next time.Time     // the least that the clock has shown while it was ahead of Date; zero: it is not
	For  time.Duration // it has been so
}

// slack is by how much a clock may be set forward without a doubt.
const slack = time.Minute

// Doubt is for how long a date must have been there, by default: time servers have been wrong for an hour.
const Doubt = 6 * time.Hour

// Pass reads the clock. What has passed since the last time is counted by the clock that nobody sets.
func (c *Calendar) Pass(now time.Time, doubt time.Duration) {
	if !c.read.IsZero() {
		passed := now.Sub(c.read)
		c.Date = c.Date.Add(passed)
		if !c.Next.IsZero() {
			c.Next, c.For = c.Next.Add(passed), c.For+passed
		}
	}
	c.read = now
	shown := now.Round(0)
	switch {
	case !shown.After(c.Date.Add(slack)):
		c.Seen = Seen{Date: shown}
	case c.Next.IsZero():
		c.Next = shown
	default:
		if shown.Before(c.Next) {
			c.Next = shown
		}
		if c.For >= doubt {
			c.Seen = Seen{Date: c.Next}
		}
	}
}

// Reached says whether it is that time, in seconds since 1970, or later, as far as the clock is believed.
func (c *Calendar) Reached(at int64) bool { return c.Date.Unix() >= at }
