package peer

import (
	"cmp"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/steal"
)

// maxDeputies is how many deputies an owner names. Other peers can go on too when all of these are silent.
const maxDeputies = 4

// A candidate is a member that may become a deputy.
type candidate struct {
	id        peer.ID
	cluster   string
	connected bool
	branch    string // in whose hands it is: the member that the founder let in, and by whom it is one
	joined    time.Time
	cores     int
}

// choose picks at most so many: the best of the own cluster, where most of the run's work is, then the best
// of each other one, then the second best of each, so that the loss of a cluster does not take them all.
// Those that compute are better than those that are paused, and those that have been here for longer than newcomers,
// who tend to go soon. Only who is connected counts: the others are hearsay; and of those that are in one hand only the
// best, so that nobody gains a say by inviting himself often.
func choose(list []candidate, own string, most int) (ids []peer.ID) {
	list = slices.DeleteFunc(list, func(c candidate) bool { return !c.connected })
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(
			first(a.cores > 0, b.cores > 0), a.joined.Compare(b.joined),
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
	hands := map[string]bool{}
	for before := -1; before < len(ids); {
		before = len(ids)
		for _, name := range order {
			i := slices.IndexFunc(clusters[name], func(c candidate) bool { return !hands[c.branch] })
			if i >= 0 && len(ids) < most {
				hands[clusters[name][i].branch] = true
				ids = append(ids, clusters[name][i].id)
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
