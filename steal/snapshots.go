package steal

import (
	"slices"
	"time"

	"github.com/satin-peer/satin/job"
)

// snapshots is what a core remembers of the snapshots it gave to its engine.
type snapshots struct {
	now     *Orphans
	running []job.Path // those of now that run here, sorted
	changed bool       // these have
	begun   bool       // restarted jobs are here
	told    bool       // the engine has the snapshot now
	steps   int        // of all paths of now
	at      time.Duration
}

// touched are the paths at which a table has changed since the last snapshot: too many to begin with, for most peers
// never make one.
type touched struct {
	paths []job.Path
	many  bool // more than are listed
}

// mostTouched is how many are listed: a snapshot after more changes is as cheap to make anew.
const mostTouched = 128

func (t *touched) add(p job.Path) {
	switch {
	case t.many:
	case len(t.paths) == mostTouched:
		t.many, t.paths = true, nil
	default:
		t.paths = append(t.paths, p)
	}
}

func (t *touched) any() bool { return t.many || len(t.paths) > 0 }

func (t *touched) none() { t.many, t.paths = false, t.paths[:0] }

// smallTable is how many paths an engine is given without a second thought, of usualPath steps in the mean.
const (
	smallTable = 512
	usualPath  = 32
)

// orphans is what is known of lost work at the moment, the work kept here included.
func (lw *lostWork) orphans() *Orphans {
	w := &lw.shown
	if !w.changed && !lw.store.touched.any() && !lw.tuples.touched.any() {
		return w.now
	}
	var running []job.Path
	for _, s := range lw.segments.byID { // in any order: they are sorted
		if s.adoptable() {
			running = append(running, s.job.Path)
		}
	}
	slices.SortFunc(running, job.Path.Compare)
	if lw.store.touched.many || lw.tuples.touched.many {
		w.now = mergeOrphans(lw.store.index, lw.tuples.index, running)
	} else {
		w.now = w.now.copied()
		for _, paths := range [...][]job.Path{lw.store.touched.paths, lw.tuples.touched.paths,
			without(w.running, running), without(running, w.running)} {
			for _, p := range paths {
				w.now.set(p, lw.store.index.has(p) || lw.tuples.index.has(p) || contains(running, p))
			}
		}
	}
	lw.store.touched.none()
	lw.tuples.touched.none()
	w.running, w.changed, w.told = running, false, false
	if w.steps = 0; w.now.Len() <= smallTable {
		w.steps = w.now.steps()
	}
	return w.now
}

// large says whether the snapshot is more than an engine is given without a second thought.
func (w *snapshots) large() bool { return w.now.Len() > smallTable || w.steps > smallTable*usualPath }

// without lists those paths of one sorted list that are not in another.
func without(paths, others []job.Path) (left []job.Path) {
	for _, p := range paths {
		if !contains(others, p) {
			left = append(left, p)
		}
	}
	return left
}

func contains(sorted []job.Path, p job.Path) bool {
	_, there := slices.BinarySearchFunc(sorted, p, job.Path.Compare)
	return there
}

func (lw *lostWork) orphansChanged() { lw.shown.changed = true }

// expectRestarted is called before the engine gets a restarted job: from now on it is to know of orphans.
func (lw *lostWork) expectRestarted() {
	if lw.salvaging() {
		lw.shown.begun = true
		lw.showOrphans()
	}
}

// showOrphans gives the engine what has changed, if it has restarted jobs. A large table is not given, which may be
// to another process, more often than every TellEvery.
func (lw *lostWork) showOrphans() {
	w := &lw.shown
	if !w.begun || !lw.stale() || lw.now < w.at && w.large() {
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
	return !lw.shown.told || lw.shown.changed || lw.store.touched.any() || lw.tuples.touched.any()
}

// nextShow is when showOrphans will have something to do that it put off; 0 is never.
func (lw *lostWork) nextShow() time.Duration {
	if w := &lw.shown; w.begun && lw.stale() && lw.now < w.at && w.large() {
		return w.at
	}
	return 0
}
