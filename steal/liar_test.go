package steal

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal/policy"
)

// Messages to be sent on to peers that do not exist have nobody forgotten: neither a thief's credit nor who is shunned.
func TestRelayedForgetsNobody(t *testing.T) {
	for _, what := range []string{"credit", "shunned"} {
		c := victimCore(t, LAN(), 3)
		now := time.Second
		me := thiefNo(0)
		out := c.Step(now, request(0, 1, 0))
		c.Taken(now, out.Orders[0].Ticket, nil)
		p := c.partners.find(me.Peer)
		if what == "credit" {
			for range 30 {
				p.credit.failed(c.now, &c.cfg) // it has withheld jobs
			}
			if n := c.victim.mayHave(p); n > 0 {
				t.Fatalf("it may have %d", n)
			}
		} else {
			c.Shun(now, Outcasts{Caught: me.Peer})
		}
		sender := me
		if what == "shunned" {
			sender = thiefNo(1) // a friend
		}
		for i := range 2 * c.cfg.MaxPartners {
			to := Address{Peer: PeerID(fmt.Sprintf("nobody %d", i)), Inc: 1}
			c.Step(now, &Message{From: sender, To: c.Self(), Relayed: &Message{From: sender, To: to,
				Ack: &ResultAck{Handle: 1}}})
		}
		if c.partners.find(PeerID(fmt.Sprintf("nobody %d", 2*c.cfg.MaxPartners-1))) != nil {
			t.Errorf("%s: a peer that does not exist is known", what)
		}
		c.Step(now, request(0, 2, 0))
		q := c.partners.find(me.Peer)
		if q != p && !q.shunned && c.victim.mayHave(q) > 0 {
			t.Errorf("%s: after %d messages it is a stranger that may have %d jobs at once", what,
				2*c.cfg.MaxPartners, c.victim.mayHave(q))
		}
	}
}

// One victim's results, never acknowledged, leave places for the jobs of others.
func TestUnackedLeavePlaces(t *testing.T) {
	c := victimCore(t, LAN(), 3)
	now := time.Second
	c.Report(now, Load{Workers: 1, Idle: 1})
	runs := uint64(0)
	h := Handle(0)
	for range 3000 {
		h++
		out := c.Step(now, &Message{From: thiefNo(0), To: c.Self(), Reply: &StealReply{Jobs: []Grant{{Handle: h,
			Job: jobAt(1)}}}})
		var run []SegmentID
		for _, o := range out.Orders {
			if o.Kind == RunSegment {
				run = append(run, o.Segment)
			}
		}
		for _, s := range run {
			runs++
			c.Finished(now, s, []byte("x"), nil)
			c.Report(now, Load{Workers: 1, Idle: 1, Runs: runs})
		}
	}
	seq := uint64(0)
	for ; now < 2*time.Hour; now += time.Second {
		seq++
		c.Step(now, &Message{From: thiefNo(0), To: c.Self(), Heartbeat: &Heartbeat{Seq: seq, Every: time.Second}})
		c.Tick(now)
	}
	if r := c.segments.room(); r <= 0 {
		t.Errorf("after %v there is room for %d jobs of others: %d of one victim are not acknowledged, with %d bytes", now, r,
			len(c.segments.byID), c.segments.unackedN)
	}
}

// So does one kept outcome that is asked for under many handles.
func TestAdoptedLeavePlaces(t *testing.T) {
	c := victimCore(t, LAN(), 3)
	now := time.Second
	c.Report(now, Load{Workers: 1, Idle: 1})
	out := c.Step(now, &Message{From: thiefNo(0), To: c.Self(), Reply: &StealReply{Jobs: []Grant{{Handle: 1,
		Job: jobAt(1)}}}})
	c.Finished(now, out.Orders[0].Segment, []byte("x"), nil)
	h := Handle(1)
	for range 4 {
		a := &Adopt{}
		for range 256 {
			h++
			a.Jobs = append(a.Jobs, Adoption{Handle: h, Path: job.Path{1}})
		}
		c.Step(now, &Message{From: thiefNo(0), To: c.Self(), Adopt: a})
	}
	if r := c.segments.room(); r <= 0 {
		t.Errorf("four messages leave room for %d jobs; %d results are sent again until they are acknowledged", r,
			len(c.segments.unacked))
	}
}

