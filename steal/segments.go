package steal

import (
	"cmp"
	"slices"
	"time"

	"github.com/satin-peer/satin/job"
)

// segments are the jobs that are held here for others, the root, copies and orphans: where each has got to, which of
// them wait for a worker, and which results wait for their acknowledgement.
type segments struct {
	*shared
	byID     map[SegmentID]*segment
	last     SegmentID
	root     *segment   // the run's root while this peer is its master and it has no outcome
	waiting  []*segment // held and not begun, oldest first
	fetching []*segment // held, and what they name is not here
	supplied bool       // what one of them named has come
	unacked  []*segment // finished, result not acknowledged, by time of finishing
	unackedN int        // bytes in them
	retryAt  time.Duration
	runs     uint64 // RunSegment orders given
	overdue  int    // copies of jobs whose thieves list them
	orphans  int    // for whom nobody waits
}

func newSegments(s *shared) *segments {
	return &segments{shared: s, byID: make(map[SegmentID]*segment)}
}

// enter gives a segment a number that none had before, and keeps it.
func (ss *segments) enter(s *segment) {
	ss.last++
	s.id = ss.last
	ss.byID[s.id] = s
	ss.count(s, 1)
}

// count adds a segment to those of its kind, or takes it from them.
func (ss *segments) count(s *segment, d int) {
	if s.overdue {
		ss.overdue += d
	}
	if s.orphan {
		ss.orphans += d
	}
}

// setOrphan says whether nobody waits for a segment that was entered.
func (ss *segments) setOrphan(s *segment, is bool) {
	ss.count(s, -1)
	s.orphan = is
	ss.count(s, 1)
}

func (ss *segments) forget(s *segment) {
	if ss.byID[s.id] == s {
		ss.count(s, -1)
	}
	delete(ss.byID, s.id)
	ss.purse.give(s.from, s.taken)
	s.taken = 0
	ss.unasked(s)
}

func (ss *segments) dropWaiting(s *segment) {
	for _, l := range []*[]*segment{&ss.waiting, &ss.fetching} {
		if i := slices.Index(*l, s); i >= 0 {
			*l = slices.Delete(*l, i, i+1)
		}
	}
}

// ready is what the engine is ready for. One that has its cores in turns, and none at the moment, may have none until
// there is a job for it: while none runs it counts as idle.
func (ss *segments) ready() Load {
	l := ss.load
	if ss.reports > 0 && ss.stance.Turns && l.Workers == 0 && l.Queued == 0 && !ss.anyRuns() {
		l.Workers, l.Idle = 1, 1
	}
	return l
}

// anyRuns says whether the engine has a job.
func (ss *segments) anyRuns() bool {
	for _, s := range ss.byID {
		if s.state == running {
			return true
		}
	}
	return false
}

// idle is how many workers wait for a job that is not on its way to them already.
func (ss *segments) idle() int {
	l := ss.ready()
	return l.IdleAfter(ss.runs)
}

// queued is how many jobs this peer could give away.
func (ss *segments) queued() int { return ss.load.Queued + len(ss.waiting) }

// room is how many more stolen jobs this peer may hold.
func (ss *segments) room() int {
	if ss.unackedN >= ss.cfg.MaxUnackedBytes || ss.leaving || ss.stance.Finish {
		return 0
	}
	return min(ss.cfg.MaxWaiting-len(ss.waiting)-len(ss.fetching), ss.cfg.MaxSegments-len(ss.byID))
}

// inOrder lists the segments by number.
func (ss *segments) inOrder() []*segment {
	all := make([]*segment, 0, len(ss.byID))
	for _, s := range ss.byID {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *segment) int { return int(a.id) - int(b.id) })
	return all
}

// runsHere says whether a segment that runs in the engine is that job.
func (ss *segments) runsHere(p job.Path, id job.Identity) bool {
	for _, s := range ss.byID {
		if s.state == running && s.is(p, id) {
			return true
		}
	}
	return false
}

// oldest finds the job among the segments that fit, in whatever order they come; nil if there is none.
func (ss *segments) oldest(p job.Path, id job.Identity, fits func(*segment) bool) (found *segment) {
	for _, s := range ss.byID {
		if fits(s) && s.is(p, id) && (found == nil || s.id < found.id) {
			found = s
		}
	}
	return found
}

// passedOn finds a job that another peer has got from here, and that perhaps nobody waits for any more.
func (ss *segments) passedOn(p job.Path, id job.Identity) *segment {
	return ss.oldest(p, id, func(s *segment) bool { return s.state == lent && s.owner != nil && s.inDoubt() })
}

// deepest finds, of the segments that fit, the one with the longest path at a path or above it, of two the oldest.
func (ss *segments) deepest(path job.Path, fits func(*segment) bool) *segment {
	return ss.along(path, fits, func(a, b int) int { return cmp.Compare(b, a) })
}

// highest is deepest for the shortest path.
func (ss *segments) highest(path job.Path, fits func(*segment) bool) *segment {
	return ss.along(path, fits, cmp.Compare[int])
}

// along finds, of the segments that fit at a path or above it, the first by the lengths of their paths and their age.
func (ss *segments) along(path job.Path, fits func(*segment) bool, order func(a, b int) int) (best *segment) {
	for _, s := range ss.byID {
		if fits(s) && atOrAbove(s.job.Path, path) && (best == nil ||
			cmp.Or(order(len(s.job.Path), len(best.job.Path)), cmp.Compare(s.id, best.id)) < 0) {
			best = s
		}
	}
	return best
}

