package policy

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// swarmOf has peers in clusters of equal size.
func swarmOf(peers, clusters int) *Members {
	var list []Member
	for i := range peers {
		list = append(list, Member{ID: PeerID(fmt.Sprintf("p%05d", i)),
			Cluster: ClusterID(fmt.Sprintf("c%05d", i%clusters))})
	}
	return NewMembers(list)
}

// parts are what each of a swarm sees of it.
func parts(m *Members) map[PeerID]*Members {
	all := make(map[PeerID]*Members, m.Len())
	for i := range m.Len() {
		all[m.At(i).ID] = m.Around(m.At(i).ID, m.At(i).Cluster)
	}
	return all
}

// steps is how far the last one is to whom work gets from the first, if everybody steals from those it sees; -1 if it
// does not get to all.
func steps(m *Members, of map[PeerID]*Members) (far int) {
	thieves := map[PeerID][]PeerID{}
	for thief, part := range of {
		for i := range part.Len() {
			thieves[part.At(i).ID] = append(thieves[part.At(i).ID], thief)
		}
	}
	reached, last := map[PeerID]bool{m.At(0).ID: true}, []PeerID{m.At(0).ID}
	for ; len(reached) < m.Len(); far++ {
		var next []PeerID
		for _, id := range last {
			for _, t := range thieves[id] {
				if !reached[t] {
					reached[t] = true
					next = append(next, t)
				}
			}
		}
		if last = next; len(next) == 0 {
			return -1
		}
	}
	return far
}

// Whatever a swarm is like, a peer sees a bounded part of it, in which it is itself, nobody is seen by everybody, and
// work gets from one to all in a few steps.
func TestPartsOfLargeSwarms(t *testing.T) {
	for _, c := range []struct{ peers, clusters, steps int }{
		{3_000, 64, 3}, {1_500, 1_500, 3}, {1_500, 1, 3}, {1_500, 2, 3}, {1_500, 375, 4},
	} {
		m := swarmOf(c.peers, c.clusters)
		of, seen, largest := parts(m), map[PeerID]int{}, 0
		for id, p := range of {
			me, _ := m.Find(id)
			if !slices.ContainsFunc(p.Cluster(me.Cluster).Members, func(x Member) bool { return x.ID == id }) {
				t.Fatalf("%+v: %s is not among its own", c, id)
			}
			if len(p.Clusters()) > 2*clustersMost+1 || p.Len() > 2*nearMost+2*farMost {
				t.Fatalf("%+v: %s sees %d in %d clusters", c, id, p.Len(), len(p.Clusters()))
			}
			largest = max(largest, p.Len())
			for i := range p.Len() {
				seen[p.At(i).ID]++
			}
		}
		most := 0
		for _, n := range seen {
			most = max(most, n)
		}
		if len(seen) < c.peers || most > 3*(nearMost+farMost) {
			t.Errorf("%+v: %d are seen, one by %d", c, len(seen), most)
		}
		n := steps(m, of)
		if n < 0 || n > c.steps {
			t.Errorf("%+v: work gets to all in %d steps", c, n)
		}
		t.Logf("%+v: %d seen at most, one by %d, in %d steps", c, largest, most, n)
	}
}

// Clusters, and peers of one, see each other or do not.
func TestPartsAreMutual(t *testing.T) {
	for _, clusters := range []int{1, 2_000} {
		of := parts(swarmOf(2_000, clusters))
		pairs := 0
		for a, part := range of {
			for i := range part.Len() {
				b := part.At(i)
				if me, _ := part.Find(a); !slices.Contains(of[b.ID].Cluster(me.Cluster).Members, me) {
					t.Fatalf("%d clusters: %s sees %s, and is not seen", clusters, a, b.ID)
				}
				pairs++
			}
		}
		most := nearMost
		if clusters > 1 {
			most = clustersMost
		}
		if mean := float64(pairs) / 2_000; math.Abs(mean-float64(most)) > float64(most)/10 {
			t.Errorf("%d clusters: %.1f are seen on average", clusters, mean)
		}
	}
}

// Of those that are drawn from, all have the same chance, and one that comes or goes changes little.
func TestPartsAreEvenAndStay(t *testing.T) {
	m := swarmOf(3_000, 3)
	seen := map[PeerID]int{}
	for _, p := range parts(m) {
		for i := range p.Len() {
			seen[p.At(i).ID]++
		}
	}
	for id, n := range seen { // a third of 256 and 256 of a thousand from each of two thousand and one
		if n < 350 || n > 680 {
			t.Errorf("%s is seen by %d", id, n)
		}
	}
	fewer := NewMembers(append(slices.Clone(m.all[:500]), m.all[501:]...))
	for _, at := range []int{0, 499, 700, 2_999} {
		id, cluster := m.At(at).ID, m.At(at).Cluster
		before, after, gone := m.Around(id, cluster), fewer.Around(id, cluster), 0
		for i := range before.Len() {
			x := before.At(i)
			if !slices.Contains(after.Cluster(x.Cluster).Members, x) {
				gone++
			}
		}
		if gone > 8 {
			t.Errorf("%s loses sight of %d of %d when one goes", id, gone, before.Len())
		}
	}
}

// A part is asked as the whole is: by place, by cluster, by name also of those who are not in it. Guests of the peer
// are in it, whoever is barred remains so, and a small swarm is its own part.
func TestPartsAreMembers(t *testing.T) {
	list := slices.Clone(swarmOf(2_000, 2).all)
	list = append(list, Member{ID: "tab", Cluster: "c00000", Guest: true})
	m := NewMembers(list).Bar([]PeerID{"liar"})
	p := m.Around("p00000", "c00000")
	if p.Len() >= m.Len() || !p.Barred("liar") {
		t.Fatalf("%d of %d", p.Len(), m.Len())
	}
	var placed []Member
	for i := range p.Len() {
		placed = append(placed, p.At(i))
	}
	var spans []Member
	for _, c := range p.Clusters() {
		from, to := p.span(c.ID)
		if !slices.Equal(placed[from:to], c.Members) || len(p.Cluster(c.ID).Members) != to-from {
			t.Errorf("cluster %s: %d to %d", c.ID, from, to)
		}
		spans = append(spans, c.Members...)
	}
	if !slices.Equal(placed, spans) || !slices.Contains(placed, Member{"tab", "c00000", true}) {
		t.Error("a part says two things of whom it has")
	}
	for i := range m.Len() {
		if x, ok := p.Find(m.At(i).ID); !ok || x != m.At(i) {
			t.Fatalf("%v is found as %v", m.At(i), x)
		}
	}
	if small := swarmOf(nearMost+farMost, 2); small.Around("p00000", "c00000") != small {
		t.Error("a small swarm is not seen whole")
	}
}
