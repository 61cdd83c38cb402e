package steal

import (
	"time"

	"github.com/satin-peer/satin/job"
)

// What is kept here is told to everybody once somebody needs it: when an owner is lost, when it was handed
// over, when it comes from a checkpoint. Tuples are combined (fault tolerance paper, 3.6): the first waits
// TellEvery for others, and no News has more than MaxTuplesPerNews of them or comes sooner after the last. As
// long as nobody is lost, nothing is told.

// maxNewsBytes bounds the tuples of one News or one reply: gossip takes 64 KiB.
const maxNewsBytes = 48 << 10

// tellAgain is the least time before the same outcome is told again because somebody else is lost.
const tellAgain = 10 * time.Second

// mostQuiet is the longest time after which what is at work for nobody is told again.
const mostQuiet = 10 * time.Minute

// teller holds what is to be told.
type teller struct {
	jobs []jobName // in order
	at   time.Duration
}

type jobName struct {
	path     job.Path
	identity job.Identity
}

// announce has a job told that is here: whether it is done is looked up when it is told, or that it is here no more.
func (lw *lostWork) announce(p job.Path, id job.Identity) { lw.announceWithin(p, id, lw.cfg.TellEvery) }

// announceWithin is announce for what waits for others no longer than that.
func (lw *lostWork) announceWithin(p job.Path, id job.Identity, wait time.Duration) {
	if len(p) == 0 || lw.leaving || len(lw.telling.jobs) >= lw.cfg.MaxKept+lw.cfg.MaxSegments {
		return // what is missed costs time only
	}
	if len(lw.telling.jobs) == 0 {
		lw.telling.at = max(lw.telling.at, lw.now+wait)
	}
	lw.telling.jobs = append(lw.telling.jobs, jobName{p, id})
}

// announceRunning has everybody told of a job at work here that perhaps nobody waits for, and soon if nothing was told
// lately: it may be begun again any moment.
func (lw *lostWork) announceRunning(s *segment) {
	lw.orphansChanged()
	s.toldAt = lw.now
	lw.announceWithin(s.job.Path, s.job.Identity, lw.cfg.TellEvery/4)
}

// announceAgain tells again of what has been at work for nobody for ten seconds, then for twenty more, and so on: what
// was told, or what was answered to it, may have been lost.
func (lw *lostWork) announceAgain() {
	if lw.segments.orphans == 0 {
		return
	}
	due := func(s *segment) bool { return s.orphan && lw.now-s.toldAt >= max(s.quiet, tellAgain) }
	for _, s := range lw.segments.byID {
		if due(s) {
			lw.announceSome(due)
			return
		}
	}
}

// announceOrphans tells again of all that is at work here for nobody: others may not have heard of it, behind a line
// that was down, and begin the same jobs.
func (lw *lostWork) announceOrphans() { lw.announceSome((*segment).adoptable) }

func (lw *lostWork) announceSome(fits func(*segment) bool) {
	for _, s := range lw.segments.inOrder() {
		if fits(s) && lw.now-s.toldAt >= lw.cfg.TellEvery { // else it is about to be told
			s.quiet = min(2*max(s.quiet, tellAgain), mostQuiet)
			lw.announceRunning(s)
		}
	}
}

// announceKept tells of what is kept when a peer is lost that was perhaps the only other one to have it.
func (lw *lostWork) announceKept(lost PeerID) {
	if !lw.salvaging() {
		return
	}
	for _, k := range lw.store.index {
		if k.class != settled && !k.copied || k.owner == lost {
			lw.announceOne(k)
		}
	}
}

// announceStrays is the same for peers that are not members any more, which were perhaps never partners.
func (lw *lostWork) announceStrays() {
	for _, k := range lw.store.index {
		if (k.class == settled || k.copied) && k.owner != lw.self.Peer && !k.told {
			if !lw.isMember(k.owner) {
				lw.announceOne(k)
			}
		}
	}
}

// announceRestored tells again of what came from a checkpoint, to a master that was not there the first time.
func (lw *lostWork) announceRestored() {
	for _, k := range lw.store.index {
		if k.class == restored {
			lw.announce(k.Path, k.Identity)
		}
	}
}

func (lw *lostWork) announceOne(k *kept) {
	if k.told && lw.now < k.toldAt+tellAgain || k.inPart && lw.segments.spawnedUnder(k.Path) != nil {
		return
	}
	k.told, k.toldAt = true, lw.now
	lw.announce(k.Path, k.Identity)
}

// tellNews tells what is due.
func (lw *lostWork) tellNews() {
	t := &lw.telling
	if len(t.jobs) == 0 || lw.now < t.at {
		return
	}
	var tuples []Tuple
	bytes, n := 0, 0
	for ; n < len(t.jobs) && len(tuples) < lw.cfg.MaxTuplesPerNews; n++ {
		u, ok := lw.ownTuple(t.jobs[n])
		if !ok {
			continue
		}
		if bytes += u.Size(); bytes > maxNewsBytes && len(tuples) > 0 {
			break
		}
		tuples = append(tuples, u)
	}
	t.jobs = t.jobs[n:]
	if len(t.jobs) == 0 {
		t.jobs = nil
	}
	t.at = lw.now + lw.cfg.TellEvery
	if len(tuples) > 0 {
		lw.stats.TuplesSent += uint64(len(tuples))
		lw.tellAll(&News{Tuples: tuples})
	}
}

// nextTell is when tellNews has something to do; 0 is never.
func (lw *lostWork) nextTell() time.Duration {
	if len(lw.telling.jobs) == 0 {
		return 0
	}
	return max(1, lw.telling.at)
}

// ownTuple says what this peer has of a job.
func (lw *lostWork) ownTuple(j jobName) (Tuple, bool) {
	if k := lw.store.find(j.path, j.identity); k != nil {
		return lw.has(k), true
	}
	if s := lw.adoptable(j.path, j.identity); s != nil {
		s.toldAt = lw.now
		return lw.worksOn(s), true
	}
	return Tuple{}, false
}

// has says that an outcome is kept here.
func (lw *lostWork) has(k *kept) Tuple {
	return Tuple{Path: k.Path, Identity: k.Identity, Holder: lw.self, Done: true}
}

// worksOn says that a job is at work here, and for how long.
func (lw *lostWork) worksOn(s *segment) Tuple {
	return Tuple{Path: s.job.Path, Identity: s.job.Identity, Holder: lw.self, Age: lw.now - s.begun}
}
