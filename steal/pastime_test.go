package steal

import (
	"testing"
	"time"

	"github.com/satin-peer/satin/steal/policy"
)

// Idle workers' time goes into the first of late, asking, lent that was true while it passed, and none when workers
// are busy.
func TestPastime(t *testing.T) {
	const second = time.Second
	near := flight{Flight: policy.Flight{Max: 1, Since: time.Minute}}
	far := flight{Flight: policy.Flight{Max: 1, Wide: true, Cluster: "b", Since: time.Minute}}
	patient, probe := far, far
	patient.Patience, probe.Max = second, 0
	toB := &segment{owner: &peer{id: "b1", cluster: "b"}, finished: time.Minute}
	toA := &segment{owner: &peer{id: "a2", cluster: "a"}, finished: time.Minute}
	fromB := &segment{owner: toB.owner, since: time.Minute, asked: true}
	fromA := &segment{owner: toA.owner, since: time.Minute, asked: true}
	rests := &segment{owner: toB.owner, since: time.Minute}
	own := &segment{since: time.Minute, asked: true}
	for _, c := range []struct {
		name    string
		idle    int
		flights []flight
		unacked []*segment
		fetched []*segment // by a peer that has had something before
		first   bool       // or has not
		leases  int
		// of ten seconds; the way to b and back takes one
		stealing, late, waiting time.Duration
		overdue                 time.Duration // of Stats.Late; 0: as late, of one worker
	}{
		{name: "busy", flights: []flight{far}, unacked: []*segment{toB}, leases: 1, overdue: 8 * second},
		{name: "nothing to be had", idle: 1},
		{name: "asking a neighbour", idle: 2, flights: []flight{near}, leases: 1, stealing: 20 * second},
		{name: "a measurement asks for nothing", idle: 1, flights: []flight{probe}},
		{name: "asking far away", idle: 1, flights: []flight{near, far}, stealing: 2 * second, late: 8 * second},
		{name: "patiently", idle: 1, flights: []flight{patient}, stealing: 3 * second, late: 7 * second},
		{name: "a result on its way", idle: 3, unacked: []*segment{toB}, late: 24 * second, overdue: 8 * second},
		{name: "a result to a neighbour", idle: 1, unacked: []*segment{toA}, leases: 1, waiting: 10 * second},
		{name: "what a job from far away names", idle: 1, fetched: []*segment{fromB}, leases: 1, waiting: 2 * second,
			late: 8 * second},
		{name: "what the first one names", idle: 1, fetched: []*segment{fromB}, first: true},
		{name: "what others name", idle: 1, fetched: []*segment{fromA, rests, own}},
		{name: "others have jobs", idle: 1, leases: 3, waiting: 10 * second},
	} {
		s := ground("a: a1 a2, b: b1")
		s.load.Idle = c.idle
		s.links.of("b").RTT = second
		ss := newSegments(s)
		ss.unacked, ss.fetching, ss.supplied = c.unacked, c.fetched, !c.first
		pt := &pastime{shared: s, segments: ss, leases: &leases{n: c.leases}, thief: &thief{flights: c.flights}}
		pt.pass(time.Minute) // the first time that it is told
		pt.pass(time.Minute + 10*second)
		pt.pass(time.Minute) // clocks may do that
		got := &s.stats
		if got.IdleStealing != c.stealing || got.IdleCommunicating != c.late || got.IdleWaiting != c.waiting {
			t.Errorf("%s: stealing %v, late %v, waiting %v", c.name, got.IdleStealing, got.IdleCommunicating,
				got.IdleWaiting)
		}
		if want := max(c.overdue, c.late/time.Duration(max(c.idle, 1))); got.Late != want {
			t.Errorf("%s: something is late for %v, want %v", c.name, got.Late, want)
		}
		if pt.since != time.Minute+10*second {
			t.Errorf("%s: booked up to %v", c.name, pt.since)
		}
	}
}

// A way that was never measured is late when a request over it would be given up.
func TestPastimeOfUnknownWays(t *testing.T) {
	s := ground("a: a1, b: b1")
	pt := &pastime{shared: s}
	if got := pt.inTime("b"); got != s.cfg.StealTimeout {
		t.Errorf("%v", got)
	}
}

// The core books what its last input has left it in.
func TestCoreBooksIdleTime(t *testing.T) {
	c := victimCore(t, LAN(), 2)
	c.Report(2*time.Second, Load{Workers: 2, Idle: 2}) // it asks at once
	c.Report(3*time.Second, Load{Workers: 2, Idle: 0, Runs: 2})
	c.Tick(9 * time.Second)
	if got := c.Stats().IdleStealing; got != 2*time.Second {
		t.Errorf("two workers that were idle for a second have spent %v stealing", got)
	}
}
