package gossip

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Which members of a cluster are its gateways follows from the list of members, from whose beacons were heard lately,
// and from the epoch.
//
// The members are ranked for the first gateway, the reachable before the others, then by a hash of cluster and peer ID,
// the same for all who have the same list; and for the second by a hash of these and the epoch, whatever they say of
// themselves. The first of each ranking who is not silent is a gateway. It is silent when no beacon of it was heard for
// some time since it has become one, and until there is one; if all are silent, nobody is, and it begins anew. Who is
// no gateway any more goes on as the second does, without beacons, so long that ten others can be waited for in its
// place.
//
// Nobody decides for anybody else: each peer looks whether it is itself one in its own view, in which it is never
// silent. Views may differ for a while. A gateway too many costs nothing but a few copies, suppressed by their
// identity; one too few is what the second is for. A peer that stopped hearing all others takes itself for a gateway
// after they are silent: in a cluster that is split, each part gets its own.
//
// The epoch is for liars: one honest gateway is enough, whatever the other does, and nobody can choose a name that is
// second in all epochs. Epochs are by each peer's own clock. One whose clock is wrong is second in the view of others,
// and not in its own: it sends no beacons, and is passed over. Whoever stops hears the beacons of somebody else, and
// that one, should it stop as well, does so when its own were missed for long. So one is always there, whatever clocks
// do, unless more than ten are passed over.
type election struct {
	self        peer.ID
	silentAfter time.Duration
	first       []peer.ID             // the ranking for the first gateway
	second      []peer.ID             // and that for the second
	heard       map[peer.ID]time.Time // since it was heard, or is expected to be heard, last
	silent      map[peer.ID]bool
	until       time.Time // when this peer stops, if it is no gateway any more
}

// silentBeacons is how many beacons may be missed, and triedMeanwhile how many others may be waited for in vain before
// one that is no gateway any more stops.
const silentBeacons, triedMeanwhile = 3, 10

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

// setMembers takes the rankings of the members of the peer's own cluster. What is known of those who stay is kept.
func (e *election) setMembers(first, second []peer.ID) {
	e.first, e.second = first, second
	heard, silent := map[peer.ID]time.Time{}, map[peer.ID]bool{}
	for _, id := range first {
		if at, ok := e.heard[id]; ok {
			heard[id] = at
		}
		if e.silent[id] {
			silent[id] = true
		}
	}
	e.heard, e.silent = heard, silent
}

// hear notes that a member of the cluster is there as a gateway; others are not kept.
func (e *election) hear(id peer.ID, now time.Time) {
	if _, expected := e.heard[id]; expected {
		e.heard[id] = now
		delete(e.silent, id)
	}
}

// gateways returns the present gateways, the first one first: at most two.
func (e *election) gateways(now time.Time) []peer.ID {
	chosen := e.choose(now)
	if len(chosen) == 0 && len(e.first) > 0 {
		clear(e.silent)
		clear(e.heard)
		chosen = e.choose(now)
	}
	return chosen
}

func (e *election) choose(now time.Time) []peer.ID {
	chosen := e.pick(e.second, e.pick(e.first, nil, now), now)
	// Of whoever is none any more no beacons are expected, nor missed when it is one again.
	maps.DeleteFunc(e.heard, func(id peer.ID, _ time.Time) bool {
		return !e.silent[id] && !slices.Contains(chosen, id)
	})
	return chosen
}

// pick adds to those who are chosen the first of a ranking who is not, nor silent, if there is one.
func (e *election) pick(ranked, chosen []peer.ID, now time.Time) []peer.ID {
	for _, id := range ranked {
		if slices.Contains(chosen, id) {
			continue
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
		return append(chosen, id)
	}
	return chosen
}

// standing returns the peer's own place, and whether it is a gateway, or goes on although it is none any more.
func (e *election) standing(now time.Time) (_ standing, gateway bool) {
	at := slices.Index(e.gateways(now), e.self)
	switch {
	case at >= 0:
		e.until = now.Add(triedMeanwhile * e.silentAfter)
	case !now.Before(e.until):
		return standingNone, false
	}
	if at == 0 {
		return standingFirst, true
	}
	return standingSecond, at > 0
}

// elected returns the gateways of a cluster, if nobody there is silent.
func elected(cluster string, members []Member, epoch int64) []peer.ID {
	e := newElection("", 0)
	e.setMembers(rank(cluster, members), turn(cluster, members, epoch))
	return e.gateways(time.Time{})
}

// turn orders the members of a cluster for the election of the second gateway in an epoch.
func turn(cluster string, members []Member, epoch int64) []peer.ID {
	return rank(cluster, members, binary.BigEndian.AppendUint64(nil, uint64(epoch))...)
}

// rank orders the members of a cluster for the election of the first gateway; with a salt, of another one.
func rank(cluster string, members []Member, salt ...byte) []peer.ID {
	type ranked struct {
		id        peer.ID
		reachable bool
		hash      [sha256.Size]byte
	}
	var list []ranked
	for _, m := range members {
		if m.Cluster == cluster {
			list = append(list, ranked{m.ID, m.Reachable && salt == nil,
				sha256.Sum256(append([]byte(cluster+"\x00"+string(m.ID)), salt...))})
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
