package steal

import (
	"crypto/sha256"
	"time"
)

// Here a core does what its mastership decides (masters_election.go): it starts the root (root.go), tells
// everybody that it has, and gives the root up again.

// onBeacon hears from a master, which may be better or worse than this peer. One of a life that is known to
// be over is no master. A peer that leaves is none any more either, and does not become one: it has no
// beacons, so that the others wait for nobody.
func (c *Core) onBeacon(from Address, b *Beacon) {
	if c.masters == nil || c.leaving != nil {
		return
	}
	if p := c.peers.find(from.Peer); p != nil && from.Inc < max(p.inc, p.floor) {
		c.stats.DroppedStale++
		return
	}
	d, v := c.mastership().hear(from, b)
	switch v {
	case forged:
		c.stats.DroppedMalformed++
	case repeated:
		c.stats.DroppedDuplicate++
	}
	c.decide(d)
}

// masterTick sends the beacon and looks for silent masters, when either is due.
func (c *Core) masterTick() {
	if c.masters != nil && c.leaving == nil {
		c.decide(c.mastership().look(c.mayLead))
	}
}

// mastership is told first what the engine can do.
func (c *Core) mastership() *mastership {
	c.masters.work(c.load.Workers > 0, c.root != nil && c.root.state != waiting)
	return c.masters
}

// mayLead says whether a better-ranked peer may be about to become master: anybody who has not fallen silent
// as a partner.
func (c *Core) mayLead(id PeerID) bool {
	p := c.peers.find(id)
	return p == nil || !p.lost
}

// nextMaster is when masterTick has something to do; 0 is never.
func (c *Core) nextMaster() time.Duration {
	if c.masters == nil || c.leaving != nil {
		return 0
	}
	return max(1, c.mastership().next())
}

// decide carries a decision out. What this peer has finished for a master whose root has ended is told to
// everybody: nobody has it any more, and the jobs above it will be run again. What is here from a checkpoint was
// told when it was taken in, which those who start after this peer have missed: a new master is told again.
func (c *Core) decide(d decision) {
	if d.StepDown {
		c.stepDown()
	}
	if d.Ended != "" {
		c.announceKept(d.Ended)
	}
	if d.Newcomer {
		c.announceRestored()
	}
	if d.Start {
		c.startRoot(true) // a fresh one has been started by NewCore
	}
	if d.Send != nil {
		c.tellAll(&News{Master: d.Send})
	}
}

// stepDown gives the root up to a better master. Its children that are elsewhere go on as orphans of that one.
func (c *Core) stepDown() {
	c.stats.SteppedDown++
	c.endRoot()
}

// rootFinished is called when the root that this peer runs as master has its outcome. From now on its beacons say so.
func (c *Core) rootFinished(outcome []byte) {
	if c.masters != nil {
		sum := sha256.Sum256(outcome)
		c.masters.finished([16]byte(sum[:]))
	}
	c.order(Order{Kind: Answer, Outcome: outcome})
}
