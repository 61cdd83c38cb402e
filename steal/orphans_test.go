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

// randomPath is one of some fifteen hundred.
func randomPath(r *rand.Rand) job.Path {
	p := make(job.Path, 1+r.IntN(4))
	for i := range p {
		p[i] = uint32(1 + r.IntN(6))
	}
	return p
}

// A snapshot has what it was told to have and no more, in order, and Look answers as a search from end to end would.
// Those that were copied from stay what they were. Growing comes before shrinking, twice.
func TestOrphansSet(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	o := new(Orphans)
	has := map[string]job.Path{}
	for i := range 12_000 {
		before, was := o, o.Paths()
		o = o.copied()
		p := randomPath(r)
		if there := i/3000%2 == 0 == (r.IntN(8) > 0); there {
			o.set(p, true)
			has[p.String()] = p
		} else {
			o.set(p, false)
			delete(has, p.String())
		}
		if i%50 > 0 {
			continue
		}
		if !slices.EqualFunc(before.Paths(), was, slices.Equal) {
			t.Fatalf("after %d changes: one that was copied has changed", i)
		}
		paths := o.Paths()
		if len(paths) != len(has) || o.Len() != len(has) || !slices.IsSortedFunc(paths, job.Path.Compare) {
			t.Fatalf("after %d changes: %d paths, %d by Len, want %d in order", i, len(paths), o.Len(), len(has))
		}
		for range 20 {
			p := randomPath(r)
			hit, below := o.Look(p)
			_, wantHit := has[p.String()]
			if wantBelow := slices.ContainsFunc(paths, p.Above); hit != wantHit || below != wantBelow {
				t.Fatalf("Look(%v): hit %v, below %v", p, hit, below)
			}
		}
	}
}

// To look for an orphan, which jobs do before they run, costs no memory.
func TestLookAllocatesNothing(t *testing.T) {
	o := inChunks([]job.Path{{1}, {1, 2}, {3, 4, 5}})
	p := job.Path{1, 2}
	if n := testing.AllocsPerRun(100, func() { o.Look(p) }); n != 0 {
		t.Errorf("Look allocates %v times", n)
	}
}

// Whatever comes and goes in the tables and runs here, few changes or many at once, a snapshot knows what a new one
// made of all of it would.
func TestSnapshotFollowsTables(t *testing.T) {
	c := salvageCore(t, nil)
	lw := c.lost
	r := rand.New(rand.NewPCG(2, 1))
	for i := range 1000 {
		for range 1 + r.IntN(4)*r.IntN(4)*r.IntN(80) {
			p := randomPath(r)
			switch r.IntN(6) {
			case 0:
				lw.store.put(Partial{Path: p}, handed, "b")
			case 1:
				if span := lw.store.index.at(p); len(span) > 0 {
					lw.store.remove(span[0])
				}
			case 2:
				lw.tuples.put(Tuple{Path: p, Holder: living("c")})
			case 3:
				if span := lw.tuples.index.at(p); len(span) > 0 {
					lw.tuples.remove(span[0])
				}
			case 4:
				lw.segments.enter(&segment{job: Job{Path: p}, state: running, orphan: true})
				lw.orphansChanged()
			case 5:
				for _, s := range lw.segments.inOrder()[:len(lw.segments.byID)/2] {
					lw.segments.forget(s)
				}
				lw.orphansChanged()
			}
		}
		var want []string
		for _, k := range lw.store.index {
			want = append(want, k.Path.String())
		}
		for _, e := range lw.tuples.index {
			want = append(want, e.Path.String())
		}
		for _, s := range lw.segments.byID {
			want = append(want, s.job.Path.String())
		}
		slices.Sort(want)
		var got []string
		for _, p := range c.Orphans().Paths() {
			got = append(got, p.String())
		}
		if slices.Sort(got); !slices.Equal(got, slices.Compact(want)) {
			t.Fatalf("round %d: the snapshot has %v, want %v", i, got, slices.Compact(want))
		}
	}
}

