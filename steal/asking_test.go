package steal

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal/policy"
)

// The machines that ask and are asked, by themselves like those of machines_test.go: thief, victim, and who is alive.

// planner plans what it is told to.
type planner struct{ plan func(*policy.Plan) }

func (p planner) Name() string                         { return "planner" }
func (p planner) Plan(_ policy.View, to *policy.Plan)  { p.plan(to) }
func (p planner) Give(_ policy.View, a policy.Ask) int { return a.Max }

// Thief: whatever a policy plans, there is one request to a victim, none to strangers or to itself, and not more than
// the bound; after a failure the policy is not asked before the gap is over.
func TestThiefBoundsPlans(t *testing.T) {
	s := ground("a: a1 a2 a3 a4 a5")
	s.cfg.MaxFlights = 3
	b := below(s)
	asked := 0
	th := &thief{shared: s, partners: b.partners, segments: b.segments, book: b, adviser: &adviser{policy: planner{
		func(p *policy.Plan) {
			asked++
			for _, id := range []PeerID{"a1", "a2", "stranger", "a2", "a3", "a4", "a5"} {
				p.Steal(id, 1, 0)
			}
		}}}}
	th.carryOutPlan()
	var to []PeerID
	for _, m := range s.out.Messages {
		to = append(to, m.To.Peer)
	}
	if fmt.Sprint(to) != "[a2 a3 a4]" || len(th.flights) != 3 {
		t.Errorf("asked %v", to)
	}
	s.now += time.Hour
	th.expireFlights()
	if th.failures != 3 || len(th.flights) != 0 || s.stats.StealsTimedOut != 3 {
		t.Errorf("%d failures, %d requests out", th.failures, len(th.flights))
	}
	th.carryOutPlan()
	if asked != 1 || th.wakeAt != s.now+s.cfg.StealGap {
		t.Errorf("in the gap the policy was asked %d times; wake at %v", asked-1, th.wakeAt)
	}
}

// Thief: who joins is told of members that are gone. A neighbour that never answers is not asked again for a while,
// and those after it are waited for no longer, nor is a far one or one that was heard taken for gone.
func TestNeighboursThatAreGone(t *testing.T) {
	for _, x := range []struct {
		victim     PeerID
		heard      bool
		gone, slow bool
	}{{"a2", false, true, false}, {"a2", true, false, true}, {"b1", false, false, true}} {
		s := ground("a: a1 a2 a3, b: b1")
		b := below(s)
		th := &thief{shared: s, partners: b.partners, segments: b.segments, book: b, adviser: &adviser{policy: planner{
			func(p *policy.Plan) { p.Steal(x.victim, 1, 0) }}}}
		v := &view{shared: s, partners: b.partners, thief: th}
		p := b.partners.meet(x.victim)
		if x.heard {
			p.begin(1)
		}
		th.carryOutPlan()
		s.now += s.cfg.StealTimeout
		th.expireFlights()
		if usable, slow := v.Usable(x.victim), s.links.lastSteal(p.cluster) > 0; usable == x.gone || slow != x.slow {
			t.Errorf("%+v: it is asked again: %v; its cluster is slow: %v", x, usable, slow)
		}
		if s.now += time.Hour; !v.Usable(x.victim) {
			t.Errorf("%+v: it is not asked after an hour", x)
		}
	}
}

// Victim: one request of each thief waits, so many in all, each until its patience is over.
func TestVictimBoundsAsks(t *testing.T) {
	s := ground("a: a1 a2 a3 a4")
	s.cfg.MaxAsks, s.load = 2, Load{Workers: 1, Idle: 1}
	b := below(s)
	v := &victim{shared: s, partners: b.partners, segments: b.segments, leases: b.leases, lost: b.lost,
		adviser: &adviser{policy: planner{}}, eager: &eager{s, b.partners, b.segments, b.leases}}
	for i, id := range []PeerID{"a2", "a2", "a3", "a4"} {
		v.onRequest(b.partners.meet(id), &StealRequest{ID: RequestID(i + 1), Max: 1, Patience: time.Second})
	}
	v.onRequest(b.partners.meet("a3"), &StealRequest{ID: 3, Max: 1}) // repeated
	if len(v.asks) != 2 || v.asks[0].request != 2 || s.stats.RequestsRefused != 1 || s.stats.DroppedDuplicate != 1 {
		t.Errorf("%d wait, %d refused, %d dropped", len(v.asks), s.stats.RequestsRefused, s.stats.DroppedDuplicate)
	}
	b.segments.waiting = []*segment{{owner: b.partners.meet("a2"), job: Job{Path: job.Path{1}}}}
	v.answerWaiting() // the owner of a job does not get it back
	if len(v.asks) != 1 || v.asks[0].Thief != "a2" || s.stats.JobsGivenLocal != 1 {
		t.Errorf("%d wait, %d given", len(v.asks), s.stats.JobsGivenLocal)
	}
	s.now += time.Second
	if v.expireAsks(); len(v.asks) != 0 || s.stats.RequestsRefused != 2 {
		t.Errorf("%d wait when their patience is over", len(v.asks))
	}
}

// Liveness: each partner has a heartbeat in every round that it is due in, whoever begins or ends meanwhile, and one.
func TestRoundsOfHeartbeats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := ground("a: a1 a2 a3 a4, b: b1 b2")
		b := below(s)
		b.partners.talking = func(*peer) bool { return false }
		lv := &liveness{shared: s, partners: b.partners, segments: b.segments, book: b}
		ids, due := []PeerID{"a2", "a3", "a4", "b1", "b2"}, make(map[PeerID]time.Duration)
		for range 30 {
			p := b.partners.meet(rapid.SampledFrom(ids).Draw(t, "peer"))
			if rapid.Bool().Draw(t, "partner") {
				p.heard, p.expects = s.now, s.now+time.Hour
				b.partners.startBeating(p)
				if due[p.id] == 0 {
					due[p.id] = s.now + b.partners.period(p)
				}
			} else {
				p.expects = 0
			}
			s.now += time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond
			s.out.Messages = s.out.Messages[:0]
			lv.beat()
			sent := make(map[PeerID]int)
			for _, m := range s.out.Messages {
				sent[m.To.Peer]++
			}
			if n := len(b.partners.beating); n > len(ids) {
				t.Fatalf("%d are in the next round, of %d", n, len(ids))
			}
			for id, at := range due {
				want := 0
				if q := b.partners.find(id); at > 0 && at <= s.now {
					if due[id] = 0; q.partner(s.now) {
						want, due[id] = 1, s.now+b.partners.period(q)
					}
				}
				if sent[id] != want {
					t.Fatalf("%d heartbeats to %s, want %d", sent[id], id, want)
				}
			}
		}
	})
}

// Liveness: time for which this peer itself did not run is not held against others.
func TestStallIsForgiven(t *testing.T) {
	for late, forgiven := range map[time.Duration]bool{400 * time.Millisecond: false, 600 * time.Millisecond: true} {
		s := ground("a: a1 a2")
		b := below(s)
		lv := &liveness{shared: s, partners: b.partners, segments: b.segments, book: b}
		p := b.partners.meet("a2")
		p.heard, p.expects, b.partners.heartbeatAt = s.now-time.Second, s.now, s.now
		s.now += late
		if lv.noticeStall(); (s.stats.Stalls == 1) != forgiven || (s.now-p.heard == time.Second) != forgiven {
			t.Errorf("%v late: %d stalls, silent for %v", late, s.stats.Stalls, s.now-p.heard)
		}
	}
}
