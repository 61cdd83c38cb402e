package steal

import "slices"

// disownChildren closes the leases of jobs that were spawned under a segment which is about to end without an outcome, and tells their
// thieves to go on: whoever runs the segment again can adopt them. Which of the leases belong to it can be told by their paths: they
// do not if another segment that runs here lies between.
func (c *Core) disownChildren(s *segment) {
	var ls []*lease
	for _, p := range c.peers.list {
		for _, l := range p.leases {
			if l.parent == nil && c.spawnedUnder(l.job.Path) == s {
				ls = append(ls, l)
			}
		}
	}
	c.disown(ls)
}

// spawnedUnder finds the running segment that a job belongs to, by its path: the one with the longest path above it.
func (c *Core) spawnedUnder(path Path) *segment {
	var best *segment
	for _, s := range c.segments {
		if s.state != running || len(s.job.Path) > len(path) || !slices.Equal(s.job.Path, path[:len(s.job.Path)]) {
			continue
		}
		if best == nil || len(s.job.Path) > len(best.job.Path) || len(s.job.Path) == len(best.job.Path) && s.id < best.id {
			best = s
		}
	}
	return best
}

// disown closes leases and tells the thieves, one message each.
func (c *Core) disown(ls []*lease) {
	for len(ls) > 0 {
		thief := ls[0].thief
		var hs []Handle
		ls = slices.DeleteFunc(ls, func(l *lease) bool {
			if l.thief != thief {
				return false
			}
			hs = append(hs, l.handle)
			c.closeLease(l)
			return true
		})
		slices.Sort(hs)
		if thief != nil && thief.inc != 0 {
			c.send(thief, &Message{Disown: &Disown{Handles: hs}})
		}
	}
}

// onDisown makes orphans of what is held for a peer that has lost it.
func (c *Core) onDisown(p *peer, d *Disown) {
	for _, h := range d.Handles {
		if i, ok := p.findHeld(h); ok {
			c.ownerLost(p.held[i])
		} else {
			c.stats.DroppedUnexpected++
		}
	}
}