// What a snapshot costs when one path of many has come or gone.
func BenchmarkOrphans(b *testing.B) {
	for _, n := range []int{500, 16384} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := &Core{}
			lw := &lostWork{shared: &shared{cfg: LAN()}, segments: newSegments(&shared{}),
				tuples: newTupleTable(2*n, nil)}
			c.lost = lw
			for i := range n {
				lw.tuples.put(Tuple{Path: job.Path{1, uint32(i % 31), uint32(i)}, Holder: living("c")})
			}
			u := Tuple{Path: job.Path{1, 7, 3}, Holder: living("c")}
			for i := range b.N {
				if i%2 == 0 {
					lw.tuples.put(u)
				} else {
					lw.tuples.forget(u.Path, u.Identity, "c")
				}
				c.Orphans()
			}
		})
	}
}

// What is held for a silent peer is told of one period before whoever waits for it begins that anew: a job that is
// begun in place before it is known to be at work elsewhere is done twice, to its end. What is finished in that period
// is told, too, and what is at work can be adopted.
func TestOrphansAreToldBeforeTheyAreBegunAnew(t *testing.T) {
	for _, adopted := range []bool{false, true} {
		c := salvageCore(t, nil)
		runs := orders(holdFor(c, "b", 1, jobAt(3)), RunSegment)
		c.Report(c.now, Load{Workers: 1, Runs: 1})
		var list []Tuple
		for end := c.now + 7*c.cfg.HeartbeatEvery/2; c.now < end && list == nil; {
			list = told(later(c, c.cfg.HeartbeatEvery/8))
		}
		if len(runs) != 1 || len(list) != 1 || list[0].Done || c.stats.PeersLost != 0 {
			t.Fatalf("of %+v it tells %+v; %d peers are lost", runs, list, c.stats.PeersLost)
		}
		if adopted {
			out := c.Step(c.now, &Message{Run: c.run.ID, From: living("d"), To: c.self,
				Adopt: &Adopt{Jobs: []Adoption{{Handle: 7, Path: list[0].Path, Identity: list[0].Identity}}}})
			begun := slices.ContainsFunc(out.Messages,
				func(m *Message) bool { return m.Return != nil && m.Return.Begun })
			if c.stats.OrphansAdopted != 1 || !begun {
				t.Errorf("%d are adopted; its owner hears that it had begun: %v", c.stats.OrphansAdopted, begun)
			}
			continue
		}
		c.Finished(c.now, runs[0].Segment, []byte("three"), nil)
		if list = told(later(c, c.cfg.TellEvery)); len(list) != 1 || !list[0].Done {
			t.Errorf("when it has ended it tells %+v", list)
		}
	}
}

// What is at work for a lost peer is told of in a quarter of the time that others wait for company: it may be begun
// anew.
func TestAtWorkIsToldSoon(t *testing.T) {
	for works, wait := range map[bool]time.Duration{false: 1, true: 4} {
		c := salvageCore(t, nil)
		s := &segment{job: jobAt(3), state: running, orphan: true}
		c.segments.enter(s)
		if works {
			c.lost.announceRunning(s)
		} else {
			c.lost.announce(s.job.Path, s.job.Identity)
		}
		if got := c.lost.nextTell() - c.now; got != c.cfg.TellEvery/wait {
			t.Errorf("at work %t: told of after %v", works, got)
		}
	}
}

// A job that was passed on for a peer that is lost is had from whoever got it when the same job is to be run here: it
// is neither computed again nor asked for.
func TestPassedOnIsFound(t *testing.T) {
	c := salvageCore(t, nil)
	j := jobAt(3, 1)
	s := &segment{job: j, state: lent}
	c.segments.enter(s)
	owner, thief := c.partners.meet("b"), c.partners.meet("c")
	c.book.own(owner, s, 1)
	l := &lease{job: j, parent: s}
	c.leases.lend(thief, l)
	s.lent, owner.lost = l, true
	if !c.adoption.find(&Taken{Ref: 7, Job: j, Spawned: true}) {
		t.Fatal("it is not found")
	}
	out := c.Step(c.now, &Message{Run: c.run.ID, From: living("c"), To: c.self,
		Result: &Result{Handle: l.handle, Path: j.Path, Identity: j.Identity, Outcome: []byte("x")}})
	if got := orders(out, Deliver); len(got) != 1 || got[0].Ref != 7 {
		t.Errorf("when it is done: %+v", out.Orders)
	}
}

