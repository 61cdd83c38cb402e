package steal

import "slices"

// The root, at a master, is a segment like any other: run by the engine, with children that are stolen, and
// with an outcome. It has no owner, is not given away, and its outcome is the run's answer.

// startRoot queues the root. Restarted says that another master, or an earlier life, may have worked on it.
func (c *Core) startRoot(restarted bool) {
	if c.root != nil || c.run.Root.Function == "" || c.leaving != nil {
		return
	}
	c.lastSeg++
	s := &segment{id: c.lastSeg, root: true, job: c.run.Root, since: c.now}
	s.job.Restarted = s.job.Restarted || restarted
	c.root = s
	c.segments[s.id] = s
	c.waiting = slices.Insert(c.waiting, 0, s)
	c.stats.Restarts++
}

// endRoot gives the root up: its engine stops, and the thieves of its children are told that these are orphans now.
func (c *Core) endRoot() {
	s := c.root
	if s == nil {
		return
	}
	c.disownChildren(s)
	c.root = nil
	c.stop(s)
	delete(c.segments, s.id)
}
