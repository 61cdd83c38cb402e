package driver

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/steal/policy"
)

// deaf takes all orders, and tells nothing.
type deaf struct{ did map[port.OrderKind]int }

func (e deaf) Do(o *port.Order) { e.did[o.Kind]++ }

func (deaf) Send(*steal.Message)   {}
func (deaf) Tell(*steal.News)      {}
func (deaf) Answer(outcome []byte) {}

func unanswered(t *testing.T) (*Driver, deaf) {
	t.Helper()
	members := steal.NewMembers([]steal.Member{{ID: "a"}})
	advice, err := policy.ByName("rs", "a")
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	core, err := steal.NewCore(steal.LAN(), steal.Run{ID: job.RunID{1}, Root: steal.Job{Function: "f"},
		Deputies: []steal.PeerID{"a"}}, steal.Address{Peer: "a", Inc: 1}, members, advice, random)
	if err != nil {
		t.Fatal(err)
	}
	shared, err := sharedobj.NewCore(sharedobj.Default(), "a", nil, random)
	if err != nil {
		t.Fatal(err)
	}
	e := deaf{map[port.OrderKind]int{}}
	return New(Config{Core: core, Engine: e, Transport: e, Shared: shared}), e
}

// An engine finds a job again and again whose outcome is here, and never says that it has got it: what is outside is
// bounded, and all else goes back. A job that is told of twice is one.
func TestOutsideIsBounded(t *testing.T) {
	d, e := unanswered(t)
	path := slices.Repeat(job.Path{1}, steal.MaxPath)
	d.Happened(1, port.Event{Kind: port.Kept, Kept: []port.KeptJob{{Partial: steal.Partial{Path: path,
		Outcome: []byte("x")}}}})
	const events, each = 40, 256
	ref := steal.Ref(0)
	for range events {
		jobs := make([]steal.Taken, each)
		for i := range jobs {
			ref++
			jobs[i] = steal.Taken{Ref: ref, Spawned: true, Job: steal.Job{Path: path}}
		}
		d.Happened(1, port.Event{Kind: port.Found, Jobs: jobs})
	}
	if n := e.did[port.Deliver]; n < 1000 || n != d.Given() || n > 1+each+maxOut/(4*len(path)) ||
		n+e.did[port.PutBack] != events*each {
		t.Errorf("%d are delivered and outside, %d go back", n, e.did[port.PutBack])
	}
	d.isBack(1)
	d.isBack(2)
	d.give(1, []steal.Taken{{Ref: 1}, {Ref: 1}})
	for i := range ref {
		d.isBack(i + 1)
	}
	if d.out != 0 {
		t.Errorf("of nothing that is outside %d bytes are", d.out)
	}
}

// What an engine says that it has made, and cannot be what it says, leaves nothing behind.
func TestMadeNothing(t *testing.T) {
	d, _ := unanswered(t)
	body := sharedobj.Build([]byte("sea"))
	for i := range 100 {
		r := &sharedobj.Recipe{Kind: sharedobj.Constant, Name: "sea", State: body.Blob}
		if i > 0 {
			r.State.Size += uint64(i)
		}
		d.Happened(1, port.Event{Kind: port.Made, Shared: &port.Shared{Recipe: r, State: body}})
	}
	if n := len(d.shared.there); n != 1 {
		t.Errorf("%d values are there", n)
	}
}
