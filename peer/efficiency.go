package peer

import (
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/adapt"
	"github.com/satin-peer/satin/internal/report"
)

// gaugeEvery is the time over which a run's efficiency is measured.
const gaugeEvery = 30 * time.Second

// A gauge measures how well a run uses its peers, at the one that holds its root: once a period from what all of them
// have told of where their time went. It changes nothing.
type gauge struct {
	core   *adapt.Core
	since  time.Time                   // when the period began
	before map[peer.ID]report.RunStats // what each had told then
	last   adapt.Decision              // of the last period that is over
}

// newGauge makes one.
func newGauge() *gauge {
	cfg := adapt.Default(adapt.Off)
	cfg.Period = gaugeEvery
	core, err := adapt.New(cfg)
	if err != nil {
		panic(err) // of constants of this file
	}
	return &gauge{core: core}
}

// a told is what one peer has told by now.
type told struct {
	peer    peer.ID
	cluster string
	stats   report.RunStats
}

// due says whether measure would do something.
func (g *gauge) due(now time.Time) bool { return g.since.IsZero() || now.Sub(g.since) >= gaugeEvery }

// measure takes in what is known now, and says whether a period is over.
func (g *gauge) measure(now time.Time, master peer.ID, all []told) bool {
	if !g.due(now) {
		return false
	}
	took := now.Sub(g.since)
	s := adapt.Situation{Master: adapt.PeerID(master)}
	for i := range all {
		x := &all[i]
		s.Members = append(s.Members, adapt.Member{Peer: adapt.PeerID(x.peer), Cluster: adapt.ClusterID(x.cluster)})
		if before, ok := g.before[x.peer]; ok {
			s.Samples = append(s.Samples, sampleOf(x, x.stats.Grown(before), took))
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

// sampleOf is what a peer's figures of a period say of it. Nobody has measured its speed; what its owner leaves of
// the processors is known.
func sampleOf(x *told, grown report.RunStats, took time.Duration) adapt.Sample {
	s := adapt.Sample{Peer: adapt.PeerID(x.peer), For: took}
	total := grown.Total().Seconds()
	if total <= 0 {
		return s // it was paused: it has no cores, and counts for nothing
	}
	s.Cores = total / took.Seconds()
	s.Overhead = grown.Overhead().Seconds() / total
	s.Wide = grown.CommTime.Seconds() / total
	if held := grown.HeldTime.Seconds(); held > 0 {
		s.Share = min(grown.CPUTime.Seconds()/held, 1)
	}
	return s
}

// gaugeRuns measures the runs whose root is here.
func (t *conductor) gaugeRuns(now time.Time) {
	for _, r := range t.inProgress() {
		t.mu.Lock()
		if r.gauge == nil {
			r.gauge = newGauge()
		}
		due := r.gauge.due(now)
		t.mu.Unlock()
		if !due || !r.session.Stats().Master {
			continue
		}
		mine := told{peer: t.host.ID(), cluster: t.swarm.places.mine().Name, stats: r.loadNow().Stats}
		t.mu.Lock()
		all := []told{mine}
		for id, l := range r.loads {
			if now.Sub(l.heard) < loadLife {
				all = append(all, told{peer: id, cluster: t.swarm.places.of(id).Name, stats: l.Stats})
			}
		}
		over := r.gauge.measure(now, mine.peer, all)
		d := r.gauge.last
		t.mu.Unlock()
		if over {
			t.log.Debug("efficiency", "run", r.manifest.Run, "weighted", d.Efficiency, "peers", len(all),
				"sampled", d.Sampled)
		}
	}
}

// efficiency is the run's weighted average efficiency in the last period, 0 to 1; 0 where it is not known. The
// conductor's mutex is held.
func (r *part) efficiency() float64 {
	if r == nil || r.gauge == nil || r.final != nil {
		return 0
	}
	return r.gauge.last.Efficiency
}
