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
)

// sharer is a driver with both cores, an engine that writes down what it is ordered, and a network that a test can cut.
type sharer struct {
	t     *testing.T
	d     *driver.Driver
	now   time.Duration
	did   []string // orders, by kind
	said  []string // to the user
	other *sharer
	cut   bool // what is shared does not get through
	stays bool // what was put back last

	queue []func()
	jobs  []steal.Taken
	value []byte // of the last constant

	awaited bool // somebody reads it
	// of the write that gave it, and what the next one gives
	ticket sharedobj.Ticket
	gives  *sharedobj.Body
	got    []steal.Job
	filled [][]byte // outcomes
	most   int      // bytes of a message
	store  func(steal.Partial)
	last   *sharedobj.Message
}

// constantSize is that of several pieces, and jobSize what a job may have.
const (
	constantSize = 50_000
	jobSize      = 10_000
)

func newSharer(t *testing.T, id steal.PeerID, fresh bool) *sharer {
	return newSharerWith(t, id, fresh, 3*constantSize)
}

// newSharerWith makes one that holds so many bytes of what is shared.
func newSharerWith(t *testing.T, id steal.PeerID, fresh bool, memory uint64, named ...sharedobj.Digest) *sharer {
	t.Helper()
	s := &sharer{t: t, now: time.Second}
	members := steal.NewMembers([]steal.Member{{ID: "a", Cluster: "c"}, {ID: "b", Cluster: "c"}})
	random := rand.New(rand.NewPCG(1, 2))
	advice, err := policy.ByName("rs", "a")
	if err != nil {
		t.Fatal(err)
	}
	run := steal.Run{ID: job.RunID{1}, Root: steal.Job{Function: "f", Identity: job.Identify("f", nil)},
		Deputies: []steal.PeerID{"a"}, Fresh: fresh}
	small := steal.LAN()
	small.MaxJobBytes = jobSize
	core, err := steal.NewCore(small, run, steal.Address{Peer: id, Inc: 1}, members, advice, random)
	if err != nil {
		t.Fatal(err)
	}
	cfg := sharedobj.Default()
	cfg.MaxBytes, cfg.Patience, cfg.AskTimeout, cfg.RetryAfter = memory, 2*time.Second, 300*time.Millisecond,
		300*time.Millisecond
	shared, err := sharedobj.NewCore(cfg, sharedobj.PeerID(id), driver.SharedMembers(members), random)
	if err != nil {
		t.Fatal(err)
	}
	s.d = driver.New(driver.Config{Core: core, Engine: s, Transport: s, Shared: shared, SharedTransport: s, Store: s,
		MaxJobBytes: jobSize, MaxOutcome: jobSize, Argument: named, Owner: "a", Holds: true})
	return s
}

func (s *sharer) Do(o *port.Order) {
	s.did = append(s.did, o.Kind.String())
	switch o.Kind {
	case port.PutBack:
		s.stays = o.Stays
	case port.Take:
		jobs := s.jobs
		s.jobs = nil
		s.tell(port.Event{Kind: port.Taken, Ticket: o.Ticket, Jobs: jobs})
	case port.Here:
		s.value, s.ticket, s.awaited = o.Shared.Data, o.Shared.Ticket, o.Shared.Awaited
	case port.Apply:
		s.tell(port.Event{Kind: port.Applied, Shared: &port.Shared{Ticket: o.Shared.Ticket, State: s.gives}})
	case port.Deliver:
		s.filled = append(s.filled, o.Outcome)
	case port.Run, port.Guard:
		s.got = append(s.got, *o.Job)
	}
}

func (s *sharer) Store(p steal.Partial, _ driver.Source) {
	if s.store != nil {
		s.store(p)
	}
}

func (s *sharer) tell(e ...port.Event) { s.d.Happened(s.now, e...) }

