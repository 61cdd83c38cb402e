package peer

import (
	"slices"
	"sync"
	"time"

	"github.com/satin-peer/satin/adapt"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
)

// bandwidths are how fast long results have come here lately from peers of other clusters, in any run. So a coordinator
// knows the link of a cluster that it has excluded, if that works for somebody else: nothing is sent to find out, and
// nobody is asked. What comes says at least how fast the link is; of what a peer sent lately the fastest counts.
type bandwidths struct {
	*base.Base
	wide   func(steal.PeerID) bool // it is in another cluster
	period time.Duration

	mu        sync.Mutex
	since     time.Time // when the present period began
	now, last map[steal.PeerID]float64
}

// maxBandwidths bounds the peers of which the bandwidth is known in one period.
const maxBandwidths = 256

// came hears of a result, or several, from a peer.
func (b *bandwidths) came(from steal.PeerID, bytes int, took time.Duration) {
	if took <= 0 || !b.wide(from) {
		return
	}
	rate := min(float64(bytes)/took.Seconds(), maxLinkRate)
	now := b.Base.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turn(now)
	if _, known := b.now[from]; known || len(b.now) < maxBandwidths {
		b.now[from] = max(b.now[from], rate)
	}
}

// turn begins a new period when the present one is over. The mutex is held.
func (b *bandwidths) turn(now time.Time) {
	switch over := now.Sub(b.since); {
	case b.now == nil || over >= 2*b.period:
		b.last, b.now = nil, map[steal.PeerID]float64{}
	case over >= b.period:
		b.last, b.now = b.now, map[steal.PeerID]float64{}
	default:
		return
	}
	b.since = now
}

// of is what each peer is known to have had in this period and the one before.
func (b *bandwidths) of(now time.Time) map[steal.PeerID]float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turn(now)
	all := make(map[steal.PeerID]float64, len(b.now)+len(b.last))
	for _, list := range []map[steal.PeerID]float64{b.last, b.now} {
		for id, rate := range list {
			all[id] = max(all[id], rate)
		}
	}
	return all
}

// linksOf are the bandwidths of the clusters that a roster excludes, as far as they are known. One peer does not decide
// for its cluster, by sending slowly or by being elsewhere than it says: the second best counts, and alone a peer's
// only if nobody else is there.
func linksOf(r *runs.Roster, of map[steal.PeerID]float64, members map[steal.PeerID]string) map[adapt.ClusterID]float64 {
	if r == nil || len(r.Out) == 0 || len(of) == 0 {
		return nil
	}
	rates, there := map[string][]float64{}, map[string]int{}
	for id, cluster := range members {
		there[cluster]++
		if rate := of[id]; rate > 0 {
			rates[cluster] = append(rates[cluster], rate)
		}
	}
	links := map[adapt.ClusterID]float64{}
	for _, o := range r.Out {
		known := rates[o.Cluster]
		slices.Sort(known)
		switch n := len(known); {
		case n > 1:
			links[adapt.ClusterID(o.Cluster)] = known[n-2]
		case n == 1 && there[o.Cluster] == 1:
			links[adapt.ClusterID(o.Cluster)] = known[0]
		}
	}
	return links
}

// membersByCluster says where the other members of the swarm are.
func (s *swarm) membersByCluster() map[steal.PeerID]string {
	all := map[steal.PeerID]string{}
	for _, c := range s.members.List() {
		all[steal.PeerID(c.Peer.String())] = s.places.Of(c.Peer).Name
	}
	return all
}
