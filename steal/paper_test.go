package steal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal/policy"
)

// Tests of the papers, sentence by sentence. "CRS paper" is van Nieuwpoort et al., Adaptive Load Balancing
// for Divide-and-Conquer Grid Applications; "programming model" is the Satin paper in TOPLAS; "fault
// tolerance paper" is Wrzesinska et al. at IPDPS 2005.

func ids(cluster string, n int) (s string) {
	s = cluster + ":"
	for i := range n {
		s += fmt.Sprintf(" %s%02d", cluster, i)
	}
	return s
}

// paperCore is an idle peer with the policy, and others that answer nothing by themselves.
func paperCore(t *testing.T, clusters string, self PeerID, p policy.Policy) *Core {
	t.Helper()
	c, err := NewCore(LAN(), Run{}, Address{Peer: self, Inc: 1}, parseMembers(clusters), p, rand.New(rand.NewPCG(3, 3)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// requests are the steal requests in an output: victims in their order.
func requests(c *Core, o Output) (victims []Member) {
	for _, m := range o.Messages {
		if m.Request != nil {
			v, _ := c.members.Find(m.To.Peer)
			victims = append(victims, v)
		}
	}
	return victims
}

// answer is the reply to the latest request to a victim.
func answerTo(c *Core, victim PeerID, jobs ...Grant) *Message {
	f := c.thief.flights[c.thief.flightTo(victim)]
	return &Message{Run: c.run.ID, From: Address{Peer: victim, Inc: 1}, To: c.self,
		Reply: &StealReply{ID: f.request, Jobs: jobs}}
}

// CRS paper, 2.1: "With C clusters, on average (C-1)/C x 100% of all steal requests will go to nodes in
// remote clusters".
func TestRandomStealingGoesMostlyAbroad(t *testing.T) {
	clusters := ids("a", 16) + "," + ids("b", 16) + "," + ids("c", 16) + "," + ids("d", 16)
	c := paperCore(t, clusters, "a00", policy.RandomStealing{})
	wide, n := 0, 20_000
	for range n {
		id, _ := policy.RandomAny(c.thief.view)
		if m, _ := c.members.Find(id); m.Cluster != "a" {
			wide++
		}
	}
	// 48 of the 63 others are elsewhere.
	if got := float64(wide) / float64(n); math.Abs(got-48.0/63) > 0.01 {
		t.Errorf("%.1f%% of the requests go to remote clusters, want %.1f%%", 100*got, 100*48.0/63)
	}
}

// CRS paper, 2.2: "Whenever a node becomes idle, it first attempts to steal from a node in a remote cluster.
// This wide-area steal request is sent asynchronously: Instead of waiting for the result, the thief simply
// sets a flag and performs additional, synchronous steal requests to randomly selected nodes within its own
// cluster, until it finds a new job. As long as the flag is set, only local stealing will be performed. The
// handler routine for the wide-area reply simply resets the flag and, if the request was successful, puts the
// new job into the work queue."
func TestCRSAsPublished(t *testing.T) {
	c := paperCore(t, ids("a", 4)+","+ids("b", 4), "a00", policy.ClusterAware{})
	out := c.Report(time.Second, idleOne)
	v := requests(c, out)
	if len(v) != 2 || v[0].Cluster != "b" || v[1].Cluster != "a" {
		t.Fatalf("an idle peer asks %v; want a remote peer first and a local one at once", v)
	}
	remote, local, now := v[0].ID, v[1].ID, time.Second
	for i := range 20 { // many local failures while the flag is set
		c.Step(now, answerTo(c, local))
		now += c.cfg.StealGap
		v = requests(c, c.Tick(now))
		if len(v) != 1 || v[0].Cluster != "a" {
			t.Fatalf("failure %d is followed by requests to %v; want one local request", i, v)
		}
		local = v[0].ID
	}
	job := Grant{Handle: 1, Job: jobAt(1)}
	out = c.Step(now, answerTo(c, remote, job))
	if len(out.Orders) != 1 || out.Orders[0].Kind != RunSegment || len(requests(c, out)) != 0 {
		t.Fatalf("the wide-area reply leads to %v and requests to %v; want the job run and no request", out.Orders,
			requests(c, out))
	}
	// The local request is still out, the flag is reset: idle again, the first request is a remote one.
	now += time.Second
	out = c.Finished(now, out.Orders[0].Segment, nil, nil)
	out = c.Report(now, Load{Workers: 1, Idle: 1, Runs: 1})
	if v = requests(c, out); len(v) != 1 || v[0].Cluster != "b" {
		t.Errorf("idle again, it asks %v; want one remote peer", v)
	}
}

// CRS paper, 2.2: "each node can directly steal jobs from nodes in remote clusters, but at most one job at a time".
func TestCRSStealsOneJobAtATime(t *testing.T) {
	c := paperCore(t, ids("a", 4)+","+ids("b", 4), "a00", policy.ClusterAware{})
	for _, m := range c.Report(time.Second, Load{Workers: 8, Idle: 8}).Messages {
		if m.Request.Max != 1 {
			t.Errorf("%s is asked for %d jobs", m.To, m.Request.Max)
		}
	}
	if _, wide := c.thief.view.InFlight(); wide != 1 {
		t.Errorf("%d wide-area requests are out", wide)
	}
}

// CRS paper, 3.3: "all nodes in the system have the same chance of being stolen from. This way, machines in
// smaller clusters are not favored over machines in larger clusters" (a run with clusters of 16 and 48, and
// one with 8, 8, 8 and 40).
func TestCRSFavoursNobody(t *testing.T) {
	clusters := ids("a", 8) + "," + ids("b", 8) + "," + ids("c", 40)
	c := paperCore(t, clusters, "a00", policy.ClusterAware{})
	count := make(map[PeerID]int)
	n := 48_000
	for range n {
		id, ok := policy.RandomRemote(c.thief.view)
		if !ok {
			t.Fatal("nobody to steal from")
		}
		count[id]++
	}
	if len(count) != 48 {
		t.Fatalf("%d of 48 remote peers were asked", len(count))
	}
	for id, k := range count {
		if math.Abs(float64(k)-1000) > 160 { // five standard deviations
			t.Errorf("%s is asked %d times in %d, the others about 1000 times", id, k, n)
		}
	}
}

// CRS paper, 3.3: "When the system is no longer hierarchical (i.e., 32 clusters of one node) ... CRS (like
// RS) uses only synchronous stealing".
func TestCRSInClustersOfOne(t *testing.T) {
	c := paperCore(t, "a: a, b: b, c: c", "a", policy.ClusterAware{})
	if v := requests(c, c.Report(time.Second, idleOne)); len(v) != 1 {
		t.Errorf("%d requests are out, want one", len(v))
	}
}

// CRS paper, 3.5: "Each node gets a number of WAN credits ... CRS is a special case of CMRS: it is CMRS with
// only one WAN credit. CMRS works best when the available credits are used for different clusters."
func TestCMRSSpendsCreditsOnDifferentClusters(t *testing.T) {
	c := paperCore(t, ids("a", 2)+","+ids("b", 4)+","+ids("c", 4)+","+ids("d", 4), "a00",
		policy.ClusterAware{Credits: 3})
	seen := make(map[ClusterID]int)
	for _, v := range requests(c, c.Report(time.Second, idleOne)) {
		seen[v.Cluster]++
	}
	if seen["a"] != 1 || seen["b"] != 1 || seen["c"] != 1 || seen["d"] != 1 {
		t.Errorf("requests by cluster: %v, want one each", seen)
	}
	if (policy.ClusterAware{Credits: 1}).Name() != "crs" {
		t.Error("CMRS with one credit is not CRS")
	}
}

// CRS paper, 3.6: "we use the time that the last steal request to that cluster took".
func TestACRSMeasuresTheLastSteal(t *testing.T) {
	c := paperCore(t, "a: a, b: b", "a", policy.InverseTime{})
	now := time.Second
	for _, took := range []time.Duration{100 * time.Millisecond, 3 * time.Second, 250 * time.Millisecond} {
		c.Report(now, idleOne)
		now += took
		c.Step(now, answerTo(c, "b"))
		if got := c.links.lastSteal("b"); got != took {
			t.Errorf("a steal of %v is remembered as %v", took, got)
		}
		now += c.cfg.StealGap
	}
}

// Programming model, 4.1.2: "Random Stealing attempts to steal a job from a randomly selected peer when a
// processor finds its own work queue empty, repeating steal attempts until it succeeds. ... No communication
// is performed until a node becomes idle".
func TestNoCommunicationUntilIdle(t *testing.T) {
	for _, name := range []string{"rs", "crs", "cmrs", "acrs", "chs", "master"} {
		p, err := policy.ByName(name, "b00")
		if err != nil {
			t.Fatal(err)
		}
		c := paperCore(t, ids("a", 4)+","+ids("b", 4), "a00", p)
		if out := c.Report(time.Second, Load{Workers: 1, Queued: 100}); len(out.Messages) != 0 {
			t.Errorf("%s: a busy peer sends %d messages", name, len(out.Messages))
		}
		if out := c.Report(2*time.Second, idleOne); len(out.Messages) == 0 {
			t.Errorf("%s: an idle peer sends nothing", name)
		}
	}
}

// Fault tolerance paper, 3: "Adding a new machine to a divide-and-conquer computation is straightforward: the
// new machine simply starts stealing jobs from other machines."
func TestNewcomerSimplySteals(t *testing.T) {
	c := paperCore(t, "a: new", "new", &policy.Adaptive{})
	if out := c.Report(time.Second, idleOne); len(out.Messages) != 0 {
		t.Fatalf("alone, it sends %d messages", len(out.Messages))
	}
	if out := c.SetMembers(2*time.Second, parseMembers("a: new old")); len(requests(c, out)) != 1 {
		t.Errorf("in company, it sends %d requests", len(requests(c, out)))
	}
}

// Fault tolerance paper, 3.1: "Each processor maintains a list of jobs stolen from it. For each job, the
// processorID of the thief is stored along with the information needed to restart the job. When one or more
// processors are leaving, each of the remaining processors traverses its stolen jobs list and searches for
// jobs stolen by leaving processors. Such jobs are put back in the work queues of their owners. ... Each job
// reinserted into a work queue during recovery procedure is marked as restarted."
func TestStolenJobsOfALeaverAreRestarted(t *testing.T) {
	c := paperCore(t, "a: v t u", "v", policy.RandomStealing{})
	now := time.Second
	c.Report(now, Load{Workers: 1, Queued: 2})
	for i, thief := range []PeerID{"t", "u"} {
		out := c.Step(now, &Message{From: Address{Peer: thief, Inc: 1}, To: Address{Peer: "v"},
			Request: &StealRequest{ID: 1, Max: 1}})
		c.Taken(now, out.Orders[0].Ticket, []Taken{{Ref: Ref(i + 1), Job: Job{Path: job.Path{uint32(i + 1)}}}})
	}
	c.Step(now, &Message{From: Address{Peer: "t", Inc: 1}, To: c.self, Goodbye: &Goodbye{}})
	out := c.Report(now, Load{Workers: 1, Idle: 1})
	run := slices.IndexFunc(out.Orders, func(o Order) bool { return o.Kind == RunSegment })
	if run < 0 || !slices.Equal(out.Orders[run].Job.Path, job.Path{1}) || !out.Orders[run].Job.Restarted {
		t.Fatalf("the leaver's job leads to %+v, want it run again and marked as restarted", out.Orders)
	}
	out = c.Finished(now, out.Orders[run].Segment, []byte("x"), nil)
	if len(out.Orders) == 0 || out.Orders[0].Kind != Deliver || out.Orders[0].Ref != 1 {
		t.Errorf("its outcome leads to %+v, want it delivered", out.Orders)
	}
	if len(c.partners.find("u").leases) != 1 {
		t.Error("the other thief's job was touched")
	}
}
