package policy

import (
	"slices"
	"time"
)

// Hierarchical is CHS, stealing along a tree (Albatross paper, 2.3): an idle peer asks its children one after
// the other, each of which asks its own before it gives up; only when the whole subtree is idle it asks its
// parent. The peers of a cluster form a binary tree in the order of their IDs, and so do the clusters' roots,
// so that a wide-area link is crossed only for a whole idle cluster. That minimizes wide-area messages, and
// is why CHS loses: "all nodes of a cluster have to become idle before wide-area steal attempts are started.
// During the round-trip time of the steal message, the entire cluster remains idle."
//
// What follows is not published; the paper gives no more than the rule above.
//
// A request that finds nothing waits at its victim until the victim's round is over: for a request from
// above, when the victim's subtree is known to be idle; for one from below, when the answer from above has
// come. So requests wait for each other along the tree only, downward ones never for upward ones, and no two
// can wait for each other.
type Hierarchical struct {
	asked   int  // children asked in this round
	askedUp bool // the parent was asked in this round
	next    time.Duration

	of       *Members // whom the tree was made of
	parent   PeerID
	children []PeerID
}

// roundPause is the time between two rounds that brought nothing.
const roundPause = 5 * time.Millisecond

// Name is "chs".
func (*Hierarchical) Name() string { return "chs" }

// Ranks says that the tree is made of all members.
func (*Hierarchical) Ranks() {}

// Plan goes one step further in the round, whenever no request is out.
func (h *Hierarchical) Plan(v View, p *Plan) {
	h.place(v)
	if v.Idle() == 0 && len(v.Asks()) == 0 {
		h.asked, h.askedUp = 0, false
		return
	}
	if h.askedUp || h.asked == len(h.children) && len(v.Flights()) == 0 {
		h.refuse(v, p, func(a Ask) bool { return a.Thief == h.parent })
	}
	if len(v.Flights()) > 0 {
		return
	}
	if v.Now() < h.next {
		p.Wake(h.next)
		return
	}
	for h.asked < len(h.children) {
		child := h.children[h.asked]
		h.asked++
		if v.Usable(child) && !asksHere(v, child) {
			p.Steal(child, 1, v.MaxPatience())
			return
		}
	}
	if !h.askedUp && h.parent != "" && v.Usable(h.parent) {
		h.askedUp = true
		p.Steal(h.parent, 1, v.MaxPatience())
		return
	}
	h.refuse(v, p, func(Ask) bool { return true })
	h.asked, h.askedUp = 0, false
	h.next = v.Now() + roundPause
	p.Wake(h.next)
}

// Give gives one job to whoever asks.
func (*Hierarchical) Give(View, Ask) int { return 1 }

func (h *Hierarchical) refuse(v View, p *Plan, which func(Ask) bool) {
	for _, a := range v.Asks() {
		if which(a) {
			p.Refuse(a.ID)
		}
	}
}

func asksHere(v View, id PeerID) bool {
	return slices.ContainsFunc(v.Asks(), func(a Ask) bool { return a.Thief == id })
}

// place finds this peer's place in the tree when the membership has changed: member i of a cluster has the
// members 2i+1 and 2i+2 under it, and the root of cluster k has those of the clusters 2k+1 and 2k+2.
func (h *Hierarchical) place(v View) {
	if h.of == v.Members() {
		return
	}
	h.of, h.parent, h.children = v.Members(), "", nil
	h.asked, h.askedUp = 0, false
	clusters := h.of.Clusters()
	k := slices.IndexFunc(clusters, func(c ClusterSpan) bool { return c.ID == v.Cluster() })
	if k < 0 {
		return
	}
	mine := clusters[k].Members
	i := slices.IndexFunc(mine, func(m Member) bool { return m.ID == v.Self() })
	switch {
	case i < 0:
		return
	case i > 0:
		h.parent = mine[(i-1)/2].ID
	case k > 0:
		h.parent = clusters[(k-1)/2].Members[0].ID
	}
	for c := 2*i + 1; c <= 2*i+2 && c < len(mine); c++ {
		h.children = append(h.children, mine[c].ID)
	}
	for c := 2*k + 1; i == 0 && c <= 2*k+2 && c < len(clusters); c++ {
		h.children = append(h.children, clusters[c].Members[0].ID)
	}
}
