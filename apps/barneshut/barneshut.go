// Package barneshut simulates how stars of a cluster move under each other's gravity, with the algorithm of Barnes
// and Hut: from far away a group of stars looks like one.
//
// The stars are in chunks of neighbours, and these in regions. Each step has a job for each region, with one for each
// chunk, which divides into smaller ones that compute forces: it moves the chunk's stars and makes their tree, so a
// step has nothing that only one peer can do.
//
// Three variants compute the same motion. In objects, each region is a shared object, which its job writes once a
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
	satin.Register("barneshut.beginRegion", beginRegion, satin.Rounded())
	satin.Register("barneshut.begin", begin, satin.Rounded())
	satin.Register("barneshut.region", region, satin.Rounded())
	satin.Register("barneshut.step", step, satin.Rounded())
	satin.Register("barneshut.order", ordered, satin.Rounded())
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

// mass is a body's.
func (p *Problem) mass() float64 { return 1 / float64(p.Bodies) }

func (p *Problem) law() Law {
	law := p.Law
	law.Direct = p.Variant == byDirect
	return law
}

// Result is the bodies at the end, by chunks, and what is known of the way there.
type Result struct {
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
	for c := range r.Motion {
		for _, b := range r.Motion[c].appendTo(nil) {
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

// Region is chunks that others get together. One object a region, and not one a chunk, makes jobs small, since each
// names all that there is.
type Region [perRegion]Chunk

// replace is the global method of a region: what is written is all that there is to it.
func replace(_, written Region) Region { return written }

// Sky is all stars at a moment.
type Sky struct {
	Region [regions]satin.Object[Region, Region]
}

// chunks are all that there are. Each job of forces asks for them, so they are copied region by region.
func (s *Sky) chunks(f *satin.Frame) (all [chunks]Chunk) {
	for i := range s.Region {
		r := s.Region[i].Read(f)
		copy(all[i*perRegion:], r[:])
	}
	return all
}

// Start is the argument of a job that draws the bodies of a chunk, or of the region that begins with it.
type Start struct {
	Problem Problem
	Chunk   int
}

// of is the argument for a chunk of the region.
func (s Start) of(c int) Start {
	s.Chunk += c
	return s
}

// Moved is a chunk after a step.
type Moved struct {
	Chunk  Chunk
	Motion Motion
	Sum    Sum
}

// MovedRegion is a region after a step: a new version of it or the places themselves, if others need them.
type MovedRegion struct {
	Shared satin.Object[Region, Region]
	Region Region
	Motion [perRegion]Motion
	Sum    [perRegion]Sum
}

// take has what became of a chunk.
func (r *MovedRegion) take(c int, m Moved) {
	r.Region[c], r.Motion[c], r.Sum[c] = m.Chunk, m.Motion, m.Sum
}

// beginRegion makes chunks, which others can read.
func beginRegion(f *satin.Frame, s Start) (r MovedRegion) {
	each(f, perRegion, begin, s.of, r.take)
	if s.Problem.Variant != byTree {
		r.Shared, r.Region = satin.Share(f, replace, r.Region), Region{}
	}
	return r
}

// begin makes a chunk.
func begin(_ *satin.Frame, s Start) Moved { return s.Problem.begin(s.Chunk) }

// Step is what a job needs that moves a chunk, beside the places.
type Step struct {
	Motion    Motion
	Mass      float64
	Law       Law
	Threshold int
	Leaf      int
	Time      float64
	Chunk     int
	First     *Drift // in the first step
	Last      bool
}

// RegionStep is the argument of a job that moves a region: Step is that of its first chunk.
type RegionStep struct {
	Step   Step
	Motion [perRegion]Motion
	Sky    Sky
}

// region moves a region, whose new version it writes unless that was the last step.
func region(f *satin.Frame, s RegionStep) (r MovedRegion) {
	each(f, perRegion, step, func(c int) Shared {
		one := s.Step
		one.Motion, one.Chunk = s.Motion[c], one.Chunk+c
		return Shared{one, s.Sky}
	}, r.take)
	if !s.Step.Last {
		r.Shared = s.Sky.Region[s.Step.Chunk/perRegion].Write(f, r.Region)
	}
	r.Region = Region{}
	return r
}

// Shared is a Step whose places are shared.
type Shared struct {
	Step Step
	Sky  Sky
}

// step moves a chunk.
func step(f *satin.Frame, s Shared) Moved {
	stars := s.Step.Motion.stars()
	if stars == 0 {
		return s.Step.move(nil, nil)
	}
	pulls := satin.Spawn(f, shared, Span{s.Sky, s.Step.Chunk, 0, stars, s.Step.Law, s.Step.Threshold})
	// The newest job is the next one here: nothing waits for the order when the last forces have come.
	order := satin.Spawn(f, ordered, Order{s.Step.Motion, s.Step.Time, s.Step.Leaf})
	in := order.Get()
	return s.Step.move(in, slices.Concat(pulls.Get()...))
}

// Order is the argument of a job that finds an order for the bodies of a chunk.
type Order struct {
	Motion Motion
	Time   float64
	Leaf   int
}

func ordered(_ *satin.Frame, o Order) []int32 { return o.Motion.expected(o.Time, o.Leaf) }

// Span is a job that computes the forces on neighbours in a chunk. It is divided as boxes are, down to single bodies if
// that is the threshold: whoever waits for the last forces of a step waits for a body's then, and not for a leaf's.
type Span struct {
	Sky          Sky
	Chunk        int
	First, Count int32 // bodies
	Law          Law
	Threshold    int
}

// shared computes the forces on the bodies of a span, in their order and in pieces: to copy them at each level would
// take longer.
func shared(f *satin.Frame, s Span) []Forces {
	if int(s.Count) <= s.Threshold {
		all := s.Sky.chunks(f)
		return []Forces{forces(all[:], s.Chunk, s.First, s.Count, s.Law)}
	}
	var in [1 << generations]piece
	parts := piece{s.First, s.Count}.divide(in[:0], s.Threshold, generations)
	return gather(f, shared, len(parts), func(i int) Span {
		part := s
		part.First, part.Count = parts[i].first, parts[i].count
		return part
	})
}

// piece is neighbours in a chunk.
type piece struct{ first, count int32 }

// divide appends halves of halves.
func (p piece) divide(all []piece, threshold, times int) []piece {
	if times == 0 || int(p.count) <= threshold {
		return append(all, p)
	}
	half := p.count / 2
	all = piece{p.first, half}.divide(all, threshold, times-1)
	return piece{p.first + half, p.count - half}.divide(all, threshold, times-1)
}

// gather spawns a job for each of some parts, at most 1 << generations.
func gather[A any](f *satin.Frame, fn func(*satin.Frame, A) []Forces, parts int, part func(i int) A) []Forces {
	var asked [1 << generations]satin.Future[A, []Forces]
	var found [1 << generations][]Forces
	for i := range parts {
		asked[i] = satin.Spawn(f, fn, part(i))
	}
	for i := parts - 1; i >= 0; i-- { // the newest first, which is cheapest
		found[i] = asked[i].Get()
	}
	return slices.Concat(found[:parts]...)
}
