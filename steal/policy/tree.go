package policy

import (
	"cmp"
	"slices"
)

// HostTree is Javelin's (Javelin 3, "The work stealing scheduler" and "Repairing the host tree"): the members are the
// nodes of a heap, with the peer that has the root job on top. An idle peer asks its children, one after the other, and
// then its parent, so that the work of a subtree is done before more is fetched. It is a baseline: work that is far
// away in the tree comes through all who are between.
//
// The tree follows from the membership alone, so those who agree on that agree on the tree. A node that has fallen
// silent is passed over at once: its parent asks its children, and they ask its parent. When it is gone from the
// membership the heap closes.
type HostTree struct {
	Master PeerID
	Fanout int // children of a node; 0 means 4

	members *Members
	heap    []PeerID // who is at which place
	place   int      // of this peer
}

// Name is "tree".
func (*HostTree) Name() string { return "tree" }

// Ranks says that the heap is made of all members.
func (*HostTree) Ranks() {}

// Plan asks the next in turn, for one job for each idle worker. The parent may keep the request until it has some.
func (t *HostTree) Plan(v View, p *Plan) {
	idle := v.Idle()
	if idle == 0 || len(v.Flights()) > 0 {
		return
	}
	t.grow(v)
	asked := t.below(v, nil, t.place)
	parent, found := t.above(v)
	if found {
		asked = append(asked, parent)
	}
	if len(asked) == 0 {
		return
	}
	victim := asked[v.Failures()%len(asked)]
	patience := v.MaxPatience()
	if !found || victim != parent {
		patience = 0
	}
	p.Steal(victim, idle, patience)
}

// Give gives what is asked for.
func (*HostTree) Give(_ View, a Ask) int { return a.Max }

// grow makes the heap of the members.
func (t *HostTree) grow(v View) {
	if t.members == v.Members() {
		return
	}
	t.members = v.Members()
	t.heap = append(t.heap[:0], t.Master)
	for i := range t.members.Len() {
		if id := t.members.At(i).ID; id != t.Master {
			t.heap = append(t.heap, id)
		}
	}
	t.place = max(0, slices.Index(t.heap, v.Self()))
}

func (t *HostTree) fanout() int { return cmp.Or(t.Fanout, 4) }

// below adds the children of a place, and instead of those that cannot be asked their children.
func (t *HostTree) below(v View, to []PeerID, place int) []PeerID {
	for i := range t.fanout() {
		child := place*t.fanout() + i + 1
		switch {
		case child >= len(t.heap):
			return to
		case v.Usable(t.heap[child]):
			to = append(to, t.heap[child])
		default:
			to = t.below(v, to, child)
		}
	}
	return to
}

// above is the parent, or the next one above that can be asked.
func (t *HostTree) above(v View) (PeerID, bool) {
	for place := t.place; place > 0; {
		place = (place - 1) / t.fanout()
		if v.Usable(t.heap[place]) {
			return t.heap[place], true
		}
	}
	return "", false
}
