package steal

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal/policy"
)

// Each machine of the core by itself, without the core: on what it shares, and those below it.

// ground is what the machines of a core of peer a1 share, a minute past the start.
func ground(clusters string) *shared {
	return &shared{cfg: LAN(), self: Address{Peer: "a1", Inc: 1}, cluster: "a", members: parseMembers(clusters),
		rand: rand.New(rand.NewPCG(1, 1)), now: time.Minute}
}

// below are the machines up to the book.
func below(s *shared) *book {
	ps, ss := newPartners(s), newSegments(s)
	ps.talking = func(*peer) bool { return false }
	ls := newLeases(s, ps)
	ask := &adviser{policy: policy.RandomStealing{}}
	lost := newLostWork(s, ss, ls)
	return &book{shared: s, partners: ps, segments: ss, leases: ls, lost: lost,
		relay: &relay{s, ask, ps}, mirror: &mirror{shared: s, partners: ps, segments: ss, store: &lost.store}}
}

// Links: small messages time the latency, large ones the rate of what is left after it.
func TestLinks(t *testing.T) {
	var l linkTable
	if l.expected("b", 100) != 0 || l.get("b").RTT != 0 {
		t.Error("something is known of a link that nothing went over")
	}
	l.stole("b", 200*time.Millisecond, 100)
	if got := l.get("b"); got.RTT != 200*time.Millisecond || got.LastSteal != got.RTT || got.BytesPerSecond != 0 {
		t.Errorf("after a small message: %+v", got)
	}
	if got, want := l.expected("b", int(assumed)), 1200*time.Millisecond; got != want {
		t.Errorf("a message of %v bytes is expected to take %v, want %v", assumed, got, want)
	}
	l.resultAcked("b", 700*time.Millisecond, 1<<20)
	if got := l.get("b").BytesPerSecond; got != 2<<20 {
		t.Errorf("1 MiB in 500 ms beyond the latency is %v bytes per second", got)
	}
	l.stole("c", time.Second, 1<<20) // nothing can be said of its rate: its latency is not known
	l.jobDone("c", time.Second, 5000)
	if rate, most := l.most("a"); rate != 2<<20 || most != 5000 {
		t.Errorf("the best rate is %v, the largest outcome %v", rate, most)
	}
	if rate, most := l.most("b"); rate != 0 || most != 5000 {
		t.Errorf("without b the best rate is %v, the largest outcome %v", rate, most)
	}
	l.timedOut("b", 9*time.Second)
	l.ended("b", true)
	l.ended("b", false)
	if got := l.get("b"); got.LastSteal != 9*time.Second || got.RTT != 200*time.Millisecond || got.Wins != 1 ||
		got.Fails != 1 {
		t.Errorf("after a request that was given up: %+v", got)
	}
	if l.prune(parseMembers("a: a1, c: c1")); len(l.by) != 1 {
		t.Errorf("%d links to clusters, of which one is left", len(l.by))
	}
}

const assumed = 100e3 // bytes per second

// Anybody may ask: of ever more clusters some are forgotten, in turn, and the best rate with them.
func TestLinksAreBounded(t *testing.T) {
	var l linkTable
	for i := range 3 * maxLinks {
		id := ClusterID(fmt.Sprintf("c%04d", i))
		l.stole(id, time.Millisecond, 100)
		l.resultAcked(id, time.Second, (3*maxLinks-i)<<20)
		if len(l.by) > maxLinks || l.get(id).RTT == 0 {
			t.Fatalf("%d links after %d clusters", len(l.by), i+1)
		}
		l.most("a")
	}
	l.timedOut("new", time.Second) // whoever had the best goes for it
	best := 0.0
	for _, x := range l.by {
		best = max(best, x.BytesPerSecond)
	}
	if rate, _ := l.most("a"); rate != best {
		t.Errorf("the best rate is %v, of those that are known %v", rate, best)
	}
}

