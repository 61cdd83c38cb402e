package alarm

import (
	"maps"
	"slices"
	"time"
)

// A Docket decides which accusations are tried, since a trial runs a job that others have named, and has one tried
// after the other. At any moment it has at most MaxTrials that wait, each only once. What an accuser's trials take is
// counted, but for those that were right about members by others, and so is what those that wait may take: nobody
// listens to more of it than TrialAllowance within an hour, nor to more than HandAllowance of all that one hand has let
// in, which may be as many as it likes. So a million accusations cost a peer, for each member that makes them, some
// seconds of one core, also if they are of liars that they have made up; and an owner that has found out several at
// once is heard about all of them. T is what an accusation is to whoever tries it. The zero Docket is empty.
type Docket[T any] struct {
	waiting []Accusation[T]
	seen    map[Hash]bool // tried, and something was shown, or wait
	hands   accounts
	sits    bool // one is being tried
}

// An Accusation is told by a member.
type Accusation[T any] struct {
	Accuser PeerID
	Hand    PeerID // whom the founder has let in, and by whom the accuser is a member
	Accused PeerID // by whom the accused is one; "" if that is not known
	Hash    Hash
	Of      T
}

// account is what somebody's trials have taken in the hour that has begun.
type account struct {
	since time.Time
	took  time.Duration
	waits int      // accusations, with the one that is being tried
	by    accounts // of a hand, those of the accusers
}

type accounts map[PeerID]*account

const (
	// TrialTime is what the job of an accusation may take.
	TrialTime      = 3 * time.Second
	TrialAllowance = 12 * time.Second
	// leastTrial is what a trial counts for that was right and counts: to put somebody out is more than to try.
	leastTrial    = time.Second
	HandAllowance = 4 * TrialAllowance
	// MaxTrials is how many accusations wait at most, and handTrials of one hand, with the one that is being tried.
	MaxTrials  = 16
	handTrials = MaxTrials / 4

	maxSeen     = 1024
	maxHands    = 1024
	maxAccusers = 64 // of a hand, within an hour
	accountTime = time.Hour
)

// Hear takes in an accusation. Heard is false if it should be said again, for there is no room for it now; begin says
// that it is to be tried and nothing is being tried: Next has it then, and what comes after it.
func (d *Docket[T]) Hear(now time.Time, a Accusation[T]) (begin, heard bool) {
	admitted := d.admit(now, a)
	begin = admitted && !d.sits
	d.sits = d.sits || admitted
	return begin, admitted || d.seen[a.Hash]
}

// admit says whether an accusation is to be tried.
func (d *Docket[T]) admit(now time.Time, n Accusation[T]) bool {
	if d.seen == nil {
		d.seen, d.hands = map[Hash]bool{}, accounts{}
	}
	if d.seen[n.Hash] {
		return false
	}
	hand := d.hands.open(now, n.Hand, maxHands)
	if hand == nil || hand.waits >= handTrials || hand.spent(HandAllowance) {
		return false
	}
	own := hand.by.open(now, n.Accuser, maxAccusers)
	if own == nil || own.spent(TrialAllowance) || len(d.waiting) >= MaxTrials && !d.makeWay(hand.waits) {
		return false
	}
	if len(d.seen) >= maxSeen {
		clear(d.seen) // what was tried is tried again: that is counted, too
	}
	hand.waits++
	own.waits++
	d.seen[n.Hash] = true
	d.waiting = append(d.waiting, n)
	return true
}

// open is somebody's account, nil if there are so many already: nobody's hour is forgotten for another.
func (x accounts) open(now time.Time, id PeerID, most int) *account {
	over := func(_ PeerID, a *account) bool { return a.waits == 0 && now.Sub(a.since) >= accountTime }
	if a := x[id]; a != nil && !over(id, a) {
		return a
	}
	if len(x) >= most {
		maps.DeleteFunc(x, over)
	}
	if len(x) >= most {
		return nil
	}
	x[id] = &account{since: now, by: accounts{}}
	return x[id]
}

// spent says whether one more trial might take more than is allowed.
func (a *account) spent(most time.Duration) bool {
	return a.took+time.Duration(a.waits+1)*TrialTime > most
}

// makeWay has the newest go of the hand of which most wait, if with one more that other hand has fewer.
func (d *Docket[T]) makeWay(other int) bool {
	out, most := -1, other+2
	for i, n := range d.waiting {
		if has := d.hands[n.Hand].waits; has >= most {
			out, most = i, has
		}
	}
	if out < 0 {
		return false
	}
	n := d.waiting[out]
	d.waiting = slices.Delete(d.waiting, out, out+1)
	d.Tried(n, 0, false, false)
	return true
}

// Next is the accusation to be tried; false if there is none, and Hear says when there is one again.
func (d *Docket[T]) Next() (a Accusation[T], ok bool) {
	if d.sits = len(d.waiting) > 0; !d.sits {
		return a, false
	}
	a = d.waiting[0]
	d.waiting = d.waiting[1:]
	return a, true
}

// Tried says how long a trial has taken, whether the accuser was right, and whether anything was shown. If not, as on a
// machine that had no time for it, it is tried again when it is said again: that is counted, too.
func (d *Docket[T]) Tried(n Accusation[T], took time.Duration, right, shown bool) {
	if !shown {
		delete(d.seen, n.Hash)
	}
	if right && (n.Accused == "" || n.Accused == n.Hand) {
		right, took = false, max(took, leastTrial)
	}
	hand := d.hands[n.Hand]
	for _, a := range []*account{hand, hand.by[n.Accuser]} {
		if a.waits--; !right {
			a.took += took
		}
	}
}
