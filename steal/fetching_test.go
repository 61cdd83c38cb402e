package steal

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal/policy"
)

// asking plans steals as a test says.
type asking struct{ steals []policy.Steal }

func (*asking) Name() string { return "asking" }

func (a *asking) Plan(_ policy.View, p *policy.Plan) {
	for _, s := range a.steals {
		p.Steal(s.Victim, s.Max, s.Patience)
	}
	a.steals = nil
}

func (*asking) Give(_ policy.View, a policy.Ask) int { return a.Max }

// fetcher is a thief "t" with two idle workers, and what its core wanted last.
type fetcher struct {
	*Core
	t      *testing.T
	policy *asking
	out    Output
}

func newFetcher(t *testing.T) *fetcher {
	t.Helper()
	f := &fetcher{t: t, policy: &asking{}}
	var err error
	f.Core, err = NewCore(LAN(), Run{}, Address{Peer: "t", Inc: 1}, parseMembers("near: a t u"), f.policy,
		rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	f.out = f.Report(time.Second, Load{Workers: 2, Idle: 2})
	return f
}

// seg is the handle of one more job, which names something.
func (f *fetcher) seg(n int) Handle { return Handle(2 * (int(f.segments.last) + n)) }

// get has peer a give jobs, which name something if their number is even.
func (f *fetcher) get(handles ...Handle) {
	r := &StealReply{}
	for _, h := range handles {
		g := Grant{Handle: h, Job: jobAt(uint32(h))}
		if h%2 == 0 {
			g.Job.Names = []byte("what it reads")
		}
		r.Jobs = append(r.Jobs, g)
	}
	f.out = f.Step(f.now, &Message{From: Address{Peer: "a", Inc: 1}, To: f.self, Reply: r})
}

// wants compares the orders, by kind and segment.
func (f *fetcher) wants(want ...Order) {
	f.t.Helper()
	var got []Order
	for _, o := range f.out.Orders {
		got = append(got, Order{Kind: o.Kind, Segment: o.Segment, Victim: o.Victim})
	}
	if !slices.EqualFunc(got, want, func(a, b Order) bool {
		return a.Kind == b.Kind && a.Segment == b.Segment && a.Victim == b.Victim
	}) {
		f.t.Fatalf("the core orders %+v, want %+v", got, want)
	}
}

// A job that names shared values is held, and begins when these are here, not before: others go first, and nobody gets
// it by a steal. While it is fetched its worker is as good as busy.
func TestFetching(t *testing.T) {
	f := newFetcher(t)
	f.get(2, 4, 6, 5)
	f.wants(Order{Kind: Fetch, Segment: 1, Victim: "a"}, Order{Kind: Fetch, Segment: 2, Victim: "a"},
		Order{Kind: Fetch, Segment: 3, Victim: "a"}, Order{Kind: RunSegment, Segment: 4})
	if n := f.segments.idle(); n != 1 || f.segments.wanting() != 0 {
		t.Errorf("%d workers are idle, and %d want something", n, f.segments.wanting())
	}
	f.out = f.Step(f.now, &Message{From: Address{Peer: "u", Inc: 1}, To: f.self,
		Request: &StealRequest{ID: 1, Max: 4}})
	f.wants(Order{Kind: Take}) // the engine may have something
	f.Taken(f.now, f.out.Orders[0].Ticket, nil)
	f.out = f.Ready(f.now, 2)
	f.wants(Order{Kind: RunSegment, Segment: 2})
	f.out = f.Ready(f.now, 2)
	f.wants()
	f.out = f.Ready(f.now, 1)
	f.wants()
	f.out = f.Step(f.now, &Message{From: Address{Peer: "u", Inc: 1}, To: f.self, Request: &StealRequest{ID: 2, Max: 4}})
	if r := f.out.Messages; len(r) != 1 || len(r[0].Reply.Jobs) != 1 || r[0].Reply.Jobs[0].Job.Names == nil {
		t.Errorf("of what is ready a thief gets %+v", r)
	}
	f.out = f.Finished(f.now, 2, []byte("out"), nil)
	f.out = f.Step(f.now, &Message{From: Address{Peer: "a", Inc: 1}, To: f.self, Ack: &ResultAck{Handle: 4}})
	f.wants(Order{Kind: Release, Segment: 2})
	f.out = f.Step(f.now, &Message{From: Address{Peer: "a", Inc: 1}, To: f.self, Abort: &Abort{Handles: []Handle{6}}})
	f.wants(Order{Kind: Release, Segment: 3})
	f.out = f.Ready(f.now, 3)
	f.wants()
}

// What does not come goes back to its owner, once, and nothing is stolen from it for a while, longer each time in a
// row.
func TestNotReady(t *testing.T) {
	f := newFetcher(t)
	for i, rest := range []time.Duration{returnRest, 2 * returnRest, 4 * returnRest} {
		h := Handle(2 * (i + 1))
		f.get(h)
		f.out = f.NotReady(f.now, SegmentID(i+1))
		f.wants(Order{Kind: Release, Segment: SegmentID(i + 1)})
		if m := f.out.Messages; len(m) != 1 || m[0].Return == nil || !slices.Equal(m[0].Return.Handles, []Handle{h}) {
			t.Fatalf("the job goes back as %+v", m)
		}
		asks := []policy.Steal{{Victim: "a", Max: 1}}
		until := f.now + rest
		f.policy.steals = asks
		if f.out = f.Tick(until - 1); len(f.out.Messages) != 0 {
			t.Errorf("a steal %v after job %d went back", rest-1, i)
		}
		f.policy.steals = asks
		f.out = f.Tick(until)
		if !slices.ContainsFunc(f.out.Messages, func(m *Message) bool { return m.Request != nil }) {
			t.Errorf("no steal %v after job %d went back", rest, i)
		}
		f.out = f.Step(f.now, &Message{From: Address{Peer: "a", Inc: 1}, To: f.self,
			Reply: &StealReply{ID: RequestID(i + 1)}})
		f.out = f.NotReady(f.now, SegmentID(i+1))
		f.wants()
	}
	if f.Stats().JobsReturned != 3 {
		t.Errorf("%d jobs are counted as returned", f.Stats().JobsReturned)
	}
}

// A peer whose jobs name what nobody has is not asked for a while, nor heard when it sends some unasked, and then gives
// one at a time, which keeps no other from being asked.
func TestRestIsTheGiversAlone(t *testing.T) {
	f := newFetcher(t)
	f.get(2)
	f.out = f.Tick(f.now + time.Minute)
	f.out = f.NotReady(f.now, 1)
	back := func(what string, handles ...Handle) {
		t.Helper()
		if m := f.out.Messages; len(handles) == 0 && len(m) != 0 || len(handles) > 0 &&
			(len(m) != 1 || m[0].Return == nil || !slices.Equal(m[0].Return.Handles, handles)) {
			t.Errorf("%s: %+v", what, m)
		}
	}
	f.get(4, 6)
	back("unasked while it rests", 4, 6)
	if f.thief.view.Usable("a") || !f.thief.view.Usable("u") {
		t.Error("another has the rest")
	}
	if at, _ := f.Next(); at > f.now+returnRest {
		t.Errorf("looks again %v later", at-f.now)
	}
	f.out = f.Tick(f.now + returnRest)
	if !f.thief.view.Usable("a") {
		t.Error("it has rested, and is not asked")
	}
	f.get(8, 10)
	back("two after the rest", 10)
	if f.thief.view.Usable("a") || f.thief.view.Idle() != 2 {
		t.Errorf("it is asked: %v, and %d workers look for a job of others", f.thief.view.Usable("a"), f.thief.view.Idle())
	}
	f.out = f.Ready(f.now, 2)
	f.out = f.Tick(f.now + time.Minute)
	f.get(12, 14)
	back("two more after its trial")
}

// A peer whose jobs name what nobody has, but for one now and then, does not keep this one idle: the longer its jobs
// were waited for in vain, the longer it gives one at a time.
func TestRestIsLongerForWhoWastesTime(t *testing.T) {
	f := newFetcher(t)
	const patience = 30 * time.Second
	idle := time.Duration(0)
	for f.now < time.Hour {
		f.get(f.seg(1), f.seg(2))
		held := slices.Clone(f.segments.fetching)
		if f.thief.view.Idle() == 0 {
			idle += patience
		}
		f.out = f.Tick(f.now + patience)
		for _, s := range held {
			f.out = f.NotReady(f.now, s.id)
		}
		f.out = f.Tick(f.now + maxReturnRest)
		f.get(f.seg(1)) // a good one
		f.out = f.Ready(f.now, f.segments.last)
		f.out = f.Finished(f.now, f.segments.last, []byte("out"), nil)
		f.out = f.Report(f.now, Load{Workers: 2, Idle: 2, Runs: f.segments.runs})
	}
	if idle > time.Hour/5 {
		t.Errorf("within an hour it asks nobody for %v", idle)
	}
}

// The trial of a peer whose jobs waited in vain, since a way was cut or this peer was stopped, ends though what it
// gives then names nothing. It is as long as its jobs waited, of which those side by side count once and none for
// longer than a value is waited for, and an hour at most.
func TestTrialsEnd(t *testing.T) {
	for _, c := range []struct {
		name   string
		rounds int
		back   []time.Duration // when the jobs of a round go back
		over   time.Duration   // when the trial is, after the last rest
	}{
		{"one", 1, []time.Duration{30 * time.Second}, 30 * time.Second},
		{"together", 1, []time.Duration{60 * time.Second, 80 * time.Second, 100 * time.Second}, 100 * time.Second},
		{"stopped", 1, []time.Duration{8 * time.Hour}, 5 * time.Minute},
		{"again and again", 20, []time.Duration{5 * time.Minute}, time.Hour},
	} {
		f := newFetcher(t)
		for range c.rounds {
			var came []Handle
			for i := range c.back {
				came = append(came, f.seg(i+1))
			}
			f.get(came...)
			began, held := f.now, slices.Clone(f.segments.fetching)
			for i, s := range held {
				f.out = f.Tick(began + c.back[i])
				f.out = f.NotReady(f.now, s.id)
			}
			f.out = f.Tick(f.now + maxReturnRest)
		}
		if n := f.Stats().JobsReturned; n != uint64(c.rounds*len(c.back)) {
			t.Fatalf("%s: %d jobs go back", c.name, n)
		}
		over := f.partners.find("a").rests + c.over
		for i, at := range []time.Duration{over - time.Second, over} {
			f.policy.steals = []policy.Steal{{Victim: "a", Max: 4}}
			f.out = f.Tick(at)
			asked := slices.IndexFunc(f.out.Messages, func(m *Message) bool { return m.Request != nil })
			if asked < 0 {
				t.Fatalf("%s: it is not asked", c.name)
			}
			r := f.out.Messages[asked].Request
			if most := []int{1, 4}[i]; r.Max != most {
				t.Errorf("%s: it is asked for %d, want %d", c.name, r.Max, most)
			}
			f.out = f.Step(f.now, &Message{From: Address{Peer: "a", Inc: 1}, To: f.self,
				Reply: &StealReply{ID: r.ID, Jobs: []Grant{{Handle: f.seg(1) - 1, Job: jobAt(1)}}}})
		}
	}
}

// The copy of a job whose thief is silent waits for what it names, too. If that is nowhere it begins all the same: its
// read will say what is missing.
func TestCopiesFetch(t *testing.T) {
	v := victimCore(t, LAN(), 2)
	out := v.Step(v.now, request(0, 1, 0))
	named := Job{Path: job.Path{1}, Identity: job.Identity{1}, Names: []byte("what it reads")}
	v.Taken(v.now, out.Orders[0].Ticket, []Taken{{Ref: 1, Job: named}})
	v.book.requeue(v.partners.find("t00").leases[0], true, &v.stats.PutBackLostThief)
	v.Report(v.now, Load{Workers: 1, Idle: 1})
	s := v.segments.byID[1]
	if s == nil || s.state != fetching || s.owner != nil {
		t.Fatalf("the copy is %+v", s)
	}
	out = v.NotReady(v.now, 1)
	if len(out.Orders) != 1 || out.Orders[0].Kind != RunSegment {
		t.Errorf("a copy whose values are nowhere: %+v", out.Orders)
	}
}

// A copy of another peer's job asks whoever gave that for what it names, and does not begin without it, since its
// argument may be among that: the job goes back.
func TestCopiesOfOthersJobsGoBack(t *testing.T) {
	f := newFetcher(t)
	f.get(2)
	f.Report(f.now, Load{Workers: 2})
	f.Ready(f.now, 1)
	f.Step(f.now, &Message{From: Address{Peer: "u", Inc: 1}, To: f.self, Request: &StealRequest{ID: 1, Max: 1}})
	lent := f.segments.byID[1].lent
	if lent == nil {
		t.Fatal("the job was not passed on")
	}
	f.book.replace(lent, &f.stats.PutBackLostThief)
	f.out = f.Report(f.now, Load{Workers: 2, Idle: 2})
	if s := f.segments.byID[2]; s == nil || s.copyOf != lent || s.state != fetching {
		t.Fatalf("the copy is %+v", s)
	}
	f.out = f.NotReady(f.now, 2)
	f.wants(Order{Kind: Release, Segment: 2}, Order{Kind: Release, Segment: 1})
	if !slices.ContainsFunc(f.out.Messages, func(m *Message) bool {
		return m.To.Peer == "a" && m.Return != nil && m.Return.Begun && slices.Equal(m.Return.Handles, []Handle{2})
	}) || len(f.segments.byID)+f.leases.n != 0 {
		t.Errorf("the job goes back as %+v, %d segments and %d leases are left", f.out.Messages, len(f.segments.byID),
			f.leases.n)
	}
}

// Whom a copy asks for what it names.
func TestCopiesAskTheGiver(t *testing.T) {
	f := newFetcher(t)
	f.get(2)
	f.Report(f.now, Load{Workers: 2})
	f.Ready(f.now, 1)
	f.Step(f.now, &Message{From: Address{Peer: "u", Inc: 1}, To: f.self, Request: &StealRequest{ID: 1, Max: 1}})
	f.Core.begin(f.now)
	f.book.replace(f.segments.byID[1].lent, &f.stats.PutBackLostThief)
	f.out = f.Core.out
	f.wants(Order{Kind: Fetch, Segment: 2, Victim: "a"})
}

// What a thief has come to, and what this peer has no room for, is asked of no thief again: an own worker does the job,
// or it goes back to whoever gave it, since this one's outcome would be as large.
func TestTooLargeHere(t *testing.T) {
	v := victimCore(t, LAN(), 2)
	g := give(t, v, 0, 1, 1)
	result := func(from Address, to Address, g *Grant) *Message {
		return &Message{From: from, To: to,
			Result: &Result{Handle: g.Handle, Path: g.Job.Path, Identity: g.Job.Identity}}
	}
	given := func(out Output) (jobs []Grant) {
		for _, m := range out.Messages {
			if m.Reply != nil {
				jobs = append(jobs, m.Reply.Jobs...)
			}
		}
		return jobs
	}
	v.Unusable(v.now, result(thiefNo(0), v.self, &g), true)
	if n := v.Stats().PutBackUnusable; n != 1 || len(v.segments.waiting) != 1 {
		t.Fatalf("%d are put back, %d wait", n, len(v.segments.waiting))
	}
	for i := range 2 {
		if jobs := given(v.Step(v.now, request(i, 2, 0))); len(jobs) > 0 {
			t.Errorf("thief %d gets it: %+v", i, jobs)
		}
	}
	out := v.Report(v.now, Load{Workers: 1, Idle: 1})
	if len(out.Orders) != 1 || out.Orders[0].Kind != RunSegment {
		t.Errorf("the engine is ordered %+v", out.Orders)
	}

	for _, tooLarge := range []bool{true, false} {
		f := newFetcher(t)
		f.get(1, 3, 5)
		u := Address{Peer: "u", Inc: 1}
		jobs := given(f.Step(f.now, &Message{From: u, To: f.self, Request: &StealRequest{ID: 1, Max: 1}}))
		if len(jobs) != 1 {
			t.Fatalf("another thief gets %+v", jobs)
		}
		f.out = f.Unusable(f.now, result(u, f.self, &jobs[0]), tooLarge)
		back := slices.ContainsFunc(f.out.Messages, func(m *Message) bool {
			return m.To.Peer == "a" && m.Return != nil && m.Return.Begun && slices.Equal(m.Return.Handles, []Handle{5})
		})
		if back != tooLarge || len(f.segments.waiting) > 0 == tooLarge {
			t.Errorf("too large: %t; it goes back: %t; %d wait here", tooLarge, back, len(f.segments.waiting))
		}
	}
}

// A thief that was given a job unasked is heard for the first time by its result, which waits for what it names as any
// other does; that of another life than the one which was heard does not.
func TestFirstWordIsAwaited(t *testing.T) {
	v := victimCore(t, LAN(), 2)
	p := v.partners.meet("t01")
	j := jobAt(1)
	h := v.leases.lend(p, &lease{ref: 1, job: j})
	said := func(inc Incarnation) *Message {
		return &Message{From: Address{Peer: "t01", Inc: inc}, To: v.self,
			Result: &Result{Handle: h, Path: j.Path, Identity: j.Identity}}
	}
	if p.inc != 0 || !v.Awaits(said(2)) {
		t.Errorf("the first word of a thief, of which life %d is known, is not awaited", p.inc)
	}
	v.Step(v.now, &Message{From: Address{Peer: "t01", Inc: 2}, To: v.self, Hunger: &Hunger{Seq: 1}})
	if !v.Awaits(said(2)) || v.Awaits(said(3)) || v.Awaits(said(1)) {
		t.Errorf("awaited from the life that was heard %t, from later and earlier ones %t %t", v.Awaits(said(2)),
			v.Awaits(said(3)), v.Awaits(said(1)))
	}
}

// What a leaver gives back that it has not begun itself, but a thief of its own that was lost had, goes back as begun.
func TestGivenBackAsBegun(t *testing.T) {
	for _, again := range []bool{false, true} {
		c := victimCore(t, LAN(), 1)
		c.Step(c.now, c.from("t00", &Message{Reply: &StealReply{Jobs: []Grant{{Handle: 1, Job: jobAt(1)}}}}))
		if len(c.segments.waiting) != 1 {
			t.Fatalf("%d jobs wait", len(c.segments.waiting))
		}
		c.segments.waiting[0].job.Restarted = again
		var back *Return
		for _, m := range c.Leave(c.now, time.Second).Messages {
			if m.Return != nil {
				back = m.Return
			}
		}
		if back == nil || back.Begun != again {
			t.Errorf("restarted %v: to the owner goes %+v", again, back)
		}
	}
}