func (s *sharer) Send(m *steal.Message) {
	s.most = max(s.most, m.Size())
	s.queue = append(s.queue, func() { s.other.d.Step(s.other.now, m) })
}

func (s *sharer) SendShared(m *sharedobj.Message) {
	s.last = m
	if !s.cut {
		s.queue = append(s.queue, func() { s.other.d.StepShared(s.other.now, m) })
	}
}

func (s *sharer) Tell(*steal.News) {}
func (s *sharer) Answer(o []byte)  { s.filled = append(s.filled, o) }
func (s *sharer) TellShared(n *sharedobj.News) {
	s.queue = append(s.queue, func() { s.other.d.HearShared(s.other.now, sharedobj.PeerID(s.d.Core().Self().Peer), n) })
}
func (s *sharer) Note(text string) { s.said = append(s.said, text) }

// constant is what an engine tells of one that it has made.
func constant(name string) port.Event {
	state := sharedobj.Build(bytes.Repeat([]byte(name), constantSize/len(name)))
	return port.Event{Kind: port.Made, Shared: &port.Shared{State: state,
		Recipe: &sharedobj.Recipe{Kind: sharedobj.Constant, Name: name, State: state.Blob}}}
}

// pair is a busy peer a, whose one job reads a constant, and an idle peer b.
func pair(t *testing.T) (a, b *sharer, made port.Event) {
	t.Helper()
	a, b = newSharer(t, "a", true), newSharer(t, "b", false)
	a.other, b.other = b, a
	a.tell(port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Idle: 1}})
	made = constant("sky")
	names, err := (&port.Names{Needs: []sharedobj.Need{{Digest: made.Shared.Recipe.Digest()}}}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	a.jobs = []steal.Taken{{Ref: 1, Spawned: true, Segment: 1, Job: steal.Job{Path: job.Path{1}, Function: "f",
		Identity: job.Identify("f", nil), Names: names}}}
	a.tell(made, port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Runs: 1, Queued: 1}})
	b.tell(port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Idle: 1}})
	return a, b, made
}

// settle delivers what is on its way, and what follows.
func settle(peers ...*sharer) {
	for busy := true; busy; {
		busy = false
		for _, s := range peers {
			for len(s.queue) > 0 {
				next := s.queue[0]
				s.queue = s.queue[1:]
				next()
				busy = true
			}
		}
	}
}

// pass lets time pass for all.
func pass(d time.Duration, peers ...*sharer) {
	for step := time.Duration(0); step < d; step += 100 * time.Millisecond {
		for _, s := range peers {
			s.now += 100 * time.Millisecond
			s.d.Tick(s.now)
		}
		settle(peers...)
	}
}

// A stolen job that names a constant begins when that is here, and the engine has it before the job.
func TestReadyFirst(t *testing.T) {
	a, b, _ := pair(t)
	b.cut = true
	settle(a, b)
	if b.d.Held() != 0 || slices.Contains(b.did, "run") || slices.Contains(b.did, "here") {
		t.Fatalf("the job begins without what it reads: %v", b.did)
	}
	b.cut = false
	pass(time.Second, a, b) // it asks again
	here, run := slices.Index(b.did, "here"), slices.Index(b.did, "run")
	if here < 0 || run < here || len(b.value) < constantSize-3 {
		t.Fatalf("the thief's engine is ordered %v, and has %d bytes", b.did, len(b.value))
	}
	if slices.Contains(a.did, "here") {
		t.Error("an engine is told of what it has told itself")
	}
}

// What does not come in time gives the job back: the victim's engine has it again, and the user is told why.
func TestGivenBack(t *testing.T) {
	a, b, _ := pair(t)
	b.cut = true
	settle(a, b)
	if a.d.Given() != 1 {
		t.Fatalf("%d jobs are given away", a.d.Given())
	}
	pass(3*time.Second, a, b)
	if a.d.Given() != 0 || !slices.Contains(a.did, "put back") || slices.Contains(b.did, "run") {
		t.Fatalf("the victim: %v; the thief: %v", a.did, b.did)
	}
	if len(b.said) == 0 {
		t.Error("nobody is told why")
	}
}

