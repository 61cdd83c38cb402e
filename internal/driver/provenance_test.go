package driver_test

import (
	"crypto/sha256"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/steal/policy"
	"github.com/satin-peer/satin/verify"
)

// desk is all that a driver has around it: an engine that does nothing by itself, a notary whose vouchers are the
// trees, and the memory of what leaves.
type desk struct {
	steal.Message // the last one that was sent
	opened        map[verify.Node]*verify.Opening
	authors       map[string][]string // by voucher: whom it is by, and whom it names
	out           string              // who was put out
	stored        map[verify.Node]steal.Partial
	theirs        uint64 // how long all that others bring took, as they say
}

func (s *desk) Do(*port.Order)                    {}
func (s *desk) Send(m *steal.Message)             { s.Message = *m }
func (s *desk) Tell(*steal.News)                  {}
func (s *desk) Answer([]byte)                     {}
func (s *desk) SendShared(*sharedobj.Message)     {}
func (s *desk) TellShared(*sharedobj.News)        {}
func (s *desk) Note(string)                       {}
func (s *desk) Digest(outcome []byte) verify.Hash { return sha256.Sum256(outcome) }
func (s *desk) Store(p steal.Partial, _ driver.Source) {
	s.stored[driver.NodeOf(p.Path, p.Identity)] = p
}

func (s *desk) Vouch(_ job.RunID, o *verify.Opening) []byte {
	s.opened[o.Node] = o
	c := o.Claim()
	return append([]byte{byte(c.Nodes)}, c.Tree[:]...)
}

func (s *desk) Claim(n verify.Node, outcome verify.Hash, voucher []byte) (c verify.Claim, of verify.Authors) {
	for _, name := range s.authors[string(voucher)] {
		of.Add(name)
	}
	c = verify.Claim{Node: n, Outcome: outcome}
	if len(voucher) == 33 {
		c.Nodes, c.Tree, c.Time = uint64(voucher[0]), verify.Hash(voucher[1:]), s.theirs
	}
	return c, of
}

func (s *desk) Out(of *verify.Authors) bool { return slices.Contains(of.Names, s.out) }

func idOf(path job.Path) job.Identity { return jobAt(path).Identity }

func jobAt(path job.Path) steal.Job {
	arg := []byte{byte(path[len(path)-1])}
	return steal.Job{Path: path, Function: "f", Identity: job.Identify("f", arg), Arg: arg}
}

// A workshop is a driver at its desk, whose engine runs the jobs [1] and [1 9] of another peer, as segments 1 and 2:
// the first was lost, and runs again beside what is below it.
type workshop struct {
	*desk
	t *testing.T
	d *driver.Driver
}

const workshopNow = time.Second

func newWorkshop(t *testing.T, commit func(*verify.Claim, *driver.Made)) *workshop {
	t.Helper()
	w := &workshop{t: t, desk: &desk{opened: map[verify.Node]*verify.Opening{},
		stored: map[verify.Node]steal.Partial{}}}
	members := steal.NewMembers([]steal.Member{{ID: "a", Cluster: "c"}, {ID: "b", Cluster: "c"}})
	advice, err := policy.ByName("rs", "a")
	if err != nil {
		t.Fatal(err)
	}
	core, err := steal.NewCore(steal.LAN(), steal.Run{ID: job.RunID{1}, Deputies: []steal.PeerID{"b"}},
		steal.Address{Peer: "a", Inc: 1}, members, advice, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	cfg := sharedobj.Default()
	cfg.MaxBytes = constantSize
	shared, err := sharedobj.NewCore(cfg, "a", driver.SharedMembers(members), rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	w.d = driver.New(driver.Config{Core: core, Engine: w, Transport: w, Store: w, Notary: w, Commit: commit,
		Shared: shared, SharedTransport: w})
	grant := func(h steal.Handle, path job.Path) steal.Grant {
		return steal.Grant{Handle: h, Job: jobAt(path)}
	}
	w.tell(port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 2, Idle: 2}})
	w.step(&steal.Message{Reply: &steal.StealReply{ID: 0,
		Jobs: []steal.Grant{grant(1, job.Path{1}), grant(2, job.Path{1, 9})}}})
	if w.d.Held() != 2 {
		t.Fatalf("%d segments run", w.d.Held())
	}
	return w
}

