package runs

import "time"

// A repetition says when something is to be told again: after a second, and then less and less often.
type repetition struct {
	last time.Time
	wait time.Duration
}

// begin is when it was told for the first time.
func (r *repetition) begin(now time.Time) { r.last, r.wait = now, time.Second }

// due says whether it is time, and then takes it for told.
func (r *repetition) due(now time.Time, most time.Duration) bool {
	if now.Sub(r.last) < r.wait {
		return false
	}
	r.last, r.wait = now, min(max(2*r.wait, time.Second), most)
	return true
}
