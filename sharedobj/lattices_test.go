package sharedobj

import (
	"slices"
	"testing"
	"time"
)

// ordered finds an order of one kind.
func ordered(out Output, kind OrderKind) (o Order, ok bool) {
	i := slices.IndexFunc(out.Orders, func(o Order) bool { return o.Kind == kind })
	if i < 0 {
		return o, false
	}
	return out.Orders[i], true
}

// Of what is offered after the first offer the engine says nothing until it is collected. What it gives then may be
// more than what was compared with others, and what a guard has seen: values are encoded and guards asked again.
func TestOffersUntilCollected(t *testing.T) {
	c := newTestCore(t, nil)
	seed := Build([]byte("seed"))
	r := seedOf("bound", seed)
	d := r.Digest()
	c.Created(1, r, seed)
	c.Offered(2, d)
	c.Collected(3, d, Build([]byte("first")))
	if _, ok := ordered(c.Offered(4, d), OrderCollect); ok {
		t.Fatal("what is offered is told at once")
	}
	c.Hear(4, "b1", &News{Offers: []Offer{{d, nil}}})
	o, ok := ordered(c.Tick(c.lattices.sumsAt), OrderEncode)
	if !ok {
		t.Fatal("nothing is compared")
	}
	c.Encoded(c.now, o.Ticket, d, Build([]byte("second")))
	if _, ok = ordered(c.JobCame(c.now, Job{ID: 1, Victim: "b1", Needs: []Need{{Digest: d}}, Guarded: true}),
		OrderGuard); !ok {
		t.Fatal("no guard is asked")
	}
	c.Guarded(c.now, 1, false)
	if n := c.lattices.byDigest[d]; n.value == nil || n.collecting == 0 {
		t.Fatalf("%+v", n)
	}
	if _, ok = ordered(c.Collected(c.now+time.Millisecond, d, Build([]byte("third"))), OrderGuard); !ok {
		t.Error("a guard that was false does not see what was offered since")
	}
	if _, ok = ordered(c.Tick(c.lattices.sumsAt), OrderEncode); !ok {
		t.Error("the next comparison is of an older value")
	}
}

// A lattice that was closed, as too many others were open, is followed again when a job here names it: its parent's
// value is joined, and what is offered to it is told, also what was offered when nobody listened.
func TestClosedLatticesAreNamed(t *testing.T) {
	c := newTestCore(t, func(c *Config) { c.MaxLattices = 2 })
	var ds []Digest
	for _, name := range []string{"closed", "second", "third"} {
		seed := Build([]byte(name))
		r := seedOf(name, seed)
		c.Created(1, r, seed)
		ds = append(ds, r.Digest())
	}
	c.Offered(2, ds[0]) // the engine waits for a collection from now on
	if _, ok := ordered(c.JobCame(3, Job{ID: 1, Victim: "a2", Needs: []Need{{Digest: ds[0], Floor: []byte("f")}}}),
		OrderJoin); !ok {
		t.Error("its parent's value is not joined")
	}
	if o, ok := ordered(c.Tick(4), OrderCollect); !ok || o.Digest != ds[0] {
		t.Error("what was offered to it is not told")
	}
	if at, _ := c.Next(); at <= c.now {
		t.Errorf("something is due at %v, and it is %v", at, c.now)
	}
}
