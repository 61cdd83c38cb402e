package sharedobj

import (
	"bytes"
	"crypto/sha256"
	"slices"
)

// place says which peers answer for a digest. In each cluster the members rank by a hash of digest and peer.
// The first of them is the cluster's landing: what the cluster needs of the digest lands there once and is
// passed on. Peers that know different members may find different landings; that costs a copy, nothing else.
type place struct {
	self    PeerID
	members []Member // without guests
	cluster map[PeerID]ClusterID
	guests  map[PeerID]bool
}

func newPlace(self PeerID, members []Member) place {
	p := place{self: self, cluster: make(map[PeerID]ClusterID, len(members)), guests: make(map[PeerID]bool)}
	for _, m := range members {
		if _, twice := p.cluster[m.ID]; !twice {
			if p.cluster[m.ID] = m.Cluster; m.Guest {
				p.guests[m.ID] = true
			} else {
				p.members = append(p.members, m)
			}
		}
	}
	return p
}

// near says whether a peer is of the own cluster.
func (p *place) near(id PeerID) bool {
	mine, ok := p.cluster[p.self]
	c, there := p.cluster[id]
	return ok && there && c == mine
}

// member says whether a peer takes part.
func (p *place) member(id PeerID) bool {
	_, ok := p.cluster[id]
	return ok
}

func weight(d Digest, id PeerID) (w [sha256.Size]byte) {
	h := sha256.New()
	h.Write(d[:])
	h.Write([]byte(id))
	h.Sum(w[:0])
	return w
}

// ranked lists the members of a cluster, the landing first.
func (p *place) ranked(d Digest, c ClusterID) (ids []PeerID) {
	type member struct {
		id PeerID
		w  [sha256.Size]byte
	}
	var all []member
	for _, m := range p.members {
		if m.Cluster == c {
			all = append(all, member{m.ID, weight(d, m.ID)})
		}
	}
	slices.SortFunc(all, func(a, b member) int { return bytes.Compare(a.w[:], b.w[:]) })
	for _, m := range all {
		ids = append(ids, m.id)
	}
	return ids
}

// landing is the own cluster's.
func (p *place) landing(d Digest) (best PeerID) {
	var least [sha256.Size]byte
	for _, m := range p.members {
		if m.Cluster == p.cluster[p.self] {
			if w := weight(d, m.ID); best == "" || bytes.Compare(w[:], least[:]) < 0 {
				best, least = m.ID, w
			}
		}
	}
	return best
}

// treeWidth is how many peers of its cluster a peer passes an announcement on to.
const treeWidth = 4

// below lists whom this peer passes on to what comes from origin. The origin tells the landing of every other
// cluster, all at once, so that each wide-area link is used once and all are used at the same time (MagPIe;
// Albatross paper, section 2.1); inside a cluster, a tree begins with the origin, or with the landing.
func (p *place) below(d Digest, origin PeerID) (ids []PeerID) {
	mine := p.cluster[p.self]
	if p.self == origin && p.guests[p.self] {
		for _, m := range p.members[:min(1, len(p.members))] { // its host, if that takes part
			ids = append(ids, m.ID)
		}
		return ids
	}
	if p.self == origin {
		seen := map[ClusterID]bool{mine: true}
		for _, m := range p.members {
			if !seen[m.Cluster] {
				seen[m.Cluster] = true
				ids = append(ids, p.ranked(d, m.Cluster)[0])
			}
		}
	}
	tree := p.ranked(d, mine)
	if i := slices.Index(tree, origin); i >= 0 {
		tree = slices.Insert(slices.Delete(tree, i, i+1), 0, origin)
	}
	i := slices.Index(tree, p.self)
	if i < 0 {
		return ids
	}
	for c := treeWidth*i + 1; c <= treeWidth*i+treeWidth && c < len(tree); c++ {
		ids = append(ids, tree[c])
	}
	return ids
}
