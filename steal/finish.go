package steal

import "time"

// Finish has this peer take nothing more from others, or lifts that: it asks nobody for jobs, returns those that come
// all the same, and begins no second copies. What it holds it finishes, and its jobs may be stolen as ever; so after a
// while Holding is 0. It remains a member: its outcomes are there, and if the root is nowhere else it may become
// master, which is a job that it holds.
func (c *Core) Finish(now time.Duration, on bool) Output {
	if !c.begin(now) {
		return c.out
	}
	c.sated = on
	return c.end()
}

// Turns says that the engine has cores in turns, with others or with rests, so that to have none for a moment means
// nothing; or lifts that.
func (c *Core) Turns(now time.Duration, on bool) Output {
	if !c.begin(now) {
		return c.out
	}
	if c.turns && !on {
		c.still = now
	}
	c.turns = on
	return c.end()
}

// Holding is how many jobs are here that others wait for, the root among them: those that wait, run, or have a result
// that is not acknowledged.
func (c *Core) Holding() int { return len(c.segments.byID) }
