package gossip

import "time"

// A bucket holds tokens, up to a burst; they come back at a rate.
type bucket struct {
	spent float64 // tokens missing at the time of last
	last  time.Time
}

// take takes n tokens if there are any left, even if fewer than n: what costs more than a burst must be possible, and
// the debt is paid by what comes after.
func (b *bucket) take(rate Rate, now time.Time, n float64) bool {
	if dt := now.Sub(b.last).Seconds(); dt > 0 {
		b.spent = max(0, b.spent-dt*rate.PerSecond)
		b.last = now
	}
	if b.spent >= float64(rate.Burst) {
		return false
	}
	b.spent += n
	return true
}