// A victim keeps what a job names that it gave away, however much else is shared, until the job is back.
func TestVictimPins(t *testing.T) {
	a, b, made := pair(t)
	settle(a, b)
	if !slices.Contains(b.did, "run") {
		t.Fatalf("the thief: %v", b.did)
	}
	more := func() {
		for i := range 8 {
			a.tell(constant(fmt.Sprint("n", i, a.now)))
			settle(a, b)
			pass(100*time.Millisecond, a, b)
		}
	}
	more()
	if !a.has(made) {
		t.Fatal("the victim has forgotten what the job reads")
	}
	if !slices.Contains(a.did, "forget") {
		t.Fatal("nothing is forgotten, so nothing is tried")
	}
	a.tell(port.Event{Kind: port.Dropped, Refs: []steal.Ref{1}})
	settle(a, b)
	more()
	if a.has(made) {
		t.Error("what no job reads any more is kept")
	}
}

// has asks a peer, by the protocol, for a constant.
func (s *sharer) has(made port.Event) bool {
	s.last = nil
	digest := made.Shared.Recipe.Digest()
	s.d.StepShared(s.now, &sharedobj.Message{From: sharedobj.PeerID(s.other.d.Core().Self().Peer),
		To: sharedobj.PeerID(s.d.Core().Self().Peer), Ask: &sharedobj.Ask{Digest: digest}})
	return s.last != nil && s.last.Answer != nil && s.last.Answer.Status == sharedobj.Here
}

// A version that an engine has made of a small write is not sent to it again. If it has made another state than the
// writer it hears so.
func TestAppliedIsNotSent(t *testing.T) {
	for _, same := range []bool{true, false} {
		a, b, made := pair(t)
		first := made.Shared.Recipe
		first.Kind = sharedobj.Phased
		names, err := (&port.Names{Needs: []sharedobj.Need{{Digest: first.Digest()}}}).Encode()
		if err != nil {
			t.Fatal(err)
		}
		a.jobs[0].Job.Names = names
		a.tell(made)
		settle(a, b)
		write, state := sharedobj.Build([]byte("w")), sharedobj.Build(bytes.Repeat([]byte("next"), constantSize/8))
		if b.did, b.gives = nil, state; !same {
			b.gives = sharedobj.Build([]byte("another"))
		}
		second := &sharedobj.Recipe{Kind: sharedobj.Phased, Name: first.Name, Parent: first.Digest(), Write: write.Blob,
			State: state.Blob}
		a.tell(port.Event{Kind: port.Made, Shared: &port.Shared{Recipe: second, Write: write, State: state}})
		pass(time.Second, a, b)
		discards := slices.Contains(b.did, "discard")
		if !slices.Contains(b.did, "apply") || discards == same {
			t.Fatalf("same %v: the engine is ordered %v", same, b.did)
		}
		if same && (b.ticket == 0 || len(b.value) > 0) {
			t.Errorf("%d bytes are sent to who has made them, for write %d", len(b.value), b.ticket)
		}
	}
}

// Whoever waits for a value in the middle of its work is told, though the engine was told before: what is told then may
// not be taken back.
func TestReadersGetIt(t *testing.T) {
	s := newSharer(t, "a", true)
	made := constant("sky")
	s.tell(made)
	if s.value != nil {
		t.Error("an engine is told what it has made")
	}
	s.tell(port.Event{Kind: port.Wanted, Shared: &port.Shared{Digest: made.Shared.Recipe.Digest()}})
	if !bytes.Equal(s.value, made.Shared.State.Bytes()) || !s.awaited {
		t.Errorf("who reads it gets %d bytes; awaited: %v", len(s.value), s.awaited)
	}
}
