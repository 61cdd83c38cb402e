package sim

import "math/rand/v2"

// A stage is what every part of a simulated world works with: virtual time and what is due, chance, the trace, and
// what is counted.
type stage struct {
	cfg    Config
	now    int64 // virtual nanoseconds since the run began
	queue  queue
	random *rand.Rand
	trace  *tracer
	counts Counts
}

func (s *stage) happens(probability float64) bool { return s.random.Float64() < probability }
