package steal

import (
	"math"
	"slices"
	"time"
)

// Adaptive is the default policy. Like CRS it steals inside the cluster while one wide-area request is out, and draws the remote
// peer alike from all of a cluster, so that no small cluster is favoured; it differs in when, whom and how it asks.
//
// When. A peer goes across clusters only after a local steal has failed. CRS does it whenever a worker is idle, to hide the
// latency (CRS paper, 2.2), and most of what it brings home was not needed: three quarters of the wide-area steals go, with the
// bandwidth of their results. Above all every job that crosses makes the way back longer, since at the end results come home hop
// by hop: at 100 ms one way, CRS's last seconds are spent on nothing else.
//
// Whom. The chance of a cluster is in proportion to the square of (how often it had work lately) / (how long a steal and the way
// home of its result take). ACRS's equation 2 counts only the time of requests and, as CRS, forgets what they brought (3.6). A
// cluster whose time is far beyond the best one's is not stolen from at all, only measured now and then: a result that has to come
// home over 1 KB/s outweighs any number of good steals, which is what ruins CRS and ACRS in scenarios 10 and 11. A link that has
// never been measured is measured first, by both sides: a request over it waits at the victim until the victim knows the way too.
//
// Dryness. A request from a cluster says that it has no work, so its own chance falls. A peer whose local steals go on failing
// stops drawing: it leaves patient requests with a few neighbours whose graph is connected (the lifelines of Saraswat et al.,
// PPoPP 2011), so that work spreads through an idle cluster from wherever it comes in, without polling. Wide-area requests back
// off with jitter.
//
// Giving. Work goes to the own cluster first. A peer with nothing left steals on behalf of the requests that wait with it.
//
// Results. Route sends a result through a third cluster if the straight way looks bad or did not answer (3.6 proposes it and shies
// at the topology one would have to know; here a second copy is sent round, and the first to come is used).
//
// What was tried and lost, at 200 ms and 100 KB/s: several wide-area requests at once (3.5 found the same), wide-area batches,
// stealing across clusters ahead of idleness, giving only what has aged. All of them move more jobs than needed.
type Adaptive struct {
	far     map[ClusterID]*farCluster
	greeted bool // the clusters have been measured once
	// fails counts the wide-area steals in a row that brought nothing; the next is not sent before wideAt.
	fails  int
	wideAt time.Duration

	of        *Members // whom the lifelines were drawn from
	lifelines []PeerID
}

// farCluster is what Adaptive remembers of another cluster besides its Link.
type farCluster struct {
	rich        float64 // how likely a steal from it is to bring a job, as of at
	at          time.Duration
	wins, fails uint64        // of Link, as far as they are in rich
	probeAt     time.Duration // when it may be measured again
}

const (
	// soonPoor is the weight of one steal in farCluster.rich, forgetPoor the time after which a cluster that was poor gets the
	// benefit of two thirds of the doubt.
	soonPoor   = 0.4
	forgetPoor = 2 * time.Second
	// slowFactor and slowLeast say which clusters are too far: those beyond slowFactor times the best one's time, and beyond
	// slowLeast.
	slowFactor = 4
	slowLeast  = 600 * time.Millisecond
	// probeLeast is the least time between two measurements of a cluster that is too far, probeFactor how many times what the
	// last one took, so that measuring does not itself use the link up.
	probeLeast  = 2 * time.Second
	probeFactor = 5
	// probeMost bounds the clusters that a peer measures when it begins.
	probeMost = 16
	// blindPatience is how long a request may wait for the victim to measure the way back.
	blindPatience = time.Second
	// localDraws is how many local steals may fail before lifelines are used; their patience doubles with every round from
	// lifelinePatience to lifelineMost.
	localDraws       = 6
	lifelinePatience = 20 * time.Millisecond
	lifelineMost     = 20 * time.Millisecond
	lifelineMax      = 8
	// backoffLeast and backoffMost bound the pauses between wide-area requests that bring nothing.
	backoffLeast = time.Millisecond
	backoffMost  = 1 * time.Millisecond
)

// Name is "adaptive".
func (*Adaptive) Name() string { return "adaptive" }

// Plan steals for idle workers, and for requests that wait here while there is nothing to give.
func (a *Adaptive) Plan(v *View, p *Plan) {
	idle := v.Idle()
	if !a.greeted && v.Workers() > 0 {
		a.greet(v, p, idle > 0)
	}
	need := idle
	if v.Queued() == 0 && len(v.Asks()) > 0 {
		need++
	}
	if need == 0 {
		return
	}
	if idle > 0 && v.Failures() > 0 {
		a.stealWide(v, p)
	}
	if v.Failures() >= localDraws {
		a.holdLifelines(v, p)
		return
	}
	local, _ := v.InFlight()
	for n := need - local; n > 0; n-- {
		victim, ok := v.RandomLocal()
		if !ok {
			return
		}
		p.Steal(victim, 1, 0)
	}
}

// Give gives one job to whoever asks, but keeps the own cluster's share: a request from elsewhere waits while workers or neighbours
// have nothing, and is refused while the way back is unknown or too long.
func (a *Adaptive) Give(v *View, ask Ask) int {
	if !ask.Wide {
		return 1
	}
	f := a.remember(v, ask.Cluster)
	f.note(v.Now(), false) // it would not ask if it had work
	if v.Idle() > 0 || slices.ContainsFunc(v.Asks(), func(x Ask) bool { return !x.Wide }) {
		return 0
	}
	if t := stealTime(v, ask.Cluster); t == 0 || t > a.tooFar(v) {
		return 0
	}
	return 1
}

