package sim

import (
	"slices"
	"time"

	"github.com/satin-peer/satin/steal"
)

// calm says since when nothing has gone wrong.
type calm struct {
	since  int64 // the last fault began or ended
	storms int   // faults that last and are not partitions
	sides  []side
}

// side is one of the components of a divided swarm: those who hear each other.
type side struct {
	key     uint64 // of each partition, on which side
	masters int
	alive   bool
	settled int64 // when it last had one master
	master  *peer // that one
	since   int64 // when it was another one last
}

// lookEvery is how often the swarm as a whole is looked at.
const lookEvery = time.Second

// look counts masters, for one-master.
func (h *harm) look() {
	h.world.queue.post(event{at: h.world.now + int64(lookEvery), what: lookDue, peer: -1})
	if h.world.rootDone || h.world.cancelled || h.calm.storms > 0 {
		return
	}
	c := &h.calm
	for i := range c.sides {
		c.sides[i].masters, c.sides[i].alive = 0, false
	}
	for _, p := range h.world.peers {
		if !p.alive || p.leaving {
			continue
		}
		s := c.side(h.weather.sideOf(p), h.world.now)
		s.alive = true
		if !p.isMaster() {
			continue
		}
		if s.masters++; s.master != p {
			s.master, s.since = p, h.world.now
		}
	}
	core := &h.world.cfg.Core
	most := int64(2*(h.longestLease()+4*core.RankStagger)+2*core.BeaconEvery) + maxGossip +
		int64(h.world.cfg.Gossip.Delay)
	c.sides = slices.DeleteFunc(c.sides, func(s side) bool { return !s.alive })
	for i := range c.sides {
		s := &c.sides[i]
		if s.masters == 1 {
			s.settled = h.world.now
		} else if since := max(s.settled, c.since); h.world.now-since > most {
			panic(violation(oneMaster, "%v after the last change there are %d masters among those who hear each other",
				time.Duration(h.world.now-since), s.masters))
		}
	}
	for _, p := range h.world.peers {
		if !p.alive || p.leaving {
			continue
		}
		s := c.side(h.weather.sideOf(p), h.world.now)
		if s.master == nil || h.world.now-max(s.since, c.since) <= most {
			continue
		}
		who := p.driver.Core().Masters.Who()
		if who != s.master.id && (who != "" || p == s.master) && !h.told(who, most) {
			panic(violation(oneMaster, "%s takes %s for the master, which is %s", p.id, who, s.master.id))
		}
	}
}

// longestLease is what the peer with the slowest way from its master has.
func (h *harm) longestLease() time.Duration {
	most := h.world.cfg.Core.MasterLease
	for _, p := range h.world.peers {
		if p.alive {
			most = max(most, p.driver.Core().Masters.Lease)
		}
	}
	return most
}

// told says whether a peer has told of late that it is master, as one does that has heard nobody for a moment.
func (h *harm) told(id steal.PeerID, most int64) bool {
	return slices.ContainsFunc(h.world.peers, func(p *peer) bool {
		return p.id == id && p.beaconAt > 0 && h.world.now-p.beaconAt <= most
	})
}

// side finds a component, or begins one.
func (c *calm) side(key uint64, now int64) *side {
	for i := range c.sides {
		if c.sides[i].key == key {
			return &c.sides[i]
		}
	}
	c.sides = append(c.sides, side{key: key, settled: now})
	return &c.sides[len(c.sides)-1]
}

// sideOf says on which side of each partition a peer is.
func (x *weather) sideOf(p *peer) (key uint64) {
	for i, f := range x.active {
		in := false
		switch f.Kind {
		case PartitionShort, PartitionLong:
			in = slices.Contains(f.Peers, int(p.number))
		case PartitionCluster:
			in = p.cluster == f.Cluster
		}
		if in {
			key |= 1 << (i % 64)
		}
	}
	return key
}

// isMaster says whether the peer has told of late that it holds the root.
func (p *peer) isMaster() bool {
	return p.beaconAt > 0 && p.world.now-p.beaconAt < int64(p.world.cfg.Core.BeaconEvery)*3/2
}
