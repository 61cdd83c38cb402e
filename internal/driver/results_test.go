package driver_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
)

// maker has b steal a's job, whose path is [1], and end it with an outcome that names a constant of b's. Nothing of it
// is on its way yet to a.
func maker(t *testing.T, told bool) (a, b *sharer, made port.Event) {
	t.Helper()
	a, b, _ = pair(t)
	settle(a, b)
	if b.d.Held() != 1 {
		t.Fatalf("the thief: %v", b.did)
	}
	made = constant("sea")
	a.did, b.did = nil, nil
	if told {
		b.tell(made)
	}
	b.tell(port.Event{Kind: port.Finished, Segment: 1, Good: true, Outcome: naming(t, "out", made)})
	return a, b, made
}

// naming is an outcome that names what was made.
func naming(t *testing.T, outcome string, made ...port.Event) []byte {
	t.Helper()
	var names []sharedobj.Digest
	for _, m := range made {
		names = append(names, m.Shared.Recipe.Digest())
	}
	b, err := port.NameIn([]byte(outcome), names)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// holds says whether a peer has something that is not acknowledged.
func (s *sharer) unacked() bool { return s.d.Core().Unacked(s.other.d.Core().Self().Peer, 1) }

// A result that names what is not here is neither acknowledged nor told to its frame, until it is. It is repeated
// meanwhile, and used once.
func TestResultsAreFetched(t *testing.T) {
	a, b, _ := maker(t, true)
	a.cut, b.cut = true, true
	settle(a, b)
	pass(time.Second, a, b)
	if slices.Contains(a.did, "deliver") || !b.unacked() {
		t.Fatalf("the frame gets a handle of what only its maker has: %v", a.did)
	}
	a.cut, b.cut = false, false
	pass(3*time.Second, a, b)
	here, deliver := slices.Index(a.did, "here"), slices.Index(a.did, "deliver")
	if here < 0 || deliver < here || len(a.value) < constantSize-3 || b.unacked() {
		t.Fatalf("the owner's engine is ordered %v and has %d bytes; not acknowledged: %v", a.did, len(a.value),
			b.unacked())
	}
	if n := slices.Index(a.did[deliver+1:], "deliver"); n >= 0 {
		t.Error("it is delivered twice")
	}
}

// A maker that is lost before its value has come has done nothing: the job runs again.
func TestMakerIsLost(t *testing.T) {
	a, b, _ := maker(t, true)
	a.cut, b.cut = true, true
	settle(a, b)
	b.queue, b.other = nil, newSharer(t, "a", false) // what it says is lost
	pass(6*time.Second, a)
	a.tell(port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Runs: 1, Idle: 1}})
	if slices.Contains(a.did, "deliver") || !slices.Contains(a.did, "run") {
		t.Errorf("the owner's engine is ordered %v", a.did)
	}
}

// A result whose values nobody has is no result: its job runs again, and its thief hears of it.
func TestUnusableResult(t *testing.T) {
	a, b, _ := maker(t, false)
	pass(4*time.Second, a, b)
	a.tell(port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Runs: 1, Idle: 1}})
	if slices.Contains(a.did, "deliver") || !slices.Contains(a.did, "run") || b.unacked() {
		t.Errorf("the owner's engine is ordered %v; the thief still has a result: %v", a.did, b.unacked())
	}
	if s := a.d.Core().Stats(); s.PutBackUnusable != 1 || len(a.said) == 0 {
		t.Errorf("%d unusable results, and the user hears %q", s.PutBackUnusable, a.said)
	}
}

// crowd shares more than a peer holds.
func crowd(s *sharer, peers ...*sharer) {
	for i := range 8 {
		s.tell(constant(fmt.Sprint("n", i, s.now)))
		settle(peers...)
		pass(100*time.Millisecond, peers...)
	}
}

// Whoever has a result that is not acknowledged keeps what it names, and whoever has used one does as long as the job
// runs whose frame got it.
func TestResultsArePinned(t *testing.T) {
	a, b, made := maker(t, true)
	b.queue = nil // the result is lost, and repeated later
	crowd(b, b)
	if !slices.Contains(b.did, "forget") {
		t.Fatalf("nothing is forgotten, so nothing is tried: %v", b.did)
	}
	pass(4*time.Second, a, b)
	if !slices.Contains(a.did, "deliver") {
		t.Fatalf("the maker has not kept what its result names: %v", a.did)
	}
	crowd(a, a)
	if !a.has(made) {
		t.Error("what a frame has a handle of is forgotten")
	}
	a.tell(port.Event{Kind: port.Finished, Segment: 1, Good: true, Outcome: []byte("all")})
	crowd(a, a)
	if a.has(made) {
		t.Error("what no frame has a handle of any more is kept")
	}
	b.did = nil
	pass(time.Second, a, b)
	crowd(b, b)
	if b.has(made) {
		t.Error("what an acknowledged result names is pinned")
	}
}

