package peer

import (
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/adapt"
	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/runs"
)

// A gauge measures how well a run uses its peers, at the one that holds its root: once a period from what all of them
// have told of where their time went. What follows from it for who takes part is its core's to decide; a next master
// has a gauge of its own, and knows after a period what it has to: what was decided is in the roster.
type gauge struct {
	core   *adapt.Core
	period time.Duration
	since  time.Time                   // when the period began
	before map[peer.ID]report.RunStats // what each had told then
	then   map[peer.ID]gauged          // when their speeds were measured
	last   adapt.Decision              // of the last period that is over
}

// newGauge makes one for a run.
func newGauge(m *runs.Manifest, period time.Duration) *gauge {
	mode, err := adapt.ParseMode(m.Adapt)
	core, bad := adapt.New(adaptConfig(mode, m.MinPeers, m.MaxPeers, period))
	if err != nil || bad != nil { // it does not adapt, or in a way that this peer does not know
		core, err = adapt.New(adaptConfig(adapt.Off, 0, 0, period))
	}
	if err != nil {
		panic(err) // of constants of this package
	}
	return &gauge{core: core, period: period}
}

// a told is what one peer has told by now.
type told struct {
	peer    peer.ID
	cluster string
	stats   report.RunStats
	rate    float64 // bytes a second, to other clusters
	speed   port.Speed
}

// due says whether measure would do something.
func (g *gauge) due(now time.Time) bool { return g.since.IsZero() || now.Sub(g.since) >= g.period }

// measure takes in what is known now, and says whether a period is over. The roster is the run's present one, and links
// are what is known of the clusters that it excludes.
func (g *gauge) measure(now time.Time, master peer.ID, roster *runs.Roster, links map[adapt.ClusterID]float64,
	all []told,
) bool {
	if !g.due(now) {
		return false
	}
	took := now.Sub(g.since)
	s := adapt.Situation{Master: adapt.PeerID(master.String()), Roster: rosterFor(roster), Links: links}
	yardstick := yardstickOf(master, all)
	for i := range all {
		x := &all[i]
		if x.speed.Yardstick != yardstick {
			x.speed = port.Speed{} // it cannot be compared
		}
		s.Members = append(s.Members, adapt.Member{Peer: adapt.PeerID(x.peer.String()),
			Cluster: adapt.ClusterID(x.cluster)})
		if before, ok := g.before[x.peer]; ok {
			s.Samples = append(s.Samples, g.sampleOf(x, x.stats.Grown(before), took))
		}
	}
	over := !g.since.IsZero()
	if over {
		g.last = g.core.Step(&s)
	}
	g.since, g.before = now, make(map[peer.ID]report.RunStats, len(all))
	for i := range all {
		g.before[all[i].peer] = all[i].stats
	}
	return over
}

// sampleOf is what a peer's figures of a period say of it.
func (g *gauge) sampleOf(x *told, grown report.RunStats, took time.Duration) adapt.Sample {
	s := adapt.Sample{Peer: adapt.PeerID(x.peer.String()), For: took, Rate: x.rate}
	total := grown.Total().Seconds()
	if total <= 0 {
		return s // it was paused: it has no cores, and counts for nothing
	}
	s.Cores = total / took.Seconds()
	s.Overhead = grown.Overhead().Seconds() / total
	s.Wide = grown.CommTime.Seconds() / total
	s.Speed = g.speedOf(x, &grown)
	return s
}

// A coordinator measures the runs whose root is here, and has those that adapt do so.
type coordinator struct {
	*base.Base
	period time.Duration
	runs   *conductor
	ways   *bandwidths
}

func newCoordinator(b *base.Base, period time.Duration, of *conductor) *coordinator {
	return &coordinator{Base: b, period: period, runs: of,
		ways: &bandwidths{Base: b, wide: of.swarm.places.IsWide, period: period}}
}

func (x *coordinator) keepUp(now time.Time) {
	t := x.runs
	period := max(x.period, loadTurns*loadEvery(t.swarm.members, t.Every)) // in which all have told
	for _, r := range t.inProgress() {
		t.mu.Lock()
		due := r.gauges(r.session.Stats().Master, period) && r.gauge.due(now)
		if r.final == nil {
			r.cores.Values(r.efficiency())
		}
		t.mu.Unlock()
		if !due {
			continue
		}
		here := r.loadNow()
		known, members := x.ways.of(now), t.swarm.membersByCluster()
		mine := told{t.host.ID(), t.swarm.places.Mine().Name, here.Stats, float64(here.Rate), here.Speed}
		t.mu.Lock()
		all := []told{mine}
		in, _ := t.core.Musters.Seated(r.manifest.Run)
		for id, l := range r.loads {
			if now.Before(l.until) && in(peerName(id)) {
				all = append(all, told{id, t.swarm.places.Of(id).Name, l.Stats, float64(l.Rate), l.Speed})
			}
		}
		roster := t.core.Musters.Roster(r.manifest.Run)
		links := linksOf(roster, known, members)
		if r.gauge.measure(now, mine.peer, roster, links, all) {
			x.muster(r, len(all))
		}
		t.mu.Unlock()
	}
}

// gauges says whether this peer measures the run. Whoever is master again begins as any next master does: others have
// decided meanwhile, and what it remembers is of another time.
func (r *part) gauges(master bool, period time.Duration) bool {
	switch {
	case !master:
		r.gauge = nil
	case r.gauge == nil:
		r.gauge = newGauge(r.manifest, period)
	}
	return master
}

// muster makes what was decided of a run's peers its next roster. The conductor's mutex is held.
func (x *coordinator) muster(r *part, peers int) {
	d, id := &r.gauge.last, r.manifest.Run
	x.Log.Debug("efficiency", "run", id, "weighted", d.Efficiency, "peers", peers, "sampled", d.Sampled)
	if len(d.Changes)+len(d.Roster.Out) == 0 || !x.runs.core.Musters.Coordinates(id) {
		return
	}
	w := runs.Muster{Wanted: d.Roster.Wanted, Out: outOf(&d.Roster)}
	for _, c := range d.Changes {
		text := c.String()
		x.Log.Info("who takes part", "run", id, "decided", text)
		// a rune that is cut becomes one of one byte
		text = plain.Name(text[:min(len(text), runs.MaxRosterText)])
		w.Log = append(w.Log, runs.RosterEntry{At: x.Now().Unix(), Text: text})
	}
	x.runs.feed(func(c *runs.Core, now time.Time) []runs.Order { return c.Musters.Muster(now, id, &w) })
}

// efficiency is the run's weighted average efficiency in the last period, 0 to 1; 0 where it is not known. The
// conductor's mutex is held.
func (r *part) efficiency() float64 {
	if r == nil || r.final != nil {
		return 0
	}
	s := r.session.Stats()
	if r.gauge != nil && s.Master {
		return r.gauge.last.Efficiency
	}
	if l := r.loads[r.master(&s)]; l != nil {
		return float64(l.Efficiency) / wholeShare
	}
	return 0
}