// holdLifelines leaves a patient request with every lifeline that has none.
func (a *Adaptive) holdLifelines(v *View, p *Plan) {
	if a.of != v.Members() {
		a.of, a.lifelines = v.Members(), lifelinesOf(v)
	}
	if len(a.lifelines) == 0 {
		return
	}
	rounds := (v.Failures() - localDraws) / len(a.lifelines)
	patience := min(lifelinePatience<<min(rounds, 8), lifelineMost)
	for _, id := range a.lifelines {
		if v.Usable(id) {
			p.Steal(id, 1, patience)
		}
	}
}

// lifelinesOf are the peers 1, 2, 4, … places further in the cluster, round and round: with them everybody is reached from
// everybody in a logarithmic number of steps.
func lifelinesOf(v *View) (ids []PeerID) {
	mine := v.Members().Cluster(v.Cluster()).Members
	me := slices.IndexFunc(mine, func(m Member) bool { return m.ID == v.Self() })
	for d := 1; me >= 0 && d < len(mine) && len(ids) < lifelineMax; d *= 2 {
		ids = append(ids, mine[(me+d)%len(mine)].ID)
	}
	return ids
}

// stealWide keeps one request to another cluster out, and measures those that are too far for one.
func (a *Adaptive) stealWide(v *View, p *Plan) {
	clusters, limit := v.OtherClusters(), a.tooFar(v)
	weights := make([]float64, len(clusters))
	for i, c := range clusters {
		f, t := a.remember(v, c.ID), stealTime(v, c.ID)
		switch {
		case a.waitsFor(v, c.ID, limit):
			return
		case slices.ContainsFunc(v.Flights(), func(f Flight) bool { return f.Cluster == c.ID }):
		case t <= limit:
			weights[i] = square(f.richness(v.Now()) / orDefault(t, limit).Seconds())
		case v.Now() >= f.probeAt:
			a.probe(v, p, c.ID)
		}
	}
	if v.Now() < a.wideAt {
		p.Wake(a.wideAt)
		return
	}
	i, ok := drawWeighted(v.Rand(), weights)
	if !ok {
		return
	}
	a.ask(v, p, clusters[i].ID)
}

// ask sends the wide-area request.
func (a *Adaptive) ask(v *View, p *Plan, c ClusterID) {
	patience := time.Duration(0)
	if stealTime(v, c) == 0 {
		patience = blindPatience
	}
	if id, ok := v.RandomIn(c); ok {
		p.Steal(id, 1, patience)
	}
	pause := min(backoffLeast<<min(a.fails, 10), backoffMost)
	a.wideAt = v.Now() + jitter(v, pause)
}

// waitsFor says whether a request to the cluster is out that may still be answered in time.
func (a *Adaptive) waitsFor(v *View, c ClusterID, limit time.Duration) bool {
	return slices.ContainsFunc(v.Flights(), func(f Flight) bool {
		return f.Cluster == c && f.Max > 0 && v.Now()-f.Since < f.Patience+2*limit
	})
}

// greet measures the way to every other cluster, once: with a steal to one of them if there are idle workers.
func (a *Adaptive) greet(v *View, p *Plan, idle bool) {
	a.greeted = true
	clusters := v.OtherClusters()
	if len(clusters) == 0 {
		return
	}
	first := v.Rand().IntN(len(clusters))
	for k := range min(len(clusters), probeMost) {
		c := clusters[(first+k)%len(clusters)].ID
		if k == 0 && idle {
			a.ask(v, p, c)
		} else {
			a.probe(v, p, c)
		}
	}
}

// probe measures the way to a cluster.
func (a *Adaptive) probe(v *View, p *Plan, c ClusterID) {
	if id, ok := v.RandomIn(c); ok {
		a.remember(v, c).probeAt = v.Now() + jitter(v, max(probeLeast, probeFactor*stealTime(v, c)))
		p.Probe(id)
	}
}

// tooFar is the time beyond which a cluster is not stolen from.
func (a *Adaptive) tooFar(v *View) time.Duration {
	best := time.Duration(0)
	for _, c := range v.OtherClusters() {
		if t := stealTime(v, c.ID); t > 0 && (best == 0 || t < best) {
			best = t
		}
	}
	return max(slowLeast, slowFactor*best)
}

// stealTime is how long a steal from a cluster and the way home of its result take, by what is known; 0 if nothing is.
func stealTime(v *View, c ClusterID) time.Duration {
	l := v.Link(c)
	if l.LastSteal == 0 {
		return 0
	}
	if rate := orDefault(l.BytesPerSecond, v.BestRate()); rate > 0 {
		return l.LastSteal + time.Duration(v.OutcomeBytes()/rate*float64(time.Second))
	}
	return l.LastSteal
}

// remember finds the memory of a cluster and brings it up to date with the steals that have ended since.
func (a *Adaptive) remember(v *View, c ClusterID) *farCluster {
	f := a.far[c]
	if f == nil {
		if a.far == nil {
			a.far = make(map[ClusterID]*farCluster)
		}
		f = &farCluster{rich: 1}
		a.far[c] = f
	}
	for l := v.Link(c); f.wins < l.Wins; f.wins++ {
		f.note(v.Now(), true)
		a.fails = 0
	}
	for l := v.Link(c); f.fails < l.Fails; f.fails++ {
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

// jitter draws from half to one and a half times d.
func jitter(v *View, d time.Duration) time.Duration {
	return d/2 + time.Duration(v.Rand().Float64()*float64(d))
}

func square(x float64) float64 { return x * x }