// Beacons of two members do not put off for hours when an orphan is told of again.
func TestBeaconsPutOffOrphans(t *testing.T) {
	c, err := NewCore(LAN(), Run{Deputies: []PeerID{"t00"}, Root: Job{Function: "f"}}, Address{Peer: "v", Inc: 5},
		parseMembers(ids("t", 4)+" v"), policy.RandomStealing{}, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Second
	c.Report(now, Load{Workers: 1, Idle: 1})
	c.Step(now, &Message{From: thiefNo(3), To: c.Self(), Reply: &StealReply{Jobs: []Grant{{Handle: 1,
		Job: jobAt(1)}}}})
	c.Step(now, &Message{From: thiefNo(3), To: c.Self(), Goodbye: &Goodbye{}}) // its owner leaves
	if c.segments.orphans != 1 {
		t.Fatal("no orphan")
	}
	var s *segment
	for _, s = range c.segments.byID {
	}
	for i := range 50 {
		now += 60 * time.Millisecond
		id := thiefNo(1 + i%2)
		if i%40 == 0 {
			id = thiefNo(0) // the master, every 2.4 s
		}
		c.Hear(now, &News{From: id, Master: &Beacon{Rank: c.Masters.ranks.of(id.Peer), Seq: uint64(i + 1)}})
	}
	if s.quiet > time.Hour {
		t.Errorf("after 3 s of beacons the orphan is told of again after %v", s.quiet)
	}
}

// Where a few paths have many steps, each change does not have the engine given all of them at once.
func TestLongPathsAreNotTooMany(t *testing.T) {
	c := victimCore(t, LAN(), 3)
	now := time.Second
	c.Report(now, Load{Workers: 1, Idle: 1})
	again := jobAt(1)
	again.Restarted = true
	c.Step(now, &Message{From: thiefNo(1), To: c.Self(), Reply: &StealReply{Jobs: []Grant{{Handle: 1, Job: again}}}})
	for i := range 480 {
		p := make(job.Path, MaxPath)
		p[0], p[1] = 7, uint32(i)
		c.Hear(now, &News{From: thiefNo(0), Tuples: []Tuple{{Path: p, Holder: thiefNo(0)}}})
	}
	orders, ordered, heard := 0, 0, 0
	for i := range 2000 {
		m := &Message{From: thiefNo(0), To: c.Self(), HandOver: &HandOver{ID: uint64(i + 1),
			Parts: []Partial{{Path: job.Path{8},
				Identity: job.Identity{byte(i), byte(i >> 8)}}}}}
		heard += m.Size()
		for _, o := range c.Step(now, m).Orders {
			if o.Kind == LostWork {
				orders++
				for _, p := range o.Orphans.Paths() {
					ordered += len(p)
				}
			}
		}
	}
	if orders > 100 {
		t.Errorf("hand-overs of %d KiB lead to %d orders with paths of at least %d MiB, all at one moment",
			heard>>10, orders, ordered>>20)
	}
}

// A thief that asks on while the engine looks for jobs for it leaves room for the requests of others.
func TestRequestsLeaveRoom(t *testing.T) {
	c := victimCore(t, LAN(), 2)
	refused := 0
	for i := range 4 * c.cfg.MaxAsks {
		for _, m := range c.Step(time.Second, request(0, RequestID(i+1), 0)).Messages {
			if m.Reply != nil {
				refused++
			}
		}
	}
	if want := 4*c.cfg.MaxAsks - c.cfg.MaxAsks/takesPart; refused != want {
		t.Errorf("%d of %d requests are refused at once, not %d", refused, 4*c.cfg.MaxAsks, want)
	}
	if out := c.Step(time.Second, request(1, 1, 0)); len(out.Orders) != 1 || out.Orders[0].Kind != Take {
		t.Errorf("the request of another leads to %+v", out)
	}
}

// A job under the identity of another one goes back unbegun, or whoever computed it would sign a lie about the other;
// and so does one in the root's place. What is to be fetched cannot be looked at yet.
func TestGivenJobsFit(t *testing.T) {
	c := victimCore(t, LAN(), 1)
	c.Report(c.now, Load{Workers: 4, Idle: 4})
	framed, root, fetched := jobAt(1), jobAt(), jobAt(2)
	framed.Arg = []byte("another")
	fetched.Arg, fetched.Names = nil, []byte("where it is")
	out := c.Step(c.now, &Message{From: thiefNo(0), To: c.Self(), Reply: &StealReply{Jobs: []Grant{
		{Handle: 1, Job: framed}, {Handle: 2, Job: root}, {Handle: 3, Job: fetched}, {Handle: 4, Job: jobAt(3)}}}})
	if back := returns(out); !slices.Equal(back, []Handle{1, 2}) {
		t.Errorf("%v go back", back)
	}
	if len(c.segments.fetching) != 1 || len(out.Orders) != 2 {
		t.Errorf("%d are fetched, and ordered is %v", len(c.segments.fetching), out.Orders)
	}
}

// A job with a longer path than anybody may speak of is not held, nor given away.
func TestTooLongPathsStay(t *testing.T) {
	c := victimCore(t, LAN(), 1)
	long := jobAt(make(job.Path, MaxPath+1)...)
	out := c.Step(c.now, &Message{From: thiefNo(0), To: c.Self(), Reply: &StealReply{Jobs: []Grant{{Handle: 1,
		Job: long}, {Handle: 2, Job: jobAt(long.Path[1:]...)}}}})
	if len(c.segments.byID) != 1 || len(out.Messages) != 1 || out.Messages[0].Return == nil ||
		len(out.Messages[0].Return.Handles) != 1 || out.Messages[0].Return.Handles[0] != 1 {
		t.Errorf("%d are held, and the answer is %+v", len(c.segments.byID), out.Messages)
	}
	c.Step(c.now, request(0, 1, 0)) // gets the one that waits here
	out = c.Step(c.now, request(0, 2, 0))
	out = c.Taken(c.now, out.Orders[0].Ticket, []Taken{{Ref: 7, Job: long}})
	if out.Orders[0].Kind != PutBack || out.Orders[0].Ref != 7 || !out.Orders[0].Stays {
		t.Errorf("what cannot travel leads to %+v", out.Orders)
	}
}
