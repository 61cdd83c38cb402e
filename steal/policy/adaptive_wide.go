package policy

import (
	"math"
	"slices"
	"time"
)

// farCluster is what Adaptive remembers of another cluster besides its Link.
type farCluster struct {
	rich        float64 // how likely a steal from it is to bring a job, as of at
	at          time.Duration
	wins, fails uint64        // of Link, as far as they are in rich
	probeAt     time.Duration // when it may be measured again
}

const (
	// soonPoor is the weight of one steal in farCluster.rich, forgetPoor the time after which a cluster that
	// was poor gets the benefit of two thirds of the doubt.
	soonPoor   = 0.4
	leastRich  = 0.05 // a cluster is taken to have work as often as that
	forgetPoor = 2 * time.Second
)

// greet measures the way to every other cluster, once. A pioneer with nothing to do asks for work instead.
func (a *Adaptive) greet(v View, p *Plan, idle bool) {
	a.greeted = true
	clusters := a.otherClusters(v)
	if len(clusters) == 0 {
		return
	}
	_, me := neighbours(v)
	first := v.Rand().IntN(len(clusters))
	for k := range min(len(clusters), greetMost) {
		c := clusters[(first+k)%len(clusters)].ID
		if idle && me >= 0 && me < pioneers {
			a.ask(v, p, c)
		} else {
			a.probe(v, p, c)
		}
	}
}

// stealWide keeps one request to another cluster out, and measures those that are too far for one.
func (a *Adaptive) stealWide(v View, p *Plan) {
	clusters, flights := a.otherClusters(v), v.Flights()
	times := stealTimes(v, clusters)
	limit := a.tooFar(v, times)
	weights := make([]float64, len(clusters))
	for i, c := range clusters {
		f, t := a.remember(v, c.ID), times[i]
		switch {
		case waitsFor(v.Now(), flights, c.ID, limit):
			return
		case slices.ContainsFunc(flights, func(f Flight) bool { return f.Cluster == c.ID }):
		case t <= limit:
			weights[i] = square(f.richness(v.Now()) / orDefault(t, limit).Seconds())
		case v.Now() >= f.probeAt:
			a.probe(v, p, c.ID)
		default:
			p.Wake(min(f.probeAt, a.dryAt+t))
		}
	}
	if v.Now() < a.wideAt {
		p.Wake(a.wideAt)
		return
	}
	if i, ok := drawWeighted(v.Rand(), weights); ok {
		a.ask(v, p, clusters[i].ID)
		a.wideAt = v.Now() + jitter(v, min(backoffLeast<<min(a.fails, 10), a.longestPause(v, times)))
	}
}

// longestPause bounds the pause before the next request by what is lost if there is work meanwhile: little beside the
// time that workers have been idle already, or beside what steals take.
func (a *Adaptive) longestPause(v View, times []time.Duration) time.Duration {
	steals := backoffMost
	for _, t := range times {
		if t > 0 {
			steals = min(steals, backoffSteals*t)
		}
	}
	return min(backoffMost, max(steals, (v.Now()-a.dryAt)/backoffIdle))
}

// ask sends a wide-area request.
func (a *Adaptive) ask(v View, p *Plan, c ClusterID) {
	patience := time.Duration(0)
	if stealTime(v, c) == 0 {
		patience = blindPatience
	}
	if id, ok := RandomIn(v, c); ok {
		p.Steal(id, 1, patience)
	}
}

// waitsFor says whether a request to the cluster is out that may still be answered in time.
func waitsFor(now time.Duration, flights []Flight, c ClusterID, limit time.Duration) bool {
	return slices.ContainsFunc(flights, func(f Flight) bool {
		return f.Cluster == c && f.Max > 0 && now-f.Since < f.Patience+2*limit
	})
}

// probe measures the way to a cluster.
func (a *Adaptive) probe(v View, p *Plan, c ClusterID) {
	if id, ok := RandomIn(v, c); ok {
		a.remember(v, c).probeAt = v.Now() + jitter(v, max(probeLeast, probeFactor*stealTime(v, c)))
		p.Probe(id)
	}
}

// probeStrangers measures the ways to all clusters that have not been measured.
func (a *Adaptive) probeStrangers(v View, p *Plan) {
	a.strangers = false
	for _, c := range a.otherClusters(v) {
		if stealTime(v, c.ID) == 0 && v.Now() >= a.remember(v, c.ID).probeAt {
			a.probe(v, p, c.ID)
		}
	}
}

// tooFar is the time beyond which a cluster is not stolen from: as long as the workers have been idle, which
// is what was lost by waiting for a better one, and at first a few times what a job takes from the best cluster, the
// steals that bring nothing included: two near clusters without work would only beg from each other.
func (a *Adaptive) tooFar(v View, times []time.Duration) time.Duration {
	best, idle := time.Duration(0), time.Duration(0)
	for i, c := range a.otherClusters(v) {
		if t := times[i]; t > 0 {
			t = time.Duration(float64(t) / max(a.remember(v, c.ID).richness(v.Now()), leastRich))
			if best == 0 || t < best {
				best = t
			}
		}
	}
	if v.Idle() > 0 {
		idle = v.Now() - a.dryAt
	}
	return max(slowLeast, slowFactor*best, idle)
}

// stealTime is how long a steal from a cluster and the way home of its result take, by what is known; 0 if
// nothing is.
func stealTime(v View, c ClusterID) time.Duration {
	l := v.Link(c)
	if l.LastSteal == 0 {
		return 0
	}
	if rate := orDefault(l.BytesPerSecond, v.BestRate()); rate > 0 {
		return l.LastSteal + time.Duration(v.OutcomeBytes()/rate*float64(time.Second))
	}
	return l.LastSteal
}

// stealTimes are those of all these clusters.
func stealTimes(v View, clusters []ClusterSpan) []time.Duration {
	times := make([]time.Duration, len(clusters))
	for i := range clusters {
		times[i] = stealTime(v, clusters[i].ID)
	}
	return times
}

// remember finds the memory of a cluster and brings it up to date with the steals that have ended since.
func (a *Adaptive) remember(v View, c ClusterID) *farCluster {
	f := a.far[c]
	if f == nil {
		if a.far == nil {
			a.far = make(map[ClusterID]*farCluster)
		}
		f = &farCluster{rich: 1}
		a.far[c] = f
	}
	l := v.Link(c)
	for ; f.wins < l.Wins; f.wins++ {
		f.note(v.Now(), true)
		a.fails = 0
	}
	for ; f.fails < l.Fails; f.fails++ {
		f.note(v.Now(), false)
		a.fails++
	}
	return f
}

// note moves the estimate by one observation.
func (f *farCluster) note(now time.Duration, won bool) {
	target := 0.0
	if won {
		target = 1
	}
	f.rich += (target - f.rich) * soonPoor
	f.at = now
}

// richness is the estimate now: what was poor may have got work since.
func (f *farCluster) richness(now time.Duration) float64 {
	return 1 - (1-f.rich)*math.Exp(-float64(now-f.at)/float64(forgetPoor))
}

func square(x float64) float64 { return x * x }
