package driver_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
)

// lends is a busy peer a, whose one job has a large argument, and an idle peer b.
func lends(t *testing.T, argument int, names *port.Names) (a, b *sharer, lent steal.Job) {
	t.Helper()
	return lendsFrom(t, newSharer(t, "a", true), argument, names)
}

// lendsFrom is the same with a peer a that is there.
func lendsFrom(t *testing.T, a *sharer, argument int, names *port.Names) (_, b *sharer, lent steal.Job) {
	t.Helper()
	b = newSharer(t, "b", false)
	a.other, b.other = b, a
	a.tell(port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Idle: 1}})
	arg := bytes.Repeat([]byte("large"), argument/5)
	lent = steal.Job{Path: job.Path{1}, Function: "f", Identity: job.Identify("f", arg), Arg: arg}
	var err error
	if lent.Names, err = names.Encode(); err != nil {
		t.Fatal(err)
	}
	a.jobs = []steal.Taken{{Ref: 1, Spawned: true, Segment: 1, Job: lent}}
	a.tell(port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Runs: 1, Queued: 1}})
	b.tell(port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Idle: 1}})
	a.got, a.did = nil, nil
	return a, b, lent
}

// A job whose argument, when it has come, is not that of its identity goes back: whoever computed it would sign a lie
// about another job.
func TestFetchedArgumentsFit(t *testing.T) {
	a, b, _ := lends(t, 3*jobSize, &port.Names{})
	a.jobs[0].Job.Identity = job.Identify("f", []byte("another"))
	settle(a, b)
	if len(b.got) > 0 || !slices.Contains(a.did, "put back") {
		t.Errorf("%d jobs are begun, and its victim: %v", len(b.got), a.did)
	}
}

// gets says whether an engine was given a job, once, and all of it.
func (s *sharer) gets(j *steal.Job) bool {
	return len(s.got) == 1 && bytes.Equal(s.got[0].Arg, j.Arg) && s.got[0].Identity == j.Identity
}

// A job whose argument is too large for a message leaves all the same: it begins when the argument has come beside it.
// No message is larger than others, no engine hears of it, and when the job has ended neither side has it any more.
func TestLargeArguments(t *testing.T) {
	for _, named := range []bool{false, true} {
		a, b, lent := lends(t, 3*jobSize, &port.Names{Guarded: named})
		b.cut = true
		settle(a, b)
		if len(b.got) > 0 || a.d.Given() != 1 {
			t.Fatalf("without its argument: %d jobs are begun, %d are away", len(b.got), a.d.Given())
		}
		b.cut = false
		pass(time.Second, a, b)
		if !b.gets(&lent) {
			t.Fatalf("the thief's engine gets %d jobs: %v", len(b.got), b.did)
		}
		if named {
			b.got = nil
			b.tell(port.Event{Kind: port.Guarded, Segment: 1, Good: true, Shared: &port.Shared{}})
			if settle(a, b); !b.gets(&lent) {
				t.Fatalf("the thief's engine gets %d jobs after the guard: %v", len(b.got), b.did)
			}
		}
		if a.most > jobSize || b.most > jobSize {
			t.Errorf("messages of %d and %d bytes", a.most, b.most)
		}
		for _, s := range []*sharer{a, b} {
			if held := s.d.SharedStats().BytesHeld; held < uint64(len(lent.Arg)) {
				t.Errorf("%d bytes are held while the job runs", held)
			}
		}
		b.tell(port.Event{Kind: port.Finished, Segment: 1, Good: true, Outcome: []byte("out")})
		settle(a, b)
		a.tell(port.Event{Kind: port.Delivered, Ref: 1, Good: true})
		pass(time.Second, a, b)
		for _, s := range []*sharer{a, b} {
			if held := s.d.SharedStats().BytesHeld; held > 0 {
				t.Errorf("%d bytes are held when the job has ended", held)
			}
			if slices.Contains(s.did, "here") || slices.Contains(s.did, "forget") {
				t.Errorf("an engine is ordered %v", s.did)
			}
		}
	}
}

// What there is no room for stays at home, whole; so does what names as much as it may already.
func TestArgumentsWithoutRoom(t *testing.T) {
	full := new(port.Names)
	for i := range port.MaxNeeds {
		full.Needs = append(full.Needs, sharedobj.Need{Digest: sharedobj.Digest{byte(i + 1)}})
	}
	for what, names := range map[string]*port.Names{"no room": {}, "no name": full} {
		argument := 4 * constantSize
		if len(names.Needs) > 0 {
			argument = 3 * jobSize
		}
		a, b, _ := lends(t, argument, names)
		settle(a, b)
		if s := a.d.Core().Stats(); s.PutBackTooLarge != 1 || !slices.Contains(a.did, "put back") || !a.stays ||
			a.d.Given() > 0 {
			t.Errorf("%s: %d are put back as too large; the victim's engine: %v", what, s.PutBackTooLarge, a.did)
		}
		if held := a.d.SharedStats().BytesHeld; held > 0 {
			t.Errorf("%s: %d bytes are held", what, held)
		}
	}
}

// Whoever judges what came of a job has its argument, and so has whoever is told of a lie about it, and whoever says
// whether it can be compared.
func TestArgumentsOfJudged(t *testing.T) {
	var asked []byte
	s, d, from := hearing(t, false, func(p *driver.Proving) {
		p.Alike = func(_ string, arg []byte) bool { asked = arg; return false }
	})
	s.arg = bytes.Repeat([]byte("large"), 100_000)
	s.gives(d, time.Second, job.Path{1})
	if from(job.Path{1})("b", "b", "lie"); !bytes.Equal(asked, s.arg) {
		t.Errorf("%d bytes of an argument say whether its job can be compared", len(asked))
	}
	s, d, from = hearing(t, true)
	s.arg = bytes.Repeat([]byte("large"), 100_000)
	s.gives(d, time.Second, job.Path{1})
	from(job.Path{1})("b", "b", "lie")
	if len(s.orders) != 1 || !bytes.Equal(s.orders[0].Job.Arg, s.arg) {
		t.Fatalf("%d outcomes are judged", len(s.orders))
	}
	d.Happened(2*time.Second, port.Event{Kind: port.Judged, Shared: &port.Shared{Ticket: s.orders[0].Shared.Ticket}})
	if len(s.caught) != 1 || !bytes.Equal(s.caught[0].Job.Arg, s.arg) {
		t.Errorf("%d lies are told of", len(s.caught))
	}
}

// A thief that is lost takes nothing with it: the copy that its victim runs has the argument.
func TestArgumentsOfCopies(t *testing.T) {
	a, b, lent := lends(t, 3*jobSize, &port.Names{})
	pass(time.Second, a, b)
	if !b.gets(&lent) {
		t.Fatalf("the thief's engine: %v", b.did)
	}
	crowd(a, a, b)
	b.queue, b.other = nil, newSharer(t, "a", false) // what it says is lost
	a.tell(port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Runs: 1, Idle: 1}})
	pass(6*time.Second, a)
	if !a.gets(&lent) {
		t.Errorf("the victim's engine gets %d jobs: %v", len(a.got), a.did)
	}
}
