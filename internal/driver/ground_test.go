package driver_test

import (
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
)

// grounded is an owner, and a peer that may have to begin the root after it, of a run whose root names something.
func grounded(t *testing.T, memory uint64) (owner, deputy *sharer, value *port.Shared) {
	t.Helper()
	value = constant("sky").Shared
	d := value.Recipe.Digest()
	owner, deputy = newSharerWith(t, "a", true, memory, d), newSharerWith(t, "b", false, memory, d)
	owner.other, deputy.other = deputy, owner
	owner.tell(port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Idle: 1}})
	settle(owner, deputy)
	return owner, deputy, value
}

// The root begins when all is here that its argument names, which the engine has before it, and not twice.
func TestRootWaitsForItsArgument(t *testing.T) {
	a, b, v := grounded(t, 3*constantSize)
	pass(time.Minute, a, b)
	if slices.Contains(a.did, "run") || !a.d.Master() {
		t.Fatalf("its engine is ordered %v, master: %v", a.did, a.d.Master())
	}
	a.d.Lend(a.now, v.Recipe, v.State)
	here, run := slices.Index(a.did, "here"), slices.Index(a.did, "run")
	if here < 0 || run < here {
		t.Fatalf("its engine is ordered %v", a.did)
	}
	a.did = nil
	a.d.Lend(a.now, v.Recipe, v.State)
	if pass(time.Second, a, b); slices.Contains(a.did, "run") {
		t.Errorf("lent again, its engine is ordered %v", a.did)
	}
}

// What the argument names is with whoever may have to begin the root before that has to, and stays there though more is
// shared than fits.
func TestDeputyHoldsTheArgument(t *testing.T) {
	a, b, v := grounded(t, 3*constantSize)
	a.d.Lend(a.now, v.Recipe, v.State)
	pass(2*time.Second, a, b)
	if !slices.Contains(b.did, "here") || slices.Contains(b.did, "run") {
		t.Fatalf("the engine of a deputy is ordered %v", b.did)
	}
	for _, name := range []string{"sea", "fir", "oak", "elm"} {
		a.tell(constant(name))
		b.tell(constant(name))
	}
	if b.cut = true; !b.has(port.Event{Shared: v}) || !a.has(port.Event{Shared: v}) {
		t.Errorf("it is dropped: by the owner %v, by the deputy %v", !a.has(port.Event{Shared: v}),
			!b.has(port.Event{Shared: v}))
	}
}

// A root that need not begin any more does not when what it waited for comes, and the engine hears nothing of it.
func TestRootIsGivenUpBeforeItBegins(t *testing.T) {
	a, b, v := grounded(t, 3*constantSize)
	a.d.Cancel(a.now)
	a.d.Lend(a.now, v.Recipe, v.State)
	pass(time.Second, a, b)
	if slices.Contains(a.did, "run") || slices.Contains(a.did, "abort") {
		t.Errorf("its engine is ordered %v", a.did)
	}
}

// The worker that was to run a root which never began goes on stealing.
func TestWorkerOfARootThatNeverBegan(t *testing.T) {
	a := newSharer(t, "a", true)
	// b takes itself for the master
	b := newSharerWith(t, "b", true, 3*constantSize, constant("sky").Shared.Recipe.Digest())
	a.other, b.other = b, a
	a.tell(port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Idle: 1}})
	b.tell(port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Idle: 1}})
	if pass(100*time.Millisecond, a, b); !b.d.Master() || b.d.SharedStats().Lack == nil {
		t.Fatalf("the root does not wait: %v", b.did)
	}
	a.jobs = []steal.Taken{{Ref: 1, Spawned: true, Segment: 1, Job: steal.Job{Path: job.Path{1}, Function: "f",
		Identity: job.Identify("f", nil)}}}
	a.tell(port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Runs: 1, Queued: 1}})
	b.d.Hear(b.now, &steal.News{Run: job.RunID{1}, From: a.d.Core().Self(), Master: &steal.Beacon{Seq: 1}})
	if pass(time.Second, a, b); b.d.Master() || a.d.Given() != 1 || !slices.Contains(b.did, "run") {
		t.Errorf("master: %v; %d jobs are given away, and its engine is ordered %v", b.d.Master(), a.d.Given(), b.did)
	}
}

// What is more than a peer may hold is said once, and tried again now and then.
func TestArgumentThatDoesNotFit(t *testing.T) {
	_, b, v := grounded(t, constantSize/2)
	a := newSharerWith(t, "a", true, 3*constantSize, v.Recipe.Digest())
	a.other, b.other = b, a
	a.d.Lend(a.now, v.Recipe, v.State)
	pass(35*time.Second, a, b)
	tries := b.d.SharedStats().JobsBack
	if slices.Contains(b.did, "here") || len(b.said) != 1 || tries < 3 || tries > 4 {
		t.Errorf("the engine is ordered %v, the user hears %q, it was tried %d times", b.did, b.said, tries)
	}
}

// What the root waits for is said while it does, where it is to begin: how much of it is here, and who brings more.
func TestRootSaysWhatItLacks(t *testing.T) {
	a, b, v := grounded(t, 3*constantSize)
	if l := a.d.SharedStats().Lack; l == nil || l.Here > 0 || len(l.From) > 0 || l.Why != "" {
		t.Errorf("nobody has it: %+v", l)
	}
	if l := b.d.SharedStats().Lack; l != nil {
		t.Errorf("where the root is not to begin: %+v", l)
	}
	b.d.Lend(b.now, v.Recipe, v.State)
	a.now += time.Second
	a.d.Tick(a.now) // asks again
	most := uint64(0)
	for list := []*sharer{a, b}; len(a.queue)+len(b.queue) > 0; list[0], list[1] = list[1], list[0] {
		if s := list[0]; len(s.queue) > 0 { // a message at a time
			next := s.queue[0]
			s.queue = s.queue[1:]
			next()
		}
		l := a.d.SharedStats().Lack
		if l == nil {
			break
		}
		if most = max(most, l.Here); l.Here > 0 && !slices.Equal(l.From, []sharedobj.PeerID{"b"}) {
			t.Fatalf("%+v comes from another one", l)
		}
	}
	settle(a, b)
	if most == 0 || most > 2*constantSize || !slices.Contains(a.did, "run") || a.d.SharedStats().Lack != nil {
		t.Errorf("at most %d bytes were here, then its engine is ordered %v, and it lacks %+v", most, a.did, a.d.SharedStats().Lack)
	}
}

// What cannot be held is what is said while it is not tried again.
func TestRootSaysWhatItCannotHold(t *testing.T) {
	a, b, v := grounded(t, constantSize/2)
	b.d.Lend(b.now, v.Recipe, v.State)
	pass(3*time.Second, a, b)
	if l := a.d.SharedStats().Lack; l == nil || l.Why != a.said[0] {
		t.Errorf("got %+v, and the user hears %q", l, a.said)
	}
}
