package steal

import (
	"maps"
	"slices"

	"github.com/satin-peer/satin/job"
)

// disownChildren closes the leases of jobs that were spawned under a segment which is about to end without an
// outcome, though the segment itself is wanted: whoever runs it again can adopt them. Which of the leases
// belong to it can be told by their paths: they do not if another segment that runs here lies between, or is
// perhaps the very job. Where in doubt, a lease stays, and is aborted if the engine says so: closed by
// mistake, it would leave a frame waiting for ever.
func (c *Core) disownChildren(s *segment) {
	if !c.salvaging() {
		return // then the engine's Aborted does what there is to do
	}
	var ls []*lease
	for _, ref := range slices.Sorted(maps.Keys(c.refs)) {
		if l := c.refs[ref]; !l.ofSegment && c.spawnedUnder(l.job.Path) == s {
			ls = append(ls, l)
		}
	}
	c.disownAll(ls)
}

// disownAll gives up leases and the copies of their jobs: all of them may be adopted.
func (c *Core) disownAll(ls []*lease) {
	var copies []*segment
	for _, l := range ls {
		if s := l.copy; s != nil {
			l.copy, s.copyOf = nil, nil
			copies = append(copies, s)
		}
	}
	c.disown(ls)
	for _, s := range copies {
		c.orphan(s)
	}
}

// spawnedUnder finds the running segment that a job belongs to, by its path: the one with the longest path above it.
func (c *Core) spawnedUnder(path job.Path) *segment {
	var best *segment
	for _, s := range c.segments {
		if s.state != running || !s.job.Path.Above(path) {
			continue
		}
		if best == nil || len(s.job.Path) > len(best.job.Path) ||
			len(s.job.Path) == len(best.job.Path) && s.id < best.id {
			best = s
		}
	}
	return best
}

// disown closes leases and tells the thieves, one message each. A lost message is made good by the next inventory.
func (c *Core) disown(ls []*lease) {
	ls = slices.Clone(ls)
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
		if thief == nil {
			continue
		}
		slices.Sort(hs)
		thief.disowned = append(thief.disowned, hs...)
		thief.disowned = thief.disowned[max(0, len(thief.disowned)-maxDisowned):]
		if thief.inc != 0 {
			c.send(thief, &Message{Disown: &Disown{Handles: hs}})
		}
	}
}

// maxDisowned is how many handles are remembered of each peer, so that they are disowned again if the message
// was lost. Those forgotten are aborted.
const maxDisowned = 64

// answerStale tells a thief about handles that it lists and that are not leased.
func (c *Core) answerStale(p *peer, hs []Handle) {
	var disowned, aborted []Handle
	for _, h := range hs {
		if slices.Contains(p.disowned, h) {
			disowned = append(disowned, h)
		} else {
			aborted = append(aborted, h)
		}
	}
	if len(aborted) > 0 {
		c.send(p, &Message{Abort: &Abort{Handles: aborted}})
	}
	if len(disowned) > 0 {
		c.send(p, &Message{Disown: &Disown{Handles: disowned}})
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
