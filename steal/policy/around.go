package policy

import "slices"

// In a large swarm a peer steals from some of the members only, so that what it learns of peers, clusters and the ways
// to them is bounded, and it meets the same again. The parts are drawn by hashes of names and make random graphs of
// so high a degree that work gets everywhere in as many steps as if all knew all. They change little when members come
// and go. Two peers of a cluster, and two clusters, see each other or do not: whoever asks for work across clusters is
// one to which the victim measures the way. Whom a peer answers, and who may be its master, is no matter of these
// parts.

const (
	nearMost     = 256 // members of the own cluster
	farMost      = 256 // members of the other clusters, all together
	clustersMost = 64  // other clusters
)

// Around is the part of the members that a peer of some cluster steals from: m itself if that is small enough. Guests
// are always in it: they know nobody else.
func (m *Members) Around(self PeerID, cluster ClusterID) *Members {
	mine := m.Cluster(cluster).Members
	far := len(m.all) - len(mine)
	if len(mine) <= nearMost && far <= farMost && len(m.clusters) <= clustersMost {
		return m
	}
	p := &Members{all: m.all, index: m.index, barred: m.barred, part: true}
	others := some(m.clusters, clustersMost, string(cluster), func(c *ClusterSpan) (string, bool) {
		return string(c.ID), c.ID == cluster
	})
	each := max(1, farMost/max(1, len(others)))
	for _, c := range others {
		if c.ID != cluster {
			c.Members = stretch(c.Members, each, spread(string(self), string(c.ID)))
		} else {
			c.Members = some(c.Members, nearMost, string(self), func(x *Member) (string, bool) {
				return string(x.ID), x.ID == self || x.Guest
			})
		}
		p.clusters = append(p.clusters, c)
	}
	p.count()
	return p
}

// some draws about as many as that from a list, in its order, and twice as many at most besides those that must be in
// it: each of those that have a name and draw from lists that hold the other one draws the other one, or neither does.
func some[T any](list []T, most int, self string, about func(*T) (name string, must bool)) []T {
	if len(list) <= most {
		return list
	}
	limit := uint64(float64(most) / float64(len(list)) * (1 << 63) * 2)
	var drawn []T
	n := 0
	for i := range list {
		name, must := about(&list[i])
		switch {
		case must:
		case n < 2*most && spread(self, name) < limit:
			n++
		default:
			continue
		}
		drawn = append(drawn, list[i])
	}
	return drawn
}

// stretch is so many of a list at most: one of the pieces that it falls into, all of which are about as long, so that
// nobody is in more of them than others.
func stretch(list []Member, n int, which uint64) []Member {
	pieces := (len(list) + n - 1) / n
	k := int(which % uint64(pieces))
	return slices.Clip(list[k*len(list)/pieces : (k+1)*len(list)/pieces])
}

// spread makes one number of two names, whichever is said first.
func spread(a, b string) uint64 {
	if a > b {
		a, b = b, a
	}
	h := uint64(14695981039346656037) // FNV-1a
	for _, s := range [...]string{a, "\x00", b} {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * 1099511628211
		}
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd // and the end of MurmurHash3, as FNV's upper bits know little of the last letters
	return h ^ h>>33
}
