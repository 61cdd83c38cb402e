package compute

import (
	"errors"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
)

// A reading names a value of each kind.
type reading struct {
	Text satin.Constant[string]
	Sum  satin.Object[[]int, int]
	Most satin.Lattice[string, int]
	Bid  int
}

func appended(old []int, n int) []int { return append(append([]int(nil), old...), n) }

func most(a, b int) int { return max(a, b) }

func positive(_ string, n int) error {
	if n < 0 {
		return errors.New("it is negative")
	}
	return nil
}

// readAll gives what it reads: the constant's length, what was written, and the lattice before and after an offer.
func readAll(f *satin.Frame, r reading) []int {
	before := r.Most.Value(f)
	r.Most.Offer(f, r.Bid)
	all := append([]int{len(r.Text.Read(f))}, r.Sum.Read(f)...)
	return append(all, before, r.Most.Value(f))
}

func double(_ *satin.Frame, n int) int { return 2 * n }

// even is a guard that does not like one number.
func even(_ *satin.Frame, n int) bool {
	if n == 13 {
		panic("13")
	}
	return n%2 == 0
}

func share(f *satin.Frame, bid int) reading {
	sum := satin.Share(f, appended, []int{1}).Write(f, 2).Write(f, 3)
	return reading{satin.ShareConstant(f, "hello"), sum, satin.ShareLattice(f, most, "bids", 10), bid}
}

func init() {
	satin.RegisterObject("compute.appended", appended)
	satin.RegisterLattice("compute.most", most, positive)
	satin.Register("compute.readAll", readAll)
	satin.Register("compute.share", share)
	satin.RegisterLattice[string]("compute.believed", believed, nil)
	satin.Register("compute.believe", believe)
	satin.Register("compute.double", double)
	satin.RegisterGuard(double, even)
}

func believed(a, b int) int { return max(a, b) }

func believe(f *satin.Frame, _ int) satin.Lattice[string, int] {
	return satin.ShareLattice(f, believed, "words", 1)
}

func submit(t *testing.T, p *engine.Pool, fn string, arg any) any {
	t.Helper()
	done := make(chan engine.Outcome, 1)
	if _, err := p.Submit(engine.Job{ID: job.ID{Run: job.NewRunID()}, Func: fn, Arg: arg},
		func(o engine.Outcome) { done <- o }); err != nil {
		t.Fatal(err)
	}
	select {
	case o := <-done:
		if o.Failure != nil {
			t.Fatal(o.Failure)
		}
		return o.Result
	case <-time.After(8 * time.Minute):
		t.Fatal("the job does not end")
		return nil
	}
}

// place is an engine that a test drives by hand.
type place struct {
	*Engine
	t    *testing.T
	told []port.Event
	n    steal.SegmentID
}

