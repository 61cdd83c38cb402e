package driver_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/steal/policy"
)

// stand is a driver with an engine that answers orders at once, while they are given, and with a transport
// that calls back at once too: all that could make an interpreter recurse.
type stand struct {
	t       fataler
	d       *driver.Driver
	now     time.Duration
	within  int // calls of Do, Send, Tell and Answer that have not returned
	wanted  []string
	done    []string
	fed     int // inputs, of which the core
	heard   int // has had so many
	sent    int // messages of the core, of which the transport
	carried int // has seen so many
	refuse  bool
	stuck   bool // jobs do not end
	queued  []*steal.Message
	ref     steal.Ref
	jobs    int // that the engine could give away
	load    steal.Load
	stored  []driver.Source
}

// fataler is a test of either kind.
type fataler interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func newStand(t fataler, id steal.PeerID, fresh bool) *stand {
	s := &stand{t: t, now: time.Second, load: steal.Load{Workers: 1, Idle: 1}}
	members := steal.NewMembers([]steal.Member{{ID: "a", Cluster: "c"}, {ID: "b", Cluster: "c"}})
	root := steal.Job{Function: "f", Identity: job.Identify("f", nil)}
	policy, err := policy.ByName("rs", "a")
	if err != nil {
		t.Fatal(err)
	}
	core, err := steal.NewCore(steal.LAN(), steal.Run{ID: job.RunID{1}, Root: root, Deputies: []steal.PeerID{"a"},
		Fresh: fresh}, steal.Address{Peer: id, Inc: 1}, members, policy, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	s.d = driver.New(driver.Config{Core: core, Engine: s, Transport: s, Store: s, Observe: s.observe})
	return s
}

// observe writes down what the core orders: that, and nothing else, is to be carried out in this order.
func (s *stand) observe(out steal.Output) {
	for _, o := range out.Orders {
		s.wanted = append(s.wanted, o.Kind.String())
	}
	if s.carried != s.sent {
		s.t.Fatalf("the core has its next input, and %d of its messages were not sent", s.sent-s.carried)
	}
	s.sent += len(out.Messages)
	s.heard++
}

// feed counts inputs.
func (s *stand) feed(n int) *driver.Driver {
	s.fed += n
	return s.d
}

func (s *stand) tell(e port.Event) { s.feed(1).Happened(s.now, e) }

func (s *stand) enter() func() {
	if s.within++; s.within > 1 {
		s.t.Fatal("the driver recurses")
	}
	return func() { s.within-- }
}

func (s *stand) carriedOut(k fmt.Stringer) {
	s.done = append(s.done, k.String())
	if s.heard != s.fed {
		s.t.Fatalf("%v is carried out, and the core has not heard all that happened", k)
	}
	if s.carried != s.sent {
		s.t.Fatalf("%v is carried out before a message of an earlier output is sent", k)
	}
}

func (s *stand) Send(m *steal.Message) {
	defer s.enter()()
	s.carried++
	if s.refuse {
		s.feed(1).SendFailed(s.now, m)
		return
	}
	s.queued = append(s.queued, m)
}

func (s *stand) Tell(*steal.News) { defer s.enter()(); s.carriedOut(steal.Tell) }

func (s *stand) Answer([]byte) { defer s.enter()(); s.carriedOut(steal.Answer) }

func (s *stand) Store(_ steal.Partial, from driver.Source) { s.stored = append(s.stored, from) }

// kindOf is what the core calls an order of the port.
var kindOf = map[port.OrderKind]steal.OrderKind{port.Take: steal.Take, port.Run: steal.RunSegment,
	port.PutBack: steal.PutBack, port.Deliver: steal.Deliver, port.Abort: steal.AbortSegment,
	port.LostWork: steal.LostWork}

func (s *stand) Do(o *port.Order) {
	defer s.enter()()
	s.carriedOut(kindOf[o.Kind])
	switch o.Kind {
	case port.Take:
		n := min(o.Max, s.jobs)
		s.jobs -= n
		s.tell(port.Event{Kind: port.Taken, Ticket: o.Ticket, Jobs: s.take(n)})
	case port.Run:
		s.load.Runs++
		if s.stuck {
			return
		}
		s.jobs += 2
		s.report()
		s.tell(port.Event{Kind: port.Finished, Segment: o.Segment, Outcome: []byte("x"), Good: true})
		s.report()
	case port.PutBack:
		s.jobs++
		s.report()
	case port.Deliver:
		s.tell(port.Event{Kind: port.Delivered, Ref: o.Ref, Good: true})
	}
}

func (s *stand) take(n int) (list []steal.Taken) {
	for range n {
		s.ref++
		list = append(list, steal.Taken{Ref: s.ref, Spawned: true, Job: steal.Job{Path: job.Path{uint32(s.ref)},
			Function: "f", Arg: []byte{byte(s.ref)}, Identity: job.Identify("f", []byte{byte(s.ref)})}})
	}
	return list
}

func (s *stand) report() {
	s.load.Queued = s.jobs
	s.tell(port.Event{Kind: port.LoadChanged, Load: s.load})
}

// settled looks at what must hold whenever a call has returned.
func (s *stand) settled() {
	if !slices.Equal(s.done, s.wanted) {
		s.t.Fatalf("the core ordered %v, carried out is %v", s.wanted, s.done)
	}
	if s.carried != s.sent {
		s.t.Fatalf("%d of %d messages were sent", s.carried, s.sent)
	}
	s.done, s.wanted = s.done[:0], s.wanted[:0]
}

// Whatever the engine and the transport do while they are called: nothing recurses, messages leave before
// the next input and before any later order, and orders are carried out in the order in which they were
// given, each once.
func TestOneOrderOfEvents(t *testing.T) {
	orders, schedules := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		schedules++
		a, b := newStand(t, "a", true), newStand(t, "b", false)
		a.report()
		b.report()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			x, y := a, b
			if rapid.Bool().Draw(t, "b") {
				x, y = b, a
			}
			x.refuse = rapid.IntRange(0, 5).Draw(t, "refuse") == 0
			switch what := rapid.IntRange(0, 9).Draw(t, "what"); {
			case what < 5 && len(x.queued) > 0:
				m := x.queued[0]
				x.queued = x.queued[1:]
				y.feed(1).Step(y.now, m)
			case what < 7:
				x.now += time.Duration(rapid.IntRange(1, 1500).Draw(t, "ms")) * time.Millisecond
				x.feed(1).Tick(x.now)
			case what == 7:
				x.jobs += 3
				x.load.Idle = 0
				x.report()
			case what == 8:
				x.load.Idle = 1
				x.report()
			default:
				n := min(x.jobs, 2)
				x.jobs -= n
				x.tell(port.Event{Kind: port.Found, Jobs: x.take(n)})
			}
			orders += len(x.done) + len(y.done)
			x.settled()
			y.settled()
		}
	})
	if orders < 5*schedules {
		t.Errorf("only %d orders were given in %d schedules", orders, schedules)
	}
}

