package courtesy

import (
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/peer/preferences"
)

// A crowd watches what other programs leave of the cores to the jobs. Jobs at the lowest priority still get 3 parts in
// 1,027 of each core from Linux, cost the caches of whoever has the rest, and come to nothing by it; so beside programs
// that want all cores they are stopped, and what waits here is free to be stolen.
type crowd struct {
	sum   func() report.RunStats
	times func() (idle, all float64, ok bool) // as senses.Cores

	cpu, held report.Span
	idle, all float64
}

// enoughHeld is for how long cores must have had jobs since the last look, so that it tells something.
const enoughHeld report.Span = 200 // ms

// look adds to what was seen of the machine since the last look; before says that jobs were stopped then, or tried, so
// that the machine is looked at though none runs.
func (c *crowd) look(s *preferences.Seen, before bool) {
	f := c.sum()
	cpu, held := f.CPUTime, f.HeldTime
	if cpu >= c.cpu && held >= c.held+enoughHeld {
		s.Lost = 1 - float64(cpu-c.cpu)/float64(held-c.held)
	}
	c.cpu, c.held = cpu, held
	if s.Lost < preferences.MostLost && !before {
		return
	}
	idle, all, ok := c.times()
	if ok && all > c.all {
		s.Taken = 1 - (idle-c.idle)/(all-c.all)
	}
	c.idle, c.all = idle, all
}
