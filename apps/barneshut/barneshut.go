// Package barneshut simulates how stars of a cluster move under each other's gravity, with the algorithm of Barnes and
// Hut: from far away a group of stars looks like one.
//
// Three variants compute the same motion. In objects, the bodies are a shared object: each step's jobs read its
// version, and what is written, and sent to all replicas, is the forces on them. In tree, a job carries the part of the
// tree that it needs. Both give the twin's result, to the last bit. In direct, no group is looked at from afar.
package barneshut

import (
	"slices"

	"github.com/satin-peer/satin"
)

func init() {
	satin.RegisterObject("barneshut.advance", advance)
	satin.Register("barneshut.simulate", simulate, satin.Rounded())
	satin.Register("barneshut.shared", shared, satin.Rounded())
	satin.Register("barneshut.carried", carried, satin.Rounded())
	satin.Register("barneshut.direct", direct, satin.Rounded())
}

// Variants.
const (
	byObjects = "objects"
	byTree    = "tree"
	byDirect  = "direct"
)

// Problem is the argument of the root job.
type Problem struct {
	Variant   string
	Bodies    int
	Seed      uint64
	Steps     int
	Time      float64 // of a step
	Law       Law
	Leaf      int // most bodies of a leaf of the tree
	Threshold int // most bodies of a cell whose forces are one job
}

// Result is the bodies at the end, and what is known of the way there.
type Result struct {
	At, Speed []Vec      // by number
	Energy    [2]float64 // at the first and at the last computation of forces
	Momentum  [2]float64
}

// Span is a job on a range of the bodies: those of a cell or, for direct, from First to Last-1.
type Span struct {
	Bodies      satin.Object[State, Kick]
	Cell        int32
	First, Last int32
	Law         Law
	Threshold   int
}

// Part is a job that carries its bodies, and all that it needs of the others.
type Part struct {
	Tree      Tree
	Cell      int32
	Law       Law
	Threshold int
}

// simulate is the root job. Each step waits for the forces of the one before.
func simulate(f *satin.Frame, p Problem) Result {
	if p.Variant == byTree {
		return p.run(plummer(p.Bodies, p.Seed, p.Leaf), advance, func(s *State) [][]Force {
			return carried(f, Part{s.Tree, 0, p.Law, p.Threshold})
		})
	}
	// What is sent at first is how to draw the bodies.
	bodies := satin.Share(f, advance, State{Draw: p.Bodies, Seed: p.Seed, Leaf: p.Leaf}).Write(f, Kick{})
	move := func(_ State, k Kick) State {
		bodies = bodies.Write(f, k)
		return bodies.Read(f)
	}
	return p.run(bodies.Read(f), move, func(*State) [][]Force {
		span := Span{Bodies: bodies, Last: int32(p.Bodies), Law: p.Law, Threshold: p.Threshold}
		if p.Variant == byDirect {
			return direct(f, span)
		}
		return shared(f, span)
	})
}

// shared computes the forces on the bodies of a cell, in their order.
func shared(f *satin.Frame, s Span) [][]Force {
	t := s.Bodies.Read(f).Tree
	c := t.Cells[s.Cell]
	if int(c.Count) <= s.Threshold || c.Children == 0 {
		return [][]Force{t.forces(s.Cell, s.Law)}
	}
	return gather(int(c.Children), func(i int) satin.Future[Span, [][]Force] {
		child := s
		child.Cell = c.Child + int32(i)
		return satin.Spawn(f, shared, child)
	})
}

// carried is shared for a job that carries the tree.
func carried(f *satin.Frame, p Part) [][]Force {
	c := p.Tree.Cells[p.Cell]
	if int(c.Count) <= p.Threshold || c.Children == 0 {
		return [][]Force{p.Tree.forces(p.Cell, p.Law)}
	}
	return gather(int(c.Children), func(i int) satin.Future[Part, [][]Force] {
		child := p
		child.Tree, child.Cell = p.Tree.prune(c.Child+int32(i), p.Law.Theta)
		return satin.Spawn(f, carried, child)
	})
}

// direct computes the forces on a range of the bodies one by one, in halves.
func direct(f *satin.Frame, s Span) [][]Force {
	if int(s.Last-s.First) <= s.Threshold {
		t := s.Bodies.Read(f).Tree
		return [][]Force{t.direct(s.First, s.Last, s.Law)}
	}
	middle := (s.First + s.Last) / 2
	return gather(2, func(i int) satin.Future[Span, [][]Force] {
		half := s
		if i == 0 {
			half.Last = middle
		} else {
			half.First = middle
		}
		return satin.Spawn(f, direct, half)
	})
}

// gather spawns children and puts what they find into their order. Forces are passed up in pieces, as they were found:
// to copy them at each level would take longer than the longest job.
func gather[A any](children int, spawn func(i int) satin.Future[A, [][]Force]) (all [][]Force) {
	asked, found := make([]satin.Future[A, [][]Force], children), make([][][]Force, children)
	for i := range asked {
		asked[i] = spawn(i)
	}
	for i := len(asked) - 1; i >= 0; i-- { // the newest first, which is cheapest
		found[i] = asked[i].Get()
	}
	return slices.Concat(found...)
}