func (w *workshop) tell(e ...port.Event) { w.d.Happened(workshopNow, e...) }

func (w *workshop) step(m *steal.Message) {
	m.Run, m.From, m.To = job.RunID{1}, steal.Address{Peer: "b", Inc: 1}, w.d.Core().Self()
	w.d.Step(workshopNow, m)
}

// give has the other peer steal a job of a segment, and bring what it has come to.
func (w *workshop) give(ref steal.Ref, s steal.SegmentID, path job.Path, outcome, voucher []byte) {
	w.t.Helper()
	w.tell(port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 2, Runs: 2, Queued: 1}})
	w.step(&steal.Message{Request: &steal.StealRequest{ID: steal.RequestID(ref), Max: 1, Patience: 1}})
	w.tell(port.Event{Kind: port.Taken, Ticket: steal.Ticket(ref), Jobs: []steal.Taken{{Ref: ref, Spawned: true,
		Segment: s, Job: steal.Job{Path: path, Function: "f", Identity: idOf(path)}}}})
	if w.Reply == nil || len(w.Reply.Jobs) != 1 {
		w.t.Fatalf("nothing is given away: %+v", w.Message)
	}
	w.step(&steal.Message{Result: &steal.Result{Handle: w.Reply.Jobs[0].Handle, Path: path,
		Identity: idOf(path), Outcome: outcome, Voucher: voucher}})
	w.tell(port.Event{Kind: port.Delivered, Ref: ref, Good: true})
}

// A segment's voucher names what others computed of it and the long jobs in it, each of which names what is below it:
// one tree, in which every outcome is once, and nothing of another segment, though its path may be above it, too.
func TestVouchersNameTheirParts(t *testing.T) {
	w := newWorkshop(t, nil)
	s, tell := w.desk, w.tell
	// two jobs of the first segment come from others, both below a long one
	give := func(ref steal.Ref, s steal.SegmentID, path job.Path, voucher []byte) {
		w.give(ref, s, path, []byte{byte(ref)}, voucher)
	}
	deep := (&verify.Opening{Node: driver.NodeOf(job.Path{1, 4, 1}, idOf(job.Path{1})),
		Children: []verify.Claim{{Nodes: 6}}}).Claim()
	give(1, 1, job.Path{1, 4, 1}, append([]byte{byte(deep.Nodes)}, deep.Tree[:]...))
	give(2, 1, job.Path{1, 4, 2}, nil)
	give(3, 2, job.Path{1, 9, 3}, nil)
	give(4, 1, job.Path{1, 9, 4}, nil)
	tell(port.Event{Kind: port.Kept, Kept: []port.KeptJob{
		{Segment: 1, Partial: steal.Partial{Path: job.Path{1, 4}, Identity: idOf(job.Path{4}),
			Outcome: []byte("long")}},
		{Segment: 1, Partial: steal.Partial{Path: job.Path{1, 9, 6}, Identity: idOf(job.Path{6})}}}})
	give(5, 1, job.Path{1, 5}, nil)
	tell(port.Event{Kind: port.Finished, Segment: 1, Outcome: []byte("whole"), Good: true})
	tell(port.Event{Kind: port.Finished, Segment: 2, Outcome: []byte("panic")})

	children := func(path job.Path, want ...job.Path) *verify.Opening {
		t.Helper()
		o := s.opened[driver.NodeOf(path, idOf(path))]
		if o == nil || len(o.Children) != len(want) {
			t.Fatalf("%v is vouched for as made of %+v", path, o)
		}
		for i, w := range want {
			if o.Children[i].Node != driver.NodeOf(w, idOf(w)) {
				t.Errorf("part %d of %v is %+v, want %v", i, path, o.Children[i].Node, w)
			}
		}
		return o
	}
	long := children(job.Path{1, 4}, job.Path{1, 4, 1}, job.Path{1, 4, 2})
	if c := long.Children[0]; c.Nodes != 7 || c.Tree != deep.Tree || c.Outcome != sha256.Sum256([]byte{1}) {
		t.Errorf("of a part is said %+v", c)
	}
	whole := children(job.Path{1}, job.Path{1, 4}, job.Path{1, 5}, job.Path{1, 9, 4}, job.Path{1, 9, 6})
	if whole.Children[0] != long.Claim() {
		t.Error("the long job is another one in what it is part of")
	}
	children(job.Path{1, 9}, job.Path{1, 9, 3})
	if r := s.Result; r == nil || len(r.Voucher) != 33 {
		t.Errorf("the result that leaves is %+v", s.Result)
	}
	if _, stored := s.stored[driver.NodeOf(job.Path{1, 9}, idOf(job.Path{9}))]; stored {
		t.Error("a panic is stored")
	}
	for node, p := range s.stored {
		if o := s.opened[node]; o != nil && len(p.Voucher) == 0 {
			t.Errorf("stored without its voucher: %v", p.Path)
		}
	}
}