// What is handed over waits for what it names; that for which it does not come is not kept, and the rest is.
func TestHandedOverHandles(t *testing.T) {
	for _, told := range []bool{true, false} {
		a, b, _ := pair(t)
		made := constant("sea")
		if told {
			b.tell(made)
		}
		part := func(n uint32, outcome []byte) steal.Partial {
			return steal.Partial{Path: job.Path{7, n}, Identity: job.Identity{byte(n)}, Outcome: outcome}
		}
		a.d.Step(a.now, &steal.Message{Run: job.RunID{1}, From: steal.Address{Peer: "b", Inc: 1},
			To: steal.Address{Peer: "a"}, HandOver: &steal.HandOver{ID: 1,
				Parts: []steal.Partial{part(1, naming(t, "out", made)), part(2, []byte("plain"))}}})
		if a.d.Core().Orphans().Len() != 0 {
			t.Fatal("it is kept before its value is here")
		}
		pass(4*time.Second, a, b)
		want := 1
		if told {
			want = 2
		}
		if n := a.d.Core().Orphans().Len(); n != want {
			t.Errorf("of two outcomes %d are kept, want %d", n, want)
		}
	}
}

// What is handed over may name more than a job does.
func TestMuchIsHandedOver(t *testing.T) {
	a, b, _ := pair(t)
	m := &steal.HandOver{ID: 1, Copy: true}
	for i := range uint32(port.MaxNeeds + 1) {
		state := sharedobj.Build(binary.BigEndian.AppendUint32(nil, i))
		made := port.Event{Kind: port.Made, Shared: &port.Shared{State: state,
			Recipe: &sharedobj.Recipe{Kind: sharedobj.Constant, Name: "one", State: state.Blob}}}
		if i > 0 {
			b.tell(made)
		}
		m.Parts = append(m.Parts, steal.Partial{Path: job.Path{7, i}, Outcome: naming(t, "out", made)})
	}
	a.d.Step(a.now, &steal.Message{Run: job.RunID{1}, From: steal.Address{Peer: "b", Inc: 1},
		To: steal.Address{Peer: "a"}, HandOver: m})
	pass(4*time.Second, a, b)
	if n := a.d.Core().Orphans().Len(); n != port.MaxNeeds || a.d.Waiting() > 0 {
		t.Errorf("%d are kept of %d, of which one names what nobody has; %d wait", n, len(m.Parts), a.d.Waiting())
	}
}

// What a kept outcome names stays though it is old, until that outcome is dropped.
func TestKeptRetains(t *testing.T) {
	a, b, _ := pair(t)
	var last *sharedobj.Recipe
	version := func() port.Event {
		state := sharedobj.Build(fmt.Append(nil, "state", a.now))
		write := sharedobj.Build(fmt.Append(nil, "long write", a.now))
		v := &port.Shared{State: state, Recipe: &sharedobj.Recipe{Kind: sharedobj.Phased, Name: "o", State: state.Blob}}
		if last != nil {
			v.Write, v.Recipe.Write, v.Recipe.Parent = write, write.Blob, last.Digest()
		}
		last = v.Recipe
		made := port.Event{Kind: port.Made, Shared: v}
		a.tell(made)
		pass(100*time.Millisecond, a, b)
		return made
	}
	keep := func(p steal.Partial) {
		a.tell(port.Event{Kind: port.Kept, Kept: []port.KeptJob{{Partial: p}}})
	}
	old := version()
	keep(steal.Partial{Path: job.Path{2, 1}, Outcome: naming(t, "out", old)})
	other := version()
	for range 3 {
		version()
	}
	if !a.has(old) || a.has(other) {
		t.Fatalf("what a kept outcome names is here: %v; what none does: %v", a.has(old), a.has(other))
	}
	keep(steal.Partial{Path: job.Path{2}, Outcome: []byte("all")})
	version()
	if a.has(old) {
		t.Error("what an outcome named that is kept no more is still here")
	}
}

// An outcome that was kept here is not delivered without its values: the job goes back to its engine. If they can still
// be had they come first, and stay for the frame that got them.
func TestKeptWithoutItsValue(t *testing.T) {
	for _, there := range []bool{false, true} {
		a, b, _ := pair(t)
		settle(a, b)
		made := constant("sea")
		if there {
			b.tell(made)
			b.queue = nil // nobody hears of it
		}
		kept := steal.Partial{Path: job.Path{2}, Identity: job.Identify("f", []byte{2}),
			Outcome: naming(t, "out", made)}
		a.d.Restore(a.now, []steal.Partial{kept})
		a.did = nil
		a.tell(port.Event{Kind: port.Found, Jobs: []steal.Taken{{Segment: 1, Ref: 2, Spawned: true,
			Job: steal.Job{Path: kept.Path, Function: "f", Identity: kept.Identity, Restarted: true}}}})
		pass(4*time.Second, a, b)
		if slices.Contains(a.did, "deliver") != there || slices.Contains(a.did, "put back") == there {
			t.Errorf("the value is there: %v, the engine is ordered %v", there, a.did)
		}
		if crowd(a, a); a.has(made) != there {
			t.Errorf("what a frame has a handle of is here: %v, want %v", a.has(made), there)
		}
	}
}

// A store gets no outcome that names what it does not have; but for the answer.
func TestNamedOutcomesAreNotStored(t *testing.T) {
	var stored []steal.Partial
	s := newSharer(t, "a", true)
	s.other = s
	s.store = func(p steal.Partial) { stored = append(stored, p) }
	s.tell(port.Event{Kind: port.Kept, Kept: []port.KeptJob{
		{Partial: steal.Partial{Path: job.Path{1}, Outcome: naming(t, "out", constant("sea"))}},
		{Partial: steal.Partial{Path: job.Path{2}, Outcome: []byte("plain")}}}})
	if len(stored) != 1 || len(stored[0].Path) != 1 || stored[0].Path[0] != 2 {
		t.Errorf("stored are %v", stored)
	}
}
