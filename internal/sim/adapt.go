package sim

import (
	"fmt"
	"math"
	"time"

	"github.com/satin-peer/satin/adapt"
	"github.com/satin-peer/satin/steal"
)

// Adapt is how a run's coordinator changes who takes part. Modelled are who could come and how soon; the decisions
// are package adapt's, and what they are made of are the core's own figures and the time that workers were busy.
type Adapt struct {
	Config adapt.Config
	// Reserve is how many peers there are besides those that are there at the start, by cluster, and Start how long
	// one takes to come that is asked for.
	Reserve []int
	Start   time.Duration
	// Benchmark is the share of every worker's time that measuring its speed takes: of all of it, though idle cores do
	// that. Yardstick is what is run for it, at speed 1: nobody is measured who has not been idle for so long in a
	// period, or whom the share does not allow it. A measured speed is wrong by up to the factor 1 + Error; the best of
	// three is told, if there is time for as many.
	Benchmark float64
	Yardstick time.Duration
	Error     float64
}

// Adaptation is what a coordinator found at the end of a period, and what it did.
type Adaptation struct {
	At         time.Duration
	Peers      int // at that moment
	Efficiency float64
	Changes    []adapt.Change
	Situation  adapt.Situation // what it decided upon
}

// What samples and rosters weigh, and the most that a roster takes to be heard of.
const (
	sampleBytes = 160
	rosterDelay = int64(time.Second)
)

// adapting is a coordinator, and what the swarm's machines are to it.
type adapting struct {
	world   *world
	cfg     Adapt
	master  steal.Address // whose coordinator core is
	core    *adapt.Core
	roster  adapt.Roster
	reserve []int
	coming  int
	log     []Adaptation
	turns   turns
}

// turns counts how often the swarm began to grow again after it had shrunk.
type turns struct {
	n       int
	shrunk  bool
	periods int
}

// Growth may follow release this often: the pauses between them double from two periods to thirty-two.
const (
	turnsFree  = 5
	turnsEvery = 32
)

func newAdapting(w *world) (*adapting, error) {
	if w.cfg.Adapt == nil {
		return nil, nil
	}
	a := &adapting{world: w, cfg: *w.cfg.Adapt}
	if _, err := adapt.New(a.cfg.Config); err != nil {
		return nil, err
	}
	clusters := len(w.net.links.Sizes())
	if len(a.cfg.Reserve) > clusters || a.cfg.Start < 0 || !(a.cfg.Benchmark >= 0 && a.cfg.Benchmark < 1) {
		return nil, fmt.Errorf("a reserve in %d clusters of %d, %v until somebody comes, %v of the time for speed",
			len(a.cfg.Reserve), clusters, a.cfg.Start, a.cfg.Benchmark)
	}
	if a.cfg.Yardstick < 0 || !(a.cfg.Error >= 0) {
		return nil, fmt.Errorf("a yardstick of %v, an error of %v", a.cfg.Yardstick, a.cfg.Error)
	}
	a.reserve = make([]int, clusters)
	copy(a.reserve, a.cfg.Reserve)
	w.queue.post(event{at: w.now + int64(a.cfg.Config.Period), what: adaptDue, peer: -1})
	a.recruit()
	return a, nil
}

// gaugeTimes is of how many measurements the best is told, as in package compute.
const gaugeTimes = 3

// sampled is what a peer's figures were when it was sampled last.
type sampled struct {
	at, busy int64
	had      int64 // allotments' time
	late     time.Duration
	given    float64 // time that it may measure its speed
	speed    float64 // as it was measured last; 0: never
	full     float64 // what it really was then
}

// sample is what a peer says of the time since the last one.
func (p *peer) sample() adapt.Sample {
	w := p.world
	busy, late := p.busyUntilNow(), p.core.Stats().Late
	elapsed := w.now - p.sampled.at
	had := p.cores.count()
	all := float64(had - p.sampled.had)
	s := adapt.Sample{Peer: adapt.PeerID(p.id), For: time.Duration(elapsed)}
	if all > 0 {
		s.Cores = all / float64(elapsed)
		s.Overhead = min(max(1-float64(busy-p.sampled.busy)/all, 0), 1)
		s.Wide = min(float64(late-p.sampled.late)/float64(elapsed), s.Overhead)
	}
	s.Rate = p.core.BestRate()
	s.Speed = p.sampled.gauge(p, all, float64(busy-p.sampled.busy))
	p.sampled.at, p.sampled.busy, p.sampled.late, p.sampled.had = w.now, busy, late, had
	p.charge(sampleBytes)
	return s
}

// gauge is how fast a peer says it is after a period, in which its workers had that time and were busy for a part of
// it. It measures that when it is idle and as the share allows, a first time as though it were as fast as any. What
// it has measured before is scaled by what the system has given its threads, if they have run.
func (g *sampled) gauge(p *peer, all, busy float64) float64 {
	w, cfg := p.world, p.world.cfg.Adapt
	took, expected := float64(cfg.Yardstick)/p.speed, float64(cfg.Yardstick)
	if g.speed > 0 {
		expected /= g.full
	}
	g.given += cfg.Benchmark * all
	switch {
	case all-busy >= float64(cfg.Yardstick) && g.given >= expected:
		best := -1.0
		for k := range min(gaugeTimes, int((all-busy)/float64(cfg.Yardstick)), int(g.given/expected)) {
			g.given -= took
			draw := mix(w.cfg.Seed ^ uint64(p.number)<<32 ^ uint64(w.now) + uint64(k))
			best = max(best, 2*float64(draw>>11)/(1<<53)-1) // -1 to 1
		}
		g.full, g.speed = p.speed, p.speed*math.Pow(1+cfg.Error, best)
	case g.speed > 0 && busy > 0:
		return g.speed * p.speed / g.full
	}
	return g.speed
}

