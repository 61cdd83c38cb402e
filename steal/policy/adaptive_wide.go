package policy

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"
)

// farCluster is what Adaptive remembers of another cluster besides its Link.
type farCluster struct {
	id          ClusterID
	rich        float64 // how likely a steal from it is to bring a job, as of at
	at          time.Duration
	wins, fails uint64        // of Link, as far as they are in rich
	probeAt     time.Duration // when it may be measured again
	// asked is who was sent the last request there, and giver who has answered one with a job, and none since in vain.
	asked, giver PeerID

	// As of the last refresh: how long a steal from it and the way home of its result take, 0 if that is not known,
	// and how likely it is to bring a job.
	steal  time.Duration
	likely float64
}

const (
	// soonPoor is the weight of one steal in farCluster.rich, forgetPoor the time after which a cluster that
	// was poor gets the benefit of two thirds of the doubt.
	soonPoor   = 0.4
	leastRich  = 0.05 // a cluster is taken to have work as often as that
	forgetPoor = 2 * time.Second
	// poor is how likely a steal is to bring a job where there is probably none.
	poor = 0.5
)

// greet measures the way to every other cluster, once. A pioneer with nothing to do asks for work instead.
func (a *Adaptive) greet(v View, p *Plan, idle bool) {
	a.greeted = true
	if len(a.others) == 0 {
		return
	}
	a.survey(v)
	_, me := neighbours(v)
	first := v.Rand().IntN(len(a.others))
	for k := range min(len(a.others), greetMost) {
		f := a.others[(first+k)%len(a.others)]
		if idle && me >= 0 && me < pioneers {
			a.ask(v, p, f, 0)
		} else {
			a.probe(v, p, f)
		}
	}
}

// stealWide keeps one request to another cluster out, besides those that wait at quick ones, and measures those that
// are too far for one.
func (a *Adaptive) stealWide(v View, p *Plan) {
	flights := v.Flights()
	if waitsFor(v.Now(), flights, slowLeast) {
		return // whatever the limit is: while a request is out nothing is looked at that grows with the clusters
	}
	limit := a.survey(v)
	if waitsFor(v.Now(), flights, limit) {
		return
	}
	// A way that is not known is taken to be as short as any, or a cluster that joins would not be asked.
	near := min(limit, cmp.Or(a.nearest(), limit))
	weights := make([]float64, len(a.others))
	for i, f := range a.others {
		switch {
		case slices.ContainsFunc(flights, func(x Flight) bool { return x.Cluster == f.id && !x.waits() }):
		case f.steal <= limit:
			weights[i] = square(f.likely / cmp.Or(f.steal, near).Seconds())
		case v.Now() >= f.probeAt:
			a.probe(v, p, f)
		default:
			p.Wake(min(f.probeAt, a.dryAt+f.steal))
		}
	}
	if v.Now() < a.wideAt {
		p.Wake(a.wideAt)
		return
	}
	if i, ok := a.draw(v, p, weights); ok {
		if giving := a.giving(v, weights); giving != nil && (a.others[i] == giving || a.others[i].likely < poor) {
			giving.request(p, giving.giver, 0)
			return
		}
		pause := min(backoffLeast<<min(a.fails, 10), a.longestPause(v))
		waits := a.askSome(v, p, a.others[i], weights, pause)
		a.wideAt = v.Now() + jitter(v, pause)
		if waits {
			p.Wake(a.wideAt)
		}
	}
}

// giving is, after a steal that brought nothing, the nearest cluster that may be asked in which somebody has given a
// job, and said that there are more. It is asked where it was drawn, or one that has probably nothing: at the end of a
// run, or where one job has many small children, all that is left may be with one peer. With GridLab's four sites the
// others were idle for a twentieth of the ray tracer's time: they drew the nearest site, and in the right one three of
// four had nothing. Far away it would lose: where ways take 20 to 200 ms (scenario 5) a hundredth of the time, as ever
// smaller jobs cross them.
func (a *Adaptive) giving(v View, weights []float64) (best *farCluster) {
	if a.fails == 0 {
		return nil
	}
	for i, f := range a.others {
		if f.giver != "" && weights[i] > 0 && f.steal > 0 && max(f.steal, v.Link(f.id).RTT) < nearSteal &&
			(best == nil || f.steal < best.steal) && v.Usable(f.giver) && v.Peer(f.giver).Queued > 0 {
			best = f
		}
	}
	return best
}

// draw draws a cluster to ask. One that has not been measured is measured instead, and another is drawn: a request to
// it would wait there until it has been, and keep all others from being sent meanwhile. With 64 clusters, of which a
// peer measures a fourth when it begins, a minute's work took 4 % longer.
func (a *Adaptive) draw(v View, p *Plan, weights []float64) (i int, ok bool) {
	i, ok = drawWeighted(v.Rand(), weights)
	if !ok || a.others[i].steal > 0 || a.nearest() == 0 {
		return i, ok
	}
	if f := a.others[i]; v.Now() >= f.probeAt {
		a.probe(v, p, f)
	}
	for k, f := range a.others {
		if f.steal == 0 {
			weights[k] = 0
		}
	}
	return drawWeighted(v.Rand(), weights)
}

// askSome asks the cluster that was drawn. After requests that brought nothing, those to quick clusters wait at the
// victim, which it says, and one more of them is asked. A slow cluster is not drawn more often because the quick ones
// are asked already.
func (a *Adaptive) askSome(v View, p *Plan, drawn *farCluster, weights []float64, pause time.Duration) (waits bool) {
	patience := time.Duration(0)
	if waits = drawn.quick() && a.fails > 0; waits {
		patience = min(quickPauses*pause, quickPatience)
	}
	asked := func(f *farCluster) bool {
		return slices.ContainsFunc(v.Flights(), func(x Flight) bool { return x.Cluster == f.id && x.waits() })
	}
	if !asked(drawn) {
		a.ask(v, p, drawn, patience)
	}
	if !waits {
		return false
	}
	for i, f := range a.others {
		if f == drawn || !f.quick() || asked(f) {
			weights[i] = 0
		}
	}
	if i, ok := drawWeighted(v.Rand(), weights); ok {
		a.ask(v, p, a.others[i], patience)
	}
	return true
}