// A voucher names all whose outcomes it was made of, at whatever remove, and nobody else: of a long job those below
// it, of a segment those of its long jobs, too. What was made of those of a peer that was put out meanwhile is kept
// nowhere, and its job goes back.
func TestVouchersNameAuthors(t *testing.T) {
	for _, out := range []string{"", "c", "e"} {
		w := newWorkshop(t, nil)
		w.authors, w.out = map[string][]string{"b": {"b"}, "c of d": {"c", "d"}, "e": {"e"}}, out
		w.give(1, 1, job.Path{1, 4, 1}, []byte{1}, []byte("c of d"))
		w.give(2, 1, job.Path{1, 5}, []byte{2}, []byte("b"))
		w.give(3, 2, job.Path{1, 9, 3}, []byte{3}, []byte("e"))
		for i, path := range []job.Path{{1, 4}, {1, 6}} {
			w.tell(port.Event{Kind: port.Kept, Kept: []port.KeptJob{{Segment: 1,
				Partial: steal.Partial{Path: path, Identity: idOf(path), Outcome: []byte{byte(i)}}}}})
		}
		w.tell(port.Event{Kind: port.Finished, Segment: 1, Outcome: []byte("whole"), Good: true})
		last := w.Message
		for _, want := range []struct {
			path job.Path
			of   string
		}{{job.Path{1, 4}, "cd"}, {job.Path{1, 6}, ""}, {job.Path{1}, "bcd"}} {
			node, of := driver.NodeOf(want.path, idOf(want.path)), ""
			for _, name := range w.opened[node].Of.Names {
				of += name
			}
			_, stored := w.stored[node]
			if of != want.of || stored == (out == "c" && of != "") {
				t.Errorf("%v is of %q, want %q; stored %v, %s is out", want.path, of, want.of, stored, out)
			}
		}
		if back := last.Return != nil && last.Return.Begun; back != (out == "c") || (last.Result != nil) == back {
			t.Errorf("%q is out, and to the victim goes %+v", out, last)
		}
	}
}

