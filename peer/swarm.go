package peer

import (
	"cmp"
	"math"
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/satin-peer/satin/gossip"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/members"
	"github.com/satin-peer/satin/peer/places"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/switchboard"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
)

// A swarm is who there is, as far as this peer knows: members by their cards, where each is, and who is connected. It
// is what package runs may know of them (runs.View).
type swarm struct {
	self    peer.ID
	apps    *catalog
	members *members.Members
	places  *places.Places
	board   *switchboard.Board
	guests  func(run job.RunID) []steal.PeerID // tabs that take part in a run here
	branch  func(peer.ID) string               // see host.Branch
}

// Alive says whether a member is believed to be: it has a card, has not said goodbye, and answers. One that is here is
// before its card has come: a newcomer hears of runs, and of whoever says that they are over, while it still meets the
// first member, and whom it takes for silent has no say.
func (s *swarm) Alive(name runs.PeerID) bool {
	id, err := peer.Decode(string(name))
	if err != nil || id == s.self {
		return err == nil
	}
	return !s.places.Silent(id) && (s.members.Get(id) != nil || s.board.Connected(id) && s.board.Admitted(id))
}

// Computes says whether a peer is not paused, by its owner or by what it allows now, as its card tells.
func (s *swarm) Computes(name runs.PeerID) bool {
	id, err := peer.Decode(string(name))
	c := s.members.Get(id)
	return err == nil && (c == nil || c.Cores > 0)
}

// Admitted says whether a peer is a member.
func (s *swarm) Admitted(name runs.PeerID) bool {
	id, err := peer.Decode(string(name))
	return err == nil && (s.members.Get(id) != nil || s.board.Admitted(id))
}

// Hand is the member that the founder let in, and by whom a peer is one; "" in an open swarm, or if it is none.
func (s *swarm) Hand(name runs.PeerID) string {
	id, err := peer.Decode(string(name))
	if err != nil || !s.Admitted(name) {
		return ""
	}
	return s.branch(id)
}

// Hands is as many as it takes to believe results of strangers, two at least.
func (s *swarm) Hands(m *runs.Manifest) int {
	c, err := modeOf(m.Verify)
	if err != nil {
		return math.MaxInt
	}
	return c.Hands()
}

// Partners lists the others that can take part in a run.
func (s *swarm) Partners(m *runs.Manifest) (list []runs.PeerID) {
	for _, c := range s.participants(m, false) {
		list = append(list, peerName(c.Peer))
	}
	return list
}

// participants are the members that can take part in a run: those that have its application in the same version and
// are not silent. Of a module's run, all who would fetch the module are among them, unless only those are asked for
// who have it.
func (s *swarm) participants(m *runs.Manifest, ready bool) []*members.Card {
	list := s.members.List()
	fit := list[:0]
	for _, c := range list {
		if !s.places.Silent(c.Peer) && s.apps.has(&c.Card, m, ready) {
			fit = append(fit, c)
		}
	}
	return fit
}

// deputies chooses who goes on with a run of this peer's when it is lost: members that can take part in it
// and are alive, as far as this peer knows.
func (s *swarm) deputies(m *statement.Manifest) (ids []string) {
	var list []candidate
	head := manifestOf(&statement.SignedManifest{Manifest: *m})
	for _, c := range s.participants(head, false) {
		list = append(list, candidate{
			id: c.Peer, cluster: s.places.Of(c.Peer).Name, joined: c.Joined, cores: c.Cores,
			connected: s.board.Connected(c.Peer),
			// in an open swarm everybody is in his own hands
			branch: cmp.Or(s.branch(c.Peer), c.Peer.String()),
		})
	}
	for _, id := range choose(list, s.places.Mine().Name, maxDeputies) {
		ids = append(ids, id.String())
	}
	return ids
}

// takingPart lists who takes part in a run, with their clusters; this peer among them, as its roster has it, and its
// visitors. Whoever is out gets no jobs, but may still have some. The mutex of the core's conductor is held.
func (s *swarm) takingPart(m *runs.Manifest, c *runs.Core) *steal.Members {
	in, barred := c.Musters.Seated(m.Run)
	var out []steal.PeerID
	here := steal.ClusterID(s.places.Mine().Name)
	list := []steal.Member{{ID: steal.PeerID(s.self.String()), Cluster: here}}
	for _, id := range s.guests(m.Run) {
		list = append(list, steal.Member{ID: id, Cluster: here, Guest: true})
	}
	for _, c := range s.participants(m, true) {
		if m.Verify != "" && m.Owner != peerName(s.self) && m.Owner != peerName(c.Peer) {
			continue // these two have nothing to do with each other
		}
		if name := peerName(c.Peer); !in(name) {
			if barred(name) {
				out = append(out, steal.PeerID(name))
			}
			continue
		}
		list = append(list, steal.Member{ID: steal.PeerID(c.Peer.String()),
			Cluster: steal.ClusterID(s.places.Of(c.Peer).Name)})
	}
	return steal.NewMembers(list).Bar(out)
}

// connected counts the members that are.
func (s *swarm) connected() (n int) {
	for _, c := range s.members.List() {
		if s.board.Connected(c.Peer) {
			n++
		}
	}
	return n
}

// clusters lists all clusters, this peer's first; workers is how many it has itself.
func (s *swarm) clusters(workers int) []report.Cluster {
	here := s.places.Mine()
	index := map[string]*report.Cluster{here.Name: {Name: here.Name, Mine: true, Reason: here.Why, Peers: 1,
		Workers: workers}}
	rtts := map[string][]float64{}
	for _, c := range s.members.List() {
		where := s.places.Of(c.Peer)
		info := index[where.Name]
		if info == nil {
			info = &report.Cluster{Name: where.Name, Reason: where.Why}
			index[where.Name] = info
		}
		info.Peers++
		info.Workers += c.Cores
		if where.RTT > 0 {
			rtts[where.Name] = append(rtts[where.Name], where.RTT.Seconds())
		}
	}
	list := make([]report.Cluster, 0, len(index))
	for name, info := range index {
		if r := rtts[name]; len(r) > 0 {
			slices.Sort(r)
			info.RTT = r[len(r)/2]
		}
		list = append(list, *info)
	}
	slices.SortFunc(list, func(a, b report.Cluster) int {
		if a.Mine != b.Mine {
			if a.Mine {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return list
}

// forGossip is who is in which cluster.
func (s *swarm) forGossip() gossip.Members {
	m := gossip.Members{Cluster: s.places.Mine().Name}
	for _, c := range s.members.List() {
		m.Peers = append(m.Peers, gossip.Member{
			ID: c.Peer, Cluster: s.places.Of(c.Peer).Name, Reachable: c.Reachable == string(control.ReachPublic),
		})
	}
	return m
}
