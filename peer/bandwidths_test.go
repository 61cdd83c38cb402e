package peer

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/adapt"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
)

// slowTrio is a run of three clusters of four, and c waits for a link of 100 KB/s most of the time.
type slowTrio struct {
	gauge  *gauge
	ways   *bandwidths
	now    time.Time
	spent  map[peer.ID]report.RunStats
	roster runs.Roster
	others map[steal.PeerID]string // members besides the one that measures
}

func newSlowTrio() *slowTrio {
	x := &slowTrio{gauge: newGauge(&runs.Manifest{Adapt: adapt.Volunteers.String()}, gaugeEvery),
		now: time.Unix(1000, 0), spent: map[peer.ID]report.RunStats{}, others: map[steal.PeerID]string{}}
	x.ways = &bandwidths{Base: &base.Base{Now: func() time.Time { return x.now }}, period: gaugeEvery,
		wide: func(id steal.PeerID) bool { return id[0] != 'a' }}
	for _, cluster := range "abc" {
		for i := range 4 {
			x.others[steal.PeerID(fmt.Sprintf("%c%d", cluster, i))] = string(cluster)
		}
	}
	return x
}

// period lets one go by, and gives what was decided of who takes part. Whoever is out does nothing.
func (x *slowTrio) period() []adapt.Change {
	links := linksOf(&x.roster, x.ways.of(x.now), x.others)
	out := rosterFor(&x.roster)
	var all []told
	for name, cluster := range x.others {
		id := peer.ID(name)
		if out.Excludes(adapt.Member{Peer: adapt.PeerID(id.String()), Cluster: adapt.ClusterID(cluster)}) {
			delete(x.spent, id)
			continue
		}
		grown := report.RunStats{UsefulTime: 20000, StealTime: 10000, CommTime: 1000}
		rate := 1e6
		if cluster == "c" {
			grown, rate = report.RunStats{UsefulTime: 2000, StealTime: 5000, CommTime: 23000}, 100e3
		}
		s := x.spent[id]
		s.Add(&grown)
		x.spent[id] = s
		all = append(all, told{peer: id, cluster: cluster, stats: s, rate: rate})
	}
	x.gauge.measure(x.now, "a0", &x.roster, links, all)
	d := &x.gauge.last
	x.roster.Number, x.roster.Out = d.Roster.Number, outOf(&d.Roster)
	x.now = x.now.Add(gaugeEvery)
	return d.Changes
}

// came lets results of somebody come, at so many bytes a second.
func (x *slowTrio) came(from steal.PeerID, rate float64) {
	x.ways.came(from, int(2*rate), 2*time.Second)
}

// A cluster that went for its link is known by what its peers send in other runs, and comes back with twice the
// bandwidth that it had: not with less, nor because one of them says or sends anything.
func TestLinksOfExcludedClusters(t *testing.T) {
	x := newSlowTrio()
	if x.period(); len(x.roster.Out) > 0 {
		t.Fatalf("nothing was measured, and %+v are out", x.roster.Out)
	}
	if c := x.period(); len(c) != 1 || c[0].Kind != adapt.ClusterExcluded || c[0].Cluster != "c" || c[0].Rate != 100e3 {
		t.Fatalf("the slow cluster does not go: %v", c)
	}
	for _, step := range []struct {
		what  string
		rates map[steal.PeerID]float64
		back  bool
	}{
		{"nothing comes", nil, false},
		{"less than twice", map[steal.PeerID]float64{"c0": 150e3, "c1": 190e3, "c2": 199e3}, false},
		{"one is fast", map[steal.PeerID]float64{"c0": 9e6}, false},
		{"one of two is", map[steal.PeerID]float64{"c0": 9e6, "c1": 199e3}, false},
		{"others' links are fast", map[steal.PeerID]float64{"b0": 9e6, "b1": 9e6, "x": 9e6}, false},
		{"two are", map[steal.PeerID]float64{"c1": 200e3, "c2": 300e3, "c3": 1e3}, true},
	} {
		x.now = x.now.Add(2 * gaugeEvery) // what came before is forgotten
		x.gauge.since = x.now.Add(-gaugeEvery)
		for id, rate := range step.rates {
			x.came(id, rate)
		}
		c := x.period()
		if got := len(c) == 1 && c[0].Kind == adapt.ClusterReadmitted && c[0].Cluster == "c"; got != step.back {
			t.Errorf("%s: %v", step.what, c)
		}
	}
}

// What is known of links is forgotten in time, bounded in size and value, and is about other clusters.
func TestBandwidthsAreBounded(t *testing.T) {
	x := newSlowTrio()
	x.came("c0", 1e3)
	x.came("c0", 5e3)
	x.came("c0", 2e3)
	x.came("a1", 9e3)
	x.ways.came("c1", 1<<40, time.Nanosecond)
	x.ways.came("c2", 1<<20, 0)
	want := map[steal.PeerID]float64{"c0": 5e3, "c1": maxLinkRate}
	for age := range 4 {
		if got := x.ways.of(x.now); !maps.Equal(got, want) {
			t.Errorf("after %d periods %v is known, want %v", age, got, want)
		}
		if x.now = x.now.Add(gaugeEvery); age > 0 {
			want = nil
		}
	}
	x.came("c0", 1e3)
	x.now = x.now.Add(5 * gaugeEvery)
	if got := x.ways.of(x.now); len(got) > 0 {
		t.Errorf("after a long silence %v is known", got)
	}
	for i := range 2 * maxBandwidths {
		x.came(steal.PeerID(fmt.Sprintf("c%d", i)), 1e3)
	}
	if n := len(x.ways.of(x.now)); n != maxBandwidths {
		t.Errorf("%d peers' links are known", n)
	}
}

// The bandwidth of a cluster that one peer makes is its own.
func TestLinksOfSmallClusters(t *testing.T) {
	r := &runs.Roster{Out: []runs.Outsider{{Cluster: "one"}, {Cluster: "two"}}}
	of := map[steal.PeerID]float64{"p": 7e3, "q": 8e3}
	members := map[steal.PeerID]string{"p": "one", "q": "two", "r": "two"}
	if got := linksOf(r, of, members); len(got) != 1 || got["one"] != 7e3 {
		t.Errorf("%v", got)
	}
	if got := linksOf(nil, of, members); got != nil {
		t.Errorf("there is no roster, and %v", got)
	}
}
