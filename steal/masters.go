package steal

import (
	"time"
)

// Here a core does what its mastership decides (masters_election.go): it starts the root (book_segments.go), tells
// everybody that it has, and gives the root up again.

// leading does what the mastership decides.
type leading struct {
	*shared
	partners *partners
	segments *segments
	lost     *lostWork
	book     *book
	losses   *losses
	masters  *mastership
}

// onBeacon hears from a master, which may be better or worse than this peer. One of a life that is known to
// be over is no master. A peer that leaves is none any more either, and does not become one: it has no
// beacons, so that the others wait for nobody.
func (ld *leading) onBeacon(from Address, b *Beacon) {
	if ld.masters == nil || ld.leaving {
		return
	}
	if p := ld.partners.find(from.Peer); p != nil && from.Inc < max(p.inc, p.floor) {
		ld.stats.DroppedStale++
		return
	}
	d, v := ld.mastership().hear(from, b)
	switch v {
	case forged:
		ld.stats.DroppedMalformed++
	case repeated:
		ld.stats.DroppedDuplicate++
	}
	ld.decide(d)
	if d.Ended != "" {
		ld.lost.announceOrphans()
	}
}

// masterTick sends the beacon and looks for silent masters, when either is due.
func (ld *leading) masterTick() {
	if ld.masters != nil && !ld.leaving {
		ld.decide(ld.mastership().look(ld.mayLead))
	}
}

// mastership is told first what the engine can do.
func (ld *leading) mastership() *mastership {
	runs := ld.segments.root != nil && ld.segments.root.state != waiting
	ld.masters.work(ld.segments.ready().Workers > 0, runs && !ld.standsStill(2*ld.cfg.MasterLease))
	if ld.masters.silence < ld.cfg.BeaconEvery { // what is unanswered since may say that it is gone
		ld.masters.Lease = max(ld.cfg.MasterLease, ld.behind(ld.masters.follows()))
	}
	return ld.masters
}

// behind is for how long a peer in another cluster may be unheard because of the way from there: its beacons wait
// behind long results on a slow link, and the work of a second master would fill that for good.
func (ld *leading) behind(id PeerID) time.Duration {
	m, ok := ld.members.Find(id)
	if !ok || m.Cluster == ld.cluster {
		return 0
	}
	most := time.Duration(ld.cfg.HeartbeatMisses) * ld.cfg.MaxHeartbeatEvery
	return min(longWindows*ld.links.expected(m.Cluster, longWindow), most)
}

// longWindow is how much of long results a transport has under way at least, in bytes, and longWindows how many of
// these a beacon may wait for.
const (
	longWindow  = 32 << 10
	longWindows = 2
)

// mayLead says whether a better-ranked peer may be about to become master: anybody who has not fallen silent
// as a partner.
func (ld *leading) mayLead(id PeerID) bool {
	p := ld.partners.find(id)
	return p == nil || !p.lost
}

// nextMaster is when masterTick has something to do; 0 is never.
func (ld *leading) nextMaster() time.Duration {
	if ld.masters == nil || ld.leaving {
		return 0
	}
	return max(1, ld.mastership().next())
}

// decide carries a decision out. What this peer has finished for a master whose root has ended is told to everybody:
// nobody has it any more, and the jobs above it will be run again. What is here from a checkpoint was told when it was
// taken in, which those who start after this peer have missed: a new master is told again.
func (ld *leading) decide(d decision) {
	if d.StepDown {
		ld.stepDown()
	}
	if d.Ended != "" {
		ld.lost.announceKept(d.Ended)
	}
	if d.Newcomer {
		ld.lost.announceRestored()
	}
	if d.Start {
		ld.book.startRoot(true) // a fresh one has been started by NewCore
	}
	if d.Send != nil {
		ld.tellAll(&News{Master: d.Send})
	}
}

// stepDown gives the root up to a better master. Its children that are elsewhere go on as orphans of that one.
func (ld *leading) stepDown() {
	ld.stats.SteppedDown++
	ld.losses.endRoot()
}
