package steal

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal/policy"
)

// salvageCore is an idle peer "a" among others, with no policy that would interfere.
func salvageCore(t *testing.T, change func(*Config)) *Core {
	t.Helper()
	cfg := LAN()
	if change != nil {
		change(&cfg)
	}
	c, err := NewCore(cfg, Run{}, Address{Peer: "a", Inc: 1}, parseMembers("x: a b c d e, y: f g"), &Scripted{},
		rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	c.Report(time.Second, Load{Workers: 1, Idle: 1})
	return c
}

func living(id PeerID) Address { return Address{Peer: id, Inc: 1} }

func pathIdentity(p job.Path) job.Identity { return job.Identify("f", []byte(p.String())) }

func jobAt(p ...uint32) Job {
	return Job{Path: p, Identity: pathIdentity(p), Function: "f", Arg: []byte(job.Path(p).String())}
}

func partAt(size int, p ...uint32) Partial {
	return Partial{Path: p, Identity: pathIdentity(p), Outcome: make([]byte, size)}
}

// holdFor lets a core get a job from another peer, which runs if a worker is idle.
func holdFor(c *Core, owner PeerID, h Handle, j Job) Output {
	return c.Step(c.now, &Message{Run: c.run.ID, From: living(owner), To: c.self,
		Reply: &StealReply{Jobs: []Grant{{Handle: h, Job: j}}}})
}

func goodbye(c *Core, id PeerID) Output {
	return c.Step(c.now, &Message{Run: c.run.ID, From: living(id), To: c.self, Goodbye: &Goodbye{}})
}

// told lists what a core tells in an output.
func told(o Output) (list []Tuple) {
	for _, r := range o.Orders {
		if r.Kind == Tell {
			list = append(list, r.News.Tuples...)
		}
	}
	return list
}

// later lets time pass for a core that has something due.
func later(c *Core, d time.Duration) Output { return c.Tick(c.now + d) }

// News of anybody, about anything, change nothing but counters and a bounded table.
func TestHostileNews(t *testing.T) {
	c := salvageCore(t, func(cfg *Config) { cfg.MaxTuples = 50 })
	c.Keep(c.now, []Partial{partAt(10, 4, 1)})
	c.Hear(c.now, &News{From: living("b"), Tuples: []Tuple{{Path: job.Path{7}, Holder: living("b"), Done: true}}})
	good := Tuple{Path: job.Path{1}, Holder: living("c"), Done: true}
	for name, n := range map[string]*News{
		"another run":     {Run: job.RunID{9}, From: living("c"), Tuples: []Tuple{good}},
		"from itself":     {From: c.self, Tuples: []Tuple{good}},
		"no life":         {From: Address{Peer: "c"}, Tuples: []Tuple{good}},
		"nothing":         {From: living("c")},
		"a stranger":      {From: living("zz"), Tuples: []Tuple{{Path: job.Path{1}, Holder: living("zz")}}},
		"for another":     {From: living("c"), Tuples: []Tuple{{Path: job.Path{1}, Holder: living("d")}}},
		"about the asker": {From: living("c"), Tuples: []Tuple{{Path: job.Path{1}, Holder: c.self}}},
		"no age":          {From: living("c"), Tuples: []Tuple{{Path: job.Path{1}, Holder: living("c"), Age: -1}}},
		"the root":        {From: living("c"), Tuples: []Tuple{{Holder: living("c"), Done: true}}},
		"a long path":     {From: living("c"), Tuples: []Tuple{{Path: make(job.Path, MaxPath+1), Holder: living("c")}}},
		"too many":        {From: living("c"), Tuples: make([]Tuple, maxTuples+1)},
	} {
		if out := c.Hear(c.now, n); len(out.Orders)+len(out.Messages) != 0 || len(c.lost.tuples.index) != 1 {
			t.Errorf("%s: leads to %+v and %d tuples", name, out, len(c.lost.tuples.index))
		}
	}
	for i := range 1000 { // a flood
		c.Hear(c.now, &News{From: living("c"), Tuples: []Tuple{{Path: job.Path{2, uint32(i)}, Holder: living("c"),
			Done: true}, {Path: job.Path{4}, Holder: living("c"), Done: true}}})
	}
	if len(c.lost.tuples.index) > 50 || c.lost.tuples.holders["b"].Len() != 1 {
		t.Errorf("after a flood of one peer %d tuples are known, of b %d", len(c.lost.tuples.index),
			c.lost.tuples.holders["b"].Len())
	}
	if c.lost.store.find(job.Path{4, 1}, pathIdentity(job.Path{4, 1})) == nil {
		t.Error("what is kept here was dropped because of another's word")
	}
}

// What is handed over is bounded, acknowledged all the same, and drives out nothing that was computed here.
func TestHostileHandOver(t *testing.T) {
	c := salvageCore(t, func(cfg *Config) { cfg.MaxKept, cfg.MaxKeptBytes = 20, 20_000 })
	c.Keep(c.now, []Partial{partAt(10, 1, 1), partAt(10, 2, 2, 2)})
	for i := range 300 {
		h := &HandOver{ID: uint64(i + 1), Parts: []Partial{partAt(i*10, 3, uint32(i)), partAt(1, 1),
			partAt(1, 2, 2), {Outcome: []byte("root")}}}
		out := c.Step(c.now, &Message{From: living("f"), To: c.self, HandOver: h})
		if len(out.Messages) != 1 || out.Messages[0].HandOverAck == nil || out.Messages[0].HandOverAck.Leaving {
			t.Fatalf("a hand-over is answered by %+v", out.Messages)
		}
	}
	if len(c.lost.store.index) > 20 || c.lost.store.total() > 20_000 {
		t.Errorf("%d outcomes of %d bytes are kept", len(c.lost.store.index), c.lost.store.total())
	}
	for _, p := range []job.Path{{1, 1}, {2, 2, 2}} {
		if c.lost.store.find(p, pathIdentity(p)) == nil {
			t.Errorf("the outcome of %v, computed here, was driven out", p)
		}
	}
	if c.lost.store.find(nil, job.Identity{}) != nil {
		t.Error("an outcome of the root was taken from another peer")
	}
}

// Nobody can adopt what has an owner that lives, or what is another job; what is not here is returned.
func TestHostileAdopt(t *testing.T) {
	c := salvageCore(t, nil)
	holdFor(c, "b", 1, jobAt(1))
	for name, j := range map[string]Adoption{
		"unknown":          {Handle: 2, Path: job.Path{2}, Identity: pathIdentity(job.Path{2})},
		"another identity": {Handle: 3, Path: job.Path{1}},
	} {
		out := c.Step(c.now, &Message{From: living("c"), To: c.self, Adopt: &Adopt{Jobs: []Adoption{j}}})
		if len(out.Messages) != 1 || out.Messages[0].Return == nil ||
			!slices.Equal(out.Messages[0].Return.Handles, []Handle{j.Handle}) {
			t.Errorf("%s: %+v", name, out.Messages)
		}
	}
	for _, id := range []PeerID{"c", "d", "e", "f", "g"} {
		kept, refused := len(c.adoption.later), 0
		for i := range 4 * maxLaterEach {
			owned := Adoption{Handle: Handle(10 + i/2), Path: job.Path{1}, Identity: pathIdentity(job.Path{1})}
			out := c.Step(c.now, &Message{From: living(id), To: c.self, Adopt: &Adopt{Jobs: []Adoption{owned}}})
			refused += len(out.Messages)
		}
		kept = len(c.adoption.later) - kept
		want := min(maxLaterEach, maxLater-len(c.adoption.later)+kept)
		if kept != want || refused != 4*maxLaterEach-2*kept {
			t.Errorf("of %s %d wait, not %d; %d of %d are refused at once", id, kept, want, refused, 4*maxLaterEach)
		}
	}
	out := c.Step(c.now+time.Millisecond, &Message{From: living("b"), To: c.self,
		Heartbeat: &Heartbeat{Seq: 1, Every: time.Second, Leases: 1}})
	if p := c.partners.find("b"); len(p.held) != 1 || c.Stats().OrphansAdopted != 0 || len(out.Messages) == 0 ||
		len(c.adoption.later) > 0 {
		t.Errorf("the job was taken from its owner, or that is not refused: %+v", out.Messages)
	}
	goodbye(c, "b")
	adopt := &Message{From: living("c"), To: c.self,
		Adopt: &Adopt{Jobs: []Adoption{{Handle: 9, Path: job.Path{1}, Identity: pathIdentity(job.Path{1})}}}}
	for range 3 { // repeated
		if out := c.Step(c.now, adopt); len(out.Messages) != 0 {
			t.Errorf("the adoption of an orphan is answered by %+v", out.Messages)
		}
	}
	if p := c.partners.find("c"); len(p.held) != 1 || p.held[0].handle != 9 {
		t.Error("the orphan is not in its new owner's inventory")
	}
}

// A job that is run again gives way to an orphan that began before it. One that has run for a long time gives
// way to an outcome only.
func TestRunningJobsGiveWay(t *testing.T) {
	for _, c := range []struct {
		after      time.Duration
		done, want bool
	}{{time.Second, false, true}, {time.Minute, false, false}, {time.Minute, true, true}} {
		core := salvageCore(t, nil)
		j := jobAt(3)
		j.Restarted = true
		holdFor(core, "b", 1, j)
		core.Report(core.now, Load{Workers: 1, Runs: 1})
		for range int(c.after / time.Second) { // b goes on beating
			core.Step(core.now+time.Second, &Message{From: living("b"), To: core.self,
				Heartbeat: &Heartbeat{Seq: uint64(core.now), Leases: 1}})
		}
		out := core.Hear(core.now, &News{From: living("c"),
			Tuples: []Tuple{{Path: j.Path, Identity: j.Identity, Holder: living("c"), Done: c.done}}})
		got := slices.ContainsFunc(out.Messages, func(m *Message) bool { return m.Adopt != nil })
		if aborted := slices.ContainsFunc(out.Orders,
			func(o Order) bool { return o.Kind == AbortSegment }); got != c.want || aborted != c.want {
			t.Errorf("after %v, an orphan that is done (%v) is adopted: %v, and the job aborted: %v; want %v",
				c.after, c.done, got, aborted, c.want)
		}
	}
}

// An outcome that comes of an aborted job is neither sent nor kept.
func TestAbortedOutcomeIsNotKept(t *testing.T) {
	c := salvageCore(t, nil)
	out := holdFor(c, "b", 1, jobAt(1))
	id := out.Orders[0].Segment
	c.Step(c.now, &Message{From: living("b"), To: c.self, Abort: &Abort{Handles: []Handle{1}}})
	if out = c.Finished(c.now, id, []byte("late"), nil); len(out.Messages) != 0 || len(c.lost.store.index) != 0 {
		t.Errorf("the outcome is sent (%v) or kept (%d)", out.Messages, len(c.lost.store.index))
	}
}

// News stay below what gossip takes, however long the paths.
func TestNewsAreShort(t *testing.T) {
	c := salvageCore(t, nil)
	for i := range 20 {
		p := make(job.Path, 2000)
		for k := range p {
			p[k] = 1 << 31
		}
		p[0] = uint32(i + 1)
		c.Restore(c.now, []Partial{{Path: p, Outcome: []byte("x")}})
	}
	tuples := 0
	for range 20 {
		for _, r := range later(c, c.cfg.TellEvery).Orders {
			if r.Kind == Tell {
				tuples += len(r.News.Tuples)
				if size := r.News.Size(); size > 50<<10 {
					t.Errorf("news of %d bytes", size)
				}
			}
		}
	}
	if tuples != 20 {
		t.Errorf("%d of 20 tuples were told", tuples)
	}
}

// As long as nobody is lost nothing is told, no table is shown, and a finished segment costs one entry.
func TestNothingHappensWhileNobodyIsLost(t *testing.T) {
	c := salvageCore(t, nil)
	for i := range 100 {
		id := holdFor(c, "b", Handle(i+1), jobAt(1, uint32(i))).Orders[0].Segment
		c.Report(c.now, Load{Workers: 1})
		c.Keep(c.now, []Partial{partAt(3, 1, uint32(i), 5)})
		c.Finished(c.now, id, []byte("x"), nil)
		out := c.Report(c.now, Load{Workers: 1, Idle: 1, Runs: uint64(i + 1)})
		c.Step(c.now, &Message{From: living("b"), To: c.self, Ack: &ResultAck{Handle: Handle(i + 1)}})
		out.Orders = append(out.Orders, later(c, 10*time.Millisecond).Orders...)
		if len(out.Orders) != 0 {
			t.Fatalf("job %d leads to %+v", i, out.Orders)
		}
	}
	if len(c.lost.store.index) != 100 || len(c.lost.telling.jobs) != 0 {
		t.Errorf("%d outcomes are kept, %d to be told", len(c.lost.store.index), len(c.lost.telling.jobs))
	}
}

// A run that is over leaves nothing behind.
func TestCancelForgetsAll(t *testing.T) {
	c := salvageCore(t, nil)
	holdFor(c, "b", 1, jobAt(1))
	goodbye(c, "b") // an orphan
	c.Keep(c.now, []Partial{partAt(3, 2)})
	c.Hear(c.now, &News{From: living("c"), Tuples: []Tuple{{Path: job.Path{3}, Holder: living("c")}}})
	holdFor(c, "d", 4, jobAt(5))
	out := c.Cancel(c.now)
	if len(out.Orders) != 1 || out.Orders[0].Kind != AbortSegment || len(out.Messages) != 1 ||
		out.Messages[0].Goodbye == nil || out.Messages[0].To.Peer != "d" {
		t.Errorf("the end of the run leads to %+v", out)
	}
	if !c.Gone() ||
		len(c.segments.byID)+len(c.lost.store.index)+len(c.lost.tuples.index)+len(c.lost.telling.jobs)+c.leases.n != 0 {
		t.Error("something is left")
	}
	if _, ok := c.Next(); ok {
		t.Error("it wants to be ticked")
	}
	if out = c.Found(c.now, []Taken{{Ref: 1}}); len(out.Orders) != 1 || out.Orders[0].Kind != PutBack {
		t.Errorf("a job found later leads to %+v", out.Orders)
	}
}

// An outcome larger than a piece may be is handed over by itself.
func TestLargeOutcomeIsHandedOverAlone(t *testing.T) {
	c := salvageCore(t, func(cfg *Config) { cfg.MaxHandOver = 20_000 })
	for i, size := range []int{100, 50_000, 100} {
		c.Keep(c.now, []Partial{partAt(size, uint32(i+1))})
	}
	queue := slices.Clone(c.Leave(c.now, time.Second).Messages)
	var sizes []int
	for len(queue) > 0 {
		m := queue[0]
		queue = queue[1:]
		if m.HandOver == nil {
			continue
		}
		for _, p := range m.HandOver.Parts {
			if len(p.Outcome) > 20_000 && len(m.HandOver.Parts) > 1 {
				t.Error("a large outcome has company")
			}
			sizes = append(sizes, len(p.Outcome))
		}
		ack := &Message{From: living(m.To.Peer), To: c.self, HandOverAck: &HandOverAck{ID: m.HandOver.ID}}
		queue = append(queue, slices.Clone(c.Step(c.now, ack).Messages)...)
	}
	if slices.Sort(sizes); !slices.Equal(sizes, []int{100, 100, 50_000}) || !c.Gone() {
		t.Errorf("handed over %v, gone %t", sizes, c.Gone())
	}
}

// A leaver's pieces go to several peers, the idle and near ones first, and each gets the next one when it has
// acknowledged the last.
func TestHandOverIsSpread(t *testing.T) {
	c := salvageCore(t, func(cfg *Config) { cfg.MaxHandOver = 20_000 })
	for i, queued := range map[PeerID]int{"b": 50, "c": 0, "f": 0} {
		c.Step(c.now, &Message{From: living(i), To: c.self, Hunger: &Hunger{Seq: 1, Queued: queued}})
	}
	for i := range 100 {
		c.Keep(c.now, []Partial{partAt(2000, uint32(i+1))})
	}
	got := make(map[PeerID]int)
	var first []PeerID
	queue := slices.Clone(c.Leave(c.now, time.Second).Messages)
	for _, m := range queue {
		first = append(first, m.To.Peer)
	}
	for len(queue) > 0 {
		m := queue[0]
		queue = queue[1:]
		if m.HandOver == nil {
			continue
		}
		if size := m.Size(); size > 20_500 {
			t.Errorf("a piece of %d bytes", size)
		}
		got[m.To.Peer] += len(m.HandOver.Parts)
		ack := &Message{From: living(m.To.Peer), To: c.self, HandOverAck: &HandOverAck{ID: m.HandOver.ID}}
		queue = append(queue, slices.Clone(c.Step(c.now, ack).Messages)...)
	}
	if want := []PeerID{"c", "d", "e", "f"}; !slices.Equal(first, want) {
		t.Errorf("the first pieces go to %v, want %v", first, want)
	}
	sum := 0
	for _, n := range got {
		sum += n
	}
	if sum != 100 || len(got) < 4 || c.Stats().PartialsHandedOver != 100 || !c.Gone() {
		t.Errorf("%d of 100 outcomes were handed over, %v; gone: %v", sum, got, c.Gone())
	}
}

// A disowned handle whose message was lost is disowned again, not aborted, when it shows in an inventory.
func TestLostDisownIsRepeated(t *testing.T) {
	c := victimCore(t, LAN(), 1)
	g := give(t, c, 0, 1, 1)
	c.losses.disownAll([]*lease{c.leases.refs[1]})
	c.now += time.Second
	out := c.Step(c.now, inventory(c, 1, g.Handle))
	if len(out.Messages) != 1 || out.Messages[0].Disown == nil ||
		!slices.Equal(out.Messages[0].Disown.Handles, []Handle{g.Handle}) {
		t.Errorf("the inventory is answered by %+v", out.Messages)
	}
}

// Peers that restart a run from their disks come one after the other, and gossip reaches those who are there: each
// new master is told again of what came from a checkpoint, once.
func TestRestoredIsToldToNewMasters(t *testing.T) {
	run := Run{Root: Job{Function: "root", Identity: job.Identify("root", nil)}, Deputies: []PeerID{"a", "b"}}
	c, err := NewCore(LAN(), run, Address{Peer: "c", Inc: 1}, parseMembers("x: a b c"), &Scripted{},
		rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	c.Restore(0, []Partial{partAt(10, 1)})
	tells := func(when string, want int) {
		t.Helper()
		n := 0
		for _, u := range told(later(c, c.cfg.TellEvery)) {
			if slices.Equal(u.Path, job.Path{1}) {
				n++
			}
		}
		if n != want {
			t.Errorf("%s: told %d times, want %d", when, n, want)
		}
	}
	tells("taken in", 1)
	tells("nobody new", 0)
	for _, x := range []struct {
		from Address
		b    Beacon
		want int
	}{
		{living("b"), Beacon{Rank: 1, Seq: 1}, 1},
		{living("b"), Beacon{Rank: 1, Seq: 2}, 0},
		{living("a"), Beacon{Seq: 7}, 1},
		{living("b"), Beacon{Rank: 1, Seq: 3}, 0},
		{Address{Peer: "a", Inc: 2}, Beacon{Seq: 1}, 1},
	} {
		c.Hear(c.now, &News{From: x.from, Master: &x.b})
		tells("a beacon of "+string(x.from.Peer), x.want)
	}
}

// A peer that fell silent, and is a member still, is asked for work again now and then: it may have given this one up
// too.
func TestSilentPeerIsAskedAgain(t *testing.T) {
	advice, err := policy.ByName("rs", "a")
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewCore(LAN(), Run{}, living("a"), parseMembers("x: a b"), advice, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	c.Report(time.Second, Load{Workers: 1, Idle: 1})
	b := c.partners.find("b")
	var ran SegmentID
	for _, o := range holdFor(c, "b", 1, jobAt(1)).Orders {
		if o.Kind == RunSegment {
			ran = o.Segment
		}
	}
	c.Report(c.now, Load{Workers: 1, Runs: 1})
	pass := func(d time.Duration, others bool) (asked int) {
		for until := c.now + d; ; {
			at, ok := c.Next()
			if often := c.now + c.cfg.BeaconEvery/2; !ok || at > often { // who listens for masters is ticked as often
				at = often
			}
			at = min(at, until)
			if others {
				c.links.stole("x", time.Millisecond, 100) // and they answer at once
			}
			for _, m := range c.Tick(at).Messages {
				if m.Request != nil && m.To.Peer == "b" {
					asked++
				}
			}
			if at == until {
				return asked
			}
		}
	}
	if pass(time.Minute, false); !b.lost {
		t.Fatal("it is not lost after a minute of silence")
	}
	c.Finished(c.now, ran, []byte("result"), nil)
	c.Report(c.now, Load{Workers: 1, Idle: 1, Runs: 1})
	for _, others := range []bool{false, true} {
		if n := pass(10*time.Minute, others); n < 10 || n > 20 {
			t.Errorf("in ten minutes it is asked %d times; others of its cluster answer: %v", n, others)
		}
	}
	goodbye(c, "b")
	if n := pass(10*time.Minute, true); n > 0 {
		t.Errorf("after its goodbye it is asked %d times", n)
	}
}
