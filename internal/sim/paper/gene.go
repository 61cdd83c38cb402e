package paper

import (
	"math/rand/v2"
	"time"

	"github.com/satin-peer/satin/internal/sim"
)

// pairs is the tree of apps/gene's jobs, computed: queries and subjects are ranges of sequences with drawn lengths,
// each of 200 to 600 letters as with --generate Q,N,400, and are halved as Part.halve does it. What a job costs
// is in proportion to the letters of its queries times those of its subjects.
type pairs struct {
	queries, subjects []int64 // letters of all sequences before each, and of all
	leaf              int64   // pairs of letters that one job compares; a pair of sequences is never divided
	total             time.Duration
	flat              bool // the root spawns all leaves, as a master does for workers
}

// What was recorded of `gene --generate 64,128,400 --threshold 1`, a tree of 16,383 jobs in 1.8 s: sizes of arguments
// and of results for each query. An inner job computes some microseconds where a leaf takes 220: nothing.
const (
	geneArg     = 150
	geneHits    = 24 // bytes of a result for each query, and as much for the whole
	geneLetters = 400
)

// newPairs draws so many queries and subjects. More than 65,535 of either do not fit into a node.
func newPairs(queries, subjects int, leaf int64, total time.Duration) *pairs {
	rng := rand.New(rand.NewPCG(1, uint64(subjects)))
	draw := func(n int) []int64 {
		sums := make([]int64, n+1)
		for i := range n {
			sums[i+1] = sums[i] + geneLetters/2 + rng.Int64N(geneLetters)
		}
		return sums
	}
	return &pairs{queries: draw(queries), subjects: draw(subjects), leaf: leaf, total: total}
}

// span is a range of queries or subjects in one number.
func span(first, next int) int32 { return int32(uint32(first)<<16 | uint32(next)) }

func ends(s int32) (first, next int) { return int(uint32(s) >> 16), int(s & 0xffff) }

func (p *pairs) node(queries, subjects int32) sim.Node {
	key := uint64(uint32(queries))<<32 | uint64(uint32(subjects))
	key = (key ^ key>>31) * 0x9e3779b97f4a7c15
	return sim.Node{Key: key ^ key>>29, Size: queries, Form: subjects}
}

func (p *pairs) Root() sim.Node {
	return p.node(span(0, len(p.queries)-1), span(0, len(p.subjects)-1))
}

// letters are the pairs of letters of a part.
func (p *pairs) letters(n sim.Node) int64 {
	q0, q1 := ends(n.Size)
	s0, s1 := ends(n.Form)
	return (p.queries[q1] - p.queries[q0]) * (p.subjects[s1] - p.subjects[s0])
}

// halves divides a part that is too large for one job.
func (p *pairs) halves(n sim.Node) (one, two sim.Node, ok bool) {
	q0, q1 := ends(n.Size)
	s0, s1 := ends(n.Form)
	switch {
	case p.letters(n) <= p.leaf:
		return n, n, false
	case q1-q0 > 1:
		middle := (q0 + q1) / 2
		return p.node(span(q0, middle), n.Form), p.node(span(middle, q1), n.Form), true
	case s1-s0 > 1:
		middle := (s0 + s1) / 2
		return p.node(n.Size, span(s0, middle)), p.node(n.Size, span(middle, s1)), true
	}
	return n, n, false
}

func (p *pairs) Children(n sim.Node, buf []sim.Node) []sim.Node {
	if p.flat {
		if n == p.Root() {
			return p.leaves(n, buf)
		}
		return buf
	}
	if one, two, ok := p.halves(n); ok {
		buf = append(buf, one, two)
	}
	return buf
}

func (p *pairs) leaves(n sim.Node, buf []sim.Node) []sim.Node {
	one, two, ok := p.halves(n)
	if !ok {
		return append(buf, n)
	}
	return p.leaves(two, p.leaves(one, buf))
}

func (p *pairs) Cost(n sim.Node) int64 {
	if _, _, ok := p.halves(n); ok {
		return 0
	}
	return int64(float64(p.total) * (float64(p.letters(n)) / float64(p.letters(p.Root()))))
}

func (p *pairs) Any(sim.Node) bool     { return false }
func (p *pairs) Found(sim.Node) bool   { return false }
func (p *pairs) ArgBytes(sim.Node) int { return geneArg }
func (p *pairs) ResultBytes(n sim.Node) int {
	q0, q1 := ends(n.Size)
	return geneHits * (q1 - q0 + 1)
}

// bytes is the size of all sequences, which the jobs share.
func (p *pairs) bytes() int64 {
	return p.queries[len(p.queries)-1] + p.subjects[len(p.subjects)-1]
}

// counts are the jobs that are spawned, and the times that one waits for its own.
func (p *pairs) counts() (spawns, syncs int) {
	leaves := 0
	var walk func(sim.Node)
	walk = func(n sim.Node) {
		if one, two, ok := p.halves(n); ok {
			walk(one)
			walk(two)
			return
		}
		leaves++
	}
	walk(p.Root())
	if p.flat {
		return leaves, 1
	}
	return 2 * (leaves - 1), leaves - 1
}
