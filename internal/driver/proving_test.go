package driver_test

import (
	"bytes"
	"fmt"
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

// signed is a desk whose vouchers are names, and the bench of a run that is compared.
type signed struct {
	*desk
	handles   map[steal.PeerID]steal.Handle // given last
	delivered []byte
	to        []steal.PeerID // copies
	caught    []driver.Caught
	agreed    []string     // outcomes and vouchers
	orders    []port.Order // to judge
	unlike    bool
	doubtful  bool   // outcomes of jobs that share lattices may differ
	ran       int    // jobs
	arg       []byte // of the job that is given
	now       time.Duration
	trusted   verify.PeerID
	alone     bool            // nobody can be asked for a copy
	made      *verify.Opening // behind what is brought, if it is not a job alone
}

func (s *signed) Vouch(job.RunID, *verify.Opening) []byte { return []byte("o") }

func (s *signed) Claim(n verify.Node, outcome verify.Hash, _ []byte) (c verify.Claim, of verify.Authors) {
	if s.made != nil {
		return s.made.Claim(), of
	}
	return (&verify.Opening{Node: n, Outcome: outcome}).Claim(), of
}

func (s *signed) Out(*verify.Authors) bool { return false }

func (s *signed) Do(o *port.Order) {
	switch o.Kind {
	case port.Deliver:
		s.delivered = o.Outcome
	case port.Run:
		s.ran++
	case port.Judge:
		s.orders = append(s.orders, *o)
	}
}

func (s *signed) Send(m *steal.Message) {
	s.desk.Send(m)
	if m.Reply != nil && len(m.Reply.Jobs) > 0 {
		s.handles[m.To.Peer] = m.Reply.Jobs[0].Handle
	}
	if m.Reply != nil && m.Reply.ID == 0 {
		s.to = append(s.to, m.To.Peer)
	}
}

func (s *signed) Candidates() []verify.Candidate {
	if s.alone {
		return nil
	}
	return []verify.Candidate{{ID: "b", Introducer: "b"}, {ID: "c", Introducer: "c"}, {ID: "d", Introducer: "d"}}
}

func (s *signed) Introducer(id verify.PeerID) verify.PeerID { return id }
func (s *signed) Below(uint64) uint64                       { return 0 }
func (s *signed) Trusted(id verify.PeerID) bool             { return id == s.trusted }
func (s *signed) Passed(verify.PeerID) uint64               { return 0 }

// hearing is an owner whose run is compared; what it gives back says what somebody has made of a job.
func hearing(t *testing.T, judged bool, with ...func(*driver.Proving)) (*signed, *driver.Driver,
	func(path job.Path) func(id steal.PeerID, author, outcome string)) {
	t.Helper()
	s := &signed{now: time.Second, handles: map[steal.PeerID]steal.Handle{},
		desk: &desk{opened: map[verify.Node]*verify.Opening{}, stored: map[verify.Node]steal.Partial{}}}
	members := steal.NewMembers([]steal.Member{{ID: "o"}, {ID: "b"}, {ID: "c"}, {ID: "d"}})
	advice, err := policy.ByName("rs", "o")
	if err != nil {
		t.Fatal(err)
	}
	run := steal.Run{ID: job.RunID{1}, Root: steal.Job{Function: "f"}, Deputies: []steal.PeerID{"o"}, Fresh: true,
		Proving: true}
	core, err := steal.NewCore(steal.LAN(), run, steal.Address{Peer: "o", Inc: 1}, members, advice,
		rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	shared, err := sharedobj.NewCore(sharedobj.Default(), "o", driver.SharedMembers(members),
		rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	proving := &driver.Proving{Config: verify.Config{Quorum: 2, Own: true, Wait: time.Minute, MaxOpen: 9},
		Judged: func(string) bool { return judged }, Alike: func(string, []byte) bool { return !s.unlike },
		Doubtful: func(string) bool { return s.doubtful },
		View:     s, Rand: s,
		Author: func(v []byte) verify.PeerID { return verify.PeerID(v) },
		Caught: func(c driver.Caught) { s.caught = append(s.caught, c) },
		Agreed: func(n verify.Node, j *steal.Job, outcome []byte, vouchers [][]byte) {
			if n != driver.NodeOf(j.Path, j.Identity) {
				t.Errorf("%v is not %+v", n, j)
			}
			s.agreed = append(s.agreed, fmt.Sprintf("%s by %s", outcome, vouchers))
		}}
	for _, f := range with {
		f(proving)
	}
	d := driver.New(driver.Config{Core: core, Engine: s, Transport: s, Store: s, Notary: s, Shared: shared,
		SharedTransport: s, MaxJobBytes: steal.LAN().MaxJobBytes, Proving: proving})
	return s, d, func(path job.Path) func(id steal.PeerID, author, outcome string) {
		return func(id steal.PeerID, author, outcome string) {
			d.Step(s.now, &steal.Message{Run: core.Run(), From: steal.Address{Peer: id, Inc: 1}, To: core.Self(),
				Result: &steal.Result{Handle: s.handles[id], Path: path, Identity: idOf(path),
					Outcome: []byte(outcome), Voucher: []byte(author)}})
		}
	}
}

// gives has b steal a job.
func (s *signed) gives(d *driver.Driver, now time.Duration, path job.Path) {
	d.Happened(now, port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Idle: 1}})
	d.Happened(now, port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Runs: 1, Queued: 1}})
	s.steals(d, now, path, 1)
}

