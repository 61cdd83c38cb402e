package policy

import "time"

// InverseTime is ACRS (CRS paper, 3.6): CRS, but the cluster to steal from is drawn with a chance in inverse
// proportion to the time that the most recent steal request to it took,
//
//	chance_c = (1/t_c) / sum_i (1/t_i)          (equation 2)
//
// so that the same amount of time is spent on requests to each cluster. Inside the cluster each peer has the
// same chance. Published, it does much better than CRS where links differ by two orders of magnitude (Table
// III: 30.2 against 19.9 in scenario 10); our simulator does not show that, see
// docs/results/sim-scenarios.md. t_c is the time of a request: what the result will cost on the way back does
// not count, and a slow link is used as soon as it has been quiet for a moment.
//
// The paper does not say what the chance of a cluster is that was never asked; here it counts as the fastest one.
type InverseTime struct{}

// Name is "acrs".
func (InverseTime) Name() string { return "acrs" }

// Plan is CRS's with another draw.
func (InverseTime) Plan(v View, p *Plan) {
	if v.Idle() == 0 {
		return
	}
	if _, wide := v.InFlight(); wide == 0 {
		if victim, ok := drawByTime(v); ok {
			p.Steal(victim, 1, 0)
		}
	}
	stealLocally(v, p)
}

// Give gives one job to whoever asks.
func (InverseTime) Give(View, Ask) int { return 1 }

// drawByTime draws a cluster by equation 2 and a peer in it.
func drawByTime(v View) (PeerID, bool) {
	clusters := otherClusters(v)
	weights := make([]float64, len(clusters))
	for i, c := range clusters {
		weights[i] = inverse(v.Link(c.ID).LastSteal)
	}
	i, ok := drawWeighted(v.Rand(), fillUnknown(weights))
	if !ok {
		return "", false
	}
	return RandomIn(v, clusters[i].ID)
}

// inverse is 1/t per second, 0 for an unknown time.
func inverse(t time.Duration) float64 {
	if t <= 0 {
		return 0
	}
	return 1 / t.Seconds()
}

// fillUnknown gives zero weights the largest one, or 1 if all are zero.
func fillUnknown(weights []float64) []float64 {
	best := 0.0
	for _, w := range weights {
		best = max(best, w)
	}
	if best == 0 {
		best = 1
	}
	for i, w := range weights {
		if w == 0 {
			weights[i] = best
		}
	}
	return weights
}

// drawWeighted draws an index with a chance in proportion to its weight; false if all weights are zero.
func drawWeighted(r Rand, weights []float64) (int, bool) {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	if sum <= 0 {
		return 0, false
	}
	x := r.Float64() * sum
	last := 0
	for i, w := range weights {
		if w <= 0 {
			continue
		}
		if last = i; x < w {
			break
		}
		x -= w
	}
	return last, true
}
