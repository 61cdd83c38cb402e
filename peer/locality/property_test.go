package locality_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/satin-peer/satin/peer/locality"
)

// A world is a number of peers at points of a plane, a millisecond of round trip to the unit, each with its Map.
type world struct {
	at    []point
	maps  []*locality.Map
	gone  []bool
	near  map[[2]int]bool // model of who is near whom, with hysteresis
	label []string
}

type point struct{ x, y float64 }

func name(i int) string { return fmt.Sprintf("p%03d", i) }

func newWorld(t interface{ Fatal(...any) }, at []point, cfg locality.Config) *world {
	w := &world{at: at, gone: make([]bool, len(at)), near: map[[2]int]bool{}, label: make([]string, len(at))}
	for i := range at {
		cfg.Self = name(i)
		m, err := locality.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		w.maps = append(w.maps, m)
	}
	return w
}

func (w *world) rtt(i, j int) time.Duration {
	d := 0.1 + math.Hypot(w.at[i].x-w.at[j].x, w.at[i].y-w.at[j].y)
	return time.Duration(d * float64(time.Millisecond))
}

// round has every peer hear all cards.
func (w *world) round() {
	var cards []locality.Member
	for i, m := range w.maps {
		if !w.gone[i] {
			cards = append(cards, locality.Member{ID: name(i), Label: w.label[i], Cluster: m.Mine().Cluster,
				Position: m.Position()})
		}
	}
	for i, m := range w.maps {
		if !w.gone[i] {
			m.SetMembers(cards)
		}
	}
}

// measure has every peer measure all others until there is nothing left of what was before.
func (w *world) measure() {
	for i, m := range w.maps {
		for j := range w.maps {
			if i == j || w.gone[i] || w.gone[j] {
				continue
			}
			rtt := w.rtt(i, j)
			for range 15 {
				m.Measured(name(j), rtt)
			}
			k := [2]int{i, j}
			w.near[k] = rtt < 5*ms || rtt <= 7500*time.Microsecond && w.near[k]
		}
	}
}

// settle hears cards until nobody changes his mind, and says how many rounds that took; -1 if it never ends.
func (w *world) settle() int {
	for n := range len(w.maps) + 3 {
		before := w.places()
		w.round()
		if slices.Equal(before, w.places()) {
			return n
		}
	}
	return -1
}

func (w *world) places() []string {
	list := make([]string, len(w.maps))
	for i, m := range w.maps {
		if !w.gone[i] {
			list[i] = m.Mine().Cluster
		}
	}
	return list
}

// leaders is the model: the lexicographically first maximal independent set, and the first leader near to each.
func (w *world) leaders() []string {
	want := make([]string, len(w.maps))
	for i := range w.maps {
		if w.gone[i] {
			continue
		}
		want[i] = "~" + name(i)
		for j := range i {
			if !w.gone[j] && w.near[[2]int{i, j}] && want[j] == "~"+name(j) {
				want[i] = want[j]
				break
			}
		}
	}
	return want
}

func points(t *rapid.T, n int) []point {
	at := make([]point, n)
	coordinate := rapid.OneOf(rapid.Float64Range(0, 12), rapid.Float64Range(0, 60))
	for i := range at {
		at[i] = point{coordinate.Draw(t, "x"), coordinate.Draw(t, "y")}
	}
	return at
}

// TestSettlesToFirstIndependentSet: wherever peers are, they settle, and to the one arrangement that follows
// from who is near whom, whatever it was before: after peers have moved (groups split and merge), died and
// come back.
func TestSettlesToFirstIndependentSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 14).Draw(t, "peers")
		w := newWorld(t, points(t, n), locality.Config{})
		for change := range rapid.IntRange(1, 4).Draw(t, "changes") {
			if change > 0 {
				switch rapid.IntRange(0, 2).Draw(t, "change") {
				case 0:
					w.at = points(t, n)
				case 1:
					i := rapid.IntRange(0, n-1).Draw(t, "who dies or returns")
					w.gone[i] = !w.gone[i]
					if w.gone[i] {
						forget(w, i)
					}
				case 2: // everybody a little
					for i := range w.at {
						w.at[i].x += rapid.Float64Range(-2, 2).Draw(t, "dx")
					}
				}
			}
			w.round()
			w.measure()
			rounds := w.settle()
			if rounds < 0 {
				t.Fatalf("never settles: %v", w.places())
			}
			if got, want := w.places(), w.leaders(); !slices.Equal(got, want) {
				t.Fatalf("after change %d and %d rounds: %v, want %v", change, rounds, got, want)
			}
			for i, m := range w.maps {
				if !w.gone[i] {
					checkPartition(t, m, w)
				}
			}
		}
	})
}