// In a large swarm a policy chooses among a part of the members, unless its peers have to agree on an order of all.
// Who is a member, and where, is known of all.
func TestPoliciesSeeAPart(t *testing.T) {
	var list []Member
	for i := range 3000 {
		list = append(list, Member{ID: PeerID(fmt.Sprintf("p%04d", i)), Cluster: "a"})
	}
	for name, all := range map[string]bool{"adaptive": false, "crs": false, "chs": true, "tree": true, "load": true} {
		p, err := policy.ByName(name, "p0000")
		if err != nil {
			t.Fatal(err)
		}
		c, err := NewCore(LAN(), Run{}, Address{Peer: "p0001", Inc: 1}, NewMembers(list), p,
			rand.New(rand.NewPCG(1, 1)))
		if err != nil {
			t.Fatal(err)
		}
		v := c.thief.adviser.view
		seen := v.Members()
		if n := seen.Len(); (n == len(list)) != all || n < 200 || seen != v.Members() || !v.Usable("p2999") {
			t.Errorf("%s sees %d of %d", name, n, len(list))
		}
		c.SetMembers(time.Second, NewMembers(list[:3]))
		if n := v.Members().Len(); n != 3 {
			t.Errorf("%s sees %d of 3", name, n)
		}
	}
}

// Partners: heartbeats across slow links are rarer, within bounds, and silence is measured by the longer period.
func TestPeriodsAndSilence(t *testing.T) {
	for _, c := range []struct {
		cluster        ClusterID
		rtt, announced time.Duration
		period, silent time.Duration
	}{
		{"a", time.Second, 0, time.Second, 3 * time.Second},
		{"b", 0, 0, 3 * time.Second, 9 * time.Second},
		{"b", time.Second, 0, 10 * time.Second, 30 * time.Second},
		{"b", time.Hour, 0, 30 * time.Second, 90 * time.Second},
		{"a", 0, 20 * time.Second, time.Second, time.Minute},
	} {
		s := ground("a: a1 a2, b: b1")
		s.cfg = WAN()
		s.links.of("b").RTT = c.rtt
		ps, p := newPartners(s), &peer{id: "x", cluster: c.cluster, every: c.announced}
		if got := ps.period(p); got != c.period {
			t.Errorf("%+v: the period is %v", c, got)
		}
		if got := ps.silence(p); got != c.silent {
			t.Errorf("%+v: it is lost after %v", c, got)
		}
		ps.listenTo(p)
		first := beat{s.now + c.period, p}
		if p.heard != s.now || !slices.Equal(ps.beating, []beat{first}) || ps.heartbeatAt != first.at {
			t.Errorf("%+v: heard at %v, heartbeats %v, round at %v", c, p.heard, ps.beating, ps.heartbeatAt)
		}
	}
}

// Partners: the table is bounded, and only acquaintances with whom nothing is out are forgotten.
func TestPartnersMakeRoom(t *testing.T) {
	s := ground("a: a1 a2 a3 a4 a5")
	s.cfg.MaxPartners = 2
	ps := newPartners(s)
	ps.talking = func(p *peer) bool { return p.id == "a3" }
	ps.meet("a2").leases = []*lease{{}}
	a3 := ps.meet("a3")
	if ps.meet("a4") != nil || ps.meet("a3") != a3 {
		t.Error("somebody was forgotten with whom something is out")
	}
	ps.talking = func(*peer) bool { return false }
	if ps.meet("a4") == nil || ps.find("a3") != nil || ps.find("a2") == nil || len(ps.list) != 2 {
		t.Errorf("%d peers are known, a3 %v", len(ps.list), ps.find("a3"))
	}
}

// Segments: numbers are never used twice, the queue keeps its order, and room is what is left of the bounds.
func TestSegmentsAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := ground("a: a1")
		s.cfg.MaxWaiting, s.cfg.MaxSegments = 4, 6
		ss := newSegments(s)
		seen := make(map[SegmentID]bool)
		var held, queue []*segment // the model
		for range 30 {
			switch what := rapid.IntRange(0, 4).Draw(t, "what"); {
			case what < 2 && ss.room() > 0:
				g := &segment{job: Job{Path: job.Path{uint32(len(seen) + 1)}}}
				if ss.enter(g); seen[g.id] {
					t.Fatalf("number %d is used twice", g.id)
				}
				seen[g.id] = true
				held = append(held, g)
				if what == 0 {
					ss.putFirst(g)
					queue = slices.Insert(queue, 0, g)
				} else {
					ss.waiting = append(ss.waiting, g)
					queue = append(queue, g)
				}
			case what == 2 && len(queue) > 0: // a worker gets one
				g := rapid.SampledFrom(queue).Draw(t, "begun")
				ss.dropWaiting(g)
				g.state = running
				queue = slices.DeleteFunc(queue, func(q *segment) bool { return q == g })
			case what > 2 && len(held) > 0: // one ends
				g := rapid.SampledFrom(held).Draw(t, "ended")
				ss.dropWaiting(g)
				ss.forget(g)
				held = slices.DeleteFunc(held, func(q *segment) bool { return q == g })
				queue = slices.DeleteFunc(queue, func(q *segment) bool { return q == g })
			}
			if !slices.Equal(ss.waiting, queue) || !slices.Equal(ss.inOrder(), held) {
				t.Fatalf("%d wait, %d are held; want %d and %d", len(ss.waiting), len(ss.inOrder()), len(queue),
					len(held))
			}
			if want := min(4-len(queue), 6-len(held)); ss.room() != want || ss.queued() != len(queue) {
				t.Fatalf("room for %d, %d to give; want %d and %d", ss.room(), ss.queued(), want, len(queue))
			}
			for _, g := range held {
				if got := ss.runsHere(g.job.Path, g.job.Identity); got != (g.state == running) {
					t.Fatalf("segment %d runs here: %v", g.id, got)
				}
			}
		}
		if s.leaving = true; ss.room() != 0 {
			t.Fatal("a peer that leaves has room")
		}
	})
}