// again has b steal another one, after what was computed here to be compared has ended.
func (s *signed) again(d *driver.Driver, now time.Duration, path job.Path) {
	d.Happened(now, port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Runs: 2, Queued: 1}})
	s.steals(d, now, path, 2)
}

func (s *signed) steals(d *driver.Driver, now time.Duration, path job.Path, n uint64) {
	d.Step(now, &steal.Message{Run: d.Core().Run(), From: steal.Address{Peer: "b", Inc: 1}, To: d.Core().Self(),
		Request: &steal.StealRequest{ID: steal.RequestID(n), Max: 1}})
	d.Happened(now, port.Event{Kind: port.Taken, Ticket: steal.Ticket(n), Jobs: []steal.Taken{{Ref: steal.Ref(n),
		Spawned: true, Job: steal.Job{Path: path, Function: "f", Identity: idOf(path), Arg: s.arg}}}})
}

// Two that bring what one of them has computed are one: what others have signed counts for nobody. What the next one
// says differs, so the job is computed here, and whoever has lied is named with its word.
func TestAuthorsCount(t *testing.T) {
	s, d, from := hearing(t, false)
	now, path := time.Second, job.Path{1}
	says := from(path)
	s.gives(d, now, path)
	says("b", "b", "lie")
	if !slices.Equal(s.to, []steal.PeerID{"c"}) || s.delivered != nil {
		t.Fatalf("copies go to %v, delivered is %q", s.to, s.delivered)
	}
	says("c", "b", "lie")
	if !slices.Equal(s.to, []steal.PeerID{"c", "d"}) || s.delivered != nil {
		t.Fatalf("what one has computed and two have brought: copies go to %v, delivered is %q", s.to, s.delivered)
	}
	says("d", "d", "truth")
	if s.delivered != nil || d.Held() != 1 {
		t.Fatalf("two that differ: delivered is %q", s.delivered)
	}
	d.Happened(now, port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Idle: 1, Runs: 1}})
	d.Happened(now, port.Event{Kind: port.Finished, Segment: 2, Outcome: []byte("truth"), Good: true})
	if string(s.delivered) != "truth" || len(s.caught) != 1 || s.caught[0].Peer != "b" ||
		string(s.caught[0].Said.Outcome) != "lie" || string(s.caught[0].Said.Voucher) != "b" {
		t.Errorf("delivered is %q, caught are %+v", s.delivered, s.caught)
	}
	if p := d.Proofs(); p.Proved != 1 || p.Copies != 2 || p.Here != 1 || p.Settled != 1 || len(p.Caught) != 1 {
		t.Errorf("counted are %+v", p)
	}
}

// Whoever has signed what is believed is told of, and nobody else: not whoever has said something else, nor this
// machine.
func TestWhoAgreedIsTold(t *testing.T) {
	s, d, from := hearing(t, false)
	now, path := time.Second, job.Path{1}
	says := from(path)
	s.gives(d, now, path)
	says("b", "b", "truth")
	says("c", "c", "truth")
	if !slices.Equal(s.agreed, []string{"truth by [b c]"}) {
		t.Errorf("two agreed: %q", s.agreed)
	}
	s, d, from = hearing(t, false)
	says = from(path)
	s.gives(d, now, path)
	says("b", "b", "lie")
	says("c", "c", "truth")
	d.Happened(now, port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Idle: 1, Runs: 1}})
	d.Happened(now, port.Event{Kind: port.Finished, Segment: 2, Outcome: []byte("truth"), Good: true})
	if !slices.Equal(s.agreed, []string{"truth by [c]"}) || len(s.caught) != 1 {
		t.Errorf("one was right: %q", s.agreed)
	}
}