// forget is what the others do with one who is not a member any more, and he with all.
func forget(w *world, i int) {
	for k := range w.near {
		if k[0] == i || k[1] == i {
			delete(w.near, k)
		}
	}
	w.maps[i].SetMembers(nil)
}

func checkPartition(t *rapid.T, m *locality.Map, w *world) {
	count := map[string]int{}
	for cluster, ids := range m.Clusters() {
		if cluster == "" || !slices.IsSorted(ids) {
			t.Fatalf("cluster %q: %v", cluster, ids)
		}
		for _, id := range ids {
			count[id]++
			if m.Of(id).Cluster != cluster {
				t.Fatalf("%s is in %q and in %q", id, cluster, m.Of(id).Cluster)
			}
		}
	}
	for i := range w.maps {
		if want := 1; !w.gone[i] && count[name(i)] != want {
			t.Fatalf("%s is in %d clusters", name(i), count[name(i)])
		}
	}
}

// TestJitterNeverFlaps: a peer whose true round trip is under the threshold joins once and stays, however its samples
// jitter, unless every one of many in a row is long; and one whose true round trip is above never joins.
func TestJitterNeverFlaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		truth := time.Duration(rapid.IntRange(100, 9000).Draw(t, "true round trip, us")) * time.Microsecond
		m, err := locality.New(locality.Config{Self: "m"})
		if err != nil {
			t.Fatal(err)
		}
		m.SetMembers([]locality.Member{{ID: "a", Cluster: "~a"}})
		place, changes, long := m.Mine().Cluster, 0, 0
		for range rapid.IntRange(1, 300).Draw(t, "samples") {
			jitter := time.Duration(rapid.OneOf(rapid.IntRange(0, 500), rapid.IntRange(0, 100000)).Draw(t,
				"jitter, us")) * time.Microsecond
			if truth+jitter > 7500*time.Microsecond {
				if long++; long == 15 && truth <= 7500*time.Microsecond {
					jitter, long = 0, 0
				}
			} else {
				long = 0
			}
			m.Measured("a", truth+jitter)
			if now := m.Mine().Cluster; now != place {
				changes++
				place = now
			}
		}
		switch {
		case truth >= 5*ms && changes > 0:
			t.Fatalf("a peer %v away was taken for near", truth)
		case changes > 1:
			t.Fatalf("%d changes of mind about a peer %v away", changes, truth)
		}
	})
}

// TestRouteBecomesLong: a peer that is far now does leave.
func TestRouteBecomesLong(t *testing.T) {
	m := newMap(t, locality.Config{Self: "m"})
	m.SetMembers([]locality.Member{{ID: "a", Cluster: "~a"}})
	m.Measured("a", ms)
	for i := range 15 {
		if got := m.Mine().Cluster; got != "~a" {
			t.Fatalf("left after %d long samples", i)
		}
		m.Measured("a", 20*ms)
	}
	if got := m.Mine(); got.Cluster != "~m" {
		t.Errorf("still %+v", got)
	}
	if got := m.RTT("a"); got != 20*ms {
		t.Errorf("round trip %v", got)
	}
}

// TestSmallClustersAreNotFavoured tests what stealing needs for the papers' guarantee (CRS paper, 3.3): a
// thief draws alike from all peers outside its cluster. So each of them has to be in the list of outsiders
// once, whatever it or others claim, and whatever the size of its cluster: then in a swarm of clusters of 16,
// 8 and 2, one of the two is drawn by a thief of the first as often as one of the eight.
func TestSmallClustersAreNotFavoured(t *testing.T) {
	m := newMap(t, locality.Config{Self: "big00", Label: "big"})
	var members []locality.Member
	for cluster, size := range map[string]int{"big": 16, "middle": 8, "small": 2} {
		for i := range size {
			members = append(members, locality.Member{ID: fmt.Sprintf("%s%02d", cluster, i), Label: cluster,
				Cluster: cluster})
		}
	}
	members = append(members, members...) // heard of twice
	members = append(members, locality.Member{ID: "silent"}, locality.Member{ID: "liar", Cluster: "small"})
	m.SetMembers(members)
	m.Measured("small00", 2*ms) // near to this peer, and labeled otherwise: not in two clusters

	drawn := map[string]int{}
	for cluster, ids := range m.Clusters() {
		if cluster != m.Mine().Cluster {
			for _, id := range ids {
				drawn[id]++
			}
		}
	}
	if len(drawn) != 8+2+2 {
		t.Errorf("%d peers outside: %v", len(drawn), slices.Sorted(maps.Keys(drawn)))
	}
	for id, n := range drawn {
		if n != 1 {
			t.Errorf("%s is listed %d times", id, n)
		}
	}
	if drawn["big00"] != 0 || drawn["big07"] != 0 {
		t.Error("a peer of the own cluster is outside")
	}
}

