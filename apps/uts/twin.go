package uts

import "math"

// sequential tallies a tree with no satin in it: the program that the jobs are compared with.
func sequential(tree *Tree) Tally {
	w := walk(tree, tree.root().Place)
	for w.visit(math.MaxInt) {
	}
	return w.tally
}
