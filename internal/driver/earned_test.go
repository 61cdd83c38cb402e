package driver_test

import (
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

func earned(t *testing.T, d *driver.Driver, want ...driver.Earned) {
	t.Helper()
	if got := d.Proofs().Earned; !slices.Equal(got, want) {
		t.Errorf("earned is %v, want %v", got, want)
	}
}

// What counts is the least time for which any of those had a job who have come to the same, by the owner's clock: one
// that is slow earns what the other does, and whoever brings what somebody else has computed earns nothing.
func TestLeastTimeIsEarned(t *testing.T) {
	path := job.Path{1}
	s, d, from := hearing(t, false)
	says := from(path)
	s.gives(d, time.Second, path)
	s.now = 11 * time.Second
	says("b", "b", "truth")
	earned(t, d)
	s.now = 14 * time.Second
	says("c", "c", "truth")
	earned(t, d, driver.Earned{Peer: "b", Time: 3 * time.Second, Results: 1},
		driver.Earned{Peer: "c", Time: 3 * time.Second, Results: 1})

	s, d, from = hearing(t, false)
	s.gives(d, time.Second, path)
	s.now = 2 * time.Second
	from(path)("b", "c", "truth")
	s.now = 4 * time.Second
	from(path)("c", "c", "truth")
	from(path)("d", "d", "truth")
	earned(t, d, driver.Earned{Peer: "c", Time: 2 * time.Second, Results: 1},
		driver.Earned{Peer: "d", Time: 2 * time.Second, Results: 1})
}

// This machine is one of those that come to the same, and earns nothing itself.
func TestOwnTimeCounts(t *testing.T) {
	path := job.Path{1}
	s, d, from := hearing(t, false)
	s.alone = true
	s.gives(d, time.Second, path)
	s.now = 11 * time.Second
	from(path)("b", "b", "truth")
	d.Happened(s.now, port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Idle: 1, Runs: 1}})
	d.Happened(13*time.Second, port.Event{Kind: port.Finished, Segment: 2, Outcome: []byte("truth"), Good: true})
	earned(t, d, driver.Earned{Peer: "b", Time: 2 * time.Second, Results: 1})
}

// A liar earns nothing, though one honest peer has come to the same as this machine.
func TestLiarsEarnNothing(t *testing.T) {
	path := job.Path{1}
	s, d, from := hearing(t, false)
	s.gives(d, time.Second, path)
	s.now = 3 * time.Second
	from(path)("b", "b", "lie")
	s.now = 4 * time.Second
	from(path)("c", "c", "truth")
	d.Happened(s.now, port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Idle: 1, Runs: 1}})
	d.Happened(10*time.Second, port.Event{Kind: port.Finished, Segment: 2, Outcome: []byte("truth"), Good: true})
	if len(s.caught) != 1 {
		t.Fatalf("caught are %v", s.caught)
	}
	earned(t, d, driver.Earned{Peer: "c", Time: time.Second, Results: 1})
}

// Whoever is caught keeps nothing of what it had earned before.
func TestCaughtLoseAll(t *testing.T) {
	path := job.Path{1}
	s, d, from := hearing(t, false)
	s.alone = true
	s.gives(d, time.Second, path)
	s.now = 3 * time.Second
	from(path)("b", "b", "truth")
	d.Happened(s.now, port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Idle: 1, Runs: 1}})
	d.Happened(4*time.Second, port.Event{Kind: port.Finished, Segment: 2, Outcome: []byte("truth"), Good: true})
	earned(t, d, driver.Earned{Peer: "b", Time: time.Second, Results: 1})
	before := d.Proofs().Earned
	s.again(d, 5*time.Second, job.Path{2})
	s.now = 6 * time.Second
	from(job.Path{2})("b", "b", "lie")
	d.Happened(s.now, port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Idle: 1, Runs: 2}})
	d.Happened(7*time.Second, port.Event{Kind: port.Finished, Segment: 3, Outcome: []byte("truth"), Good: true})
	if len(s.caught) != 1 || len(before) != 1 {
		t.Fatalf("caught are %v", s.caught)
	}
	earned(t, d)
}

// What is believed without a comparison is nobody's earning: nobody but its author knows what it took.
func TestUncomparedEarnsNothing(t *testing.T) {
	path := job.Path{1}
	s, d, from := hearing(t, false)
	s.trusted = "b"
	s.gives(d, time.Second, path)
	s.now = 11 * time.Second
	from(path)("b", "b", "truth")
	if string(s.delivered) != "truth" {
		t.Fatalf("delivered is %q", s.delivered)
	}
	earned(t, d)

	s, d, from = hearing(t, true)
	s.gives(d, time.Second, path)
	s.now = 11 * time.Second
	from(path)("b", "b", "49")
	d.Happened(s.now, port.Event{Kind: port.Judged, Good: true, Outcome: []byte("49"),
		Shared: &port.Shared{Ticket: s.orders[0].Shared.Ticket, Changed: true}})
	if string(s.delivered) != "49" {
		t.Fatalf("delivered is %q", s.delivered)
	}
	earned(t, d)
}

