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
	// Overhead: a slow link does no harm to whoever has enough to do.
	Wide float64
	// Speed of one core in the period, as measured by running the same work everywhere, in any unit that all peers
	// share; what others have of the machine counts. 0 is not known.
	Speed float64
	// Rate is the best bandwidth that it has seen to another cluster, in bytes a second; 0: it has seen none.
	Rate float64
}

// sound says whether a sample can be of anybody.
func (s *Sample) sound() bool {
	part := func(x float64) bool { return x >= 0 && x <= 1 }
	return part(s.Overhead) && part(s.Wide) && s.Wide <= s.Overhead && s.For > 0 &&
		s.Cores > 0 && s.Cores <= 1<<16 && s.Speed >= 0 && s.Speed <= maxSpeed && s.Rate >= 0 && s.Rate <= maxRate
}

const (
	maxSpeed = 1e12
	maxRate  = 1e15
	// mostCores is how many times the median of all members' cores anybody counts for.
	mostCores = 8
)

// measured is a member with its sample, its speed being relative to the fastest, 1 at most.
type measured struct {
	Member
	cores, speed, overhead, wide, rate float64
	known                              bool // its speed was measured
	badness                            float64
}

// measure joins members and their samples, in the order of their IDs. Members without a sample that counts are left
// out.
func measure(cfg *Config, members []Member, samples []Sample) []measured {
	by := make(map[PeerID]*Sample, len(samples))
	for i := range samples {
		s := &samples[i]
		if s.sound() && s.For.Seconds() >= cfg.FullShare*cfg.Period.Seconds() && by[s.Peer] == nil {
			by[s.Peer] = s
		}
	}
	most, fastest := bounds(members, by)
	all := make([]measured, 0, len(members))
	for _, m := range members {
		s := by[m.Peer]
		if s == nil {
			continue
		}
		x := measured{Member: m, cores: min(s.Cores, most), speed: 1, overhead: s.Overhead, wide: s.Wide, rate: s.Rate}
		if x.known = s.Speed > 0; x.known { // else nothing speaks against it
			x.speed = min(s.Speed/fastest, 1)
		}
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b measured) int { return cmp.Compare(a.Peer, b.Peer) })
	return all
}

// bounds keep what one member says of itself from making nothing of the others: nobody counts for more than mostCores
// times the median of their cores, and of three speeds or more all are relative to the second best.
func bounds(members []Member, by map[PeerID]*Sample) (cores, fastest float64) {
	var all, speeds []float64
	for _, m := range members {
		s := by[m.Peer]
		if s == nil {
			continue
		}
		if all = append(all, s.Cores); s.Speed > 0 {
			speeds = append(speeds, s.Speed)
		}
	}
	usual, _ := middle(all)
	slices.Sort(speeds)
	switch n := len(speeds); {
	case n > 2:
		fastest = speeds[n-2]
	case n > 0:
		fastest = speeds[n-1]
	}
	return mostCores * usual, fastest
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

// slowest is the speed below which a volunteer is far too slow: so many times slower than the median of those that
// are known.
func slowest(cfg *Config, all []measured) float64 {
	var speeds []float64
	for i := range all {
		if all[i].known {
			speeds = append(speeds, all[i].speed)
		}
	}
	usual, _ := middle(speeds)
	return usual / cfg.SlowFactor
}

// middle gives the medians of some numbers, the lower and the upper, as their mean is whatever one member says that
// makes up one of two; 0 of none.
func middle(of []float64) (low, high float64) {
	n := len(of)
	if n == 0 {
		return 0, 0
	}
	sorted := slices.Sorted(slices.Values(of))
	return sorted[(n-1)/2], sorted[n/2]
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
