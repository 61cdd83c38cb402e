package driver_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
)

// ends is a peer a whose job b has stolen, and has ended with so many bytes, which name what was made there.
func ends(t *testing.T, size int, made ...port.Event) (a, b *sharer, outcome []byte) {
	t.Helper()
	a, b, _ = lends(t, 5, &port.Names{})
	settle(a, b)
	if len(b.got) != 1 {
		t.Fatalf("the thief: %v", b.did)
	}
	b.tell(made...)
	outcome = naming(t, string(bytes.Repeat([]byte("large"), size/5)), made...)
	a.did, a.most, b.most = nil, 0, 0
	b.tell(port.Event{Kind: port.Finished, Segment: 1, Good: true, Outcome: outcome})
	return a, b, outcome
}

// What came of a job and is too large for a message comes home beside the messages, is acknowledged when it is here,
// and fills its slot once, whole. No engine hears of it otherwise, and nobody has to keep it any more then.
func TestLargeOutcomes(t *testing.T) {
	a, b, outcome := ends(t, constantSize)
	a.cut, b.cut = true, true
	settle(a, b)
	crowd(b, b)
	if len(a.filled) > 0 || !b.unacked() {
		t.Fatalf("without it: %v", a.did)
	}
	a.cut, b.cut = false, false
	pass(5*time.Second, a, b)
	if len(a.filled) != 1 || !bytes.Equal(a.filled[0], outcome) || b.unacked() {
		t.Fatalf("%d slots are filled, not acknowledged: %v, %v", len(a.filled), b.unacked(), a.did)
	}
	if a.most > jobSize || b.most > jobSize {
		t.Errorf("messages of %d and %d bytes", a.most, b.most)
	}
	if slices.Contains(a.did, "here") || slices.Contains(a.did, "forget") {
		t.Errorf("the owner's engine is told of what it gets as a result: %v", a.did)
	}
	for _, s := range []*sharer{a, b} {
		for range 2 { // the crowd's first constants are what is forgotten first
			crowd(s, s)
		}
		if s.hasOutcome(outcome) {
			t.Error("it is kept for ever")
		}
	}
}

// hasOutcome asks a peer, by the protocol, for one.
func (s *sharer) hasOutcome(outcome []byte) bool {
	made := port.Event{Shared: &port.Shared{Recipe: sharedobj.OutcomeOf(sharedobj.Build(outcome))}}
	return s.has(made)
}

// What a large outcome names is fetched with it, and stays as long as the frame that got it; the outcome itself need
// not.
func TestLargeOutcomesName(t *testing.T) {
	made := constant("sea")
	a, b, outcome := ends(t, constantSize, made)
	pass(time.Second, a, b)
	if len(a.filled) != 1 || !bytes.Equal(a.filled[0], outcome) || !slices.Contains(a.did, "here") {
		t.Fatalf("%d slots are filled: %v", len(a.filled), a.did)
	}
	crowd(a, a)
	if !a.has(made) || a.hasOutcome(outcome) {
		t.Errorf("what a frame has a handle of is here: %v; what it has itself: %v", a.has(made),
			a.hasOutcome(outcome))
	}
}

// What is more than a peer may hold gives its job back: its victim does it, and the user is told why.
func TestOutcomesWithoutRoom(t *testing.T) {
	a, b, _ := ends(t, 4*constantSize)
	settle(a, b)
	if s := a.d.Core().Stats(); s.PutBackReturned != 1 || len(a.filled) > 0 {
		t.Errorf("%d jobs are returned; the victim's engine: %v", s.PutBackReturned, a.did)
	}
	a.tell(port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Runs: 1, Idle: 1}})
	if len(a.got) != 1 || !a.got[0].Restarted {
		t.Errorf("the victim's engine: %v", a.did)
	}
	if b.d.Core().Holding() > 0 || b.unacked() || len(b.said) != 1 {
		t.Errorf("the thief still has it; the user hears %q", b.said)
	}
}

