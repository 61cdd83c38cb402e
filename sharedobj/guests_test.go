package sharedobj

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// hostOf is the core of a1, which has a guest.
func hostOf(t *testing.T, change func(*Config)) *Core {
	c := newTestCore(t, change)
	c.SetMembers(1, append(membersOf("a1", "a2", "b1", "b2"), Member{ID: "a9", Cluster: "a", Guest: true}))
	return c
}

// bring answers what a core asks a guest for, each digest as a constant of so many bytes, and sends no piece of it.
func bring(c *Core, out Output, bodies map[Digest]*Body) {
	for _, m := range slices.Clone(out.Messages) {
		if m.Ask != nil && m.To == "a9" {
			b := bodies[m.Ask.Digest]
			c.Step(2, &Message{From: "a9", To: "a1", Answer: &Answer{Digest: m.Ask.Digest, Status: Here,
				Told: []Told{{Recipe: Recipe{Kind: Constant, Name: "x", State: b.Blob}}}}})
		}
	}
}

// However much a guest's jobs name, the bytes that are got for them are an eighth of all at most, and so are the
// fetches bounded: what others' jobs name comes.
func TestGuestsAreBounded(t *testing.T) {
	c := hostOf(t, func(c *Config) { c.MaxBytes = 64 * large })
	back := 0
	for i := range 200 {
		b := Build(append(noise(2*large), byte(i)))
		d := (&Recipe{Kind: Constant, Name: "x", State: b.Blob}).Digest()
		out := c.JobCame(1, Job{ID: JobID(i + 1), Victim: "a9", Needs: []Need{{Digest: d}}})
		back += len(slices.DeleteFunc(slices.Clone(out.Orders), func(o Order) bool { return o.Kind != OrderBack }))
		bring(c, out, map[Digest]*Body{d: b})
	}
	if most := c.cfg.MaxBytes / 8; c.store.reserved > most || c.store.reserved == 0 {
		t.Errorf("%d bytes are on their way for a guest, at most %d may be", c.store.reserved, most)
	}
	if n := len(c.fetches.list); n > c.cfg.MaxAdopted || back != 200-n {
		t.Errorf("%d fetches for a guest, %d jobs went back", n, back)
	}
	b := Build(noise(20 * large))
	r := &Recipe{Kind: Constant, Name: "sky", State: b.Blob}
	c.JobCame(2, Job{ID: 1000, Victim: "a2", Needs: []Need{{Digest: r.Digest()}}})
	before := c.store.reserved
	c.Step(3, &Message{From: "a2", To: "a1", Answer: &Answer{Digest: r.Digest(), Status: Here,
		Told: []Told{{Recipe: *r}}}})
	if c.store.reserved != before+b.Size {
		t.Error("another's job cannot have what it names")
	}
}

// What came for a guest's job and stays as long as that does counts, too, also what came with the answer; and a value
// larger than all guests may have is not begun.
func TestGuestsBytesCount(t *testing.T) {
	c := hostOf(t, func(c *Config) { c.MaxBytes = 16 * maxInline })
	for i := range 3 {
		b := Build(append(noise(maxInline-1), byte(i)))
		r := Recipe{Kind: Constant, Name: "x", State: b.Blob}
		c.JobCame(1, Job{ID: JobID(i + 1), Victim: "a9", Needs: []Need{{Digest: r.Digest()}}})
		c.Step(2, &Message{From: "a9", To: "a1", Answer: &Answer{Digest: r.Digest(), Status: Here,
			Told: []Told{{Recipe: r, State: b.Bytes()}}}})
	}
	if s := c.Stats(); s.BytesHeld != 2*maxInline || s.JobsBack != 1 {
		t.Errorf("%d bytes are held for a guest, %d jobs went back", s.BytesHeld, s.JobsBack)
	}
	c = hostOf(t, func(c *Config) { c.MaxBytes = 16 * large })
	b := Build(noise(3 * large))
	r := Recipe{Kind: Constant, Name: "x", State: b.Blob}
	c.JobCame(1, Job{ID: 1, Victim: "a9", Needs: []Need{{Digest: r.Digest()}}})
	out := c.Step(2, &Message{From: "a9", To: "a1", Answer: &Answer{Digest: r.Digest(), Status: Here,
		Told: []Told{{Recipe: r}}}})
	if len(out.Orders) != 1 || out.Orders[0].Kind != OrderBack {
		t.Errorf("orders %+v", out.Orders)
	}
}