// Where there are more parts than can be opened, those whom the others are by are named all the same, by all that comes
// later.
func TestVouchersNameBeyondTheirParts(t *testing.T) {
	w := newWorkshop(t, nil)
	w.authors = map[string][]string{"z": {"z"}}
	var many []port.KeptJob
	for i := range uint32(verify.MaxChildren + 1) {
		many = append(many, port.KeptJob{Segment: 1, Partial: steal.Partial{Path: job.Path{1, 5, i}}})
	}
	w.tell(port.Event{Kind: port.Kept, Kept: many})
	w.give(1, 1, job.Path{1, 4}, []byte{1}, []byte("z"))
	w.tell(port.Event{Kind: port.Kept, Kept: []port.KeptJob{{Segment: 1, Partial: steal.Partial{Path: job.Path{1, 5},
		Identity: idOf(job.Path{5})}}}})
	w.tell(port.Event{Kind: port.Finished, Segment: 1, Outcome: []byte("whole"), Good: true})
	for _, path := range []job.Path{{1, 5}, {1}} {
		if o := w.opened[driver.NodeOf(path, idOf(path))]; o == nil || !slices.Equal(o.Of.Names, []string{"z"}) {
			t.Errorf("%v is vouched for as %+v", path, o)
		}
	}
}

// What is shown can be run again by whoever has nothing else: a job to whose parts belongs what only names a value is
// not.
func TestShownIsWhole(t *testing.T) {
	reference, _, err := port.Refer([]byte("large"))
	if err != nil {
		t.Fatal(err)
	}
	for what, part := range map[string][]byte{"plain": []byte("out"), "a reference": reference} {
		shown := 0
		w := newWorkshop(t, func(*verify.Claim, *driver.Made) { shown++ })
		path := job.Path{1, 1}
		c := (&verify.Opening{Node: driver.NodeOf(path, idOf(path)), Outcome: w.Digest(part)}).Claim()
		w.give(1, 1, path, part, append([]byte{byte(c.Nodes)}, c.Tree[:]...))
		w.tell(port.Event{Kind: port.Finished, Segment: 1, Outcome: []byte("whole"), Good: true})
		if (shown == 1) != (what == "plain") {
			t.Errorf("%s: %d jobs can be shown", what, shown)
		}
	}
}

// The root's outcome is vouched for, too, by itself: so a disk can show whose it is.
func TestRootIsVouchedFor(t *testing.T) {
	s := newStand(t, "a", true)
	w := &desk{opened: map[verify.Node]*verify.Opening{}, stored: map[verify.Node]steal.Partial{}}
	s.d = driver.New(driver.Config{Core: s.d.Core(), Engine: w, Transport: w, Store: w, Notary: w})
	s.d.Happened(s.now, port.Event{Kind: port.LoadChanged, Load: s.load})
	s.d.Happened(s.now, port.Event{Kind: port.Finished, Segment: 1, Outcome: []byte("answer"), Good: true})
	root := driver.NodeOf(nil, job.Identify("f", nil))
	if p := w.stored[root]; string(p.Outcome) != "answer" || w.opened[root] == nil || len(p.Voucher) == 0 {
		t.Errorf("stored is %+v", w.stored)
	}
	if of := s.d.Proofs().Answer; !of.None() {
		t.Errorf("the answer rests on %+v", of)
	}
}

// What is said of children travels.
func TestChildrenTravel(t *testing.T) {
	given := []driver.Given{{Claim: verify.Claim{Node: driver.NodeOf(job.Path{1, 2}, idOf(job.Path{2})),
		Outcome: verify.Hash{1}, Tree: verify.Hash{2}, Nodes: 3, Time: 4}, Bytes: []byte{5}}}
	if got := driver.GivenOf(driver.ChildrenOf(given)); len(got) != 1 || got[0].Claim != given[0].Claim ||
		string(got[0].Bytes) != "\x05" {
		t.Errorf("%+v came as %+v", given, got)
	}
}