func atOrAbove(a, b job.Path) bool { return a.Above(b) || slices.Equal(a, b) }

// spawnedUnder finds the running segment that a job belongs to, by its path: the one with the longest path above it.
func (ss *segments) spawnedUnder(path job.Path) *segment {
	return ss.deepest(path, func(s *segment) bool { return s.state == running && len(s.job.Path) < len(path) })
}

// begunAgainAbove says whether the nearest job above that path of those here is one that is run again.
func (ss *segments) begunAgainAbove(path job.Path) bool {
	above := ss.deepest(path, func(s *segment) bool { return s.state < finished && len(s.job.Path) < len(path) })
	return above != nil && above.job.Restarted
}

// giveUp tells the owner of a segment, unless it is gone, that this peer does not bring it.
func (ss *segments) giveUp(s *segment, begun bool) {
	if !s.owner.lost {
		ss.send(s.owner, &Message{Return: &Return{Handles: []Handle{s.handle}, Begun: begun}})
	}
}

func (ss *segments) dropUnacked(s *segment) {
	if i := slices.Index(ss.unacked, s); i >= 0 {
		ss.unacked = slices.Delete(ss.unacked, i, i+1)
		ss.unackedN -= len(s.outcome)
	}
	if len(ss.unacked) == 0 {
		ss.retryAt = 0
	}
}

// is says whether the segment is that job.
func (s *segment) is(p job.Path, id job.Identity) bool {
	return s.job.Identity == id && slices.Equal(s.job.Path, p)
}

// adoptable says whether the segment may get a new owner.
func (s *segment) adoptable() bool {
	return s.state == running && (s.orphan || s.inDoubt())
}

// heldAs is the segment of another peer in whose stead this one is, a copy of a copy perhaps; nil if there is none.
func (s *segment) heldAs() *segment {
	for s != nil && s.copyOf != nil {
		s = s.copyOf.parent
	}
	if s == nil || s.owner == nil {
		return nil
	}
	return s
}

// unbegun says whether the segment waits, for a worker or for what it names.
func (s *segment) unbegun() bool { return s.state == waiting || s.state == fetching }

// heldFor says whether the segment, or what it is in the stead of, is held for that peer.
func (s *segment) heldFor(p *peer) bool {
	top := s.heldAs()
	return top != nil && top.owner == p
}

// inDoubt says whether perhaps nobody waits for a segment that is held for another peer, or for what is in its stead.
func (s *segment) inDoubt() bool {
	top := s.heldAs()
	return top != nil && (top.doubted || top.owner.suspected())
}

// part is what came of a job that has finished.
func (s *segment) part() Partial {
	return Partial{Path: s.job.Path, Identity: s.job.Identity, Outcome: s.outcome, Voucher: s.voucher}
}

// comesFrom says whether it makes no sense to give the segment to that peer.
func (s *segment) comesFrom(p *peer) bool { return s.owner == p || s.standsInFor(p) }

// standsInFor says whether nobody is to have the segment, as the root, or that peer has the job already and is slow.
func (s *segment) standsInFor(p *peer) bool {
	return s.root || s.home || s.witnessOf != nil || s.copyOf != nil && s.copyOf.thief == p
}

// segment is a job held for another peer, with everything run in place under it.
type segment struct {
	id     SegmentID
	owner  *peer  // nil for a copy, an orphan and the root
	copyOf *lease // of what it is a copy, run in a silent thief's stead
	// it is compared with what others made of that job
	witnessOf *lease
	eager     bool          // a copy, though its thief was heard
	overdue   bool          // one because it took too long
	root      bool          // the run's, this peer being master
	orphan    bool          // nobody waits for it, but somebody may want it (losses.go)
	doubted   bool          // perhaps nobody does: its owner has passed it on for a peer that was silent
	sought    int           // how often it was given up for another's orphan
	toldAt    time.Duration // when others were told of it last, as an orphan
	quiet     time.Duration // for how long they are not told again
	heir      bool          // what others had of its job is its own now
	stays     bool          // what it has come to cannot leave this peer
	home      bool          // what thieves come to is too large to get here
	asked     bool          // Fetch was ordered, and Release was not
	rests     time.Duration // until when it rests (fetching.go); 0: it does not
	first     bool          // it has been waited for: it comes before others when it is ready
	handle    Handle
	job       Job
	from      PeerID // who gave it
	taken     int    // bytes of the room, as that peer's
	state     segmentState
	since     time.Duration // when it came
	begun     time.Duration // when a worker got it last
	lent      *lease        // to whom it was passed on, in state lent

	outcome  []byte
	voucher  []byte // of the outcome
	finished time.Duration
	sentAt   time.Duration // when the result was sent last
	retryAt  time.Duration // when to send it again
	tries    int
	via      PeerID // who was to send it on, the last time; none if it went straight
	round    bool   // it was given to somebody to send on, once at least
}

type segmentState uint8

const (
	waiting  segmentState = iota // for a worker of this peer, or for a thief
	fetching                     // for what it names
	running                      // in the engine
	lent                         // passed on to another thief, whose result will come through here
	finished                     // the result is not acknowledged yet
	stopped                      // aborted in the engine, held until the goodbye of this peer
)