// longestPause bounds the pause before the next request by what is lost if there is work meanwhile: little beside the
// time that workers have been idle already, or beside what steals take.
func (a *Adaptive) longestPause(v View) time.Duration {
	steals := backoffMost * time.Duration(min(a.peers, manyPeers)) / manyPeers
	if near := a.nearest(); near > 0 {
		steals = min(steals, backoffSteals*near)
	}
	return min(backoffMost, max(steals, (v.Now()-a.dryAt)/backoffIdle))
}

// nearest is the shortest time of a steal from another cluster; 0 if none is known.
func (a *Adaptive) nearest() (least time.Duration) {
	for _, f := range a.others {
		if f.steal > 0 && (least == 0 || f.steal < least) {
			least = f.steal
		}
	}
	return least
}

// ask sends a wide-area request. One to a cluster that has not been measured waits until it has.
func (a *Adaptive) ask(v View, p *Plan, f *farCluster, patience time.Duration) {
	if f.steal == 0 {
		patience = blindPatience
	}
	if id, ok := RandomIn(v, f.id); ok {
		f.request(p, id, patience)
	}
}

// request asks one of its peers for a job.
func (f *farCluster) request(p *Plan, id PeerID, patience time.Duration) {
	p.Steal(id, 1, patience)
	f.asked = id
}

// quick says whether requests may wait there: a job that comes from it when it is not needed any more has cost little.
func (f *farCluster) quick() bool { return 0 < f.steal && f.steal < quickMost }

// waitsFor says whether a request to another cluster is out that may still be answered in time, other than those that
// wait at quick ones.
func waitsFor(now time.Duration, flights []Flight, limit time.Duration) bool {
	return slices.ContainsFunc(flights, func(f Flight) bool {
		return f.Wide && f.Max > 0 && !f.waits() && now-f.Since < f.Patience+2*limit
	})
}

// waits says whether a request waits at a victim the way to which is known.
func (f *Flight) waits() bool { return 0 < f.Patience && f.Patience <= quickPatience }

// probe measures the way to a cluster.
func (a *Adaptive) probe(v View, p *Plan, f *farCluster) {
	if id, ok := RandomIn(v, f.id); ok {
		f.probeAt = v.Now() + jitter(v, max(probeLeast, probeFactor*f.steal))
		p.Probe(id)
	}
}

// probeStrangers measures the ways to all clusters that have not been measured.
func (a *Adaptive) probeStrangers(v View, p *Plan) {
	a.strangers = false
	a.survey(v)
	for _, f := range a.others {
		if f.steal == 0 && v.Now() >= f.probeAt {
			a.probe(v, p, f)
		}
	}
}

// survey refreshes what is remembered of all clusters, and returns the time beyond which one is not stolen from: as
// long as the workers have been idle, which is what was lost by waiting for a better one, and at first a few times what
// a job takes from the best cluster, the steals that bring nothing included: two near clusters without work would only
// beg from each other.
func (a *Adaptive) survey(v View) (tooFar time.Duration) {
	best, idle := time.Duration(0), time.Duration(0)
	for _, f := range a.others {
		a.refresh(v, f)
		if f.steal > 0 {
			if t := time.Duration(float64(f.steal) / max(f.likely, leastRich)); best == 0 || t < best {
				best = t
			}
		}
	}
	if v.Idle() > 0 {
		idle = v.Now() - a.dryAt
	}
	return max(slowLeast, slowFactor*best, idle)
}

// remember finds the memory of a cluster, or begins one.
func (a *Adaptive) remember(id ClusterID) *farCluster {
	f := a.far[id]
	if f == nil {
		switch {
		case a.far == nil:
			a.far = make(map[ClusterID]*farCluster)
		case len(a.far) >= farClusters:
			a.forget()
		}
		f = &farCluster{id: id, rich: 1}
		a.far[id] = f
	}
	return f
}

// farClusters bounds what is remembered: twice as many clusters as are stolen from at most, as anybody may ask.
const farClusters = 4 * clustersMost

// forget lets go of the clusters that this peer does not steal from.
func (a *Adaptive) forget() {
	maps.DeleteFunc(a.far, func(id ClusterID, _ *farCluster) bool { return len(a.of.Cluster(id).Members) == 0 })
}

// refresh brings the memory of a cluster up to date with the steals that have ended since.
func (a *Adaptive) refresh(v View, f *farCluster) {
	l := v.Link(f.id)
	for ; f.wins < l.Wins; f.wins++ {
		f.note(v.Now(), true)
		a.fails, f.giver = 0, f.asked
	}
	for ; f.fails < l.Fails; f.fails++ {
		f.note(v.Now(), false)
		a.fails++
		if f.giver == f.asked {
			f.giver = ""
		}
	}
	f.steal, f.likely = stealTime(v, &l), f.richness(v.Now())
}

// stealTime is how long a steal over a link and the way home of its result take, by what is known; 0 if nothing is.
func stealTime(v View, l *Link) time.Duration {
	if l.LastSteal == 0 {
		return 0
	}
	if rate := cmp.Or(l.BytesPerSecond, v.BestRate()); rate > 0 {
		return l.LastSteal + time.Duration(v.OutcomeBytes()/rate*float64(time.Second))
	}
	return l.LastSteal
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
