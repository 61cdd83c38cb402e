package policy

import "slices"

// draws is how often a random choice is repeated when it hits a peer that is not usable.
const draws = 4

// RandomLocal draws a usable peer of this cluster, each with the same chance.
func RandomLocal(v View) (PeerID, bool) { return RandomIn(v, v.Cluster()) }

// RandomIn draws a usable peer of one cluster, each with the same chance.
func RandomIn(v View, id ClusterID) (PeerID, bool) {
	from, to := v.Members().span(id)
	return draw(v, to-from, func(i int) Member { return v.Members().At(from + i) })
}

// RandomRemote draws a usable peer outside this cluster, each with the same chance wherever it stands: so a
// machine in a small cluster is stolen from no more often than one in a large cluster (CRS paper, 3.3).
func RandomRemote(v View) (PeerID, bool) {
	from, to := v.Members().span(v.Cluster())
	return draw(v, v.Members().Len()-(to-from), func(i int) Member {
		if i >= from {
			i += to - from
		}
		return v.Members().At(i)
	})
}

// RandomAny draws a usable peer, each with the same chance.
func RandomAny(v View) (PeerID, bool) { return draw(v, v.Members().Len(), v.Members().At) }

// draw picks one of n members, trying again a few times if it is not usable: in a small cluster of busy or
// silent peers the others are looked through in order then.
func draw(v View, n int, at func(int) Member) (PeerID, bool) {
	if n <= 0 {
		return "", false
	}
	i := 0
	for range draws {
		i = v.Rand().IntN(n)
		if id := at(i).ID; v.Usable(id) {
			return id, true
		}
	}
	for k := 1; k <= min(n, 64); k++ {
		if id := at((i + k) % n).ID; v.Usable(id) {
			return id, true
		}
	}
	return "", false
}

// OtherClusters lists the clusters but this peer's own, by name.
func otherClusters(v View) []ClusterSpan {
	all := v.Members().Clusters()
	i := slices.IndexFunc(all, func(c ClusterSpan) bool { return c.ID == v.Cluster() })
	if i < 0 {
		return all
	}
	return slices.Concat(all[:i], all[i+1:])
}