// What the application says of single outcomes counts: what is wrong by itself has an author who is put out, what has
// the same essence is the same and is used as that, and what proves itself needs nobody else.
func TestJudgedOutcomes(t *testing.T) {
	now, path := time.Second, job.Path{1}
	judge := func(s *signed, d *driver.Driver, good, proven bool, essence string) {
		t.Helper()
		o := s.orders[len(s.orders)-1]
		d.Happened(now, port.Event{Kind: port.Judged, Good: good, Outcome: []byte(essence),
			Shared: &port.Shared{Ticket: o.Shared.Ticket, Changed: proven}})
	}
	s, d, from := hearing(t, true)
	says := from(path)
	s.gives(d, now, path)
	says("b", "b", "no square")
	judge(s, d, false, false, "")
	if len(s.caught) != 1 || s.caught[0].Peer != "b" || s.caught[0].Truth.Outcome != nil ||
		!slices.Equal(s.to, []steal.PeerID{"c", "d"}) {
		t.Fatalf("caught are %+v, copies go to %v", s.caught, s.to)
	}
	says("c", "c", "49 by c")
	if judge(s, d, true, false, "40"); s.delivered != nil {
		t.Fatalf("delivered on the word of one is %q", s.delivered)
	}
	says("d", "d", "48 by d")
	if judge(s, d, true, false, "40"); string(s.delivered) != "40" || len(s.caught) != 1 || s.agreed != nil {
		t.Errorf("delivered is %q, caught are %+v", s.delivered, s.caught)
	}
	judge(s, d, true, true, "41") // once more, and too late

	s, d, from = hearing(t, true)
	says = from(path)
	s.gives(d, now, path)
	says("b", "b", "no answer")
	if judge(s, d, false, true, ""); !slices.Equal(s.to, []steal.PeerID{"c", "d"}) {
		t.Fatalf("where one has no answer copies go to %v", s.to)
	}
	for _, id := range []steal.PeerID{"c", "d"} {
		says(id, string(id), "49")
		judge(s, d, true, false, "49")
	}
	if string(s.delivered) != "49" || len(s.caught) > 0 {
		t.Errorf("delivered is %q, caught are %+v", s.delivered, s.caught)
	}

	s, d, from = hearing(t, true)
	s.gives(d, now, path)
	from(path)("b", "b", "49")
	if judge(s, d, true, true, "49"); string(s.delivered) != "49" || len(s.caught) > 0 || d.Proofs().Proved != 1 {
		t.Errorf("delivered is %q, caught are %+v", s.delivered, s.caught)
	}
}

// Where this machine has no answer, as it could not read what a job reads, or comes to what is wrong by itself, nobody
// is a liar who has come to something else.
func TestOwnNothingIsNoProof(t *testing.T) {
	for _, nothing := range []bool{true, false} {
		s, d, from := hearing(t, true)
		s.alone = true
		path := job.Path{1}
		s.gives(d, s.now, path)
		judge := func(good, nothing bool, essence string) {
			o := s.orders[len(s.orders)-1]
			d.Happened(s.now, port.Event{Kind: port.Judged, Good: good, Outcome: []byte(essence),
				Shared: &port.Shared{Ticket: o.Shared.Ticket, Changed: nothing}})
		}
		from(path)("b", "b", "49")
		judge(true, false, "49")
		d.Happened(s.now, port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Idle: 1, Runs: 1}},
			port.Event{Kind: port.Finished, Segment: 2, Outcome: []byte("no answer"), Good: true})
		judge(false, nothing, "")
		if string(s.delivered) != "no answer" || len(s.caught) > 0 {
			t.Errorf("nothing %v: delivered is %q, caught are %+v", nothing, s.delivered, s.caught)
		}
	}
}

// What nobody has said how to compare is not believed, nor does it make a liar of anybody: it is computed here.
func TestUncomparedOutcomes(t *testing.T) {
	now, path := time.Second, job.Path{1}
	s, d, from := hearing(t, false)
	s.unlike = true
	s.gives(d, now, path)
	from(path)("b", "b", "one of many")
	d.Happened(now, port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Idle: 1, Runs: 1}})
	if len(s.to) > 0 || s.delivered != nil || s.ran != 2 {
		t.Fatalf("copies go to %v, delivered is %q, %d jobs run here", s.to, s.delivered, s.ran)
	}
	d.Happened(now, port.Event{Kind: port.Finished, Segment: 2, Outcome: []byte("another"), Good: true})
	if string(s.delivered) != "another" || len(s.caught) > 0 {
		t.Errorf("delivered is %q, caught are %+v", s.delivered, s.caught)
	}
}

// foremost draws the highest number.
type foremost struct{}

func (foremost) Below(n uint64) uint64 { return n - 1 }