// An adoption that comes before the owner is believed silent waits for that, and is refused if the owner is heard. Who
// wants it is not forgotten meanwhile, though a stranger comes and there is no room for one more.
func TestAdoptionsWait(t *testing.T) {
	for _, lost := range []bool{true, false} {
		c := salvageCore(t, func(cfg *Config) { cfg.MaxPartners = 2 })
		holdFor(c, "b", 1, jobAt(3))
		c.Report(c.now, Load{Workers: 1, Runs: 1})
		j := jobAt(3)
		step := func(m *Message) (refused bool) {
			m.Run, m.To = c.run.ID, c.self
			return slices.ContainsFunc(c.Step(c.now, m).Messages,
				func(m *Message) bool { return m.To.Peer == "d" && m.Return != nil })
		}
		adopt := &Adopt{Jobs: []Adoption{{Handle: 7, Path: j.Path, Identity: j.Identity}}}
		if step(&Message{From: living("d"), Adopt: adopt}) {
			t.Fatal("it is refused at once")
		}
		step(&Message{From: living("e"), Request: &StealRequest{ID: 1, Max: 1}})
		refused := false
		for i := range 2 {
			later(c, c.cfg.HeartbeatEvery)
			if !lost {
				beat := &Heartbeat{Seq: uint64(i + 1), Every: time.Second, Leases: 1}
				refused = step(&Message{From: living("b"), Heartbeat: beat}) || refused
			}
		}
		later(c, c.cfg.HeartbeatEvery)
		_, adopted := c.partners.find("d").findHeld(7)
		if adopted != lost || refused == lost || len(c.adoption.later) > 0 {
			t.Errorf("owner lost %t: adopted %t, refused %t, %d wait", lost, adopted, refused, len(c.adoption.later))
		}
	}
}

// An adoption is refused when the time has passed in which the owner would have been believed silent.
func TestAdoptionsAreRefused(t *testing.T) {
	c := salvageCore(t, nil)
	holdFor(c, "b", 1, jobAt(3))
	j := jobAt(3)
	if !c.adoption.keepForLater(c.partners.meet("d"), &Adoption{Handle: 7, Path: j.Path, Identity: j.Identity}) {
		t.Fatal("it does not wait")
	}
	if at := c.adoption.nextLater(); at != c.now+c.partners.silence(c.partners.find("b")) {
		t.Errorf("it waits until %v", at)
	}
	c.now = c.adoption.nextLater()
	if c.adoption.adoptLater(); len(c.adoption.later) > 0 {
		t.Error("it waits still")
	}
}

// Who else has a job is remembered: of two that have told of it one may be gone, which is heard by nobody who does not
// know it, and neither tells again. So it is with what one has of a job that the other has whole, and what a member is
// not any more has ends no orphan.
func TestOthersHaveItToo(t *testing.T) {
	c := salvageCore(t, nil)
	tell := func(id PeerID, path job.Path) Tuple {
		u := Tuple{Path: path, Identity: pathIdentity(path), Holder: living(id), Done: true}
		c.Hear(c.now, &News{From: living(id), Tuples: []Tuple{u}})
		return u
	}
	who := func(u Tuple) (id PeerID) {
		if _, p := c.adoption.holderOf(u.Path, u.Identity); p != nil {
			return p.id
		}
		return ""
	}
	all := tell("b", job.Path{1})
	part := tell("c", job.Path{1, 2})
	tell("d", job.Path{1})
	under := &segment{job: Job{Path: job.Path{1, 2, 3}}, orphan: true}
	if who(all) != "b" || who(part) != "c" || !c.lost.known(under) {
		t.Errorf("%q and %q are asked", who(all), who(part))
	}
	c.SetMembers(c.now, parseMembers("x: a c d"))
	if who(all) != "d" || who(part) != "c" || !c.lost.known(under) {
		t.Errorf("when one is gone %q and %q are asked", who(all), who(part))
	}
	c.SetMembers(c.now, parseMembers("x: a e"))
	if who(all)+who(part) != "" || c.lost.known(under) {
		t.Error("what those have that are gone ends an orphan")
	}
}

