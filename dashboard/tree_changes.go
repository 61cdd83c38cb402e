package dashboard

import "slices"

// changes remembers in which order the segments of a tree changed, so that a page which holds a copy of the
// tree need only be sent what is new. All changes are numbered; a segment has the number of its last one.
type changes struct {
	version uint64
	last    uint64     // number of the newest segment
	left    []leftNode // those that were folded last
	horizon uint64     // a copy of an earlier version needs everything
}

type leftNode struct{ number, version uint64 }

func (t *Tree) touch(n *node) {
	if n == t.top {
		return
	}
	t.version++
	n.changed = t.version
	n.leave()
	n.prev, n.next = t.top.prev, t.top
	n.prev.next, n.next.prev = n, n
}

// leave takes a node out of the order of changes, if it is there.
func (n *node) leave() {
	if n.next != nil {
		n.prev.next, n.next.prev = n.next, n.prev
		n.prev, n.next = nil, nil
	}
}

// gone remembers that a segment was folded.
func (t *Tree) gone(n *node) {
	n.leave()
	t.version++
	t.left = append(t.left, leftNode{n.number, t.version})
	if len(t.left) > t.most+1000 {
		drop := len(t.left) / 2
		t.horizon = t.left[drop-1].version
		t.left = slices.Clone(t.left[drop:])
	}
}

// A Leaf is a segment as it is told to those who hold a copy of the tree.
type Leaf struct {
	Segment
	Number uint64
	Up     uint64  // the number of the segment that it is under; 0 for none
	Folded Summary // into it
}

// A Difference is what is new in a tree. From and To are what to ask with the next time.
type Difference struct {
	All    bool // forget what you have
	From   uint64
	To     uint64
	More   bool // there is more than fitted in
	Leaves []Leaf
	Gone   []uint64
}

// Since gives what has changed for a copy that had all of the tree at version from, and since then those
// changes that have a number of at most to; 0 and 0 for an empty copy. It gives at most so many segments,
// those first that have not changed for longest.
func (t *Tree) Since(from, to uint64, most int) Difference {
	d := Difference{From: from, To: t.version}
	if from == 0 || from < t.horizon || from > t.version || to > t.version {
		// A copy that begins anew never held what is gone already; what goes while it is being filled it is told.
		d.All, d.From, from, to = true, t.version, t.version, 0
	}
	next := t.top
	for next.prev != t.top && next.prev.changed > to {
		next = next.prev
	}
	for n := next; n != t.top; n = n.next {
		if len(d.Leaves) == most {
			d.More = true
			break
		}
		leaf := Leaf{Segment: n.Segment, Number: n.number, Folded: n.folded()}
		if n.parent != t.top {
			leaf.Up = n.parent.number
		}
		d.Leaves = append(d.Leaves, leaf)
		to = n.changed
	}
	for _, l := range slices.Backward(t.left) {
		if l.version <= from {
			break
		}
		d.Gone = append(d.Gone, l.number)
	}
	if d.To = to; !d.More {
		d.From, d.To = t.version, t.version
	}
	return d
}