// Where somebody may ask how an outcome was made, its voucher says how long that took, with all that is below it: what
// others say of their parts counts as far as it can be true. A job that is none to be shown belongs to its segment.
func TestTimesAreSaid(t *testing.T) {
	const ms = time.Millisecond
	for what, c := range map[string]struct {
		commit func(*verify.Claim, *driver.Made)
		theirs uint64
		long   uint64 // is said of the long job,
		whole  uint64 // and of the segment
		nodes  uint64
	}{
		"nobody asks":       {nil, 5000, 0, 0, 4},
		"somebody may":      {func(*verify.Claim, *driver.Made) {}, 5000, 25_000, 37_000, 4},
		"more than can be":  {func(*verify.Claim, *driver.Made) {}, 1<<64 - 1, verify.MaxTime, verify.MaxTime, 1},
		"nothing of theirs": {func(*verify.Claim, *driver.Made) {}, 0, 20_000, 32_000, 4},
	} {
		w := newWorkshop(t, c.commit)
		w.theirs = c.theirs
		kept := func(s steal.SegmentID, own time.Duration, names []byte, path ...uint32) {
			j := steal.Job{Path: path, Identity: idOf(path), Names: names}
			w.tell(port.Event{Kind: port.Kept, Kept: []port.KeptJob{{Segment: s, Job: j, Own: own,
				Partial: steal.Partial{Path: path, Identity: j.Identity, Outcome: []byte{1}}}}})
		}
		path := job.Path{1, 4, 1}
		deep := (&verify.Opening{Node: driver.NodeOf(path, idOf(path)), Outcome: w.Digest([]byte{1})}).Claim()
		w.give(1, 1, path, []byte{1}, append([]byte{byte(deep.Nodes)}, deep.Tree[:]...))
		kept(1, 20*ms, nil, 1, 4)
		kept(1, 3*ms, []byte("shared"), 1, 5)
		kept(1, 2*ms, nil, 1, 6)
		kept(2, 90*ms, nil, 1, 9, 1)
		w.tell(port.Event{Kind: port.Finished, Segment: 1, Outcome: []byte("whole"), Good: true,
			Tally: port.Tally{Own: 7 * ms}})
		long, whole := w.opened[driver.NodeOf(job.Path{1, 4}, idOf(job.Path{4}))], w.opened[driver.NodeOf(job.Path{1},
			idOf(job.Path{1}))]
		if what == "nobody asks" { // what names shared values is a part like any other
			c.nodes++
		}
		if said := whole.Claim(); long.Time != c.long || said.Time != c.whole || said.Nodes != c.nodes {
			t.Errorf("%s: %d us of the long job, %d of %d nodes, want %+v", what, long.Time, said.Time, said.Nodes, c)
		}
		if claim := whole.Claim(); !whole.Opens(&claim) {
			t.Errorf("%s: what is said does not open", what)
		}
	}
}

// Where results are compared, a job that could not have, or hold, what is shared goes back to whoever gave it: that it
// fails here says nothing of what it comes to elsewhere, and its author would be put out for it.
func TestFailedReadsAreNoResult(t *testing.T) {
	for name, commit := range map[string]func(*verify.Claim, *driver.Made){"believed": nil,
		"compared": func(*verify.Claim, *driver.Made) {}} {
		w := newWorkshop(t, commit)
		large := constant("large")
		large.Shared.State = sharedobj.Build(make([]byte, 2*constantSize))
		large.Shared.Recipe.State = large.Shared.State.Blob
		w.tell(large)
		w.tell(port.Event{Kind: port.Finished, Segment: 1, Outcome: []byte("a panic")})
		if back := w.Return != nil && w.Return.Begun; back != (commit != nil) || back == (w.Result != nil) {
			t.Errorf("%s: the job leads to %+v", name, w.Message)
		}
		w.step(&steal.Message{Reply: &steal.StealReply{Jobs: []steal.Grant{{Handle: 3,
			Job: jobAt(job.Path{5})}}}})
		w.tell(port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 2, Idle: 1, Runs: 3}},
			port.Event{Kind: port.Finished, Segment: 3, Outcome: []byte("a result"), Good: true})
		if w.Result == nil {
			t.Errorf("%s: the next one leads to %+v", name, w.Message)
		}
	}
}