// What is more than its receiver may hold is done by that one itself, and by no thief again. The user hears of it in
// one line, which names what is too large and what is allowed; and nobody waits for anything.
func TestOutcomesTooLargeForTheirReceiver(t *testing.T) {
	const memory = constantSize / 2
	a, b, lent := lendsFrom(t, newSharerWith(t, "a", true, memory), 5, &port.Names{})
	lent.Path = job.Path{2}
	a.jobs = append(a.jobs, steal.Taken{Ref: 2, Spawned: true, Job: lent})
	settle(a, b)
	idle := port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Runs: 1, Idle: 1}}
	outcome := bytes.Repeat([]byte("large"), constantSize/5)
	for i := range steal.SegmentID(2) {
		b.tell(port.Event{Kind: port.Finished, Segment: i + 1, Good: true, Outcome: outcome}, idle)
		idle.Load.Runs++
		pass(3*time.Second, a, b)
	}
	if s := a.d.Core().Stats(); s.PutBackUnusable != 2 || len(a.filled) > 0 || a.d.Waiting() > 0 {
		t.Errorf("%d jobs are put back, %d results wait; the receiver's engine: %v", s.PutBackUnusable, a.d.Waiting(),
			a.did)
	}
	want := fmt.Sprintf("has %d bytes, but this peer holds at most %d at once: allow more memory for objects, "+
		"or return it in parts", len(outcome), memory)
	if len(a.said) != 1 || !strings.HasSuffix(a.said[0], want) || strings.Contains(a.said[0], "\n") {
		t.Errorf("the user hears %q", a.said)
	}
	if b.d.Core().Holding() > 0 || b.unacked() || len(b.got) != 2 {
		t.Errorf("the thief still has one, or got it again: %v", b.did)
	}
	a.tell(port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Runs: 1, Idle: 1}})
	a.tell(port.Event{Kind: port.Finished, Segment: 3, Good: true, Outcome: outcome}) // the one that came back last
	if len(a.filled) != 1 || !bytes.Equal(a.filled[0], outcome) || len(a.said) != 1 {
		t.Errorf("%d slots are filled: %v, %q", len(a.filled), a.did, a.said)
	}
}

// A copy of a peer's own job comes to its engine whatever its size, and is not kept for others.
func TestOutcomesOfOwnCopies(t *testing.T) {
	a, b, _ := lends(t, 5, &port.Names{})
	settle(a, b)
	b.queue, b.other = nil, newSharer(t, "a", false) // what it says is lost
	a.tell(port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Runs: 1, Idle: 1}})
	pass(6*time.Second, a)
	if len(a.got) != 1 {
		t.Fatalf("the victim's engine: %v", a.did)
	}
	outcome := bytes.Repeat([]byte("o"), 4*constantSize)
	a.tell(port.Event{Kind: port.Finished, Segment: 2, Good: true, Outcome: outcome})
	if len(a.filled) != 1 || !bytes.Equal(a.filled[0], outcome) || a.d.Core().Orphans().Len() > 0 {
		t.Errorf("%d slots are filled, %d outcomes kept: %v", len(a.filled), a.d.Core().Orphans().Len(), a.did)
	}
}

// The answer is told whole.
func TestLargeAnswers(t *testing.T) {
	a, b, _ := lends(t, 5, &port.Names{})
	outcome := bytes.Repeat([]byte("o"), constantSize)
	a.tell(port.Event{Kind: port.Finished, Segment: 1, Good: true, Outcome: outcome})
	settle(a, b)
	if len(a.filled) != 1 || !bytes.Equal(a.filled[0], outcome) {
		t.Errorf("%d answers: %v", len(a.filled), a.did)
	}
}

// A reference to what is no outcome is no outcome either: no engine gets the bytes of it.
func TestMadeUpReferences(t *testing.T) {
	made := constant("sea")
	a, b, _ := ends(t, 5, made)
	b.queue = nil
	reference, _, err := port.Refer([]byte("out"))
	if err != nil {
		t.Fatal(err)
	}
	digest := sharedobj.OutcomeOf(sharedobj.Build([]byte("out"))).Digest()
	other := made.Shared.Recipe.Digest()
	lie := bytes.Replace(reference, digest[:], other[:], 1)
	a.d.Step(a.now, &steal.Message{Run: job.RunID{1}, From: steal.Address{Peer: "b", Inc: 1}, To: a.d.Core().Self(),
		Result: &steal.Result{Handle: 1, Path: job.Path{1}, Identity: b.got[0].Identity, Outcome: lie}})
	pass(time.Second, a, b)
	if len(a.filled) != 1 || !bytes.Equal(a.filled[0], lie) {
		t.Errorf("%d slots are filled: %q", len(a.filled), a.filled)
	}
}
