package uts

// A walker visits part of a tree, depth first, and can be relieved of some of what it has not visited yet. It is the leaf of
// the jobs that explore.
type walker struct {
	path  []level // from the part's top to where the walker is
	tally Tally   // of the nodes visited
}

// level is a node whose children from next to end-1 are still to be visited.
type level struct {
	node      Node
	next, end int
}

// walk is a walker at the beginning of a part.
func walk(p Part) *walker {
	return &walker{path: []level{{p.Node, p.From, p.To}}}
}

// visit visits up to limit nodes. It returns false if there are no more.
func (w *walker) visit(limit int) bool {
	for ; w.ascend(); limit-- {
		if limit == 0 {
			return true
		}
		here := &w.path[len(w.path)-1]
		child := here.node.child(here.next)
		here.next++
		children := child.children()
		w.tally.visit(&child, children)
		if children > 0 {
			w.path = append(w.path, level{child, 0, children})
		}
	}
	return false
}

// ascend goes up to a node that has children to visit; false if there is none.
func (w *walker) ascend() bool {
	for n := len(w.path); n > 0; n-- {
		if here := &w.path[n-1]; here.next < here.end {
			w.path = w.path[:n]
			return true
		}
	}
	return false
}

// share takes half of the children that the oldest node of the path has left, so about the most that can be taken.
// It may be called after visit has returned true.
func (w *walker) share() (p Part) {
	for i := range w.path {
		if here := &w.path[i]; here.next < here.end {
			end := here.end
			here.end -= (end - here.next + 1) / 2
			return Part{Node: here.node, From: here.end, To: end}
		}
	}
	panic("uts: nothing left to share")
}