// Hearsay does not drive out what others have told themselves.
func TestHearsayIsLast(t *testing.T) {
	c := salvageCore(t, nil)
	u := Tuple{Path: job.Path{1, 2}, Identity: pathIdentity(job.Path{1, 2}), Done: true}
	told := func(id PeerID) Tuple {
		v := u
		v.Holder = living(id)
		return v
	}
	for _, id := range []PeerID{"b", "c", "d"} {
		c.Hear(c.now, &News{From: living(id), Tuples: []Tuple{told(id)}})
	}
	j := Job{Path: job.Path{1}, Restarted: true}
	c.book.hold(c.partners.meet("e"), &Grant{Handle: 1, Job: j, Orphans: []Tuple{told("f"), told("g")}})
	for _, e := range c.lost.tuples.find(u.Path, u.Identity) {
		if e.Holder.Peer > "d" {
			t.Errorf("%s has it, says another", e.Holder.Peer)
		}
	}
}

// When a peer is lost for good what was not told by then is told once, however long its copies here go on.
func TestLostIsToldOnce(t *testing.T) {
	c := salvageCore(t, nil)
	p := c.partners.meet("b")
	c.lost.keep(partAt(1, 1), own, "")
	p.leases = []*lease{{thief: p}}
	p.silent, p.lost = true, true
	c.now += time.Hour
	c.book.own(p, &segment{job: Job{Path: job.Path{2}}, state: running}, 1)
	p.heard = 0
	c.liveness.look(p)
	if len(c.lost.telling.jobs) != 2 {
		t.Fatalf("%d jobs are told of", len(c.lost.telling.jobs))
	}
	c.lost.telling.jobs = nil
	c.now += time.Hour
	if c.liveness.look(p); len(c.lost.telling.jobs) > 0 {
		t.Error("it is told again")
	}
}

// What a reply says of lost work takes a second on the link to the thief's cluster, as far as that is known, and not
// longer.
func TestOrphansFitTheLink(t *testing.T) {
	const kept = 200
	for name, x := range map[string]struct {
		thief PeerID
		link  policy.Link // to other clusters, and to the own one
		all   bool
	}{
		"near":           {"b", policy.Link{RTT: time.Second, BytesPerSecond: 1e3}, true},
		"never measured": {"f", policy.Link{}, true},
		"fast":           {"f", policy.Link{RTT: time.Second, BytesPerSecond: 1e5}, true},
		"slow":           {"f", policy.Link{RTT: time.Second, BytesPerSecond: 1e3}, false},
	} {
		c := salvageCore(t, nil)
		for i := range uint32(kept) {
			c.lost.keep(partAt(1, 1, i), own, "")
		}
		*c.links.of("x"), *c.links.of("y") = x.link, x.link
		c.victim.reply(&ask{Ask: policy.Ask{Max: 1}, peer: c.partners.meet(x.thief)},
			[]Grant{{Handle: 1, Job: Job{Path: job.Path{1}, Restarted: true}}})
		m := c.out.Messages[len(c.out.Messages)-1]
		listed := len(m.Reply.Jobs[0].Orphans)
		if x.all && listed != kept || !x.all && (listed == 0 || m.Size() < 900 || m.Size() > 1100) {
			t.Errorf("%s: %d of %d are listed, in %d bytes", name, listed, kept, m.Size())
		}
	}
}
