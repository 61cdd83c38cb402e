package uts

import "slices"

// A walker visits the trees below some nodes, depth first, and can be relieved of some of what it has not
// visited yet. It is the leaf of the jobs that explore.
type walker struct {
	waiting []Node // found and not visited yet, the oldest first; no two are above each other
	tally   Tally  // of the nodes visited
}

// walk is a walker that has to visit nodes; it leaves the slice as it is.
func walk(nodes ...Node) *walker { return &walker{waiting: slices.Clone(nodes)} }

// visit visits up to limit nodes, the newest first. It returns false if there are no more.
//
// The hashes of a node's children do not depend on each other. Made one after the other, with no decision between
// them, they keep the processor busy; making each when it is its turn to be visited takes a tenth longer.
func (w *walker) visit(limit int) bool {
	for ; len(w.waiting) > 0; limit-- {
		if limit == 0 {
			return true
		}
		last := len(w.waiting) - 1
		n := w.waiting[last]
		w.waiting = w.waiting[:last]
		children := n.children()
		w.tally.visit(&n, children)
		for i := range children {
			w.waiting = append(w.waiting, n.child(i))
		}
	}
	return false
}

// share takes half of the waiting nodes that are as high up in the tree as the oldest, as what is below them
// is likely to be most of what is left. The walker does not touch them again. It returns none if only one
// node is waiting.
func (w *walker) share() []Node {
	if len(w.waiting) < 2 {
		return nil
	}
	siblings := 1
	for siblings < len(w.waiting) && w.waiting[siblings].Depth == w.waiting[0].Depth {
		siblings++
	}
	half := (siblings + 1) / 2
	taken := w.waiting[:half:half]
	w.waiting = w.waiting[half:]
	return taken
}
