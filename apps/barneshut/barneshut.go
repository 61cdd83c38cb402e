// Package barneshut simulates how stars of a cluster move under each other's gravity, with the algorithm of Barnes
// and Hut: from far away a group of stars looks like one.
//
// The stars are in chunks of neighbours, and each step has a job for each chunk, which divides into smaller ones that
// compute forces: it moves the chunk's stars and makes their tree, so a step has nothing that only one peer can do.
//
// Three variants compute the same motion. In objects, each chunk is a shared object, which its job writes once a
// step: the jobs of the next step read the versions of all. In tree, a job carries the part of all trees that it
// needs. Both give the twin's result, to the last bit. In direct, no group is looked at from afar.
package barneshut

import (
	"math"
	"slices"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
)

func init() {
	satin.RegisterObject("stars", replace) // a short name: each of a job's handles has it
	satin.Register("barneshut.simulate", simulate, satin.Rounded(),
		satin.Small(apps.Instance[Problem](setup, "--steps", "1", "2500")))
	satin.Register("barneshut.draw", drawn, satin.Rounded())
	satin.Register("barneshut.begin", begin, satin.Rounded())
	satin.Register("barneshut.step", step, satin.Rounded())
	satin.Register("barneshut.shared", shared, satin.Rounded())
	satin.Register("barneshut.far", far, satin.Rounded())
	satin.Register("barneshut.carried", carried, satin.Rounded())
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
	Threshold int // most bodies whose forces are one job
}

func (p *Problem) law() Law {
	law := p.Law
	law.Direct = p.Variant == byDirect
	return law
}

// Result is the bodies at the end, by chunks, and what is known of the way there.
type Result struct {
	Chunk    [chunks]Chunk
	Motion   [chunks]Motion
	Energy   [2]float64 // at the first and at the last computation of forces
	Momentum [2]float64
}

// bodies are all, by number. If some are missing they are at nowhere: see check.
func (r Result) bodies(n int) []Body {
	all := make([]Body, n)
	for i := range all {
		all[i].At[0] = math.NaN()
	}
	for c := range r.Chunk {
		for _, b := range r.Chunk[c].appendTo(nil, &r.Motion[c]) {
			if b.Number >= 0 && int(b.Number) < n {
				all[b.Number] = b
			}
		}
	}
	return all
}

// simulate is the root job. Each step waits for the one before.
func simulate(f *satin.Frame, p Problem) Result {
	if p.Variant == byTree {
		return p.run(&carrying{alone: alone{Problem: &p}, f: f})
	}
	return p.run(&sharing{alone: alone{Problem: &p}, f: f})
}

// replace is the global method of a chunk: what is written is all that there is to it.
func replace(_, written Chunk) Chunk { return written }

// Sky is all chunks at a moment.
type Sky struct {
	Chunk [chunks]satin.Object[Chunk, Chunk]
}

// trees are those of all chunks.
func (s *Sky) trees(f *satin.Frame) []*Tree {
	all := make([]*Tree, chunks)
	for c := range all {
		all[c] = s.Chunk[c].Read(f).tree
	}
	return all
}

// Start is the argument of a job that draws the bodies of a chunk.
type Start struct {
	Problem Problem
	Chunk   int
	All     Drift
}

// drawn says how the bodies of a chunk drift.
func drawn(_ *satin.Frame, s Start) Drift { return drift(s.Problem.plummer(s.Chunk)) }

// Moved is a chunk after a step. A new version of it if others need it, or the places themselves.
type Moved struct {
	Shared satin.Object[Chunk, Chunk]
	Chunk  Chunk
	Motion Motion
	Sum    Sum
}

// begin makes a chunk that others can read.
func begin(f *satin.Frame, s Start) (m Moved) {
	m.Chunk, m.Motion = s.Problem.begin(s.Chunk, s.All)
	if s.Problem.Variant != byTree {
		m.Shared, m.Chunk = satin.Share(f, replace, m.Chunk), Chunk{}
	}
	return m
}

// Step is the argument of a job that moves a chunk. What it needs of the others is in Sky or, of the variant tree,
// Near.
type Step struct {
	Motion      Motion
	Law         Law
	Threshold   int
	Leaf        int
	Time        float64
	Chunk       int
	First, Last bool
}

// Shared is a Step whose chunks are shared.
type Shared struct {
	Step Step
	Sky  Sky
}

// step moves a chunk, whose new version it writes unless that was the last step.
func step(f *satin.Frame, s Shared) (m Moved) {
	own := s.Sky.Chunk[s.Step.Chunk]
	now := own.Read(f)
	if now.empty() {
		m.Shared, m.Motion = own, s.Step.Motion
		return m
	}
	pulls := slices.Concat(shared(f, Span{s.Sky, s.Step.Chunk, 0, s.Step.Law, s.Step.Threshold})...)
	m.Chunk, m.Motion, m.Sum = now.step(&s.Step.Motion, pulls, s.Step.Time, s.Step.First, s.Step.Leaf)
	if !s.Step.Last {
		m.Shared, m.Chunk = own.Write(f, m.Chunk), Chunk{}
	}
	return m
}

// Span is a job that computes the forces on the bodies of a cell of a chunk.
type Span struct {
	Sky       Sky
	Chunk     int
	Cell      int32
	Law       Law
	Threshold int
}

// shared computes the forces on the bodies of a cell, in their order and in pieces: to copy them at each level would
// take longer.
func shared(f *satin.Frame, s Span) []Forces {
	own := s.Sky.Chunk[s.Chunk].Read(f)
	if !own.tree.split(s.Cell, s.Threshold) {
		return []Forces{forces(s.Sky.trees(f), s.Chunk, s.Cell, s.Law)}
	}
	return gather(f, shared, func(cell int32) Span {
		part := s
		part.Cell = cell
		return part
	}, own.tree, s.Cell)
}

// split says whether the forces on the bodies of a cell are more than one job.
func (t *Tree) split(cell int32, threshold int) bool {
	return int(t.Cells[cell].Count) > threshold && t.divided(cell)
}

// gather spawns a job for each cell in a cell.
func gather[A any](f *satin.Frame, fn func(*satin.Frame, A) []Forces, part func(int32) A, t *Tree,
	cell int32) []Forces {
	var asked [1 << generations]satin.Future[A, []Forces]
	var found [1 << generations][]Forces
	n := 0
	for c := cell + 1; c < t.Cells[cell].Next; c = t.Cells[c].Next {
		asked[n] = satin.Spawn(f, fn, part(c))
		n++
	}
	for i := n - 1; i >= 0; i-- { // the newest first, which is cheapest
		found[i] = asked[i].Get()
	}
	return slices.Concat(found[:n]...)
}
