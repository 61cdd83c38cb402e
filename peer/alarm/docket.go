package alarm

import "time"

// A Docket decides which accusations are tried, since a trial runs a job that others have named, and has one tried
// after the other. At any moment it has at most MaxTrials that wait, each only once. What an accuser's trials take is
// counted, but for those that were right, and so is what those that wait may take: nobody listens to more of it than
// TrialAllowance within an hour. So a million accusations cost a peer, for each member that makes them, some seconds of
// one core; and an owner that has found out several at once is heard about all of them. T is what an accusation is to
// whoever tries it. The zero Docket is empty.
type Docket[T any] struct {
	waiting  []Accusation[T]
	seen     map[Hash]bool // tried, and something was shown, or wait
	accounts map[PeerID]*account
	sits     bool // one is being tried
}

// An Accusation is told by a member.
type Accusation[T any] struct {
	Accuser PeerID
	Hash    Hash
	Of      T
}

// account is what an accuser's trials have taken in the hour that has begun.
type account struct {
	since time.Time
	took  time.Duration
	waits int // accusations
}

const (
	// TrialTime is what the job of an accusation may take.
	TrialTime      = 3 * time.Second
	TrialAllowance = 12 * time.Second
	// MaxTrials is how many accusations wait at most.
	MaxTrials = 16

	maxSeen     = 1024
	maxAccounts = 1024
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
		d.seen, d.accounts = map[Hash]bool{}, map[PeerID]*account{}
	}
	a := d.accounts[n.Accuser]
	if a != nil && a.waits == 0 && now.Sub(a.since) >= accountTime {
		delete(d.accounts, n.Accuser)
		a = nil
	}
	switch {
	case d.seen[n.Hash], len(d.waiting) >= MaxTrials:
		return false
	case a == nil && len(d.accounts) >= maxAccounts && !d.forgetOne(now):
		return false
	case a != nil && a.took+time.Duration(a.waits+1)*TrialTime > TrialAllowance:
		return false
	}
	if a == nil {
		a = &account{since: now}
		d.accounts[n.Accuser] = a
	}
	if len(d.seen) >= maxSeen {
		clear(d.seen) // what was tried is tried again: that is counted, too
	}
	a.waits++
	d.seen[n.Hash] = true
	d.waiting = append(d.waiting, n)
	return true
}

// forgetOne makes room for another accuser, where one's hour is over.
func (d *Docket[T]) forgetOne(now time.Time) bool {
	for id, a := range d.accounts {
		if a.waits == 0 && now.Sub(a.since) >= accountTime {
			delete(d.accounts, id)
			return true
		}
	}
	return false
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
	if a := d.accounts[n.Accuser]; a != nil {
		if a.waits--; !right {
			a.took += took
		}
	}
}
