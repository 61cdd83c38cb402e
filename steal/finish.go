package steal

import "time"

// A Stance is how this machine stands to the run.
type Stance struct {
	// Finish has the peer take nothing more from others: it asks nobody for jobs, returns those that come all the same,
	// and begins no second copies but of what is overdue, for which the rest may wait. What it holds it finishes, and
	// its jobs may be stolen as ever; so after a while Holding is 0. It remains a member: its outcomes are there, and
	// if the root is nowhere else it may become master, which is a job that it holds.
	Finish bool
	// Turns says that the engine has its cores in turns, with others or with rests, so that to have none for a moment
	// means nothing; or that it has none for as long as it has no job, for which the core asks nevertheless.
	Turns bool
}

// Stand says how this machine stands to the run from now on; until then it does as the zero Stance says.
func (c *Core) Stand(now time.Duration, s Stance) Output {
	if !c.begin(now) {
		return c.out
	}
	if c.stance.Turns && !s.Turns {
		c.still = now
	}
	c.stance = s
	return c.end()
}

// Holding is how many jobs are here that others wait for, the root among them: those that wait, run, or have a result
// that is not acknowledged.
func (c *Core) Holding() int { return len(c.segments.byID) }