// What is made here of a guest's writes counts as well: a small write may lead to a large state.
func TestGuestsWritesCount(t *testing.T) {
	c := hostOf(t, func(c *Config) { c.MaxBytes = 16 * large })
	first := Build(noise(large))
	root := Recipe{Kind: Phased, Name: "x", State: first.Blob}
	c.Created(1, &root, first)
	applied := 0
	next := func(i int) (r Recipe, write, state *Body) {
		write, state = Build([]byte{byte(i)}), Build(append(noise(large-1), byte(i)))
		r = Recipe{Kind: Phased, Name: "x", Parent: root.Digest(), Write: write.Blob, State: state.Blob}
		return r, write, state
	}
	for i := range 5 {
		r, _, _ := next(i)
		c.JobCame(1, Job{ID: JobID(i + 1), Victim: "a9", Needs: []Need{{Digest: r.Digest()}}})
	}
	for i := range 5 {
		r, write, state := next(i)
		out := c.Step(2, &Message{From: "a9", To: "a1", Answer: &Answer{Digest: r.Digest(), Status: Here,
			Told: []Told{{Recipe: r, Write: write.Bytes()}}}})
		for _, o := range slices.Clone(out.Orders) {
			if o.Kind == OrderApply {
				applied++
				c.Applied(3, o.Ticket, state)
			}
		}
	}
	if applied != 2 {
		t.Errorf("%d writes of a guest are applied, whose states take as much as two", applied)
	}
}

// A guest has few questions going for what nobody here has, and what was counted of one goes with it.
func TestGuestsAsk(t *testing.T) {
	c := hostOf(t, nil)
	for i := range 100 {
		c.Step(1, &Message{From: "a9", To: "a1", Ask: &Ask{Digest: Digest{byte(i + 1)}}})
	}
	if n := len(c.fetches.list); n != maxGuestAsks {
		t.Errorf("%d fetches because a guest has asked", n)
	}
	b := Build(noise(100))
	r := &Recipe{Kind: Lattice, Name: "x", State: b.Blob}
	c.Created(1, r, b)
	c.Step(1, &Message{From: "a9", To: "a1", Get: &Get{b.Top, []PieceID{{}}}})
	out := c.Hear(1, "a9", &News{Offers: []Offer{{r.Digest(), []byte("x")}}})
	if len(out.Orders) != 1 || out.Orders[0].Kind != OrderJoin || !out.Orders[0].Own {
		t.Fatalf("orders %+v", out.Orders)
	}
	c.Joined(1, out.Orders[0].Ticket, false, false)
	if len(c.serve.meters) != 1 || len(c.lattices.strikes) != 1 {
		t.Fatalf("%d meters, %d strikes", len(c.serve.meters), len(c.lattices.strikes))
	}
	c.SetMembers(2, membersOf("a1", "a2", "b1", "b2"))
	if len(c.serve.meters) != 0 || len(c.lattices.strikes) != 0 {
		t.Errorf("%d meters, %d strikes are of peers that are gone", len(c.serve.meters), len(c.lattices.strikes))
	}
}

// A guest tells its host of what is too large for the news, and is never told of to others.
func TestGuestsTellTheirHosts(t *testing.T) {
	g, err := NewCore(Default(), "a9", append(membersOf("a1"), Member{ID: "a9", Cluster: "a", Guest: true}),
		rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	seed, write := Build([]byte("x")), Build(noise(10_000))
	r := &Recipe{Kind: Phased, Name: "x", State: seed.Blob}
	g.Created(1, r, seed)
	next := &Recipe{Kind: Phased, Name: "x", Parent: r.Digest(), Write: write.Blob, State: write.Blob}
	out := g.Wrote(1, next, write, write)
	if len(out.Messages) != 1 || out.Messages[0].To != "a1" || out.Messages[0].Announce == nil {
		t.Fatalf("messages %+v", out.Messages)
	}
	c := hostOf(t, nil)
	if out := c.Step(1, out.Messages[0]); len(out.Messages)+len(c.fetches.list) > 0 {
		t.Errorf("the host passes it on: %+v", out.Messages)
	}
	c.Created(1, r, seed)
	c.Step(1, &Message{From: "a9", To: "a1", Ask: &Ask{Digest: r.Digest()}})
	if h := c.Holders(r.Digest()); len(h) != 0 {
		t.Errorf("%v are said to have it", h)
	}
	lattice := &Recipe{Kind: Lattice, Name: "l", State: seed.Blob}
	for len(c.place.below(lattice.Digest(), "a9")) == 0 { // until this one ranks first
		lattice.Name += "l"
	}
	c.Created(1, lattice, seed)
	offer := &Announce{Origin: "a9", Recipe: *lattice, Offer: write.Blob}
	for _, m := range c.Step(2, &Message{From: "a9", To: "a1", Announce: offer}).Messages {
		if m.To != "a9" || m.Get == nil {
			t.Errorf("the host says %+v to %s", m, m.To)
		}
	}
}

// A guest whose host takes part no more tells nobody.
func TestGuestsMayBeAlone(t *testing.T) {
	alone := []Member{{ID: "a9", Cluster: "a", Guest: true}}
	g, err := NewCore(Default(), "a9", alone, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	seed, write := Build([]byte("x")), Build(noise(10_000))
	r := &Recipe{Kind: Phased, Name: "x", State: seed.Blob}
	g.Created(1, r, seed)
	next := &Recipe{Kind: Phased, Name: "x", Parent: r.Digest(), Write: write.Blob, State: write.Blob}
	if told := g.Wrote(1, next, write, write).Messages; len(told) > 0 {
		t.Errorf("it tells %+v", told)
	}
}
