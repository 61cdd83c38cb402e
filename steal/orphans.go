package steal

import (
	"errors"
	"slices"
	"time"

	"github.com/satin-peer/satin/job"
)

// Orphans is what a core knew of lost work at one moment: the paths of jobs whose outcome somebody has or is
// working on, this peer included. Immutable, so safe for concurrent use; the nil and the zero value know of
// none.
type Orphans struct {
	paths []job.Path // sorted, each once
}

// mergeOrphans makes a snapshot of two lists that are in order, which may be long, and a short one that is not.
func mergeOrphans(keeps byPath[*kept], knows byPath[*tupleEntry], running []job.Path) *Orphans {
	slices.SortFunc(running, slices.Compare)
	o := &Orphans{make([]job.Path, 0, len(keeps)+len(knows)+len(running))}
	for {
		var next job.Path
		from := 0
		consider := func(list int, p job.Path) {
			if from == 0 || slices.Compare(p, next) < 0 {
				from, next = list, p
			}
		}
		if len(keeps) > 0 {
			consider(1, keeps[0].Path)
		}
		if len(knows) > 0 {
			consider(2, knows[0].Path)
		}
		if len(running) > 0 {
			consider(3, running[0])
		}
		switch from {
		case 0:
			return o
		case 1:
			keeps = keeps[1:]
		case 2:
			knows = knows[1:]
		case 3:
			running = running[1:]
		}
		if n := len(o.paths); n == 0 || !slices.Equal(o.paths[n-1], next) {
			o.paths = append(o.paths, next)
		}
	}
}

// Look says whether there is an orphan at exactly that path, and whether there are any strictly below it. It takes
// O(len(p) log n) steps and allocates nothing.
func (o *Orphans) Look(p job.Path) (hit, below bool) {
	if o == nil {
		return false, false
	}
	i, hit := slices.BinarySearchFunc(o.paths, p, slices.Compare)
	if hit {
		i++
	}
	return hit, i < len(o.paths) && p.Above(o.paths[i])
}

// Len is how many paths there are.
func (o *Orphans) Len() int {
	if o == nil {
		return 0
	}
	return len(o.paths)
}

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

// orphans is what is known of lost work at the moment, the work kept here included.
func (lw *lostWork) orphans() *Orphans {
	w := &lw.shown
	if w.now != nil && !w.changed && !lw.store.changed && !lw.tuples.changed {
		return w.now
	}
	w.changed, lw.store.changed, lw.tuples.changed = false, false, false
	var running []job.Path
	for _, s := range lw.segments.byID { // in any order: they are sorted
		if s.adoptable() {
			running = append(running, s.job.Path)
		}
	}
	w.now, w.told = mergeOrphans(lw.store.index, lw.tuples.index, running), false
	return w.now
}

func (lw *lostWork) orphansChanged() { lw.shown.changed = true }

// expectRestarted is called before the engine gets a restarted job: from now on it is to know of orphans.
func (lw *lostWork) expectRestarted() {
	if lw.salvaging() {
		lw.shown.begun = true
		lw.showOrphans()
	}
}

// showOrphans gives the engine what has changed, if it has restarted jobs. A large table is not copied more
// often than every TellEvery.
func (lw *lostWork) showOrphans() {
	w := &lw.shown
	if !w.begun || !lw.stale() || lw.now < w.at && w.now.Len() > smallTable {
		return
	}
	o := lw.orphans()
	if w.told || o.Len() == 0 && w.at == 0 {
		return
	}
	w.told, w.at = true, lw.now+lw.cfg.TellEvery
	lw.order(Order{Kind: LostWork, Orphans: o})
}

func (lw *lostWork) stale() bool {
	return !lw.shown.told || lw.shown.changed || lw.store.changed || lw.tuples.changed
}

// nextShow is when showOrphans will have something to do that it put off; 0 is never.
func (lw *lostWork) nextShow() time.Duration {
	if w := &lw.shown; w.begun && lw.stale() && lw.now < w.at && w.now.Len() > smallTable {
		return w.at
	}
	return 0
}

// Paths lists what there is, sorted, each once. It is not to be changed.
func (o *Orphans) Paths() []job.Path {
	if o == nil {
		return nil
	}
	return o.paths
}

// NewOrphans makes a snapshot of what Paths listed. The error says that the paths are not in order.
func NewOrphans(paths []job.Path) (*Orphans, error) {
	for i := 1; i < len(paths); i++ {
		if paths[i-1].Compare(paths[i]) >= 0 {
			return nil, errors.New("paths that are not in order")
		}
	}
	return &Orphans{paths}, nil
}