// TestLabels: whoever has a label leads others near to it, whatever the IDs.
func TestLabels(t *testing.T) {
	w := newWorld(t, []point{{0, 0}, {1, 0}, {2, 0}, {50, 0}}, locality.Config{})
	w.label[2] = "panda"
	labeled, err := locality.New(locality.Config{Self: name(2), Label: "panda"})
	if err != nil {
		t.Fatal(err)
	}
	w.maps[2] = labeled
	w.round()
	w.measure()
	if w.settle() < 0 {
		t.Fatal("never settles")
	}
	if got, want := w.places(), []string{"panda", "panda", "panda", "~p003"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestCoordinates has more peers than may be measured: in a swarm over the limit, those far away are never taken for
// near, and peers of a cluster find together although most of them never measured their leader.
func TestCoordinates(t *testing.T) {
	const each, clusters = 30, 3
	var at []point
	for i := range each * clusters {
		at = append(at, point{x: 100*float64(i%clusters) + float64(i)/each/clusters, y: float64(i%7) / 7})
	}
	w := newWorld(t, at, locality.Config{CoordinatesAbove: 30})
	measured := map[[2]int]bool{}
	partners := []int{1, 3, 6, 11, 17, 24, 31, 43, 57, 73} // of one's own cluster are those that three divides
	for round := range 200 {
		w.round()
		for i, m := range w.maps {
			j := (i + partners[round%len(partners)]) % len(w.maps)
			m.Measured(name(j), w.rtt(i, j))
			measured[[2]int{i, j}] = true
		}
	}
	together, byMap := 0, 0
	for i, m := range w.maps {
		place := m.Mine()
		if place.Leader == "" {
			t.Fatalf("%+v", place)
		}
		var leader int
		if _, err := fmt.Sscanf(place.Leader, "p%d", &leader); err != nil {
			t.Fatal(err)
		}
		if leader%clusters != i%clusters {
			t.Errorf("%d follows %d, %v away: %s", i, leader, w.rtt(i, leader), place.Why)
		}
		if leader != i {
			together++
			if !measured[[2]int{i, leader}] {
				byMap++
			}
		}
	}
	t.Logf("%d of %d follow another, %d of them one they never measured", together, len(w.maps), byMap)
	if together < len(w.maps)/2 || byMap == 0 {
		t.Errorf("only %d of %d found together, %d by coordinates", together, len(w.maps), byMap)
	}
}

// TestMeasuredCounts: one that looks near by coordinates is not any more as soon as it was measured to be far.
func TestMeasuredCounts(t *testing.T) {
	m := newMap(t, locality.Config{Self: "m", CoordinatesAbove: 1})
	here := []float64{0, 0, 0, 0, 0, 0, 0, 0, 0.05, 0, 1e-5}
	members := []locality.Member{{ID: "a", Cluster: "~a", Position: here}, {ID: "b", Cluster: "~a", Position: here}}
	m.SetMembers(members)
	for range 300 {
		m.Measured("b", 2*ms)
	}
	m.SetMembers(members)
	if got := m.Mine(); got.Cluster != "~a" {
		t.Fatalf("%+v is not by coordinates, at %v", got, m.Position())
	}
	m.Measured("a", 30*ms)
	if got := m.Mine(); got.Cluster != "~m" {
		t.Errorf("%+v", got)
	}
}

// TestProbe: everybody has his turn, and those who may be followed more often.
func TestProbe(t *testing.T) {
	m := newMap(t, locality.Config{Self: "m"})
	var members []locality.Member
	for i := range 40 {
		members = append(members, locality.Member{ID: fmt.Sprintf("x%02d", i), Cluster: "~x00"})
	}
	members = append(members, locality.Member{ID: "a", Cluster: "~a"}, locality.Member{ID: "b", Cluster: "~b"})
	m.SetMembers(members)
	asked := map[string]int{}
	for range 40 {
		list := m.Probe(4)
		if len(list) != 4 {
			t.Fatalf("%d named", len(list))
		}
		for _, id := range list {
			asked[id]++
		}
	}
	for _, x := range members {
		if asked[x.ID] == 0 {
			t.Errorf("%s never has a turn", x.ID)
		}
	}
	if asked["a"] < 30 || asked["b"] < 30 {
		t.Errorf("leaders are asked %d and %d times of 40", asked["a"], asked["b"])
	}
	clear(asked)
	for range 2 * len(members) { // as many as there are leaders: they do not take all turns
		for _, id := range m.Probe(2) {
			asked[id]++
		}
	}
	if len(asked) != len(members) {
		t.Errorf("%d of %d members have a turn beside the leaders", len(asked), len(members))
	}
	if got := m.Probe(100); len(got) != len(members) {
		t.Errorf("%d of %d named", len(got), len(members))
	}
	if got := newMap(t, locality.Config{Self: "m"}).Probe(3); len(got) != 0 {
		t.Errorf("nobody to name, and %v", got)
	}
}

// TestBounds: so many members are known, whoever is none changes nothing, and a round trip that cannot be is not
// believed.
func TestBounds(t *testing.T) {
	m := newMap(t, locality.Config{Self: "m", MaxMembers: 3})
	var members []locality.Member
	for i := range 10 {
		members = append(members, locality.Member{ID: fmt.Sprint("a", i), Cluster: "~x"})
	}
	m.SetMembers(members)
	m.Measured("stranger", ms)
	m.Measured("a1", -ms)
	m.Measured("a1", time.Hour)
	if got := m.RTT("a1"); got != 0 {
		t.Errorf("round trip %v", got)
	}
	if got := m.Clusters(); len(got["~x"]) != 3 || len(got) != 2 {
		t.Errorf("%v", got)
	}
	if got := m.Of("stranger"); got.Cluster != "~stranger" {
		t.Errorf("%+v", got)
	}
}

// TestConfigErrors: a peer without a name, a label that would pass for a leader's or is too long, and thresholds that
// contradict each other are refused.
func TestConfigErrors(t *testing.T) {
	for name, cfg := range map[string]locality.Config{
		"no self":          {},
		"a leader's name":  {Self: "m", Label: "~m"},
		"a long label":     {Self: "m", Label: string(make([]byte, 65))},
		"leaves too early": {Self: "m", NearRTT: 5 * ms, LeaveRTT: 4 * ms},
	} {
		if _, err := locality.New(cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if locality.CheckLabel("") == nil || locality.CheckLabel("panda") != nil {
		t.Error("CheckLabel")
	}
}

// FuzzPosition gives a peer the positions that hostile ones claim: its own stays one that others accept, and
// distances stay distances.
func FuzzPosition(f *testing.F) {
	f.Add(0.0, 0.0, 1.0, 0.0, 0.0, 11)
	f.Add(1e300, -1e300, 1.5, 1e9, -1.0, 11)
	f.Add(math.NaN(), math.Inf(1), 0.1, 0.0, 1e-5, 11)
	f.Add(9.9, -9.9, 1e-300, 9.9, 9.9, 11)
	f.Add(1.0, 1.0, 1.0, 1.0, 1.0, 3)
	f.Fuzz(func(t *testing.T, x, y, e, adjustment, height float64, n int) {
		claimed := make([]float64, min(max(n, 0), 20))
		for i := range claimed {
			claimed[i] = []float64{x, y}[i%2]
		}
		if len(claimed) == 11 {
			claimed[8], claimed[9], claimed[10] = e, adjustment, height
		}
		m := newMap(t, locality.Config{Self: "m", CoordinatesAbove: 1})
		m.SetMembers([]locality.Member{{ID: "a", Position: claimed}, {ID: "b", Position: claimed}, {ID: "c"}})
		for range 40 {
			m.Measured("a", 3*ms)
			m.Measured("c", ms)
		}
		m.SetMembers([]locality.Member{{ID: "a", Position: claimed}, {ID: "b", Position: claimed}, {ID: "c"}})
		p := m.Position()
		for _, v := range p {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("position %v", p)
			}
		}
		if m.Mine().Cluster == "" || len(p) != 11 {
			t.Fatalf("%+v at %v", m.Mine(), p)
		}
	})
}