// Where nodes are challenged what running them again took here is earned, and no more than the time for which the job
// was away.
func TestRerunTimeIsEarned(t *testing.T) {
	for _, was := range []struct{ away, want time.Duration }{{time.Minute, 80 * time.Millisecond},
		{50 * time.Millisecond, 50 * time.Millisecond}} {
		path := job.Path{1}
		var asked []verify.Open
		var trials []*driver.Trial
		s, d, from := hearing(t, false, func(p *driver.Proving) {
			p.Config.Quorum, p.Config.Spot = 1, 0.6
			p.Open = func(o verify.Open) { asked = append(asked, o) }
			p.Rerun = func(t *driver.Trial) { trials = append(trials, t) }
		})
		shown := &driver.Shown{Made: driver.Made{Job: steal.Job{Function: "f", Arg: []byte{1}}}}
		s.made = &verify.Opening{Node: driver.NodeOf(path, idOf(path)), Outcome: s.Digest([]byte("truth"))}
		below := job.Path{1, 0}
		child := (&verify.Opening{Node: driver.NodeOf(below, idOf(below)), Outcome: s.Digest([]byte("part"))}).Claim()
		s.made.Children = []verify.Claim{child}
		shown.Children = []driver.Given{{Claim: child, Bytes: []byte("part")}}
		s.gives(d, time.Second, path)
		s.now = time.Second + was.away
		from(path)("b", "b", "truth")
		if len(asked) != 1 {
			t.Fatalf("asked is %v", asked)
		}
		d.Opened(s.now, asked[0], shown)
		earned(t, d)
		if len(trials) != 1 {
			t.Fatalf("%d nodes are run again", len(trials))
		}
		d.Reran(s.now, trials[0], driver.Tried{OK: true, Outcome: []byte("truth"), Used: []bool{true},
			Took: 80 * time.Millisecond})
		if len(trials) != 1 { // the other one that is drawn is the same node
			t.Fatalf("%d nodes are run again", len(trials))
		}
		if string(s.delivered) != "truth" {
			t.Fatalf("delivered is %q", s.delivered)
		}
		earned(t, d, driver.Earned{Peer: "b", Time: was.want, Results: 1})
	}
}

// Two lists add up by peer, and neither is changed.
func TestAllEarned(t *testing.T) {
	a := []driver.Earned{{Peer: "b", Time: 1, Results: 1}, {Peer: "d", Time: 2, Results: 2}}
	b := []driver.Earned{{Peer: "c", Time: 3, Results: 3}, {Peer: "d", Time: 4, Results: 4}}
	want := []driver.Earned{{Peer: "b", Time: 1, Results: 1}, {Peer: "c", Time: 3, Results: 3},
		{Peer: "d", Time: 6, Results: 6}}
	if got := driver.AllEarned(a, b); !slices.Equal(got, want) || a[1].Time != 2 || b[0].Time != 3 {
		t.Errorf("all is %v of %v and %v", got, a, b)
	}
	if got := driver.AllEarned(a, b[1:]); got[1] != want[2] || a[1].Time != 2 {
		t.Errorf("all is %v of %v and %v", got, a, b[1:])
	}
}

// What it took to find a liar out is not the next one's earning, nor how long a liar has had its answers waited for.
func TestOthersChecksAreNotEarned(t *testing.T) {
	path := job.Path{1}
	var trials []*driver.Trial
	var asked []verify.Open
	s, d, from := hearing(t, false, func(p *driver.Proving) {
		p.Config.Quorum, p.Config.Spot = 1, 0.5
		p.Open = func(o verify.Open) { asked = append(asked, o) }
		p.Rerun = func(t *driver.Trial) { trials = append(trials, t) }
	})
	below := job.Path{1, 0}
	child := (&verify.Opening{Node: driver.NodeOf(below, idOf(below)), Outcome: s.Digest([]byte("part"))}).Claim()
	brings := func(id steal.PeerID, outcome string) {
		shown := &driver.Shown{Made: driver.Made{Job: steal.Job{Function: "f", Arg: []byte{1}},
			Children: []driver.Given{{Claim: child, Bytes: []byte("part")}}}}
		s.made = &verify.Opening{Node: driver.NodeOf(path, idOf(path)), Outcome: s.Digest([]byte(outcome)),
			Children: []verify.Claim{child}}
		from(path)(id, string(id), outcome)
		s.now += 150 * time.Second // of two minutes and the one for which it had the job
		d.Opened(s.now, asked[len(asked)-1], shown)
		d.Reran(s.now, trials[len(trials)-1], driver.Tried{OK: true, Outcome: []byte("truth"), Used: []bool{true},
			Took: 40 * time.Millisecond})
	}
	s.gives(d, time.Second, path)
	s.now = time.Minute
	if brings("b", "lie"); len(s.caught) != 1 || !slices.Equal(s.to, []steal.PeerID{"c"}) {
		t.Fatalf("caught are %v, copies go to %v", s.caught, s.to)
	}
	s.now += time.Minute
	brings("c", "truth")
	earned(t, d, driver.Earned{Peer: "c", Time: 40 * time.Millisecond, Results: 1})
}