// Segments: a job was spawned under the running segment with the longest path above its own.
func TestSpawnedUnder(t *testing.T) {
	ss := newSegments(ground("a: a1"))
	for _, g := range []struct {
		path  job.Path
		state segmentState
	}{{nil, running}, {job.Path{1}, running}, {job.Path{1, 2}, waiting}, {job.Path{1, 2, 3, 4}, running},
		{job.Path{2}, lent}} {
		ss.enter(&segment{job: Job{Path: g.path}, state: g.state})
	}
	for text, want := range map[string]SegmentID{"1.2.3": 2, "1": 1, "2.1": 1, "1.2.3.4.1": 4, "1.2.3.4": 2, "3": 1} {
		var p job.Path
		for _, c := range text {
			if c != '.' {
				p = append(p, uint32(c-'0'))
			}
		}
		if got := ss.spawnedUnder(p); got == nil || got.id != want {
			t.Errorf("%s was spawned under %+v, want segment %d", p, got, want)
		}
	}
	if got := ss.spawnedUnder(nil); got != nil {
		t.Errorf("the root was spawned under %+v", got)
	}
}

// Leases: handles only grow, each thief's stay in order, and a detached one belongs to nobody.
func TestLeasesAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := ground("a: a1 a2 a3")
		ls := newLeases(s, newPartners(s))
		thieves := []*peer{{id: "a2", cluster: "a"}, {id: "a3", cluster: "a"}}
		last := Handle(0)
		var out []*lease
		for n := range 30 {
			if rapid.Bool().Draw(t, "lend") || len(out) == 0 {
				l := &lease{ref: Ref(n + 1)}
				h := ls.lend(rapid.SampledFrom(thieves).Draw(t, "thief"), l)
				if h <= last || l.handle != h || ls.refs[l.ref] != l || !l.thief.beating {
					t.Fatalf("after handle %d comes %d: %+v", last, h, l)
				}
				last = h
				out = append(out, l)
			} else {
				k := rapid.IntRange(0, len(out)-1).Draw(t, "detached")
				ls.detach(out[k])
				ls.detach(out[k]) // once more changes nothing
				if out[k].thief != nil {
					t.Fatal("a detached lease has a thief")
				}
				out = slices.Delete(out, k, k+1)
			}
			n := 0
			for _, p := range thieves {
				n += len(p.leases)
				if !slices.IsSortedFunc(p.leases, func(a, b *lease) int { return int(a.handle) - int(b.handle) }) {
					t.Fatalf("%s has its leases out of order", p.id)
				}
			}
			if n != len(out) {
				t.Fatalf("the thieves have %d leases, want %d", n, len(out))
			}
		}
	})
}

