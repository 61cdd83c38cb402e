package steal

import "time"

// rootFinished is called when the root that this peer runs as master has its outcome.
func (c *Core) rootFinished(outcome []byte) {
	c.order(Order{Kind: Answer, Outcome: outcome})
}

// stepDown gives the root up to a better master.
func (c *Core) stepDown() {
	c.stats.SteppedDown++
	c.endRoot()
}

// onBeacon hears from a master, which may be this peer's better or worse.
func (c *Core) onBeacon(Address, *Beacon) {}

// masterTick sends the beacon and looks for silent masters, when either is due.
func (c *Core) masterTick() {}

// nextMaster is when masterTick has something to do; 0 is never.
func (c *Core) nextMaster() time.Duration { return 0 }
