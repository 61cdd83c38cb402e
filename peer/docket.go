package peer

import (
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// A docket decides which accusations are tried, since a trial runs a job that others have named. It is a pure core: it
// does nothing, and is told the time. At any moment it has at most maxTrials that wait, each only once. What an
// accuser's trials take is counted, but for those that were right, and so is what those that wait may take: nobody
// listens to more of it than trialAllowance within an hour. So a million accusations cost a peer, for each member that
// makes them, some seconds of one core; and an owner that has found out several at once is heard about all of them.
type docket struct {
	waiting  []*charge
	seen     map[[32]byte]bool // tried, and something was shown, or wait
	accounts map[peer.ID]*account
}

// account is what an accuser's trials have taken in the hour that has begun.
type account struct {
	since time.Time
	took  time.Duration
	waits int // accusations
}

const (
	maxTrials      = 16
	maxSeen        = 1024
	maxAccounts    = 1024
	trialTime      = 3 * time.Second // what the job of an accusation may take here
	trialAllowance = 12 * time.Second
	accountTime    = time.Hour
)

// admit says whether an accusation is to be tried; next has it then.
func (d *docket) admit(now time.Time, c *charge) bool {
	if d.seen == nil {
		d.seen, d.accounts = map[[32]byte]bool{}, map[peer.ID]*account{}
	}
	a := d.accounts[c.accuser]
	if a != nil && a.waits == 0 && now.Sub(a.since) >= accountTime {
		delete(d.accounts, c.accuser)
		a = nil
	}
	switch {
	case d.seen[c.hash], len(d.waiting) >= maxTrials:
		return false
	case a == nil && len(d.accounts) >= maxAccounts && !d.forgetOne(now):
		return false
	case a != nil && a.took+time.Duration(a.waits+1)*trialTime > trialAllowance:
		return false
	}
	if a == nil {
		a = &account{since: now}
		d.accounts[c.accuser] = a
	}
	if len(d.seen) >= maxSeen {
		clear(d.seen) // what was tried is tried again: that is counted, too
	}
	a.waits++
	d.seen[c.hash] = true
	d.waiting = append(d.waiting, c)
	return true
}

// forgetOne makes room for another accuser, where one's hour is over.
func (d *docket) forgetOne(now time.Time) bool {
	for id, a := range d.accounts {
		if a.waits == 0 && now.Sub(a.since) >= accountTime {
			delete(d.accounts, id)
			return true
		}
	}
	return false
}

// next is the accusation to be tried; nil if there is none.
func (d *docket) next() *charge {
	if len(d.waiting) == 0 {
		return nil
	}
	c := d.waiting[0]
	d.waiting = d.waiting[1:]
	return c
}

// tried says how long a trial has taken, whether the accuser was right, and whether anything was shown. If not, as on a
// machine that had no time for it, it is tried again when it is said again: that is counted, too.
func (d *docket) tried(c *charge, took time.Duration, right, shown bool) {
	if !shown {
		delete(d.seen, c.hash)
	}
	if a := d.accounts[c.accuser]; a != nil {
		if a.waits--; !right {
			a.took += took
		}
	}
}
