package steal

import (
	"testing"
	"time"

	"github.com/satin-peer/satin/job"
)

// What a thief may have follows what came of what it had: what it withholds in the end is bounded by what it has done.
func TestCredit(t *testing.T) {
	cfg := LAN()
	now := time.Minute
	c := credit{most: firstCredit}
	for range 3 {
		c.failed(now, &cfg)
	}
	if c.left(now) != firstCredit/8 || !c.good() {
		t.Errorf("after three losses it may have %d jobs", c.left(now))
	}
	c.paid(&cfg)
	if c.left(now) != firstCredit/8+2 {
		t.Errorf("after a result it may have %d jobs", c.left(now))
	}
	for range 4 {
		c.failed(now, &cfg)
	}
	if c.left(now) != 0 || c.most != 1 || c.good() {
		t.Errorf("after seven losses it may have %d jobs", c.left(now))
	}
	rest := c.until - now
	for range 40 {
		now = c.until
		if c.failed(now, &cfg); c.left(now) != 0 || c.until-now < min(rest, maxRest) || c.until-now > maxRest {
			t.Fatalf("it rests for %v, after %v", c.until-now, rest)
		}
		rest = c.until - now
	}
	if rest != maxRest {
		t.Errorf("in the end it rests for %v", rest)
	}
	if c.paid(&cfg); c.left(now) != 3 {
		t.Errorf("after a result it may have %d jobs", c.left(now))
	}
	for range 2000 {
		c.paid(&cfg)
	}
	if c.left(now) != cfg.MaxSegments {
		t.Errorf("after many results it may have %d jobs", c.left(now))
	}
	if c.returned(now); c.left(now) == 0 {
		t.Error("one job that was given back is held against it")
	}
	c.returned(now)
	first := c.until - now
	c.returned(now)
	if first <= 0 || c.until-now <= first || c.left(now) != 0 {
		t.Errorf("with jobs that go to and fro it rests for %v, then for %v", first, c.until-now)
	}
}

// A thief that has brought no result has no more jobs than it begins with, however it asks. One result brings it more,
// a new life less.
func TestThiefWithoutResults(t *testing.T) {
	cfg := LAN()
	c := victimCore(t, cfg, 2)
	var last Grant
	for i := range firstCredit {
		last = give(t, c, 0, RequestID(i+1), Ref(i+1))
	}
	refused := func(m *Message) bool {
		out := c.Step(c.now, m)
		return len(out.Orders) == 0 && len(out.Messages) == 1 && len(out.Messages[0].Reply.Jobs) == 0
	}
	if !refused(request(0, 1000, 0)) {
		t.Fatalf("it has %d jobs, and gets one more", firstCredit)
	}
	give(t, c, 1, 1, 1000) // another one is not concerned
	c.Step(c.now, &Message{From: thiefNo(0), To: c.self,
		Result: &Result{Handle: last.Handle, Path: last.Job.Path, Identity: last.Job.Identity}})
	give(t, c, 0, 1001, 1001)
	again := request(0, 1, 0)
	again.From.Inc++
	if c.Step(c.now, again); c.partners.find(again.From.Peer).credit.most != (firstCredit+2)/2 {
		t.Errorf("in its new life it may have %d jobs", c.partners.find(again.From.Peer).credit.most)
	}
}

// Whose jobs had to be run by others again and again is not believed to have what is sought.
func TestHolderWithoutCredit(t *testing.T) {
	c := victimCore(t, LAN(), 1)
	give(t, c, 0, 1, 1)
	thief := c.partners.find(thiefNo(0).Peer)
	u := Tuple{Path: job.Path{7}, Identity: job.Identity{7}, Holder: thiefNo(0), Done: true}
	c.lost.learn(u)
	if e, _ := c.adoption.holderOf(u.Path, u.Identity); e == nil {
		t.Fatal("an honest holder is not asked")
	}
	for thief.credit.good() {
		thief.credit.failed(c.now, &c.cfg)
	}
	if e, _ := c.adoption.holderOf(u.Path, u.Identity); e != nil {
		t.Error("it is asked for what it says that it has")
	}
}