// busyUntilNow is what the peer's workers have been busy for, with what runs now.
func (p *peer) busyUntilNow() int64 {
	busy := p.usage.busy
	for i := range p.engine.workers {
		if k := &p.engine.workers[i]; k.runs() {
			busy += p.world.now - max(k.since, min(p.stalledUntil, p.world.now))
		}
	}
	return busy
}

// due is the end of a period.
func (a *adapting) due() {
	w := a.world
	w.queue.post(event{at: w.now + int64(a.cfg.Config.Period), what: adaptDue, peer: -1})
	s := adapt.Situation{Roster: a.roster, Links: map[adapt.ClusterID]float64{}}
	for _, p := range w.peers {
		if !p.alive || p.leaving {
			continue
		}
		s.Members = append(s.Members, adapt.Member{Peer: adapt.PeerID(p.id),
			Cluster: adapt.ClusterID(clusterID(p.cluster))})
		if x := p.sample(); !w.happens(w.cfg.Gossip.Loss) {
			s.Samples = append(s.Samples, x)
		}
	}
	m := w.master()
	if m == nil || !m.isMaster() && m.number != 0 {
		return // nobody coordinates at the moment
	}
	if a.master != m.address() { // what a new one has to know is in the roster
		a.master = m.address()
		a.core, _ = adapt.New(a.cfg.Config) // it was good before
	}
	s.Master = adapt.PeerID(m.id)
	for i := range w.net.links.Sizes() {
		if rate := w.net.seen(i, m.cluster); rate > 0 && i != m.cluster {
			s.Links[adapt.ClusterID(clusterID(i))] = rate
		}
	}
	d := a.core.Step(&s)
	a.roster = d.Roster
	a.log = append(a.log, Adaptation{time.Duration(w.now), len(s.Members), d.Efficiency, d.Changes, s})
	for _, c := range d.Changes {
		w.trace.line(w.now, m.id, "decides: %v", c)
	}
	a.check(m, &d)
	a.recruit()
	for _, p := range w.peers {
		if p.alive && !p.leaving && a.excludes(p) {
			w.queue.post(event{at: w.now + w.random.Int64N(rosterDelay), what: rosterHeard, peer: p.number})
		}
	}
}

// check is for what no coordinator may do.
func (a *adapting) check(m *peer, d *adapt.Decision) {
	if a.excludes(m) {
		panic(violation(masterStays, "%s is master and %v", m.id, d.Changes))
	}
	t := &a.turns
	t.periods++
	for _, c := range d.Changes {
		switch {
		case c.Kind == adapt.PeerReleased:
			t.shrunk = true
		case c.Kind == adapt.AskedForMore && t.shrunk:
			t.n, t.shrunk = t.n+1, false
		}
	}
	if t.n > turnsFree+t.periods/turnsEvery && len(a.world.cfg.Faults) == 0 {
		panic(violation(noFlapping, "growth followed release %d times in %d periods", t.n, t.periods))
	}
}

func (a *adapting) excludes(p *peer) bool {
	return a.roster.Excludes(adapt.Member{Peer: adapt.PeerID(p.id), Cluster: adapt.ClusterID(clusterID(p.cluster))})
}

// heardRoster lets a peer leave that is not to take part any more. Its machine may come again with others of its
// cluster.
func (a *adapting) heardRoster(p *peer) {
	if !p.leaving && a.excludes(p) {
		if a.roster.Excludes(adapt.Member{Cluster: adapt.ClusterID(clusterID(p.cluster))}) {
			a.reserve[p.cluster]++
		}
		a.world.harm.leave(p)
	}
}

// recruit lets as many come as are wanted, or everybody if anybody is: of the first clusters that have some.
func (a *adapting) recruit() {
	w := a.world
	there := a.coming
	for _, p := range w.peers {
		if p.alive && !p.leaving && !a.excludes(p) {
			there++
		}
	}
	wanted := a.roster.Wanted
	if wanted == 0 && a.cfg.Config.Mode == adapt.Volunteers {
		wanted = there + 1<<20
		if a.cfg.Config.Max > 0 {
			wanted = a.cfg.Config.Max
		}
	}
	for c := range a.reserve {
		if a.roster.Excludes(adapt.Member{Cluster: adapt.ClusterID(clusterID(c))}) {
			continue
		}
		for ; a.reserve[c] > 0 && there < wanted; there++ {
			a.reserve[c]--
			a.coming++
			w.queue.post(event{at: w.now + int64(a.cfg.Start), what: recruitComes, peer: -1, worker: int32(c)})
		}
	}
}

// comes is the arrival of somebody who was asked for.
func (a *adapting) comes(cluster int) {
	if a.coming--; a.world.over() || a.world.cancelled {
		return
	}
	a.world.harm.join(cluster)
}

// AdaptSchedule is a random run of Schedule, faults and all, whose master decides who takes part, every second or so.
func AdaptSchedule(seed uint64) Config {
	c := Schedule(seed, FaultKinds())
	c.Frugal = false // machines that come and go have an excuse
	h := mix(seed ^ 0x6164617074)
	cfg := adapt.Default(adapt.Mode(1 + h%2))
	cfg.Period = time.Second + time.Duration(h>>8%2000)*time.Millisecond
	cfg.Absence = 2
	c.Adapt = &Adapt{Config: cfg, Start: time.Duration(h>>20%1000) * time.Millisecond, Benchmark: 0.01,
		Yardstick: 20 * time.Millisecond, Error: 0.2}
	for i := range c.Network.Sizes() {
		c.Adapt.Reserve = append(c.Adapt.Reserve, int(h>>(32+4*i)%4))
	}
	return c
}