// What comes of a node may honestly differ though that of the job above it does not. Such a node is not run again, and
// blames nobody: that job is computed here.
func TestNodesThatMayDiffer(t *testing.T) {
	path, below := job.Path{1}, job.Path{1, 0}
	for name, c := range map[string]struct {
		judged, unlike string // functions, or arguments
		trials         int
	}{
		"all of it is compared":               {trials: 1},
		"a part is compared":                  {judged: "g"},
		"nothing is":                          {unlike: "g"},
		"nothing is, because of its argument": {unlike: "dice"},
	} {
		var asked []verify.Open
		var trials []*driver.Trial
		s, d, from := hearing(t, false, func(p *driver.Proving) {
			p.Config.Quorum, p.Config.Spot, p.Rand = 1, 0.5, foremost{}
			p.Open = func(o verify.Open) { asked = append(asked, o) }
			p.Rerun = func(t *driver.Trial) { trials = append(trials, t) }
			p.Judged = func(fn string) bool { return fn == c.judged }
			p.Alike = func(fn string, arg []byte) bool { return fn != c.unlike && string(arg) != c.unlike }
		})
		s.arg = []byte{1}
		node := steal.Job{Function: "g", Arg: []byte("dice")}
		child := (&verify.Opening{Node: driver.NodeOf(below, job.Identify(node.Function, node.Arg)),
			Outcome: s.Digest([]byte("part"))}).Claim()
		s.made = &verify.Opening{Node: driver.NodeOf(path, idOf(path)), Outcome: s.Digest([]byte("truth")),
			Children: []verify.Claim{child}}
		s.gives(d, s.now, path)
		from(path)("b", "b", "truth")
		d.Opened(s.now, asked[0], &driver.Shown{Made: driver.Made{Job: steal.Job{Function: "f", Arg: []byte{1}},
			Children: []driver.Given{{Claim: child, Bytes: []byte("part")}}}})
		d.Opened(s.now, asked[1], &driver.Shown{Made: driver.Made{Job: node}})
		for _, trial := range trials {
			d.Reran(s.now, trial, driver.Tried{OK: true, Outcome: []byte("another part")})
		}
		d.Happened(s.now, port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Idle: 1, Runs: 1}})
		d.Happened(s.now, port.Event{Kind: port.Finished, Segment: 2, Outcome: []byte("truth"), Good: true})
		if len(trials) != c.trials || d.Proofs().Reran != uint64(c.trials) || len(s.caught) != c.trials ||
			c.trials == 0 && string(s.delivered) != "truth" {
			t.Errorf("%s: %d are run again, caught are %v, delivered is %q", name, len(trials), s.caught, s.delivered)
		}
	}
}

// Of a job that shares a lattice of its own right outcomes may differ, unless its function says when: nobody is blamed
// for another one, and this machine's is used.
func TestSharingIsNoLie(t *testing.T) {
	now, path := time.Second, job.Path{1}
	for _, doubtful := range []bool{true, false} {
		s, d, from := hearing(t, false)
		s.doubtful = doubtful
		says := from(path)
		s.gives(d, now, path)
		says("b", "b", "one")
		says("c", "c", "another")
		d.Happened(now, port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Idle: 1, Runs: 1}})
		d.Happened(now, port.Event{Kind: port.Shares, Segment: 2})
		d.Happened(now, port.Event{Kind: port.Finished, Segment: 2, Outcome: []byte("a third"), Good: true})
		p := d.Proofs()
		if string(s.delivered) != "a third" || doubtful != (len(s.caught) == 0) || doubtful != (p.Unlike == 1) {
			t.Errorf("doubtful %v: delivered is %q, caught are %+v, %+v", doubtful, s.delivered, s.caught, p)
		}
	}
}

// What the application judges is the outcome, not its reference.
func TestLargeOutcomesAreJudged(t *testing.T) {
	now, path := time.Second, job.Path{1}
	s, d, from := hearing(t, true)
	s.unlike = true
	s.gives(d, now, path)
	from(path)("b", "b", "one of many")
	d.Happened(now, port.Event{Kind: port.Judged, Good: true, Shared: &port.Shared{Ticket: s.orders[0].Shared.Ticket}},
		port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Idle: 1, Runs: 1}})
	outcome := bytes.Repeat([]byte("large"), port.MaxOutcome/5+1)
	d.Happened(now, port.Event{Kind: port.Finished, Segment: 2, Outcome: outcome, Good: true})
	if len(s.orders) != 2 || !bytes.Equal(s.orders[1].Outcome, outcome) {
		t.Fatalf("%d outcomes are judged", len(s.orders))
	}
	d.Happened(now, port.Event{Kind: port.Judged, Good: true, Outcome: outcome,
		Shared: &port.Shared{Ticket: s.orders[1].Shared.Ticket}})
	if !bytes.Equal(s.delivered, outcome) || len(s.caught) > 0 {
		t.Errorf("delivered are %d bytes, caught are %+v", len(s.delivered), s.caught)
	}
}
