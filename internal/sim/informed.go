package sim

import "time"

// Where is a machine at a moment.
type Where struct {
	Peer int
	Now  time.Duration
}

// Informed is a tree that nobody knows before it runs: what a job computes and spawns depends on what is known on its
// machine when it begins, and on what its children found. So its methods do not depend on their arguments alone, and
// a run of it has neither faults nor jobs that are run again. Children, Cost, Any and Found are not asked.
type Informed interface {
	Tree
	// Begin is called when a job begins. It says what the job spawns, appended to buf, oldest first, or, if that is
	// nothing, what it computes: for how long at speed 1, and what it finds. An inner job has a cost as well, and a
	// number by which Next knows it again.
	Begin(at Where, n Node, buf []Node) (children []Node, cost int64, answer Result, job int32)
	// Came adds what a child found to what the job has so far. Enough: the others are aborted, and the job ends.
	Came(n, child Node, sum, found Result) (all Result, enough bool)
	// Next appends what the job spawns when all its children have come, after so many times that it spawned. None: it
	// ends.
	Next(n Node, job int32, phase int, sum Result, buf []Node) []Node
	// Ended is called when a job has ended and was not aborted.
	Ended(at Where, n Node, found Result)
}

// added adds a child's result to a frame's.
func (g *engine) added(f *frame, c *child) (sum Result, enough bool) {
	if g.informed != nil {
		return g.informed.Came(f.node, c.node, f.sum, c.result)
	}
	return combined(g.tree, f.sum, c.result), false
}

// ended tells the tree, if that wants to know.
func (g *engine) ended(n Node, r Result) {
	if g.informed != nil {
		g.informed.Ended(g.where(), n, r)
	}
}
