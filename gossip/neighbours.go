package gossip

import (
	"context"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

// Who should be connected so that topics hold together: in a ring of n, sorted, each peer has those at
// distance 1, 2, 4, 8, ... as neighbours, and so is one itself for as many: a few connections each, and no
// peer's death splits the ring. Members of a cluster form such a ring, or everybody while the swarm is flat.
// Clusters form another, sorted by name, where a gateway's neighbours are the gateways of the clusters, as ranked.

// maxWanted is how many neighbours a peer looks for at most.
const maxWanted = 24

// wanted returns whom this peer should be connected to, gateways of other clusters first. Members are sorted,
// as normal leaves them.
func wanted(self peer.ID, m Members, flat, gateway bool, epoch int64) []peer.ID {
	var ring []peer.ID
	for _, p := range m.Peers {
		if flat || p.Cluster == m.Cluster {
			ring = append(ring, p.ID)
		}
	}
	var ids []peer.ID
	if gateway && !flat {
		byCluster := map[string][]Member{}
		var clusters []string
		for _, p := range m.Peers {
			if byCluster[p.Cluster] == nil {
				clusters = append(clusters, p.Cluster)
			}
			byCluster[p.Cluster] = append(byCluster[p.Cluster], p)
		}
		slices.Sort(clusters)
		for _, c := range fingers(clusters, m.Cluster) {
			ids = append(ids, elected(c, byCluster[c], epoch)...)
		}
	}
	ids = append(ids, fingers(ring, self)...)
	return ids[:min(len(ids), maxWanted)]
}

// fingers returns those at distance 1, 2, 4, ... after self in the ring.
func fingers[T comparable](ring []T, self T) []T {
	at := -1
	for i, x := range ring {
		if x == self {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	var out []T
	for d := 1; d < len(ring); d *= 2 {
		out = append(out, ring[(at+d)%len(ring)])
	}
	return out
}

const (
	retryAfter    = 30 * time.Second // a failed neighbour is tried again
	connectAtOnce = 4
)

// connectLoop connects to wanted neighbours, a few at a time: some of them may be dead.
func (g *Gossip) connectLoop() {
	ticker := time.NewTicker(keepEvery)
	defer ticker.Stop()
	tried := newRecent[peer.ID, time.Time](4 * maxWanted)
	slots := make(chan struct{}, connectAtOnce)
	for {
		select {
		case <-g.ctx.Done():
			return
		case <-ticker.C:
		}
		g.gate.remind()
		g.mu.Lock()
		ids := wanted(g.self, g.members, g.flat, g.standing != standingNone, g.epoch)
		g.mu.Unlock()
		for _, id := range ids {
			if g.host.Network().Connectedness(id) == network.Connected {
				continue
			}
			if at := tried.peek(id); at != nil && time.Since(*at) < retryAfter {
				continue
			}
			select {
			case <-g.ctx.Done():
				return
			case slots <- struct{}{}:
			}
			tried.put(id, time.Now())
			g.done.Go(func() {
				ctx, cancel := context.WithTimeout(g.ctx, connectWithin)
				defer cancel()
				_ = g.cfg.Connect(ctx, id) // whom this peer cannot reach may reach it, and it is tried again
				<-slots
			})
		}
	}
}
