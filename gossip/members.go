package gossip

import (
	"cmp"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Member is a member of the swarm as the election of gateways sees it.
type Member struct {
	ID        peer.ID
	Cluster   string
	Reachable bool // others can connect to it: such are preferred as gateways
}

// Members are the peers in the swarm.
type Members struct {
	Cluster string   // this peer's
	Peers   []Member // the others that are alive as far as is known, and perhaps this peer; in any order
	Fast    bool     // the links between clusters are fast: stay flat however many they are
}

// maxMembers bounds the list: of more, those with the smallest IDs are taken.
const maxMembers = 16 << 10

// SetMembers says who is in which cluster, whenever that changes. It returns at once; the topics follow
// within a second. The list is copied.
func (g *Gossip) SetMembers(m Members) {
	m.Peers = normal(g.self, m)
	ids := make([]peer.ID, len(m.Peers))
	for i, p := range m.Peers {
		ids[i] = p.ID
	}
	g.authors.setMembers(ids)

	g.mu.Lock()
	g.members = m
	g.flat = isFlat(m, g.cfg.FlatPeers, g.flat)
	g.unranked = true
	g.mu.Unlock()
	select {
	case g.changed <- struct{}{}:
	default:
	}
}

// normal sorts the members, with this peer among them and nobody twice.
func normal(self peer.ID, m Members) []Member {
	me := Member{ID: self, Cluster: m.Cluster}
	others := make([]Member, 0, len(m.Peers)+1)
	for _, p := range m.Peers {
		if p.ID == self {
			me.Reachable = me.Reachable || p.Reachable
		} else if p.ID != "" {
			others = append(others, p)
		}
	}
	byID := func(a, b Member) int { return cmp.Compare(a.ID, b.ID) }
	slices.SortStableFunc(others, byID)
	others = slices.CompactFunc(others, func(a, b Member) bool { return a.ID == b.ID })
	if len(others) >= maxMembers {
		others = others[:maxMembers-1]
	}
	at, _ := slices.BinarySearchFunc(others, me, byID)
	return slices.Insert(others, at, me)
}

// isFlat says whether one topic is enough.
func isFlat(m Members, limit int, was bool) bool {
	clusters := false
	for _, p := range m.Peers {
		clusters = clusters || p.Cluster != m.Cluster
	}
	switch {
	case m.Fast, !clusters:
		return true
	case was:
		return len(m.Peers) <= limit
	}
	return len(m.Peers) < limit*3/4
}

// heard notes that an author is there as a gateway.
func (g *Gossip) heard(id peer.ID) {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.election.hear(id, now)
}

// keepEvery is how often gateways are looked after.
const keepEvery = time.Second

// keepLoop keeps topics, standing and beacons up to date.
func (g *Gossip) keepLoop() {
	ticker := time.NewTicker(min(keepEvery, g.cfg.BeaconEvery/2))
	defer ticker.Stop()
	for {
		select {
		case <-g.ctx.Done():
			return
		case <-g.changed:
		case <-ticker.C:
		}
		now := time.Now()
		gateway := g.stand(now)
		_ = g.reconcile(now) // it fails only when the Gossip is being closed, and is tried again
		if last := g.beaconed.Load(); gateway && (last == nil || now.Sub(*last) >= g.cfg.BeaconEvery-keepEvery/2) {
			g.enqueue(item{Kind: kindBeacon})
		}
	}
}

// stand takes this peer's place among the gateways, and says whether it is one, and not only goes on. Only keepLoop
// calls it. Members are ranked aside from mu: there may be thousands.
func (g *Gossip) stand(now time.Time) (gateway bool) {
	g.mu.Lock()
	epoch, m := now.UnixNano()/int64(g.cfg.TurnEvery), g.members
	changed := g.unranked || epoch != g.epoch
	g.unranked, g.epoch = false, epoch
	g.mu.Unlock()
	var first, second []peer.ID
	if changed {
		first, second = rank(m.Cluster, m.Peers), turn(m.Cluster, m.Peers, epoch)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if changed {
		g.election.setMembers(first, second)
	}
	g.standing = standingNone
	if !g.flat {
		g.standing, gateway = g.election.standing(now)
	}
	return gateway
}
