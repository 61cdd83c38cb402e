package gossip

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Which members of a cluster are its gateways follows from the list of members and from who was heard lately.
//
// The members are ranked: the reachable before the others, then by a hash of cluster and peer ID, the same
// for all who have the same list. The first two who are not silent are gateways. A gateway is silent when it
// was not heard for some beacons since it has become one, and until it is heard again; if all are silent,
// nobody is, and it begins anew.
//
// Nobody decides for anybody else: each peer looks whether it is itself among the first two of its own view,
// in which it is never silent. Views may differ for a while. A gateway too many costs nothing but a few
// copies, suppressed by their identity; one too few is what the second is for. A peer that stopped hearing
// all others takes itself for a gateway after they are silent: in a cluster that is split, each part gets its
// own.
type election struct {
	self        peer.ID
	silentAfter time.Duration
	ranked      []peer.ID
	heard       map[peer.ID]time.Time // since it was heard, or is expected to be heard, last
	silent      map[peer.ID]bool
}

// silentBeacons is how many beacons may be missed.
const silentBeacons = 3

// gatewaysEach is how many gateways a cluster has.
const gatewaysEach = 2

// standing is a peer's place among its cluster's gateways.
type standing int

const (
	standingNone standing = iota
	standingFirst
	standingSecond
)

func newElection(self peer.ID, silentAfter time.Duration) *election {
	return &election{self: self, silentAfter: silentAfter, heard: map[peer.ID]time.Time{}, silent: map[peer.ID]bool{}}
}

// setMembers ranks the members of the peer's own cluster. What is known of those who stay is kept.
func (e *election) setMembers(ranked []peer.ID) {
	e.ranked = ranked
	heard, silent := map[peer.ID]time.Time{}, map[peer.ID]bool{}
	for _, id := range ranked {
		if at, ok := e.heard[id]; ok {
			heard[id] = at
		}
		if e.silent[id] {
			silent[id] = true
		}
	}
	e.heard, e.silent = heard, silent
}

// hear notes that a member of the cluster is alive; others are not kept.
func (e *election) hear(id peer.ID, now time.Time) {
	if _, expected := e.heard[id]; expected {
		e.heard[id] = now
		delete(e.silent, id)
	}
}

// gateways returns the present gateways, the first one first: at most two.
func (e *election) gateways(now time.Time) []peer.ID {
	chosen := e.choose(now)
	if len(chosen) == 0 && len(e.ranked) > 0 {
		clear(e.silent)
		clear(e.heard)
		chosen = e.choose(now)
	}
	return chosen
}

func (e *election) choose(now time.Time) []peer.ID {
	var chosen []peer.ID
	for _, id := range e.ranked {
		if len(chosen) == gatewaysEach {
			break
		}
		if id != e.self {
			at, expected := e.heard[id]
			switch {
			case e.silent[id]:
				continue
			case !expected:
				e.heard[id] = now // from now on it should be heard
			case now.Sub(at) > e.silentAfter:
				e.silent[id] = true
				continue
			}
		}
		chosen = append(chosen, id)
	}
	return chosen
}

// standing returns the peer's own place.
func (e *election) standing(now time.Time) standing {
	switch slices.Index(e.gateways(now), e.self) {
	case 0:
		return standingFirst
	case 1:
		return standingSecond
	}
	return standingNone
}

// rank orders the members of a cluster for the election.
func rank(cluster string, members []Member) []peer.ID {
	type ranked struct {
		id        peer.ID
		reachable bool
		hash      [sha256.Size]byte
	}
	var list []ranked
	for _, m := range members {
		if m.Cluster == cluster {
			list = append(list, ranked{m.ID, m.Reachable, sha256.Sum256([]byte(cluster + "\x00" + string(m.ID)))})
		}
	}
	slices.SortFunc(list, func(a, b ranked) int {
		if a.reachable != b.reachable {
			if a.reachable {
				return -1
			}
			return 1
		}
		return cmp.Or(bytes.Compare(a.hash[:], b.hash[:]), cmp.Compare(a.id, b.id))
	})
	ids := make([]peer.ID, len(list))
	for i, r := range list {
		ids[i] = r.id
	}
	return ids
}
