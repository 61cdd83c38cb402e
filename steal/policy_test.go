package steal

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// scene is a peer in a situation, for asking a policy one question.
type scene struct {
	clusters string // "a: a1 a2, b: b1 b2"
	self     PeerID
	load     Load
	flights  string // victims that have been asked and not answered
	asks     string // thieves that wait here
	lent     int
	failures int // steals in a row that brought nothing
	links    map[ClusterID]Link
	known    map[PeerID]Acquaintance
}

// core builds the scene with the real core, so that a policy sees what it will see at work.
func (s scene) core(t *testing.T, p Policy) *Core {
	t.Helper()
	members := parseMembers(s.clusters)
	c, err := NewCore(LAN(), Run{}, Address{Peer: s.self, Inc: 1}, members, p, rand.New(rand.NewPCG(7, 7)))
	if err != nil {
		t.Fatal(err)
	}
	c.now = time.Minute
	c.load = s.load
	for _, id := range strings.Fields(s.flights) {
		m, _ := members.Find(PeerID(id))
		c.thief.flights = append(c.thief.flights, Flight{Victim: m.ID, Cluster: m.Cluster,
			Wide: m.Cluster != c.cluster, Max: 1,
			Since: c.now})
	}
	for i, id := range strings.Fields(s.asks) {
		m, _ := members.Find(PeerID(id))
		c.victim.asks = append(c.victim.asks, Ask{ID: AskID(i + 1), Thief: m.ID, Cluster: m.Cluster,
			Wide: m.Cluster != c.cluster,
			Max:  4, peer: c.partners.meet(m.ID)})
	}
	for id, l := range s.links {
		*c.links.of(id) = l
	}
	for id, k := range s.known {
		c.partners.meet(id).known = k
	}
	c.leases.n, c.thief.failures = s.lent, s.failures
	return c
}

func parseMembers(s string) *Members {
	var list []Member
	for _, c := range strings.Split(s, ",") {
		name, ids, _ := strings.Cut(c, ":")
		for _, id := range strings.Fields(ids) {
			list = append(list, Member{ID: PeerID(id), Cluster: ClusterID(strings.TrimSpace(name))})
		}
	}
	return NewMembers(list)
}

// said asks the policy and writes its answer down: steals by cluster, pushes, tells and refusals.
func (s scene) said(t *testing.T, p Policy) string {
	t.Helper()
	c := s.core(t, p)
	var plan Plan
	p.Plan(c.thief.view, &plan)
	return sayPlan(c, &plan)
}

func sayPlan(c *Core, plan *Plan) string {
	var words []string
	for _, x := range plan.steals {
		m, _ := c.members.Find(x.victim)
		word := "steal"
		if x.max == 0 {
			word = "probe"
		}
		if x.patience > 0 {
			word = "wait at"
		}
		words = append(words, fmt.Sprintf("%s %s", word, m.Cluster))
	}
	for _, x := range plan.pushes {
		words = append(words, fmt.Sprintf("push %d", x.max))
	}
	for _, x := range plan.tells {
		words = append(words, fmt.Sprintf("tell %s", x))
	}
	for _, x := range plan.refuses {
		words = append(words, fmt.Sprintf("refuse %d", x))
	}
	return strings.Join(words, ", ")
}

const twoClusters = "a: a1 a2 a3, b: b1 b2 b3"

var idleOne = Load{Workers: 1, Idle: 1}