// Of what is handed over the core keeps what it wants, and that is stored: never what is said to be the root's.
func TestHandedOverIsStored(t *testing.T) {
	s := newStand(t, "a", true)
	over := &steal.HandOver{ID: 1, Parts: []steal.Partial{{Outcome: []byte("answer")},
		{Path: job.Path{1}, Outcome: []byte("part")}}}
	for range 2 { // the second time it is kept already
		s.feed(1).Step(s.now, &steal.Message{Run: job.RunID{1}, From: steal.Address{Peer: "b", Inc: 1},
			To: steal.Address{Peer: "a"}, HandOver: over})
	}
	if !slices.Equal(s.stored, []driver.Source{driver.HandedOver}) {
		t.Errorf("stored is %v", s.stored)
	}
}

// Of a job that was aborted and may not have noticed yet a process may die too: it is named for some time.
func TestAbortedIsNamed(t *testing.T) {
	b := newStand(t, "b", false)
	b.stuck = true
	b.report()
	var got *steal.Message
	for i := 0; got == nil && i < 100; i++ {
		b.now += 100 * time.Millisecond
		b.feed(1).Tick(b.now)
		for _, m := range b.queued {
			if m.Request != nil {
				got = m
			}
		}
	}
	a := steal.Address{Peer: "a", Inc: 1}
	j := steal.Job{Path: job.Path{1}, Function: "f", Identity: job.Identify("f", nil)}
	b.feed(1).Step(b.now, &steal.Message{Run: job.RunID{1}, From: a, To: got.From, Reply: &steal.StealReply{
		ID: got.Request.ID, Jobs: []steal.Grant{{Handle: 7, Job: j}}}})
	if b.d.Held() != 1 || len(b.d.Names()) != 1 {
		t.Fatalf("%d are held, and named %v", b.d.Held(), b.d.Names())
	}
	b.feed(1).Step(b.now, &steal.Message{Run: job.RunID{1}, From: a, To: got.From,
		Abort: &steal.Abort{Handles: []steal.Handle{7}}})
	if names := b.d.Names(); b.d.Held() != 0 || len(names) != 1 || names[0].Identity != j.Identity {
		t.Errorf("aborted: %d are held, and named %v", b.d.Held(), names)
	}
	b.now += time.Hour
	if b.feed(1).Tick(b.now); len(b.d.Names()) != 0 {
		t.Errorf("an hour later it is named: %v", b.d.Names())
	}
}

// What came home and what ran here is stored, with where it is from; what did not return is not.
func TestStored(t *testing.T) {
	a, b := newStand(t, "a", true), newStand(t, "b", false)
	a.load.Idle, a.jobs = 0, 4
	a.report()
	b.report()
	for range 20 {
		for _, x := range []*stand{a, b} {
			x.now += 100 * time.Millisecond
			x.feed(1).Tick(x.now)
			for _, m := range x.queued {
				if y := map[*stand]*stand{a: b, b: a}[x]; m.To.Peer != "" {
					y.feed(1).Step(y.now, m)
				}
			}
			x.queued = nil
		}
	}
	if a.d.Given() != 0 || b.d.Held() != 0 {
		t.Fatalf("a has %d jobs outside, b holds %d", a.d.Given(), b.d.Held())
	}
	if !slices.Contains(a.stored, driver.CameHome) || !slices.Contains(b.stored, driver.RanHere) {
		t.Fatalf("a stored %v, b stored %v", a.stored, b.stored)
	}
	n := len(b.stored)
	b.tell(port.Event{Kind: port.Finished, Segment: 99, Good: true})
	b.tell(port.Event{Kind: port.Delivered, Ref: 99, Good: true})
	if len(b.stored) != n {
		t.Fatal("something is stored that nobody was given")
	}
}
