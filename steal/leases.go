package steal

import (
	"slices"
	"time"

	"github.com/satin-peer/satin/job"
)

// leases are the jobs given away: by thief and handle with the thieves, and those of this peer's engine by its names
// for them.
type leases struct {
	*shared
	partners *partners
	refs     map[Ref]*lease
	unproved map[Handle]*lease // see proving.go
	times    leaseTimes
	adopting []adopting
	last     Handle
	n        int
}

func newLeases(s *shared, ps *partners) *leases {
	return &leases{shared: s, partners: ps, refs: make(map[Ref]*lease),
		unproved: make(map[Handle]*lease)}
}

// lend enters a new lease. Handles only grow, so each thief's leases stay in order.
func (ls *leases) lend(p *peer, l *lease) Handle {
	ls.last++
	ls.partners.listenTo(p)
	l.handle, l.thief, l.since, l.idled, l.after = ls.last, p, ls.now, ls.idled, ls.partners.beats+1
	p.leases = append(p.leases, l)
	ls.n++
	switch {
	case l.witnessOf != nil:
	case l.parent == nil:
		ls.refs[l.ref] = l
	default:
		l.parent.state, l.parent.lent = lent, l
	}
	return l.handle
}

// gotBelow notes that a job came here which was spawned under some that others have, not by a copy of them: somebody is
// at work on those. Idle workers wait for them anew, for LeaseEndMax in all.
func (ls *leases) gotBelow(p job.Path) {
	if ls.n == 0 {
		return
	}
	for _, q := range ls.partners.list {
		for _, l := range q.leases {
			if l.job.Path.Above(p) {
				l.below = ls.idled
			}
		}
	}
}

// detach gives the thief up: from here on whatever carries the handle is stale.
func (ls *leases) detach(l *lease) {
	if l.thief == nil {
		return
	}
	if i, ok := l.thief.findLease(l.handle); ok {
		l.thief.leases = slices.Delete(l.thief.leases, i, i+1)
	}
	l.thief = nil
}

// lease is one of this peer's jobs in another peer's hands: the record that is written before the reply leaves. Its
// handle is closed exactly once, by removing the lease.
type lease struct {
	handle  Handle
	thief   *peer    // nil once it is certain that the thief will not send a result
	ref     Ref      // the engine's job, if parent is nil
	parent  *segment // the segment that was passed on, held here for somebody else
	job     Job
	copy    *segment // what runs here in the silent thief's stead; nil while it is trusted
	since   time.Duration
	idled   time.Duration // how long the workers here had been idle then
	below   time.Duration // and when work came from below it last
	doubted bool          // the thief was told that perhaps nobody waits for it
	blinks  int           // times that the thief was silent and listed the job again
	after   uint64        // a thief that has seen this heartbeat of ours has had the reply too, if order is kept
	misses  int           // consecutive inventories that did not list the handle
	listed  bool          // one did: the thief has the job

	// when the job left the engine, a segment ran here that is this very job: perhaps it was that one's, not
	// begun
	ofSegment bool

	unproved  bool      // an outcome has come
	brought   []portion // by the thief and by witnesses
	witnessOf *lease    // the job is there already, and given away to be compared
	here      *segment  // the same, on this peer

	adopted bool          // the thief did not steal it but had it as an orphan
	again   bool          // it was asked for it twice, as it lists it in no inventory
	letGo   bool          // and is to have it so again when this peer's engine does not want it
	life    Incarnation   // of that thief, as was told
	begun   time.Duration // when it began, as was told
}

// portion is what an outcome takes of the room.
type portion struct {
	by    PeerID
	bytes int
}

// matches says whether a result is the one this lease waits for: the run was checked with the envelope.
func (l *lease) matches(r *Result) bool {
	return l.job.Identity == r.Identity && slices.Equal(l.job.Path, r.Path)
}

// overtaken says whether the copy of a job has been at work for longer than the thief, which is heard again and still
// has the job: a laptop, say, whose lid was closed for the night. For how long it was awake meanwhile is seen from its
// heartbeats; if it has many partners it seems longer, and is believed to be further. But what it had given away is not
// its own any more if the copy has adopted it.
func (l *lease) overtaken(now time.Duration, beats uint64) bool {
	if l.copy.heir {
		return true
	}
	began := now
	switch s := l.copy; s.state {
	case running:
		began = s.begun
	case lent:
		began = s.lent.since
	}
	awake := time.Duration(min(beats, mostBeats)) * l.thief.every
	return now-began > l.copy.since-l.since+awake
}

// overtakenUnderWay says whether the copy of a job that was on its way to its thief for too long has begun.
func (l *lease) overtakenUnderWay() bool {
	s := l.copy
	return s != nil && s.overdue && !s.unbegun()
}

// outdone says whether an orphan is there in the copy's stead that its holder had begun before the thief got the job.
// The thief has asked for it as well, perhaps, and begins anew since it was refused.
func (l *lease) outdone() bool {
	s := l.copy
	return s != nil && s.state == lent && s.lent.adopted && s.lent.listed && s.lent.begun < l.since
}

// blinksTooMuch says whether the copy goes on though the silent thief was heard again. One that is silent again and
// again could have each copy ended before it is done: so maxBlinks copies are ended whenever it is, and mostBlinks only
// in the first tenth of the time for which it has had the job. Where a fifth of all messages are lost each thief is
// silent now and then, and were its copies kept, half of the swarm would soon do what the other half does.
func (l *lease) blinksTooMuch(now time.Duration) bool {
	return l.blinks > maxBlinks && (l.blinks > mostBlinks || 10*(now-l.copy.since) > now-l.since)
}

const maxBlinks, mostBlinks = 3, 30

// mostBeats are more heartbeats than anybody sends while somebody sleeps.
const mostBeats = 1 << 20

// letGoBelow marks what was adopted below a path, so that it is an orphan again when the engine does not want it.
func (ls *leases) letGoBelow(p job.Path) {
	for _, l := range ls.refs {
		l.letGo = l.letGo || l.adopted && p.Above(l.job.Path)
	}
}

// byThief puts leases together that have the same thief, or none, in the order in which they come.
func byThief(ls []*lease) (groups [][]*lease) {
	at := map[*peer]int{}
	for _, l := range ls {
		i, known := at[l.thief]
		if !known {
			i = len(groups)
			at[l.thief] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], l)
	}
	return groups
}

// leasedHandles lists the handles of leases in order.
func leasedHandles(ls []*lease) (hs []Handle) {
	for _, l := range ls {
		hs = append(hs, l.handle)
	}
	slices.Sort(hs)
	return hs
}