// Book: what comes back without having been begun is the next to go, before what was stolen later: it is the largest,
// and somebody has waited for it longest.
func TestRequeuedFirst(t *testing.T) {
	b := below(ground("a: a1 a2 a3"))
	owner, thief := b.partners.meet("a2"), b.partners.meet("a3")
	for h := range Handle(3) {
		b.hold(owner, &Grant{Handle: h + 1, Job: Job{Path: job.Path{uint32(h + 1)}}})
	}
	first := b.segments.waiting[0]
	b.segments.dropWaiting(first)
	b.leases.lend(thief, &lease{parent: first, job: first.job})
	if first.state != lent || b.leases.n != 1 {
		t.Fatalf("a segment that was passed on is %v, %d leases", first.state, b.leases.n)
	}
	b.onReturn(thief, &Return{Handles: []Handle{1}})
	if b.segments.waiting[0] != first || len(b.segments.waiting) != 3 || b.leases.n != 0 || first.job.Restarted {
		t.Errorf("%d wait, the one that came back is not the first of them, or is marked", len(b.segments.waiting))
	}
	b.leases.lend(thief, &lease{ref: 7})
	b.onReturn(thief, &Return{Handles: []Handle{2, 9}})
	if n := len(b.out.Orders); n != 1 || b.out.Orders[0].Kind != PutBack || b.out.Orders[0].Ref != 7 ||
		b.stats.DroppedUnexpected != 1 {
		t.Errorf("a job of the engine came back: orders %+v", b.out.Orders)
	}
}

// Book: whatever comes of a lease and its copy, the slot is filled once, and nothing is left of either.
func TestSlotIsFilledOnce(t *testing.T) {
	for name, end := range map[string]func(*book, *peer, *lease){
		"the thief's result": func(b *book, p *peer,
			l *lease) {
			b.onResult(p, &Message{From: p.addr(), Result: &Result{Handle: 1, Outcome: []byte{1}}})
		},
		"the copy's": func(b *book, _ *peer,
			l *lease) {
			b.runSegment(l.copy)
			b.finish(l.copy, []byte{1}, nil)
		},
		"the thief's, then a copy": func(b *book, p *peer,
			l *lease) {
			b.replace(l, new(uint64))
			b.onResult(p, &Message{From: p.addr(), Result: &Result{Handle: 1}})
		},
	} {
		b := below(ground("a: a1 a2"))
		p := b.partners.meet("a2")
		p.inc = 1
		l := &lease{ref: 5}
		b.leases.lend(p, l)
		if name != "the thief's result" {
			b.replace(l, new(uint64))
		}
		end(b, p, l)
		b.onResult(p, &Message{From: p.addr(), Result: &Result{Handle: 1, Outcome: []byte{2}}}) // late
		delivered := 0
		for _, o := range b.out.Orders {
			if o.Kind == Deliver && o.Ref == 5 {
				delivered++
			}
		}
		if delivered != 1 || b.leases.n != 0 || len(b.leases.refs)+len(p.leases)+len(b.segments.byID) != 0 {
			t.Errorf("%s: delivered %d times; %d leases, %d segments left", name, delivered, b.leases.n,
				len(b.segments.byID))
		}
	}
}

// Lost work: what is to be told is gathered for TellEvery, told in order, so many at once, and bounded.
func TestTellingIsCombinedAndBounded(t *testing.T) {
	s := ground("a: a1")
	s.cfg.MaxTuplesPerNews, s.cfg.MaxKept, s.cfg.MaxSegments = 3, 8, 2
	lw := below(s).lost
	for i := range 8 {
		k := lw.keep(Partial{Path: job.Path{uint32(i + 1)}, Identity: job.Identity{byte(i)}}, own, "")
		lw.announce(k.Path, k.Identity)
	}
	for range 100 {
		lw.announce(job.Path{99}, job.Identity{}) // which is not here
	}
	if n := len(lw.telling.jobs); n != 10 {
		t.Errorf("%d jobs are remembered, at most so many as can be kept and held are wanted", n)
	}
	if lw.tellNews(); len(s.out.Orders) != 0 || lw.nextTell() != s.now+s.cfg.TellEvery {
		t.Fatalf("told at once: %d news, next at %v", len(s.out.Orders), lw.nextTell())
	}
	for range 5 {
		s.now += s.cfg.TellEvery
		lw.tellNews()
	}
	var told []int
	for _, o := range s.out.Orders {
		told = append(told, len(o.News.Tuples))
	}
	if !slices.Equal(told, []int{3, 3, 2}) || lw.nextTell() != 0 {
		t.Errorf("told %v tuples at a time, next at %v", told, lw.nextTell())
	}
}

// A core remembers up to MaxPartners peers, and a swarm of thousands has it remember as many.
func TestPeerIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(peer{}); size > 256 {
		t.Errorf("a peer takes %d bytes; the allocator gives it more than 256", size)
	}
}
