package sim

import (
	"fmt"
	"slices"

	"github.com/satin-peer/satin/steal"
)

// A cast is all peers there have been, and who of them takes part.
type cast struct {
	*stage
	peers   []*peer
	joined  []steal.Member // who takes part, in the order of joining
	members *steal.Members // the same, as announced
}

// add makes a peer that is not yet alive.
func (w *cast) add(cluster int, in *world) *peer {
	n := int32(len(w.peers))
	p := &peer{
		world: in, number: n, cluster: cluster, speed: 1,
		id: steal.PeerID(fmt.Sprintf("p%03d", n)), clock: clock{value: clockStart, rate: 1},
	}
	p.witness.of, p.exile.of, p.hoard = p, p, newHoard(p)
	if w.cfg.Speed != nil {
		p.speed = w.cfg.Speed(int(n))
	}
	w.peers = append(w.peers, p)
	return p
}

// of finds a peer by its ID, which has its number behind one letter: sooner than a map of a thousand strings.
func (w *cast) of(id steal.PeerID) *peer {
	n := 0
	for i := 1; i < len(id); i++ {
		n = 10*n + int(id[i]-'0')
	}
	if n >= len(w.peers) || w.peers[n].id != id {
		panic(violation(rightJob, "a message from or to %q, who does not exist", id))
	}
	return w.peers[n]
}

// enter and exit change who takes part, and let everybody who is there hear of it.
func (w *cast) enter(p *peer) {
	w.joined = append(w.joined, p.member())
	w.announce()
}

func (w *cast) exit(p *peer) {
	w.joined = without(w.joined, p.id)
	w.announce()
}

// announce makes a new membership and lets every peer hear of it, each at its own time.
func (w *cast) announce() {
	w.members = steal.NewMembers(w.joined)
	for _, p := range w.peers {
		if p.alive {
			w.queue.post(event{at: w.now + w.random.Int64N(maxGossip), what: membersHeard, peer: p.number})
		}
	}
}

func without(members []steal.Member, id steal.PeerID) []steal.Member {
	kept := make([]steal.Member, 0, len(members))
	for _, m := range members {
		if m.ID != id {
			kept = append(kept, m)
		}
	}
	return kept
}

func (p *peer) member() steal.Member { return steal.Member{ID: p.id, Cluster: clusterID(p.cluster)} }

// deputies are the owner and a peer of every cluster, as far as they go.
func (w *cast) deputies() []steal.PeerID {
	ids := []steal.PeerID{firstPeer}
	for _, p := range w.peers {
		if n := len(ids); n < maxDeputies && p.number > 0 &&
			(p.cluster == n%len(w.cfg.Network.Sizes()) || len(w.cfg.Network.Sizes()) == 1) {
			ids = append(ids, p.id)
		}
	}
	return ids
}

const maxDeputies = 4

// master is who holds the root, as far as that is known: who said so last.
func (w *cast) master() *peer {
	var last *peer
	for _, p := range w.peers {
		if p.alive && !p.leaving && (last == nil || p.beaconAt > last.beaconAt) {
			last = p
		}
	}
	return last
}

// othersUp says whether anybody would be left without p.
func (w *cast) othersUp(p *peer) bool {
	return slices.ContainsFunc(w.peers, func(other *peer) bool { return other != p && other.alive && !other.leaving })
}

// totals adds up the books of all peers and their lives, and what is still queued, running or waiting.
func (w *cast) totals() (total books, live uint64) {
	for _, p := range w.peers {
		total.add(p.usage.books)
		if !p.alive {
			continue
		}
		total.add(p.engine.books)
		live += uint64(p.engine.queue.len()) + p.engine.computing() + uint64(p.engine.books.open)
	}
	return total, live
}

// steals adds up what all cores have counted, over all their lives.
func (w *cast) steals() (sum steal.Stats) {
	for _, p := range w.peers {
		addStats(&sum, p.usage.stats)
		if p.core != nil {
			addStats(&sum, p.core.Stats())
		}
	}
	return sum
}