// Each policy's decisions in the situations that tell it from the others.
func TestPolicies(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy Policy
		scene  scene
		want   string
	}{
		{"rs: a busy peer does not steal", RandomStealing{}, scene{load: Load{Workers: 1}}, ""},
		{"rs: one request for each idle worker", RandomStealing{},
			scene{clusters: "a: a1 a2 a3 a4", load: Load{Workers: 3, Idle: 3}}, "steal a, steal a, steal a"},
		{"rs: it waits for the answer", RandomStealing{}, scene{load: idleOne, flights: "b1"}, ""},
		{"rs: alone there is nobody to ask", RandomStealing{}, scene{clusters: "a: a1", load: idleOne}, ""},
		{"crs: wide first, then local", ClusterAware{}, scene{load: idleOne}, "steal b, steal a"},
		{"crs: only local while a wide request is out", ClusterAware{}, scene{load: idleOne, flights: "b2"}, "steal a"},
		{"crs: wide again when it has landed", ClusterAware{}, scene{load: idleOne, flights: "a2"}, "steal b"},
		{"crs: nothing more while both are out", ClusterAware{}, scene{load: idleOne, flights: "a2 b1"}, ""},
		{"crs: a local request for each idle worker, one wide", ClusterAware{},
			scene{load: Load{Workers: 2, Idle: 2}}, "steal b, steal a, steal a"},
		{"crs: one cluster", ClusterAware{}, scene{clusters: "a: a1 a2", load: idleOne}, "steal a"},
		{"crs: busy", ClusterAware{}, scene{load: Load{Workers: 2}}, ""},
		{"cmrs: another cluster for each credit", ClusterAware{Credits: 2},
			scene{clusters: "a: a1 a2, b: b1, c: c1", load: idleOne, flights: "c1"}, "steal b, steal a"},
		{"cmrs: no second request to a cluster", ClusterAware{Credits: 3}, scene{load: idleOne, flights: "b1"},
			"steal a"},
		{"acrs: as crs, one wide request at a time", InverseTime{}, scene{load: idleOne, flights: "b1"}, "steal a"},
		{"acrs: wide first", InverseTime{}, scene{load: idleOne}, "steal b, steal a"},
		{"push: idle peers wait", &RandomPushing{}, scene{load: idleOne}, ""},
		{"push: more than the threshold", &RandomPushing{Threshold: 2}, scene{load: Load{Workers: 1, Queued: 3}},
			"push 1"},
		{"push: up to the threshold", &RandomPushing{Threshold: 2}, scene{load: Load{Workers: 1, Queued: 2}}, ""},
		{"push: up to the limit", &RandomPushing{Threshold: 2, Limit: 5},
			scene{load: Load{Workers: 1, Queued: 9}, lent: 5}, ""},
		{"master: ask the master", MasterWorker{Master: "b1"}, scene{load: idleOne}, "wait at b"},
		{"master: one request at a time", MasterWorker{Master: "b1"}, scene{load: idleOne, flights: "b1"}, ""},
		{"master: the master asks nobody", MasterWorker{Master: "a1"}, scene{load: idleOne}, ""},
		{"load: members tell the coordinator and steal locally", &LoadBased{}, scene{self: "a2", load: idleOne},
			"steal a, tell a1"},
		{"load: the coordinator prefetches for a poor cluster", &LoadBased{},
			scene{load: Load{Workers: 1, Queued: 1}}, "steal b"},
		{"load: not for a rich one", &LoadBased{}, scene{load: Load{Workers: 1},
			known: map[PeerID]Acquaintance{"a2": {Queued: 3}}}, ""},
		{"load: one wide request at a time", &LoadBased{}, scene{load: Load{Workers: 1}, flights: "b1"}, ""},
	} {
		if c.scene.clusters == "" {
			c.scene.clusters = twoClusters
		}
		if c.scene.self == "" {
			c.scene.self = "a1"
		}
		if got := c.scene.said(t, c.policy); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// How much each policy gives.
func TestPoliciesGive(t *testing.T) {
	s := scene{clusters: twoClusters, self: "a1", load: Load{Workers: 1, Queued: 10}}
	ask := Ask{Thief: "b1", Cluster: "b", Wide: true, Max: 4}
	for _, c := range []struct {
		policy Policy
		want   int
	}{
		{RandomStealing{}, 1}, {ClusterAware{}, 1}, {ClusterAware{Credits: 2}, 1}, {InverseTime{}, 1},
		{&Hierarchical{}, 1}, {&LoadBased{}, 1},
		{&RandomPushing{}, 0}, {MasterWorker{Master: "a1"}, 4}, {MasterWorker{Master: "b1"}, 0},
	} {
		core := s.core(t, c.policy)
		if got := c.policy.Give(core.thief.view, ask); got != c.want {
			t.Errorf("%s gives %d, want %d", c.policy.Name(), got, c.want)
		}
	}
}

// The tree of CHS, walked by one peer: children in turn, then the parent, then a pause.
func TestHierarchicalRound(t *testing.T) {
	h := &Hierarchical{}
	s := scene{clusters: "a: a1 a2 a3 a4 a5, b: b1 b2", self: "a2", load: idleOne}
	c := s.core(t, h)
	var victims []string
	for range 3 {
		var plan Plan
		h.Plan(c.thief.view, &plan)
		if len(plan.steals) != 1 {
			t.Fatalf("after %v: %d requests in one step", victims, len(plan.steals))
		}
		victims = append(victims, string(plan.steals[0].victim))
	}
	if want := []string{"a4", "a5", "a1"}; !slices.Equal(victims, want) {
		t.Errorf("asked %v, want %v", victims, want)
	}
	var plan Plan
	h.Plan(c.thief.view, &plan)
	if len(plan.steals) != 0 || plan.wake != c.now+5*time.Millisecond {
		t.Errorf("after a round that brought nothing: %d requests, wake at %v", len(plan.steals), plan.wake)
	}
}

// A request from above is refused as soon as the subtree is known to be idle, without waiting for the answer
// from above: so two requests can never wait for each other.
func TestHierarchicalAnswersUpward(t *testing.T) {
	h := &Hierarchical{}
	s := scene{clusters: "a: a1 a2 a3 a4", self: "a2", load: idleOne, asks: "a1"}
	c := s.core(t, h)
	for i, want := range []string{"wait at a", "wait at a, refuse 1"} { // a4; then the refusal, and a1
		var plan Plan
		h.Plan(c.thief.view, &plan)
		if got := sayPlan(c, &plan); got != want {
			t.Errorf("step %d: %q, want %q", i, got, want)
		}
	}
}

// Only the roots of clusters reach across the wide-area network.
func TestHierarchicalPlaces(t *testing.T) {
	for self, want := range map[PeerID]string{
		"a1": "parent , children a2 a3 b1 c1",
		"a2": "parent a1, children a4",
		"b1": "parent a1, children b2 d1",
		"b2": "parent b1, children ",
		"d1": "parent b1, children ",
	} {
		h := &Hierarchical{}
		c := scene{clusters: "a: a1 a2 a3 a4, b: b1 b2, c: c1, d: d1", self: self}.core(t, h)
		h.place(c.thief.view)
		got := fmt.Sprintf("parent %s, children", h.parent)
		for _, id := range h.children {
			got += " " + string(id)
		}
		if strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%s: %q, want %q", self, got, want)
		}
	}
}

func TestPolicyByName(t *testing.T) {
	for _, name := range PolicyNames() {
		p, err := PolicyByName(name, "m")
		if err != nil || p.Name() != name {
			t.Errorf("%q gives %v, %v", name, p, err)
		}
	}
	if p, err := PolicyByName("", ""); err != nil || p.Name() != PolicyNames()[0] {
		t.Errorf("the default is %v, %v", p, err)
	}
	if _, err := PolicyByName("best", ""); err == nil || !strings.Contains(err.Error(), "acrs, adaptive") {
		t.Errorf("an unknown name gives %v", err)
	}
}

// A weighted draw follows the weights and never draws a zero.
func TestDrawWeighted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var n [4]int
	for range 10_000 {
		i, ok := drawWeighted(r, []float64{1, 0, 3, 0})
		if !ok {
			t.Fatal("nothing drawn")
		}
		n[i]++
	}
	if n[1] != 0 || n[3] != 0 || n[0] < 2300 || n[0] > 2700 {
		t.Errorf("drawn %v times", n)
	}
	if _, ok := drawWeighted(r, []float64{0, 0}); ok {
		t.Error("drawn from nothing")
	}
}
