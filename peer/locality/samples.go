package locality

import "time"

// samples are the round trips to one member.
type samples struct {
	last [5]time.Duration // the latest, in a ring
	n    int              // how many there were in all
	near bool
	far  int // samples over LeaveRTT in a row
}

const maxRTT = 10 * time.Second

// add takes a sample and decides whether the member is near: with the first sample under NearRTT, until LeaveAfter
// samples in a row are over LeaveRTT.
func (s *samples) add(rtt time.Duration, cfg Config) {
	s.last[s.n%len(s.last)] = rtt
	s.n++
	switch {
	case rtt < cfg.NearRTT:
		s.near, s.far = true, 0
	case rtt <= cfg.LeaveRTT:
		s.far = 0
	default:
		if s.far++; s.far >= cfg.LeaveAfter {
			s.near = false
		}
	}
}

// min is the shortest of the last samples; 0 if there is none.
func (s *samples) min() time.Duration {
	var best time.Duration
	for _, rtt := range s.last[:min(s.n, len(s.last))] {
		if best == 0 || rtt < best {
			best = rtt
		}
	}
	return best
}
