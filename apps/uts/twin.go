package uts

import "math"

// sequential tallies a tree with no satin in it: the program that the jobs are compared with. A recursion that calls itself for
// every child is shorter, and slower.
func sequential(tree *Tree) (t Tally) {
	root := tree.root()
	children := root.children()
	t.visit(&root, children)
	w := walk(Part{Node: root, To: children})
	for w.visit(math.MaxInt) {
	}
	t.add(w.tally)
	return t
}
