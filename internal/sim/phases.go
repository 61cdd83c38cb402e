package sim

import "time"

// Phased is a tree in which a job may spawn again when all that it has spawned has come home: a program that goes
// on in steps, each of which needs the one before.
type Phased interface {
	Tree
	// Next appends the jobs that an inner node spawns in its next phase, from 1 on; Children gives phase 0. None: it
	// has ended. An Any node has one phase.
	Next(n Node, phase int, buf []Node) []Node
}

// Writing is a tree of jobs of which some, when they end, change what all jobs read. How that gets to the other peers
// is not simulated (for that there is Config.Share), only what it costs them.
type Writing interface {
	Tree
	// Writes is the processor time that another peer takes to have the new version where its jobs can read it, 0 if
	// the inner node writes nothing. Idle workers do that, or else the first jobs that read it.
	Writes(n Node) time.Duration
	// Step is which step of the program a node belongs to. It reads what was written in all before.
	Step(n Node) int
}

// Steps is a program of many steps, as a simulation of bodies that attract each other: in each there is something that
// only one processor can do, and then a tree that all divide among themselves.
type Steps struct {
	Name   string
	Count  int           // steps, at least 1
	Serial time.Duration // of each step
	Body   Split         // of each step: Total, Size and the like are of one
}

// phasesOfStep are the phases of one step of Steps.
const phasesOfStep = 2

// What Node.Form says of a node of Steps that is not in a body.
const (
	formProgram = -1
	formSerial  = -2
)

// Root is the program.
func (s *Steps) Root() Node { return Node{Key: mix(s.Body.Seed ^ 0x7374657073), Form: formProgram} }

// Children of the program are the first step's serial part, and of the nodes of a body those of Split.
func (s *Steps) Children(n Node, buf []Node) []Node {
	switch n.Form {
	case formProgram:
		return s.Next(n, 0, buf)
	case formSerial:
		return buf
	}
	return s.Body.Children(n, buf)
}

// Next is a serial part, then a body, for each step.
func (s *Steps) Next(n Node, phase int, buf []Node) []Node {
	if n.Form != formProgram || phase >= phasesOfStep*s.Count {
		return buf
	}
	key := childKey(n.Key, phase)
	if phase%phasesOfStep == 0 {
		return append(buf, Node{Key: key, Work: int64(s.Serial), Form: formSerial})
	}
	return append(buf, Node{Key: key, Work: int64(s.Body.Total), Size: s.Body.Size})
}

// Cost is the whole work of a leaf.
func (s *Steps) Cost(n Node) int64 {
	switch n.Form {
	case formProgram:
		return 0
	case formSerial:
		return n.Work
	}
	return s.Body.Cost(n)
}

// Any is false: every result is wanted.
func (s *Steps) Any(Node) bool { return false }

// Found is false.
func (s *Steps) Found(Node) bool { return false }

// ArgBytes is that of the bodies' jobs.
func (s *Steps) ArgBytes(n Node) int { return s.Body.ArgBytes(n) }

// ResultBytes grows with the part of the step.
func (s *Steps) ResultBytes(n Node) int { return s.Body.ResultBytes(n) }

// nextPhase spawns what a frame spawns when all its children have come home; false if it is done.
func (g *engine) nextPhase(at int32) bool {
	f := &g.frames[at]
	switch {
	case g.informed != nil:
		g.children = g.informed.Next(f.node, f.job, int(f.phase)+1, f.sum, g.children[:0])
	case g.phased != nil:
		g.children = g.phased.Next(f.node, int(f.phase)+1, g.children[:0])
	default:
		return false
	}
	if len(g.children) == 0 {
		return false
	}
	f.phase++
	version := f.version + f.phase
	if g.writing != nil {
		version = int32(g.writing.Step(g.children[0]))
	}
	if version > f.version {
		g.sharing.writes(version)
	}
	f.pending = int32(len(g.children))
	for i := range g.children {
		f.spawned++
		g.queue.pushNewest(entry{node: g.children[i], place: place{parent: at, index: f.spawned}, again: f.again,
			deeper: f.deeper, version: version})
	}
	g.books.spawned += uint64(len(g.children))
	return true
}
