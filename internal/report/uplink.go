package report

import "fmt"

// An Uplink is what a run needs of a peer's line to other clusters, and what that carries.
type Uplink struct {
	// Needs is what the peer's cores send there when all of them run its jobs, in bytes a second: as much for each
	// second of theirs as all peers have sent so far.
	Needs float64 `json:"needs_bytes_per_second"`
	// Has is the most that was measured from here to another cluster; missing where nothing was.
	Has float64 `json:"has_bytes_per_second,omitempty"`
}

// leastUseful is for how long cores must have run jobs before what was sent meanwhile says what a run needs.
const leastUseful = Span(10_000)

// Uplink is what a run with these figures, of all peers together, needs of a peer that has so many cores for it and has
// measured such a line; nil while that is not known, and if nothing goes to other clusters.
func (s *RunStats) Uplink(cores int, has float64) *Uplink {
	sent := plus(s.InterBytes, s.SharedInterBytes)
	if s.UsefulTime < leastUseful || sent == 0 || cores <= 0 {
		return nil
	}
	return &Uplink{Needs: float64(sent) / s.UsefulTime.Seconds() * float64(cores), Has: has}
}

// Short says that the line is known to carry less than is needed.
func (u *Uplink) Short() bool { return u.Has > 0 && u.Has < u.Needs }

func (u *Uplink) String() string {
	switch {
	case u.Has == 0:
		return Rate(u.Needs) + " needed"
	case u.Short():
		return Rate(u.Needs) + " needed, only " + Rate(u.Has) + " there"
	}
	return Rate(u.Needs) + " needed, " + Rate(u.Has) + " there"
}

// Rate writes bytes a second for people.
func Rate(bytes float64) string {
	if bytes < 999.5e3 {
		return fmt.Sprintf("%.3g KB/s", bytes/1e3)
	}
	return fmt.Sprintf("%.3g MB/s", bytes/1e6)
}
