package adapt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Member takes part in the run.
type Member struct {
	Peer    PeerID
	Cluster ClusterID
}

// A Roster says who may take part in a run. It is a value: decisions make new ones, each with a higher Number.
type Roster struct {
	Number uint64
	// Wanted is the number of peers that the run can use; 0: any number.
	Wanted int
	// Out are those that are not to take part, in the order of clusters, then peers.
	Out []Exclusion
}

// An Exclusion keeps a cluster, or a peer, out of the run.
type Exclusion struct {
	Cluster ClusterID // of a peer: where it was
	Peer    PeerID    // "" if it is about a cluster
	// Rate is the bandwidth that an excluded cluster had, or a peer that was one by itself, in bytes a second; 0: none
	// was seen.
	Rate float64
	// Left is for how many periods more it stays away, and Times how often it had to go. For a cluster whose bandwidth
	// is known, and too little, only one period in several counts.
	Left, Times int
}

// MaxOut bounds the exclusions of a roster. Beyond it the peer that comes back soonest comes back at once.
const MaxOut = 256

// Excludes says whether a member is not to take part.
func (r *Roster) Excludes(m Member) bool {
	return slices.ContainsFunc(r.Out, func(x Exclusion) bool { return x.keepsOut(m) })
}

func (x *Exclusion) keepsOut(m Member) bool {
	if x.Left == 0 {
		return false
	}
	if x.Peer != "" {
		return x.Peer == m.Peer
	}
	return x.Cluster == m.Cluster
}

// find is where a peer's exclusion is, or, if there is no peer, a cluster's; -1 if there is none.
func (r *Roster) find(m Member) int {
	return slices.IndexFunc(r.Out, func(x Exclusion) bool {
		return x.Peer == m.Peer && (m.Peer != "" || x.Cluster == m.Cluster)
	})
}

// clone makes a roster that can be changed.
func (r *Roster) clone() Roster {
	c := *r
	c.Out = slices.Clone(r.Out)
	return c
}

// order sorts and bounds the exclusions.
func (r *Roster) order() {
	for len(r.Out) > MaxOut {
		soonest := 0
		for i := range r.Out {
			if a, b := &r.Out[i], &r.Out[soonest]; a.Peer != "" && (b.Peer == "" || a.Left < b.Left) {
				soonest = i
			}
		}
		r.Out = slices.Delete(r.Out, soonest, soonest+1)
	}
	slices.SortFunc(r.Out, func(a, b Exclusion) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Peer, b.Peer))
	})
}

// Kind says what a decision changes.
type Kind uint8

// The kinds of change.
const (
	AskedForMore Kind = iota + 1
	PeerReleased
	ClusterExcluded
	ClusterReadmitted
	PeerReadmitted
)

// A Change is one thing that was decided, and why.
type Change struct {
	Kind    Kind
	Peer    PeerID
	Cluster ClusterID
	Number  int // of peers: AskedForMore
	// Share is the run's efficiency when it AskedForMore or a PeerReleased; of a ClusterExcluded its inter-cluster
	// overhead; of whoever is readmitted because that was a mistake the part of the work that was left, else 0.
	Share float64
	Speed float64 // PeerReleased: relative to the fastest
	Wide  float64 // PeerReleased: its inter-cluster overhead
	Rate  float64 // bytes a second
}

// String says it in a line.
func (c Change) String() string {
	percent := func(x float64) string { return fmt.Sprintf("%.0f %%", 100*x) }
	switch c.Kind {
	case AskedForMore:
		return fmt.Sprintf("%d more peers wanted: the efficiency is %s", c.Number, percent(c.Share))
	case PeerReleased:
		return fmt.Sprintf("peer %s released: the efficiency is %s; it is %s as fast as the fastest, and waits for the "+
			"network %s of its time", c.Peer, percent(c.Share), percent(c.Speed), percent(c.Wide))
	case ClusterExcluded:
		return fmt.Sprintf("cluster %s excluded: its peers wait for the network %s of their time, over %.0f bytes a second",
			c.Cluster, percent(c.Share), c.Rate)
	case ClusterReadmitted:
		if c.Share > 0 {
			return fmt.Sprintf("cluster %s is taken back: without it %s of the work was done", c.Cluster,
				percent(c.Share))
		}
		if c.Rate == 0 {
			return fmt.Sprintf("cluster %s may try again", c.Cluster)
		}
		return fmt.Sprintf("cluster %s readmitted: its link has %.0f bytes a second", c.Cluster, c.Rate)
	case PeerReadmitted:
		if c.Share > 0 {
			return fmt.Sprintf("peer %s is taken back: without it %s of the work was done", c.Peer, percent(c.Share))
		}
		return fmt.Sprintf("peer %s may come back", c.Peer)
	}
	return fmt.Sprintf("change(%d)", c.Kind)
}

// words are what becomes of whom a change is about, by a part of its text that comes after all names.
var words = [...]struct{ said, word string }{
	{" more peers wanted: ", "wanted"}, {" released: ", "released"}, {" excluded: ", "excluded"},
	{" readmitted: ", "readmitted"}, {" is taken back: ", "readmitted"}, {" may try again", "readmitted"},
	{" may come back", "readmitted"},
}

// Word says in a word what a change is, by its text, which is all that others are told: "wanted" (more), "released",
// "excluded" or "readmitted"; "" if it is none. What is in the names of clusters does not matter.
func Word(text string) (word string) {
	last := -1
	for _, w := range words {
		if at := strings.LastIndex(text, w.said); at > last {
			last, word = at, w.word
		}
	}
	return word
}