func newPlace(t *testing.T) *place {
	t.Helper()
	e, err := New(Config{Workers: 1, KeepAfter: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	e.Do(&port.Order{Kind: port.Cores, Max: 1, Others: true})
	return &place{Engine: e, t: t}
}

// await waits for an event of a kind, and takes it out.
func (p *place) await(kind port.EventKind) port.Event {
	p.t.Helper()
	for begun := time.Now(); time.Since(begun) < 8*time.Minute; {
		events, _ := p.Poll()
		p.told = append(p.told, events...)
		for i, e := range p.told {
			if e.Kind == kind {
				p.told = append(p.told[:i:i], p.told[i+1:]...)
				return e
			}
		}
		select {
		case <-p.Bell():
		case <-time.After(time.Second):
		}
	}
	p.t.Fatalf("no %v; what came: %+v", kind, p.told)
	return port.Event{}
}

// run begins a job.
func (p *place) run(fn string, arg []byte) steal.SegmentID {
	p.n++
	p.Do(&port.Order{Kind: port.Run, Segment: p.n, Job: &steal.Job{Path: job.Path{uint32(p.n)}, Function: fn,
		Arg: arg}})
	return p.n
}

// result waits for what came of a job.
func (p *place) result(fn string) (any, error) {
	p.t.Helper()
	f, _ := engine.Lookup(fn)
	v, err, panicked, bad := DecodeOutcome(job.RunID{}, p.await(port.Finished).Outcome, f)
	if panicked != nil {
		return nil, panicked
	}
	return v, errors.Join(err, bad)
}

// leave is what happens when a job leaves: its argument, and what is told of what it names.
func (p *place) leave(arg any) (b []byte, names *port.Names) {
	p.t.Helper()
	encoded, err := p.sharing.names(engine.Job{Func: "compute.readAll", Arg: arg})
	if err == nil {
		b, err = wire.Value().Encode(arg)
	}
	if err == nil {
		names, err = port.DecodeNames(encoded)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return b, names
}

// bring gives a place what is told of one version.
func (p *place) bring(e port.Event) {
	p.Do(&port.Order{Kind: port.Here, Shared: &port.Shared{Digest: e.Shared.Recipe.Digest(),
		Name: e.Shared.Recipe.Name, Data: e.Shared.State.Bytes()}})
}

// What a write has given is kept for as long as it is not known whether it is right, and no longer.
func TestAppliedIsSettled(t *testing.T) {
	a, b := newPlace(t), newPlace(t)
	_, _ = a.leave(submit(t, a.pool, "compute.share", 20).(reading))
	var list *port.Shared
	for range 3 {
		e := a.await(port.Made)
		b.bring(e)
		if e.Shared.Recipe.Kind == sharedobj.Phased {
			list = e.Shared
		}
	}
	write, err := wire.Shared().Encode(7)
	if err != nil {
		t.Fatal(err)
	}
	for ticket, end := range []port.OrderKind{port.Discard, port.Here} {
		v := &port.Shared{Ticket: sharedobj.Ticket(ticket + 1), Digest: sharedobj.Digest{byte(ticket)},
			Parent: list.Recipe.Digest(), Name: list.Recipe.Name, Data: write}
		b.Do(&port.Order{Kind: port.Apply, Shared: v})
		if e := b.await(port.Applied); e.Shared.State == nil || len(b.sharing.applied) != 1 {
			t.Fatalf("a write gives %+v; %d states are kept", e.Shared, len(b.sharing.applied))
		}
		b.Do(&port.Order{Kind: end, Shared: &port.Shared{Ticket: v.Ticket, Digest: v.Digest, Name: v.Name}})
		if n := len(b.sharing.applied); n > 0 {
			t.Errorf("after %v %d states are kept", end, n)
		}
		found, err := b.pool.Shelf().Look(engine.Name(v.Digest), func([]byte) (any, error) {
			return nil, errors.New("it is decoded, although the write has made it here")
		})
		if made, _ := found.(*[]int); err != nil || (made != nil) != (end == port.Here) ||
			made != nil && !slices.Equal(*made, []int{1, 2, 3, 7}) {
			t.Errorf("after %v readers get %v, %v", end, found, err)
		}
	}
}

// A write that replaces the state is hashed once, and called the same as if it were hashed twice.
func TestReplaced(t *testing.T) {
	s := newSharing(&Engine{})
	v := engine.Version{Kind: engine.Phased, Registered: "x", Parent: engine.Name{1}, State: []byte("all"),
		Write: []byte("all")}
	n := s.Name(v).(*named)
	if n.write != n.state || n.recipe.Write != n.recipe.State {
		t.Errorf("its write is %v, its state %v", n.recipe.Write, n.recipe.State)
	}
	if v.Write = []byte("some"); s.Name(v).(*named).recipe.Write == n.recipe.Write {
		t.Error("another write has the same hash")
	}
}

// A job that names shared values reads the same after it has travelled, and its argument is the same bytes whenever
// it is encoded: what is known of a lattice is not in it, but goes beside it. Jobs that come to one process share.
func TestHandlesTravel(t *testing.T) {
	a, b := newPlace(t), newPlace(t)
	made := submit(t, a.pool, "compute.share", 20).(reading)
	arg, names := a.leave(made)
	if len(names.Needs) != 3 {
		t.Fatalf("the job names %+v", names)
	}
	for range 3 {
		b.bring(a.await(port.Made))
	}
	b.run("compute.readAll", arg)
	if got, err := b.result("compute.readAll"); !reflect.DeepEqual(got, []int{5, 1, 2, 3, 10, 20}) {
		t.Errorf("%v, %v", got, err)
	}
	submit(t, a.pool, "compute.readAll", made) // the lattice grows
	again, names := a.leave(made)
	if !reflect.DeepEqual(arg, again) {
		t.Error("the argument of the same job has other bytes")
	}
	if floor := names.Needs[2].Floor; !reflect.DeepEqual(floor, []byte{20}) {
		t.Errorf("the parent's value of the lattice is %x", floor)
	}
	b.run("compute.readAll", arg)
	if got, err := b.result("compute.readAll"); !reflect.DeepEqual(got, []int{5, 1, 2, 3, 20, 20}) {
		t.Errorf("a second job in the process: %v, %v", got, err)
	}
	if _, err := wire.Value().Encode(reading{}); err != nil {
		t.Errorf("handles of nothing: %v", err)
	}
}

// What nobody can check a guest may not offer, another member may.
func TestGuestsOffersAreChecked(t *testing.T) {
	a := newPlace(t)
	names, err := a.sharing.tellOf(submit(t, a.pool, "compute.believe", 0))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	for _, guest := range []bool{true, false} {
		a.Do(&port.Order{Kind: port.Join, Shared: &port.Shared{Digest: names[0], Data: []byte{9}, Own: guest}})
		if e := a.await(port.Joined); e.Good == guest {
			t.Errorf("of a guest: %v, taken: %v", guest, e.Good)
		}
	}
}

// A read of what is not here waits, and lends its core to other jobs; what cannot be had fails it with a panic that
// says so; one that is aborted while it waits ends.
func TestReadWaits(t *testing.T) {
	a, b := newPlace(t), newPlace(t)
	arg, _ := a.leave(submit(t, a.pool, "compute.share", 20).(reading))
	made := []port.Event{a.await(port.Made), a.await(port.Made), a.await(port.Made)}
	b.run("compute.readAll", arg)
	lattice := b.await(port.Wanted).Shared.Digest
	if lattice != made[2].Shared.Recipe.Digest() {
		t.Fatal("something else is wanted than what the job reads first")
	}
	b.run("compute.double", []byte{21}) // there is one core, and nobody uses it
	if got, err := b.result("compute.double"); got != 42 {
		t.Fatalf("while a job waits for what it reads, another gives %v, %v", got, err)
	}
	for _, next := range []int{2, 0, 1} { // in which it reads them
		b.bring(made[next])
		if next != 1 {
			b.await(port.Wanted)
		}
	}
	if got, err := b.result("compute.readAll"); !reflect.DeepEqual(got, []int{5, 1, 2, 3, 10, 20}) {
		t.Errorf("%v, %v", got, err)
	}

	c := newPlace(t)
	c.run("compute.readAll", arg)
	c.Do(&port.Order{Kind: port.Failed, Shared: &port.Shared{Digest: c.await(port.Wanted).Shared.Digest,
		Text: "nobody has it"}})
	if _, err := c.result("compute.readAll"); err == nil || !strings.Contains(err.Error(), "nobody has it") {
		t.Errorf("a read of what cannot be had: %v", err)
	}
	id := c.run("compute.readAll", arg)
	c.await(port.Wanted)
	c.Do(&port.Order{Kind: port.Abort, Segment: id})
	c.await(port.Stopped)
	c.run("compute.double", []byte{21})
	if got, err := c.result("compute.double"); got != 42 {
		t.Errorf("after an abort: %v, %v", got, err)
	}
}

// What was forgotten while a job that names it was on its way out is told again; what cannot be held for others
// keeps its jobs at home.
func TestForgottenAndRefused(t *testing.T) {
	a := newPlace(t)
	made := submit(t, a.pool, "compute.share", 20).(reading)
	a.leave(made)
	digest := a.await(port.Made).Shared.Recipe.Digest()
	a.await(port.Made)
	a.await(port.Made)
	forget := &port.Order{Kind: port.Forget, Shared: &port.Shared{Digest: digest}}
	a.Do(forget)
	a.leave(made)
	if again := a.await(port.Made); again.Shared.Recipe.Digest() != digest {
		t.Error("something else is told again")
	}
	a.Do(&port.Order{Kind: port.Failed, Shared: &port.Shared{Digest: digest, Text: "it is too large"}})
	if _, err := a.sharing.names(engine.Job{Func: "compute.readAll", Arg: made}); err == nil ||
		!strings.Contains(err.Error(), "it is too large") {
		t.Errorf("a job whose constant cannot be shared: %v", err)
	}
	if e := a.await(port.Troubled); !strings.Contains(e.Text, "it is too large") {
		t.Errorf("%+v", e)
	}
}

// Where no swarm is, a handle stays: its job is not given away.
func TestHandlesStayWithoutSwarm(t *testing.T) {
	p, err := engine.NewPool(engine.Config{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	made := submit(t, p, "compute.share", 20).(reading)
	if _, err := wire.Value().Encode(made); err == nil {
		t.Error("a handle left a pool that has no codec")
	}
}

// Bytes that are not of a handle are an error of the decoder or of the job, never a crash.
func FuzzHandles(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{12, 'c', 'o'})
	f.Add(make([]byte, 32))
	f.Add(append(make([]byte, 32), "compute.most"...))
	f.Add(append(make([]byte, 32), "compute.appended"...))
	e, err := New(Config{Workers: 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(e.Close)
	e.Do(&port.Order{Kind: port.Cores, Max: 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		var r reading
		if r.Text.UnmarshalBinary(b[:min(len(b), 32)]) != nil {
			return
		}
		if r.Sum.UnmarshalBinary(b) != nil && r.Most.UnmarshalBinary(b) != nil {
			return
		}
		done := make(chan engine.Outcome, 1)
		g, err := e.pool.Submit(engine.Job{Func: "compute.readAll", Arg: r}, func(o engine.Outcome) { done <- o })
		if err != nil {
			t.Fatal(err)
		}
		for {
			select {
			case <-done:
				return
			case <-e.Bell():
			}
			events, _ := e.Poll()
			for _, ev := range events {
				if ev.Kind == port.Wanted { // made-up names lead nowhere
					g.Cancel()
					return
				}
			}
		}
	})
}

// A guard says whether a job may begin; one that panics says no, and the user is told.
func TestGuard(t *testing.T) {
	p := newPlace(t)
	for _, n := range []byte{4, 5, 13} {
		p.Do(&port.Order{Kind: port.Guard, Segment: steal.SegmentID(n), Shared: &port.Shared{},
			Job: &steal.Job{Function: "compute.double", Arg: []byte{n}}})
		if e := p.await(port.Guarded); e.Segment != steal.SegmentID(n) || e.Good != (n == 4) {
			t.Errorf("of %d: %+v", n, e)
		}
	}
	if e := p.await(port.Troubled); !strings.Contains(e.Text, "13") {
		t.Errorf("%+v", e)
	}
	if b, err := p.sharing.names(engine.Job{Func: "compute.double", Arg: 4}); err != nil || len(b) == 0 {
		t.Errorf("a job with a guard names %x, %v", b, err)
	}
}

// TestPausedJoinsWait: where jobs are paused nothing is joined and no guard evaluated until they go on, and whoever
// asks for a value has it. A run that waits for its turn is not paused.
func TestPausedJoinsWait(t *testing.T) {
	p := newPlace(t)
	_, _ = p.leave(submit(t, p.pool, "compute.share", 20).(reading))
	var lattice sharedobj.Digest
	for lattice == (sharedobj.Digest{}) {
		if e := p.await(port.Made); e.Shared.Recipe.Kind == sharedobj.Lattice {
			lattice = e.Shared.Recipe.Digest()
		}
	}
	number := func(n int) []byte {
		b, err := p.sharing.Encode(n)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	p.Do(&port.Order{Kind: port.Cores})
	for _, o := range []port.Order{
		{Kind: port.Join, Shared: &port.Shared{Digest: lattice, Data: number(30)}},
		{Kind: port.Guard, Shared: &port.Shared{}, Job: &steal.Job{Function: "compute.double", Arg: number(2)}},
		{Kind: port.Encode, Shared: &port.Shared{Digest: lattice}},
	} {
		p.Do(&o)
	}
	if e := p.await(port.Encoded); !slices.Equal(e.Shared.State.Bytes(), number(10)) {
		t.Errorf("the value is %x", e.Shared.State.Bytes())
	}
	if i := slices.IndexFunc(p.told, func(e port.Event) bool {
		return e.Kind == port.Joined || e.Kind == port.Guarded
	}); i >= 0 {
		t.Errorf("although the jobs are paused: %+v", p.told[i])
	}
	p.Do(&port.Order{Kind: port.Cores, Turns: true})
	if !p.await(port.Joined).Shared.Changed || !p.await(port.Guarded).Good {
		t.Error("they are not as they were to be")
	}
}

// TestTroubleOnce: members whose offers are not valid do not fill the log: who passes one on does not answer for it, so
// there may be any number.
func TestTroubleOnce(t *testing.T) {
	p := newPlace(t)
	_, _ = p.leave(submit(t, p.pool, "compute.share", 20).(reading))
	var lattice sharedobj.Digest
	for lattice == (sharedobj.Digest{}) {
		if e := p.await(port.Made); e.Shared.Recipe.Kind == sharedobj.Lattice {
			lattice = e.Shared.Recipe.Digest()
		}
	}
	bad, err := p.sharing.Encode(-1)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		p.Do(&port.Order{Kind: port.Join, Shared: &port.Shared{Digest: lattice, Data: bad}})
		p.await(port.Joined)
	}
	p.await(port.Troubled)
	if slices.ContainsFunc(p.told, func(e port.Event) bool { return e.Kind == port.Troubled }) {
		t.Error("the same is told again")
	}
}

// TestNothingShared: an engine whose jobs share nothing keeps no thread for that, and no processor.
func TestNothingShared(t *testing.T) {
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	p := newPlace(t)
	submit(t, p.pool, "compute.double", 2)
	if n := runtime.GOMAXPROCS(0); n != 2 {
		t.Errorf("for one worker and the network GOMAXPROCS is %d", n)
	}
}
