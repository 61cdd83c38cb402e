package barneshut

import (
	"slices"

	"github.com/satin-peer/satin"
)

// Near is a Step that carries what it needs of all bodies.
type Near struct {
	Step Step
	Part Part
}

// Part is a job that computes the forces on the bodies of a cell, and carries all that it needs for it.
type Part struct {
	Tree      Tree
	Cell      int32
	Law       Law
	Threshold int
}

// far is step for a job that carries its bodies.
func far(f *satin.Frame, n Near) Moved {
	if n.Step.Motion.stars() == 0 {
		return n.Step.move(nil, nil)
	}
	pulls := slices.Concat(carried(f, n.Part)...)
	return n.Step.move(n.Step.Motion.expected(n.Step.Time, n.Step.Leaf), pulls)
}

// carried is shared for a job that carries its bodies.
func carried(f *satin.Frame, p Part) []Forces {
	all, cell := []Chunk{{&p.Tree}}, &p.Tree.Cells[p.Cell]
	if int(cell.Count) <= p.Threshold || !p.Tree.divided(p.Cell) {
		return []Forces{forces(all, 0, cell.Bodies, cell.Count, p.Law)}
	}
	var in [1 << generations]int32
	cells := in[:0]
	for c := p.Cell + 1; c < cell.Next; c = p.Tree.Cells[c].Next {
		cells = append(cells, c)
	}
	return gather(f, carried, len(cells), func(i int) Part {
		part := p
		part.Tree, part.Cell = prune(all, 0, cells[i], p.Law.Theta)
		return part
	})
}
