package policy

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// begun is the policy of a peer that has greeted the other clusters and has been idle for as long as it says.
func begun(idle time.Duration) *Adaptive {
	return &Adaptive{greeted: true, dryAt: time.Minute - idle}
}

func near() map[ClusterID]Link { return map[ClusterID]Link{"b": {LastSteal: 200 * time.Millisecond}} }

// The decisions of Adaptive, one situation each. The peer is a1 unless it says otherwise; it is a minute past
// the start.
func TestAdaptiveDecides(t *testing.T) {
	far := map[ClusterID]Link{"b": {LastSteal: 3 * time.Second}}
	slow := map[ClusterID]Link{"b": {LastSteal: 200 * time.Millisecond}, "c": {LastSteal: 5 * time.Second}}
	fed := begun(0)
	fed.far = map[ClusterID]*farCluster{"b": {id: "b", rich: 0.5, at: time.Minute}, "c": {id: "c", rich: 1}}
	starved := begun(0)
	starved.far = map[ClusterID]*farCluster{"b": {id: "b", rich: 0.001, at: time.Minute, probeAt: time.Hour},
		"c": {id: "c", rich: 1, probeAt: time.Hour}}
	waited := begun(6 * time.Second)
	waited.far = map[ClusterID]*farCluster{"b": {id: "b", rich: 0.001, at: time.Minute}, "c": {id: "c", rich: 1}}
	known := func(steal time.Duration) *Adaptive {
		a := begun(0)
		a.far = map[ClusterID]*farCluster{"b": {id: "b", rich: 1, steal: steal}}
		return a
	}
	for _, c := range []struct {
		name   string
		policy *Adaptive
		scene  scene
		want   string
	}{
		{"one of two asks far clusters before its neighbour has failed it", known(200 * time.Millisecond),
			scene{clusters: "a: a1 a2, b: b1", load: idleOne, links: near()}, "steal b, steal a"},
		{"but not near ones", known(20 * time.Millisecond), scene{clusters: "a: a1 a2, b: b1", load: idleOne,
			links: map[ClusterID]Link{"b": {LastSteal: 20 * time.Millisecond}}}, "steal a"},
		{"a busy peer begins by measuring", &Adaptive{}, scene{load: Load{Workers: 1}}, "probe b"},
		{"an idle pioneer begins by asking every cluster", &Adaptive{},
			scene{clusters: "a: a1 a2 a3, b: b1, c: c1", load: idleOne}, "wait at b, wait at c, steal a"},
		{"an idle peer that is none, by measuring", &Adaptive{}, scene{self: "a3", load: idleOne}, "probe b, steal a"},
		{"it begins once", begun(0), scene{load: Load{Workers: 1}}, ""},
		{"local first", begun(0), scene{load: idleOne, links: near()}, "steal a"},
		{"wide when a local steal has failed", begun(0), scene{load: idleOne, links: near(), failures: 1},
			"steal b, steal a"},
		{"one wide request at a time", begun(0), scene{load: idleOne, links: near(), failures: 1, flights: "b1"},
			"steal a"},
		{"an unknown way waits at the victim", begun(0), scene{load: idleOne, failures: 1}, "wait at b, steal a"},
		{"a single far cluster is the best one", begun(0), scene{load: idleOne, links: far, failures: 1},
			"steal b, steal a"},
		{"a far one is measured, not asked, beside a near one", fed,
			scene{clusters: "a: a1 a2, b: b1, c: c1", load: idleOne, links: slow, failures: 1},
			"probe c, steal b, steal a"},
		{"it is asked if the near one has no work", starved,
			scene{clusters: "a: a1 a2, b: b1, c: c1", load: idleOne, links: slow, failures: 1},
			"steal c, steal a"},
		{"it is asked by who has been idle for as long, if the near one is poor", waited,
			scene{clusters: "a: a1 a2, b: b1, c: c1", load: idleOne, links: slow, failures: 1}, "steal c, steal a"},
		{"lifelines when local steals go on failing", begun(0),
			scene{clusters: "a: a1 a2 a3 a4 a5", load: idleOne, failures: localDraws},
			"wait at a, wait at a, wait at a"},
		{"they are held, not repeated", begun(0), scene{clusters: "a: a1 a2 a3", load: idleOne,
			failures: localDraws, flights: "a2 a3"}, ""},
		{"when they bring something for some of its workers it draws again", begun(0), scene{clusters: "a: a1 a2 a3 a4",
			load: Load{Workers: 4, Idle: 2}, flights: "a2 a3", patience: lifelinePatience}, "steal a"},
		{"but not for a worker alone", begun(0), scene{clusters: "a: a1 a2 a3 a4", load: idleOne, flights: "a2 a3",
			patience: lifelinePatience}, ""},
		{"and one at a time", begun(0), scene{clusters: "a: a1 a2 a3 a4", load: Load{Workers: 4, Idle: 2},
			flights: "a2 a3"}, ""},
		{"on behalf of who waits here", begun(0), scene{load: Load{Workers: 1}, asks: "a2", links: near()}, "steal a"},
		{"but not without a worker, for whom a job could stay here", begun(0),
			scene{load: Load{}, asks: "a2", links: near()}, ""},
		{"except for guests, who know nobody else", begun(0),
			scene{clusters: "a: a1 a2 tab*, b: b1", load: Load{}, asks: "a2 tab", links: near()}, "steal a"},
		{"but not while there is something to give", begun(0),
			scene{load: Load{Workers: 1, Queued: 1}, asks: "a2", links: near()}, ""},
		{"the way to strangers who asked is measured", &Adaptive{greeted: true, strangers: true},
			scene{load: Load{Workers: 1, Queued: 1}}, "probe b"},
	} {
		if got := c.scene.orTwo().said(c.policy); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Whom Adaptive gives a job: neighbours always, others when nobody here wants it, strangers when their way is
// known and not too long.
func TestAdaptiveGives(t *testing.T) {
	blind := Ask{Thief: "b1", Cluster: "b", Wide: true, Max: 4, Until: time.Second}
	sure := Ask{Thief: "b1", Cluster: "b", Wide: true, Max: 4}
	waits := Ask{Thief: "b1", Cluster: "b", Wide: true, Max: 4, Until: quickPatience}
	busy := Load{Workers: 1, Queued: 9}
	slow := map[ClusterID]Link{"b": {LastSteal: 10 * time.Second}, "c": {LastSteal: 100 * time.Millisecond}}
	for _, c := range []struct {
		name  string
		scene scene
		ask   Ask
		want  int
	}{
		{"a neighbour", scene{load: busy}, Ask{Thief: "a2", Cluster: "a", Max: 4}, 1},
		{"another cluster", scene{load: busy, links: near()}, sure, 1},
		{"another cluster while a neighbour waits", scene{load: busy, links: near(), asks: "a2"}, sure, 0},
		{"another cluster while a worker has nothing", scene{load: idleOne, links: near()}, sure, 0},
		{"a stranger", scene{load: busy}, blind, 0},
		{"a stranger who knows the way", scene{load: busy}, sure, 0},
		{"a stranger whose way is known", scene{load: busy, links: near()}, blind, 1},
		{"a stranger behind a bad link", scene{load: busy, links: slow}, blind, 0},
		{"who knows that the link is bad", scene{load: busy, links: slow}, sure, 1},
		{"who knows it and waits", scene{load: busy, links: slow}, waits, 1},
	} {
		c.scene.clusters, c.scene.self = "a: a1 a2, b: b1, c: c1", "a1"
		a := begun(0)
		if got := a.Give(c.scene.view(), c.ask); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
		if unknown := c.scene.links == nil && c.ask.Wide; a.strangers != unknown {
			t.Errorf("%s: it means to measure: %v, want %v", c.name, a.strangers, unknown)
		}
	}
}

// Who has given a job and has more is asked, not just anybody of its cluster, when the cluster that was drawn has
// probably nothing: but not far away, nor when it has had nothing since.
func TestAdaptiveAsksWhoGave(t *testing.T) {
	for _, c := range []struct {
		name          string
		queued        int
		steal         time.Duration
		fails, empty  uint64 // steals in vain: from the cluster that gave, and from the near one
		askedNext     PeerID // after the one that gave
		always, never bool
	}{
		{name: "it has more", queued: 3, steal: 30 * time.Millisecond, empty: 9, always: true},
		{name: "it has none", steal: 30 * time.Millisecond, empty: 9, never: true},
		{name: "it is far", queued: 3, steal: nearSteal, empty: 9, never: true},
		{name: "nobody was asked in vain", queued: 3, steal: 30 * time.Millisecond, never: true},
		{name: "it was asked in vain", queued: 3, steal: 30 * time.Millisecond, fails: 1, empty: 9, never: true},
		{name: "another was asked in vain", queued: 3, steal: 30 * time.Millisecond, fails: 1, empty: 9,
			askedNext: "c4", always: true},
	} {
		gave := 0
		const draws = 40
		for seed := range uint64(draws) {
			s := scene{clusters: "a: a1 a2, b: b1 b2, c: c1 c2 c3 c4", self: "a1", load: idleOne, failures: 1,
				links: map[ClusterID]Link{"b": {LastSteal: 2 * time.Millisecond}, "c": {LastSteal: c.steal, Wins: 1}},
				known: map[PeerID]Acquaintance{"c3": {Queued: c.queued}}}
			a := begun(0)
			v := s.view()
			v.rand = rand.New(rand.NewPCG(seed, 1))
			a.follow(v)
			a.far["c"].asked = "c3"
			a.survey(v)
			a.far["c"].asked = cmp.Or(c.askedNext, "c3")
			v.links["b"] = Link{LastSteal: 2 * time.Millisecond, Fails: c.empty}
			v.links["c"] = Link{LastSteal: c.steal, Wins: 1, Fails: c.fails}
			var plan Plan
			a.Plan(v, &plan)
			if len(plan.Steals) > 0 && plan.Steals[0].Victim == "c3" {
				gave++
			}
		}
		if c.always && gave != draws || c.never && gave == draws {
			t.Errorf("%s: it is asked %d of %d times", c.name, gave, draws)
		}
	}
}

// An idle peer asks again ever more rarely: a second after many failures, from half to one and a half, but sooner if
// it is not idle for long and another cluster is near, or its own is small.
func TestAdaptiveBacksOff(t *testing.T) {
	const short = 2 * time.Millisecond
	for _, c := range []struct {
		fails       int
		steal, idle time.Duration
		pause       time.Duration
		peers       int // of its cluster
	}{
		{0, 200 * time.Millisecond, 0, time.Millisecond, 16},
		{5, 200 * time.Millisecond, 0, 32 * time.Millisecond, 16},
		{50, 200 * time.Millisecond, 0, time.Second, 16},
		{50, 200 * time.Millisecond, 0, time.Second, 40},
		{50, 200 * time.Millisecond, 0, time.Second / 8, 2}, // with many, its neighbours ask as well
		{50, 200 * time.Millisecond, 50 * time.Second, time.Second, 2},
		{3, short, 0, 8 * time.Millisecond, 16},
		{50, short, 0, backoffSteals * short, 16},
		{50, short, 4 * time.Second, 4 * time.Second / backoffIdle, 16},
		{50, short, 50 * time.Second, time.Second, 16},
	} {
		a := begun(c.idle)
		mine := "a:"
		for i := range c.peers {
			mine += fmt.Sprint(" a", i+1)
		}
		v := scene{clusters: mine + ", b: b1, c: c1", self: "a1", load: idleOne, failures: 1,
			links: map[ClusterID]Link{"b": {LastSteal: c.steal}, "c": {LastSteal: 10 * c.steal}}}.view()
		a.fails = c.fails
		var plan Plan
		a.Plan(v, &plan)
		if pause := a.wideAt - v.Now(); pause < c.pause/2 || pause > c.pause*3/2 {
			t.Errorf("after %d failures in %v, %v from the nearest: a pause of %v, want about %v", c.fails, c.idle, c.steal,
				pause, c.pause)
		}
		plan = Plan{}
		a.Plan(v, &plan)
		if got := v.say(&plan); got != "steal a" || plan.WakeAt != a.wideAt {
			t.Errorf("within the pause: %q, woken at %v", got, plan.WakeAt)
		}
	}
}

// After requests that brought nothing the next ones wait at quick clusters, two at once, and another one may go out
// beside them. A slow cluster is asked as before, and not because the quick ones are all asked.
func TestAdaptiveWaitsAtQuickClusters(t *testing.T) {
	mixed := map[ClusterID]Link{"b": {LastSteal: 2 * time.Millisecond}, "c": {LastSteal: 2 * time.Millisecond},
		"d": {LastSteal: 200 * time.Millisecond}}
	slow := map[ClusterID]Link{"b": {LastSteal: quickMost}, "c": {LastSteal: quickMost}, "d": {LastSteal: quickMost}}
	for _, c := range []struct {
		name  string
		fails int
		idle  time.Duration
		scene scene
		wide  int    // requests to other clusters
		want  string // of them
	}{
		{"nothing has failed", 0, 0, scene{links: mixed}, 1, "steal"},
		{"one has", 1, 0, scene{links: mixed}, 2, "wait at"},
		{"many have, for long", 50, time.Minute, scene{links: mixed}, 2, "wait at"},
		{"one waits", 3, 0, scene{links: mixed, flights: "b1", patience: quickPatience}, 1, "wait at c"},
		{"all quick ones do", 3, 0, scene{links: mixed, flights: "b1 c1", patience: time.Millisecond}, 0, ""},
		{"one is blind", 3, 0, scene{links: mixed, flights: "b1", patience: blindPatience}, 0, ""},
		{"one does not wait", 3, 0, scene{links: mixed, flights: "d1"}, 0, ""},
		{"all are slow", 3, 0, scene{links: slow}, 1, "steal"},
	} {
		a, v := begun(c.idle), c.scene
		v.clusters, v.self, v.load, v.failures = "a: a1 a2, b: b1, c: c1, d: d1", "a1", idleOne, localDraws
		a.fails = c.fails
		var plan Plan
		shown := v.view()
		a.Plan(shown, &plan)
		plan.Steals = slices.DeleteFunc(plan.Steals, func(s Steal) bool { return s.Victim == "a2" })
		got := shown.say(&plan)
		if len(plan.Steals) != c.wide || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %d of %q", c.name, got, c.wide, c.want)
		}
		for _, s := range plan.Steals {
			if pause := a.wideAt - shown.Now(); s.Patience > min(quickPauses*2*pause, quickPatience) {
				t.Errorf("%s: one waits for %v, the pause was drawn as %v", c.name, s.Patience, pause)
			}
		}
	}
}

// A cluster that joins is measured as soon as others that are near are asked, however long this peer has been idle, and
// beside these.
func TestAdaptiveMeetsNewClusters(t *testing.T) {
	near := Link{LastSteal: 4 * time.Millisecond}
	met := 0
	for seed := range uint64(100) {
		a := begun(20 * time.Second)
		a.fails = 50
		v := scene{clusters: "a: a1 a2, b: b1, c: c1, d: d1", self: "a1", load: idleOne, failures: localDraws,
			links: map[ClusterID]Link{"b": near, "c": near}}.view()
		v.rand = rand.New(rand.NewPCG(seed, 1))
		var plan Plan
		a.Plan(v, &plan)
		wide := slices.DeleteFunc(plan.Steals, func(s Steal) bool { return s.Victim == "a2" })
		if slices.ContainsFunc(wide, func(s Steal) bool { return s.Victim == "d1" }) {
			met++
		}
		if !slices.ContainsFunc(wide, func(s Steal) bool { return s.Max > 0 && s.Victim != "d1" }) ||
			slices.ContainsFunc(wide, func(s Steal) bool { return s.Max > 0 && s.Victim == "d1" }) {
			t.Errorf("with seed %d those that are asked are %v", seed, wide)
		}
	}
	if met < 20 {
		t.Errorf("in %d of 100 rounds the new one is measured", met)
	}
}

// A cluster that refused is poor for a while, and forgiven.
func TestAdaptiveForgives(t *testing.T) {
	f := &farCluster{rich: 1}
	f.note(time.Minute, false)
	f.note(time.Minute, false)
	if got := f.richness(time.Minute); got < 0.3 || got > 0.4 {
		t.Errorf("after two refusals the richness is %v, want 0.36", got)
	}
	if got := f.richness(time.Minute + 5*forgetPoor); got < 0.99 {
		t.Errorf("long after it is %v, want nearly 1", got)
	}
}

// Results go straight unless that looks far slower than the first half of a detour, and the other way after a
// failure: the first time soon, if there is another way. Small ones that go round go straight at once as well.
func TestAdaptiveRoutes(t *testing.T) {
	even := map[ClusterID]Link{"b": {LastSteal: time.Second}, "c": {LastSteal: time.Second}}
	bad := map[ClusterID]Link{"b": {LastSteal: 5 * time.Second}, "c": {LastSteal: time.Second}}
	fast := map[ClusterID]Link{"b": {LastSteal: time.Millisecond}, "c": {LastSteal: time.Millisecond}}
	for _, c := range []struct {
		name  string
		links map[ClusterID]Link
		bytes int
		tries int
		round bool // the last one
		want  ClusterID
		in    time.Duration
	}{
		{"nothing is known", nil, 0, 0, false, "", 0},
		{"nothing is known and it was lost", nil, 0, 1, false, "", 0},
		{"there is no other way", map[ClusterID]Link{"b": {LastSteal: time.Second}}, 0, 0, false, "", 0},
		{"as good", even, 0, 0, false, "", rush * time.Second},
		{"as good, and lost", even, 0, 1, false, "c", 0},
		{"as good, and lost twice", even, 0, 2, true, "", 0},
		{"bad, and large", bad, smallResult + 1, 0, false, "c", 2 * rush * (time.Second + 2570*time.Microsecond)},
		{"bad, and small", bad, smallResult, 0, false, "c", atOnce},
		{"bad, and the detour was lost", bad, 0, 1, true, "", 0},
		{"bad since it was sent straight", bad, 0, 1, false, "c", 0},
		{"good again, and the detour was lost", even, 0, 1, true, "", 0},
		{"fast", fast, 0, 0, false, "", rushLeast},
	} {
		v := scene{clusters: "a: a1, b: b1, c: c1", self: "a1", links: c.links}.view()
		got, in := (&Adaptive{}).Route(v, "b", c.bytes, c.tries, c.round)
		if got != c.want || in != c.in {
			t.Errorf("%s: by way of %q within %v, want %q within %v", c.name, got, in, c.want, c.in)
		}
	}
}

// A change of the membership redraws the lifelines and forgets clusters that are gone.
func TestAdaptiveRegroups(t *testing.T) {
	a := begun(0)
	v := scene{clusters: "a: a1 a2, b: b1, c: c1", self: "a1", load: idleOne}.view()
	a.Plan(v, &Plan{})
	v.members = parseMembers("a: a1 a2 a3, c: c1")
	a.Plan(v, &Plan{})
	if len(a.far) != 1 || a.far["c"] == nil || len(a.lifelines) != 2 {
		t.Errorf("it remembers %d clusters and has the lifelines %v", len(a.far), a.lifelines)
	}
}

// Whoever asks from a cluster that this peer does not steal from is remembered for a while, and not for ever.
func TestAdaptiveForgets(t *testing.T) {
	a := begun(0)
	v := scene{load: Load{Workers: 1, Queued: 1}}.orTwo().view()
	for i := range 3 * farClusters {
		a.Give(v, Ask{Thief: "x", Cluster: ClusterID(fmt.Sprintf("c%d", i)), Wide: true, Max: 1})
		if len(a.far) > farClusters || a.far["b"] == nil {
			t.Fatalf("%d clusters are remembered after %d requests", len(a.far), i+1)
		}
	}
}

// A link that no large message went over is as fast as the papers' slower ones, unless small messages are slower than
// between continents: then it has what these took beyond that, and what was measured comes first.
func TestRate(t *testing.T) {
	for _, x := range []struct {
		link Link
		want float64
	}{
		{Link{}, assumedRate}, {Link{RTT: slowLeast}, assumedRate}, {Link{RTT: slowLeast + 1}, assumedRate},
		{Link{RTT: slowLeast + 400*time.Millisecond}, 1000}, {Link{RTT: time.Minute, BytesPerSecond: 5e6}, 5e6},
	} {
		if got := x.link.Rate(); got != x.want {
			t.Errorf("the rate of %+v is %v, want %v", x.link, got, x.want)
		}
	}
}
