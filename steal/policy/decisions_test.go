package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

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
		{"push: as many as workers are its own", &RandomPushing{}, scene{load: Load{Workers: 2, Queued: 2}}, ""},
		{"push: more than workers, which is all that engines say", &RandomPushing{},
			scene{load: Load{Workers: 2, Queued: 3}}, "push 1"},
		{"push: up to the limit", &RandomPushing{},
			scene{load: Load{Workers: 1, Queued: 9}, lent: mostPushed}, ""},
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
		{"tree: busy", &HostTree{Master: "a1"}, scene{load: Load{Workers: 1}}, ""},
		{"tree: one request at a time", &HostTree{Master: "a1"}, scene{load: idleOne, flights: "a2"}, ""},
		{"tree: children first", &HostTree{Master: "a1", Fanout: 2}, family("a2", 0), "steal b"},
		{"tree: the next child", &HostTree{Master: "a1", Fanout: 2}, family("a2", 1), "steal c"},
		{"tree: then the parent, patiently", &HostTree{Master: "a1", Fanout: 2}, family("a2", 2), "wait at a"},
		{"tree: and again the children", &HostTree{Master: "a1", Fanout: 2}, family("a2", 3), "steal b"},
		{"tree: a leaf has a parent only", &HostTree{Master: "a1", Fanout: 2}, family("c1", 1), "wait at a"},
		{"tree: the root has children only", &HostTree{Master: "a1", Fanout: 2}, family("a1", 2), "steal a"},
		{"tree: a root that was not first", &HostTree{Master: "c1", Fanout: 2}, family("a1", 2), "wait at c"},
	} {
		if got := c.scene.orTwo().said(c.policy); got != c.want {
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
		if got := c.policy.Give(s.view(), ask); got != c.want {
			t.Errorf("%s gives %d, want %d", c.policy.Name(), got, c.want)
		}
	}
}

// The tree of CHS, walked by one peer: children in turn, then the parent, then a pause.
func TestHierarchicalRound(t *testing.T) {
	h := &Hierarchical{}
	s := scene{clusters: "a: a1 a2 a3 a4 a5, b: b1 b2", self: "a2", load: idleOne}
	v := s.view()
	var victims []string
	for range 3 {
		var plan Plan
		h.Plan(v, &plan)
		if len(plan.Steals) != 1 {
			t.Fatalf("after %v: %d requests in one step", victims, len(plan.Steals))
		}
		victims = append(victims, string(plan.Steals[0].Victim))
	}
	if want := []string{"a4", "a5", "a1"}; !slices.Equal(victims, want) {
		t.Errorf("asked %v, want %v", victims, want)
	}
	var plan Plan
	h.Plan(v, &plan)
	if len(plan.Steals) != 0 || plan.WakeAt != v.Now()+5*time.Millisecond {
		t.Errorf("after a round that brought nothing: %d requests, wake at %v", len(plan.Steals), plan.WakeAt)
	}
}

// A request from above is refused as soon as the subtree is known to be idle, without waiting for the answer
// from above: so two requests can never wait for each other.
func TestHierarchicalAnswersUpward(t *testing.T) {
	h := &Hierarchical{}
	s := scene{clusters: "a: a1 a2 a3 a4", self: "a2", load: idleOne, asks: "a1"}
	v := s.view()
	for i, want := range []string{"wait at a", "wait at a, refuse 1"} { // a4; then the refusal, and a1
		var plan Plan
		h.Plan(v, &plan)
		if got := v.say(&plan); got != want {
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
		h.place(scene{clusters: "a: a1 a2 a3 a4, b: b1 b2, c: c1, d: d1", self: self}.view())
		got := fmt.Sprintf("parent %s, children", h.parent)
		for _, id := range h.children {
			got += " " + string(id)
		}
		if strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%s: %q, want %q", self, got, want)
		}
	}
}

// Each policy is found by its name and the first without one, and a name that is none is answered with those that
// there are.
func TestByName(t *testing.T) {
	for _, name := range Names() {
		p, err := ByName(name, "m")
		if err != nil || p.Name() != name {
			t.Errorf("%q gives %v, %v", name, p, err)
		}
	}
	if p, err := ByName("", ""); err != nil || p.Name() != Names()[0] {
		t.Errorf("the default is %v, %v", p, err)
	}
	if _, err := ByName("best", ""); err == nil || !strings.Contains(err.Error(), "acrs, adaptive") {
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

// family is a tree of one root, two children and two grandchildren under the first of them, a peer in it, and how many
// steals have failed: a1 over a2 and a3, a2 over b1 and c1.
func family(self PeerID, failures int) scene {
	return scene{clusters: "a: a1 a2 a3, b: b1, c: c1", self: self, load: idleOne, failures: failures}
}

// TestHostTreeRepair: silent nodes are passed over, and when they are gone the heap closes (Javelin 3, Figure 7).
func TestHostTreeRepair(t *testing.T) {
	tree := &HostTree{Master: "a1", Fanout: 2}
	asks := func(self PeerID, silent string, failures int) PeerID {
		v := family(self, failures).view()
		var plan Plan
		tree := *tree
		tree.Plan(deaf{v, PeerID(silent)}, &plan)
		if len(plan.Steals) != 1 {
			t.Fatalf("%s plans %+v", self, plan.Steals)
		}
		return plan.Steals[0].Victim
	}
	for _, c := range []struct {
		self     PeerID
		silent   string
		failures int
		want     PeerID
	}{
		{"b1", "", 0, "a2"},
		{"b1", "a2", 0, "a1"}, // its parent is silent: the one above
		{"a1", "a2", 0, "b1"}, // a silent child's children
		{"a1", "a2", 1, "c1"},
		{"a1", "a2", 2, "a3"},
		{"a2", "b1", 0, "c1"},
	} {
		if got := asks(c.self, c.silent, c.failures); got != c.want {
			t.Errorf("%s, %q being silent, asks %s after %d failures, want %s", c.self, c.silent, got, c.failures, c.want)
		}
	}
	s := family("c1", 0)
	s.clusters = "a: a1 a3, b: b1, c: c1" // a2 is gone: a1 over a3 and b1, a3 over c1
	var plan Plan
	tree.Plan(family("c1", 0).view(), &plan)
	plan.Reset()
	tree.Plan(s.view(), &plan)
	if len(plan.Steals) != 1 || plan.Steals[0].Victim != "a3" {
		t.Errorf("after a2 has gone c1 plans %+v", plan.Steals)
	}
}

// deaf is a view to which one peer has fallen silent.
type deaf struct {
	View
	silent PeerID
}

func (d deaf) Usable(id PeerID) bool { return id != d.silent && d.View.Usable(id) }

// TestPushesRest: of all that is queued one job is pushed, and the next when a while has passed.
func TestPushesRest(t *testing.T) {
	v := scene{load: Load{Workers: 1, Queued: 9}}.orTwo().view()
	r := &RandomPushing{}
	var first, second Plan
	r.Plan(v, &first)
	r.Plan(v, &second)
	if rests := v.Now() + 500*time.Millisecond; len(first.Pushes) != 1 || len(second.Pushes) != 0 ||
		first.WakeAt != rests || second.WakeAt != rests {
		t.Errorf("planned %+v, and then %+v", first, second)
	}
}