// A thief that is silent and heard again, by turns, ends the copies of its jobs a few times, not for ever: copies that
// have run for long, compared with the thief, as well as such that have just begun.
func TestBlinkingThief(t *testing.T) {
	cfg := LAN()
	cfg.LeaseEnd = 0 // that would make an end of it, too
	for _, x := range []struct {
		copyRuns time.Duration
		most     uint64
	}{{3200 * time.Millisecond, maxBlinks}, {0, mostBlinks}} {
		blink(t, victimCore(t, cfg, 1), x.copyRuns, x.most)
	}
}

func blink(t *testing.T, c *Core, copyRuns time.Duration, most uint64) {
	t.Helper()
	g := give(t, c, 0, 1, 1)
	p := c.partners.find(thiefNo(0).Peer)
	runs := uint64(0)
	for seq := uint64(1); seq <= 2*most; seq++ {
		began := false
		for !p.lost {
			at, _ := c.Next()
			c.Tick(at)
		}
		out := c.Report(c.now, Load{Workers: 1, Idle: 1, Runs: runs})
		for _, o := range out.Orders {
			began = began || o.Kind == RunSegment
		}
		if began {
			runs++
		}
		c.Report(c.now+copyRuns, Load{Workers: 1, Runs: runs})
		out = c.Step(c.now, &Message{From: thiefNo(0), To: c.self,
			Heartbeat: &Heartbeat{Seq: seq, Held: []Handle{g.Handle}, Seen: 1}})
		ended := false
		for _, o := range out.Orders {
			ended = ended || o.Kind == AbortSegment
		}
		if want := seq <= most; ended != want || began != (seq <= most+1) {
			t.Fatalf("when it is heard for the %d. time, after %v, its copy, begun now: %v, is ended: %v", seq, copyRuns,
				began, ended)
		}
	}
}

// A thief may have a job twice: it fell silent, and so did who got the copy, so that the copy of that went to the first
// again. When it is heard it lists both, and to give up the copy of the one ends that of the other.
func TestThiefHasItsJobTwice(t *testing.T) {
	cfg := LAN()
	cfg.LeaseEnd = 0
	c := victimCore(t, cfg, 2)
	held := []Handle{give(t, c, 0, 1, 1).Handle}
	copied := func() {
		for len(c.segments.waiting) == 0 {
			at, _ := c.Next()
			c.Tick(at)
		}
	}
	c.Report(c.now, Load{Workers: 1})
	for _, thief := range []int{1, 0} {
		copied()
		out := c.Step(c.now, request(thief, 2, 0))
		held = append(held, out.Messages[0].Reply.Jobs[0].Handle)
	}
	copied()
	lists := inventory(c, 100, held[0], held[2])
	lists.Heartbeat.Every = time.Second // it was awake
	c.Step(c.now, lists)
	if c.leases.n != 1 || c.leases.refs[1].handle != held[0] || len(c.segments.byID) != 0 {
		t.Errorf("of %v leases %d are left, and of their copies %d", held, c.leases.n, len(c.segments.byID))
	}
}

// A job that goes to a thief and comes back unbegun, again and again, stays here for a while each time: long enough for
// a worker to find it.
func TestToAndFro(t *testing.T) {
	c := victimCore(t, LAN(), 1)
	for i := range RequestID(2) {
		g := give(t, c, 0, i+1, Ref(i+1))
		c.Step(c.now, &Message{From: thiefNo(0), To: c.self, Return: &Return{Handles: []Handle{g.Handle}}})
	}
	if out := c.Step(c.now, request(0, 3, 0)); len(out.Orders) != 0 {
		t.Errorf("the third request, as soon as the second job is back, leads to %+v", out)
	}
	c.Tick(c.now + maxReturnRest)
	give(t, c, 0, 4, 4)
}
