package steal

import (
	"slices"
	"time"
)

// Orphans is what a core knew of lost work at one moment: the paths of jobs whose outcome somebody has or is working on, this peer
// included. Immutable, so safe for concurrent use; the nil and the zero value know of none.
type Orphans struct {
	paths []Path // sorted, each once
}

// newOrphans takes paths over, in any order.
func newOrphans(paths []Path) *Orphans {
	slices.SortFunc(paths, slices.Compare)
	return &Orphans{slices.CompactFunc(paths, slices.Equal)}
}

// Look says whether there is an orphan at exactly that path, and whether there are any strictly below it. It takes
// O(len(p) log n) steps and allocates nothing.
func (o *Orphans) Look(p Path) (hit, below bool) {
	if o == nil {
		return false, false
	}
	i, hit := slices.BinarySearchFunc(o.paths, p, slices.Compare)
	if hit {
		i++
	}
	return hit, i < len(o.paths) && isAbove(p, o.paths[i])
}

// Len is how many paths there are.
func (o *Orphans) Len() int {
	if o == nil {
		return 0
	}
	return len(o.paths)
}

// isAbove says whether the job at p is an ancestor of the one at q.
func isAbove(p, q Path) bool { return len(p) < len(q) && slices.Equal(p, q[:len(p)]) }

// watcher is what a core remembers of the snapshots it gave to its engine.
type watcher struct {
	now     *Orphans
	changed bool // the orphans that run here have
	begun   bool // restarted jobs are here
	told    bool // the engine has the snapshot now
	at      time.Duration
}

// smallTable is how many paths are sorted and copied without a second thought.
const smallTable = 512

// Orphans is what is known of lost work at the moment, the work kept here included. Call it between two inputs.
func (c *Core) Orphans() *Orphans {
	w := &c.shown
	if w.now != nil && !w.changed && !c.store.changed && !c.tuples.changed {
		return w.now
	}
	w.changed, c.store.changed, c.tuples.changed = false, false, false
	paths := make([]Path, 0, len(c.store.index)+len(c.tuples.index))
	for _, k := range c.store.index {
		paths = append(paths, k.Path)
	}
	for _, e := range c.tuples.index {
		paths = append(paths, e.Path)
	}
	for _, s := range c.segments { // in any order: they are sorted
		if s.adoptable() {
			paths = append(paths, s.job.Path)
		}
	}
	w.now, w.told = newOrphans(paths), false
	return w.now
}

func (c *Core) orphansChanged() { c.shown.changed = true }

// expectRestarted is called before the engine gets a restarted job: from now on it is to know of orphans.
func (c *Core) expectRestarted() {
	if c.salvaging() {
		c.shown.begun = true
		c.showOrphans()
	}
}

// showOrphans gives the engine what has changed, if it has restarted jobs. A large table is not copied more often than every TellEvery.
func (c *Core) showOrphans() {
	w := &c.shown
	if !w.begun || !w.stale(c) || c.now < w.at && w.now.Len() > smallTable {
		return
	}
	o := c.Orphans()
	if w.told || o.Len() == 0 && w.at == 0 {
		return
	}
	w.told, w.at = true, c.now+c.cfg.TellEvery
	c.order(Order{Kind: Watch, Orphans: o})
}

func (w *watcher) stale(c *Core) bool {
	return !w.told || w.changed || c.store.changed || c.tuples.changed
}

// nextShow is when showOrphans will have something to do that it put off; 0 is never.
func (c *Core) nextShow() time.Duration {
	if w := &c.shown; w.begun && w.stale(c) && c.now < w.at && w.now.Len() > smallTable {
		return w.at
	}
	return 0
}
