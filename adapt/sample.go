package adapt

import (
	"cmp"
	"slices"
	"time"
)

// PeerID and ClusterID are compared and nothing else.
type (
	PeerID    string
	ClusterID string
)

// A Sample is what one peer says of itself in one period.
type Sample struct {
	Peer PeerID
	// For is how long it has measured: a peer that came in the middle of the period has little to say.
	For time.Duration
	// Cores is how many the run might use there, on average.
	Cores float64
	// Overhead is "the fraction of time" that these spent "being idle or communicating": 0 to 1.
	Overhead float64
	// Wide is the part of the time in which something between this cluster and another was late, no more than
	// Overhead: a slow link does no harm to who has enough to do.
	Wide float64
	// Speed of one core, as measured by running the same work everywhere; in any unit that all peers share. 0 is
	// not known.
	Speed float64
	// Share is the part of its cores that the machine's owner has left to the run: 0 to 1; 0 is not known.
	Share float64
	// Rate is the best bandwidth that it has seen to another cluster, in bytes a second; 0: it has seen none.
	Rate float64
}

// sound says whether a sample can be of anybody.
func (s *Sample) sound() bool {
	part := func(x float64) bool { return x >= 0 && x <= 1 }
	return part(s.Overhead) && part(s.Wide) && s.Wide <= s.Overhead && part(s.Share) && s.For > 0 &&
		s.Cores > 0 && s.Cores <= 1<<16 && s.Speed >= 0 && s.Speed <= maxSpeed && s.Rate >= 0 && s.Rate <= maxRate
}

const (
	maxSpeed = 1e12
	maxRate  = 1e15
	// fullShare is the part of a period that a sample must be of to count.
	fullShare = 0.8
)

// measured is a member with its sample, its speed being relative to the fastest.
type measured struct {
	Member
	cores, speed, overhead, wide, rate float64
	badness                            float64
}

// measure joins members and their samples, in the order of their IDs. Members without a sample that counts are left
// out.
func measure(cfg *Config, members []Member, samples []Sample) []measured {
	by := make(map[PeerID]*Sample, len(samples))
	for i := range samples {
		s := &samples[i]
		if s.sound() && s.For.Seconds() >= fullShare*cfg.Period.Seconds() && by[s.Peer] == nil {
			by[s.Peer] = s
		}
	}
	known, fastest := 0.0, 0.0 // the best speed that was measured, and what the owners leave of it
	for _, s := range by {
		known = max(known, s.Speed)
	}
	all := make([]measured, 0, len(members))
	for _, m := range members {
		s := by[m.Peer]
		if s == nil {
			continue
		}
		x := measured{Member: m, cores: s.Cores, speed: s.Speed, overhead: s.Overhead, wide: s.Wide, rate: s.Rate}
		if x.speed == 0 { // nothing speaks against it
			x.speed = max(known, 1)
		}
		if s.Share > 0 {
			x.speed *= s.Share
		}
		fastest = max(fastest, x.speed)
		all = append(all, x)
	}
	for i := range all {
		all[i].speed /= fastest
	}
	slices.SortFunc(all, func(a, b measured) int { return cmp.Compare(a.Peer, b.Peer) })
	return all
}

// efficiency is the paper's weighted average: (1/n) sum speed_i (1 - overhead_i), each core being a processor.
func efficiency(all []measured) float64 {
	sum, n := 0.0, 0.0
	for i := range all {
		m := &all[i]
		sum += float64(m.cores * m.speed * (1 - m.overhead)) // the conversion keeps machines from fusing
		n += m.cores
	}
	if n == 0 {
		return 0
	}
	return sum / n
}

// median of some numbers; 0 of none.
func median(of []float64) float64 {
	if len(of) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(of))
	n := len(sorted)
	return (sorted[n/2] + sorted[(n-1)/2]) / 2
}

// judge gives every peer its badness.
func judge(cfg *Config, all []measured, worst ClusterID) {
	for i := range all {
		m := &all[i]
		m.badness = float64(cfg.SlowWeight/max(m.speed, 1e-9)) + float64(cfg.LinkWeight*m.wide)
		if m.Cluster == worst {
			m.badness += cfg.WorstWeight
		}
	}
}
