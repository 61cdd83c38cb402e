package locality

import "slices"

// Clusters lists the members of each cluster, this peer among them, sorted.
func (m *Map) Clusters() map[string][]string {
	all := map[string][]string{}
	at, _ := slices.BinarySearch(m.ids, m.cfg.Self)
	for _, id := range slices.Insert(slices.Clone(m.ids), at, m.cfg.Self) {
		c := m.Of(id).Cluster
		all[c] = append(all[c], id)
	}
	return all
}
