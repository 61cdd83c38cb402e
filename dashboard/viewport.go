package dashboard

import (
	"fmt"

	"github.com/satin-peer/satin/internal/report"
)

// A Viewport is the part of a tree that somebody looks at. Across, the whole of it is from 0 to 1: each
// segment is as wide as its part of the jobs executed, its own and those under it, and stands below the one
// that it was stolen from.
type Viewport struct {
	Root     string  // the segment that is the whole; "" for the tree
	From, To float64 // the part of it that is seen, 0 <= From < To <= 1
	Depth    int     // how many levels below the root, 1 to MaxDepth
	Least    float64 // the width below which segments are not worth showing, as a share of what is seen, 0 to 1
	Most     int     // boxes at most, 1 to MaxBoxes; the widest levels, from the top, come first
}

// Bounds of viewports.
const (
	MaxDepth = 1000
	MaxBoxes = 10_000
)

// A Box is a segment in a viewport.
type Box struct {
	Segment
	Depth    int     // below the root of the viewport, which is at 0
	From, To float64 // across the whole of the viewport's root
	Folded   Summary // into this segment
	// those under it that are left out though they are within what is seen, as they are too thin, too deep or
	// too many
	Invisible Summary
}

// A Sight is what is seen in a viewport.
type Sight struct {
	Boxes     []Box   // level by level, each level from left to right
	Folded    Summary // into the tree itself, of segments whose parent was not known; if the tree is the root
	Invisible Summary // all that is left out: that of the boxes, and what is at the top
}

func (v Viewport) check() error {
	if !(v.From >= 0 && v.From < v.To && v.To <= 1) || v.Depth < 1 || v.Depth > MaxDepth ||
		!(v.Least >= 0 && v.Least <= 1) || v.Most < 1 || v.Most > MaxBoxes {
		return fmt.Errorf("%w: viewport %+v", report.ErrBadInput, v)
	}
	return nil
}

// View gives the segments that are seen. report.ErrBadInput if the viewport cannot be;
// report.ErrNotFound if there is no such root, or not any more.
func (t *Tree) View(v Viewport) (Sight, error) {
	if err := v.check(); err != nil {
		return Sight{}, err
	}
	root := t.top
	if v.Root != "" {
		n, ok := t.nodes[v.Root]
		if !ok {
			return Sight{}, fmt.Errorf("%w: segment %q: it is unknown, or folded", report.ErrNotFound, v.Root)
		}
		root = n
	}
	type place struct {
		*node
		from, to float64
		depth    int
		box      int // in s.Boxes; -1 for the top
	}
	var s Sight
	level := []place{{root, 0, 1, 0, -1}}
	if root != t.top {
		level[0].box = 0
		s.Boxes = append(s.Boxes, Box{Segment: root.Segment, To: 1, Folded: root.folded()})
	} else {
		s.Folded = root.folded()
	}
	for len(level) > 0 {
		p := level[0]
		level = level[1:]
		wide := (p.to - p.from) / float64(weight(p.total()))
		at := p.from
		for _, c := range p.under {
			from, to := at, at+wide*float64(weight(c.total()))
			at = to
			if to <= v.From || from >= v.To {
				continue
			}
			if to-from < v.Least*(v.To-v.From) || p.depth >= v.Depth || len(s.Boxes) >= v.Most {
				s.Invisible.add(c.total())
				if p.box >= 0 {
					s.Boxes[p.box].Invisible.add(c.total())
				}
				continue
			}
			s.Boxes = append(s.Boxes,
				Box{Segment: c.Segment, Depth: p.depth + 1, From: from, To: to, Folded: c.folded()})
			level = append(level, place{c, from, to, p.depth + 1, len(s.Boxes) - 1})
		}
	}
	return s, nil
}

// weight is how wide something is: by its jobs, and at least something for each segment.
func weight(s Summary) uint64 { return s.Executed + s.Segments }
