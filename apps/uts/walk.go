package uts

import "sync"

// A walker visits the trees below some nodes, depth first, and can be relieved of some of what it has not
// visited yet. It is the leaf of the jobs that explore.
type walker struct {
	tree    *Tree
	waiting []Place // found and not visited yet, the oldest first; no two are above each other
	tally   Tally   // of the nodes visited
}

// walkers are those whose jobs have no more nodes to visit. The next job's nodes go where the last one's were: memory
// that is new to a processor costs more than the nodes in it.
var walkers = sync.Pool{New: func() any { return new(walker) }}

// walk is a walker that has to visit nodes of a tree. Whoever is done with it may put it among the walkers.
func walk(tree *Tree, nodes ...Place) *walker {
	w := walkers.Get().(*walker)
	w.tree, w.waiting, w.tally = tree, append(w.waiting[:0], nodes...), Tally{}
	return w
}

// visit visits up to limit nodes, the newest first. It returns false if there are no more.
//
// The hashes of a node's children do not depend on each other. Made one after the other, with no decision between
// them, they keep the processor busy; making each when it is its turn to be visited takes a tenth longer.
//
// What is waiting and the tally are kept out of the walker meanwhile: in it, they are written to memory at every node,
// and the sequential program was slower than jobs that make no list.
func (w *walker) visit(limit int) bool {
	waiting, tally, n := w.waiting, w.tally, Node{Tree: w.tree}
	for ; len(waiting) > 0 && limit > 0; limit-- {
		last := len(waiting) - 1
		n.Place = waiting[last]
		waiting = waiting[:last]
		children := n.children()
		tally.visit(&n, children)
		for i := range children {
			waiting = append(waiting, n.child(i).Place)
		}
	}
	w.waiting, w.tally = waiting, tally
	return len(waiting) > 0
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
	shared = make([]Place, 0, min((len(w.waiting)+1)/2, maxShared))
	kept := w.waiting[:0]
	for i, n := range w.waiting {
		if i%2 == 0 && len(shared) < maxShared {
			shared = append(shared, n)
		} else {
			kept = append(kept, n)
		}
	}
	w.waiting = kept
	return shared
}
