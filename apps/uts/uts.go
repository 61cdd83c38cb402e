// Package uts is the Unbalanced Tree Search benchmark (Olivier, Huan, Liu, Prins, Dinan, Sadayappan, Tseng, "UTS: an
// unbalanced tree search benchmark", LCPC 2006): it counts the nodes of a tree that is so irregular that nothing but
// stealing can divide it, and that needs no memory, since SHA-1 makes each node from its parent.
package uts

import (
	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
)

func init() {
	satin.Register("uts.count", count, satin.Rounded(),
		satin.Small(apps.Instance[Search](setup, "--depth", "12", "--seed", "19")))
	satin.Register("uts.search", search, satin.Rounded())
	satin.Register("uts.explore", explore, satin.Rounded())
}

// Search asks for the tally of a tree.
type Search struct {
	Tree  *Tree // made by prepare
	Grain int   // how many nodes a job visits before it shares what is left; 0: every node is a job
}

// count is the root job.
func count(f *satin.Frame, s Search) Tally {
	root := s.Tree.root()
	if s.Grain == 0 {
		return search(f, root)
	}
	return explore(f, Part{s.Tree, []Place{root.Place}, s.Grain})
}

// search searches the tree below a node with a job for each child.
func search(f *satin.Frame, n Node) (t Tally) {
	children := n.children()
	t.visit(&n, children)
	if children == 0 {
		return t
	}
	g := satin.Fork(f, search)
	for i := range children {
		g.Spawn(n.child(i))
	}
	for below := range g.Results() {
		t.add(below)
	}
	return t
}

// Part asks for the tally of the trees below some nodes.
type Part struct {
	Tree  *Tree
	Nodes []Place
	Grain int // as in Search, at least 1
}

// explore walks through a part, and each time it has visited as many nodes as the grain says, it spawns half
// of what is left (see share). A limit on the depth would not do here: whether
// there are ten or ten million nodes below a node cannot be known.
func explore(f *satin.Frame, p Part) Tally {
	g := satin.Fork(f, explore)
	w := walk(p.Tree, p.Nodes...)
	for w.visit(p.Grain) {
		if nodes := w.share(); nodes != nil {
			g.Spawn(Part{p.Tree, nodes, p.Grain})
		}
	}
	t := w.tally
	walkers.Put(w) // the jobs that are called now want one
	for below := range g.Results() {
		t.add(below)
	}
	return t
}
