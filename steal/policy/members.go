package policy

import (
	"cmp"
	"slices"
)

// PeerID names a peer of the swarm. It is compared and nothing else.
type PeerID string

// ClusterID names a group of peers near each other. The core compares it and nothing else.
type ClusterID string

// Member is one peer that takes part in the run.
type Member struct {
	ID      PeerID
	Cluster ClusterID
	// Guest is a peer that this one lends to and borrows from, and nobody else knows: it is not reckoned with as a
	// master, and nothing is handed over to it.
	Guest bool
}

// Members is who takes part in a run, as far as this peer knows: an immutable snapshot in a fixed order.
// Several cores may share one.
type Members struct {
	all      []Member         // by cluster, then ID
	clusters []ClusterSpan    // by name
	starts   []int            // where the members of each cluster begin, and how many there are
	index    map[PeerID]int32 // into all
	barred   map[PeerID]bool
	part     bool // not all of all are in clusters: see Around
}

// ClusterSpan is one cluster and its members.
type ClusterSpan struct {
	ID      ClusterID
	Members []Member // by ID; not to be changed
}

// NewMembers sorts the list and drops repeated IDs, keeping the first. It takes O(n log n).
func NewMembers(list []Member) *Members {
	m := &Members{index: make(map[PeerID]int32, len(list))}
	for _, p := range list {
		if _, twice := m.index[p.ID]; !twice {
			m.index[p.ID] = 0
			m.all = append(m.all, p)
		}
	}
	slices.SortFunc(m.all, func(a, b Member) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.ID, b.ID))
	})
	for i, p := range m.all {
		m.index[p.ID] = int32(i)
		if n := len(m.clusters); n == 0 || m.clusters[n-1].ID != p.Cluster {
			m.clusters = append(m.clusters, ClusterSpan{ID: p.Cluster})
		}
		last := &m.clusters[len(m.clusters)-1]
		last.Members = m.all[i-len(last.Members) : i+1 : i+1]
	}
	m.count()
	return m
}

// count finds where clusters begin.
func (m *Members) count() {
	m.starts = make([]int, 1, len(m.clusters)+1)
	for i := range m.clusters {
		m.starts = append(m.starts, m.starts[i]+len(m.clusters[i].Members))
	}
}

// Bar marks peers that are not members and are not to get jobs, also if they ask. It changes the snapshot, so it is for
// whoever has just made it.
func (m *Members) Bar(ids []PeerID) *Members {
	m.barred = make(map[PeerID]bool, len(ids))
	for _, id := range ids {
		m.barred[id] = true
	}
	return m
}

// Barred says whether a peer is not to get jobs. Of others who are no members nothing is said: they may have come this
// moment.
func (m *Members) Barred(id PeerID) bool { return m.barred[id] }

// Len is the number of members.
func (m *Members) Len() int { return m.starts[len(m.clusters)] }

// At is the i-th member in the order of clusters and IDs.
func (m *Members) At(i int) Member {
	if !m.part {
		return m.all[i]
	}
	k, begins := slices.BinarySearch(m.starts, i)
	if !begins {
		k--
	}
	return m.clusters[k].Members[i-m.starts[k]]
}

// Clusters lists the clusters by name. Not to be changed.
func (m *Members) Clusters() []ClusterSpan { return m.clusters }

// Cluster finds one cluster; without members it is empty.
func (m *Members) Cluster(id ClusterID) ClusterSpan {
	if i, ok := m.find(id); ok {
		return m.clusters[i]
	}
	return ClusterSpan{ID: id}
}

func (m *Members) find(id ClusterID) (int, bool) {
	return slices.BinarySearchFunc(m.clusters, id,
		func(c ClusterSpan, id ClusterID) int { return cmp.Compare(c.ID, id) })
}

// Find looks a peer up, in a part also one that is not in it.
func (m *Members) Find(id PeerID) (Member, bool) {
	i, ok := m.index[id]
	if !ok {
		return Member{}, false
	}
	return m.all[i], true
}

// span is where a cluster's members stand in the order of all members.
func (m *Members) span(id ClusterID) (from, to int) {
	if i, ok := m.find(id); ok {
		return m.starts[i], m.starts[i+1]
	}
	return 0, 0
}
