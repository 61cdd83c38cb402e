package peer

import (
	"cmp"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
)

// maxDeputies is how many deputies an owner names. Other peers can go on too when all of these are silent.
const maxDeputies = 4

// A candidate is a member that may become a deputy.
type candidate struct {
	id        peer.ID
	cluster   string
	connected bool
	joined    time.Time
	cores     int
}

// deputies chooses who goes on with a run of this peer's when it is lost: members that can take part in it
// and are alive, as far as this peer knows.
func (p *Peer) deputies(m *statement.Manifest) (ids []string) {
	var list []candidate
	head := &runs.Manifest{App: m.App, Version: string(m.Version[:]), Entry: m.Entry}
	for _, c := range p.participants(head, false) {
		list = append(list, candidate{
			id: c.Peer, cluster: p.places.of(c.Peer).Name, joined: c.joined, cores: c.Cores,
			connected: p.net.Network().Connectedness(c.Peer) == network.Connected,
		})
	}
	for _, id := range choose(list, p.places.mine().Name, maxDeputies) {
		ids = append(ids, id.String())
	}
	return ids
}

// choose picks at most so many: the best of the own cluster, where most of the run's work is, then the best
// of each other one, then the second best of each, so that the loss of a cluster does not take them all.
// Connected ones are better than others, those that compute than those that are paused, and those that have
// been here for longer than newcomers, who tend to go soon.
func choose(list []candidate, own string, most int) (ids []peer.ID) {
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(
			first(a.connected, b.connected), first(a.cores > 0, b.cores > 0), a.joined.Compare(b.joined),
			cmp.Compare(a.id, b.id))
	})
	clusters := map[string][]candidate{}
	var order []string
	for _, c := range list {
		if clusters[c.cluster] == nil {
			order = append(order, c.cluster)
		}
		clusters[c.cluster] = append(clusters[c.cluster], c)
	}
	slices.SortStableFunc(order, func(a, b string) int { return first(a == own, b == own) })
	for round := 0; len(ids) < min(most, len(list)); round++ {
		for _, name := range order {
			if c := clusters[name]; round < len(c) && len(ids) < most {
				ids = append(ids, c[round].id)
			}
		}
	}
	return ids
}

// first orders what is true before what is not.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// ranks lists who may hold the root job, in this order: the owner, then the deputies of the manifest, as
// package steal wants them.
func ranks(m *statement.SignedManifest) []steal.PeerID {
	list := []steal.PeerID{steal.PeerID(m.Owner.String())}
	for _, d := range m.Deputies {
		if id := steal.PeerID(d); !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	return list
}

// alive says whether a member is believed to be: it has a card, has not said goodbye, and answers.
func (p *Peer) alive(id peer.ID) bool {
	return id == p.host.ID() || (p.members.get(id) != nil && !p.places.silent(id))
}
