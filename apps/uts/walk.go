package uts

// A walker visits the trees below some nodes, depth first, and can be relieved of some of what it has not
// visited yet. It is the leaf of the jobs that explore.
type walker struct {
	waiting []Node // found and not visited yet, the oldest first; no two are above each other
	tally   Tally  // of the nodes visited
}

// walk is a walker that has to visit nodes of a tree.
func walk(tree *Tree, nodes ...Place) *walker {
	w := &walker{waiting: make([]Node, len(nodes), len(nodes)+maxChildren)}
	for i, n := range nodes {
		w.waiting[i] = Node{tree, n}
	}
	return w
}

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

// maxShared is how many nodes a job gets at most, 80 KB of them as they travel.
const maxShared = 2_000

// share takes every second waiting node, beginning with the oldest; the walker does not touch them again. It
// returns none if only one node is waiting.
//
// So both sides have as many nodes of every level. Where more is below a node the higher up it is, the oldest ones
// are most of what is left. In a critical tree as much is below any node, and a walker that is deep in it has
// only a few of each level: who gives those away that are highest up gives nearly nothing.
func (w *walker) share() (shared []Place) {
	if len(w.waiting) < 2 {
		return nil
	}
	kept := w.waiting[:0]
	for i, n := range w.waiting {
		if i%2 == 0 && len(shared) < maxShared {
			shared = append(shared, n.Place)
		} else {
			kept = append(kept, n)
		}
	}
	w.waiting = kept
	return shared
}
