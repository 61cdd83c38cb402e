package sharedobj

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// checkSenders sees to it that what each sender pays for is what there is of it, and no more than it may be.
func checkSenders(t interface {
	Helper()
	Fatalf(string, ...any)
}, c *Core) {
	t.Helper()
	s := &c.store.senders
	is := map[PeerID]account{}
	all := uint64(0)
	count := func(from PeerID, bytes uint64, entries int) {
		if a := is[from]; from != "" {
			all += bytes
			is[from] = account{a.bytes + bytes, a.entries + entries}
		}
	}
	for _, e := range c.store.entries {
		count(e.from, e.size(), 1)
	}
	for _, f := range c.fetches.list {
		count(f.from, f.paid, 0)
		if f.paid > 0 && f.payer() == "" {
			t.Fatalf("%s pays for what somebody here waits for", f.from)
		}
	}
	for _, e := range c.errands.list {
		count(e.payer, e.pull.parts.blob.Size, 0)
	}
	for _, a := range c.fetches.applies {
		count(a.payer, a.size, 0)
	}
	for _, j := range c.lattices.joins {
		count(j.from, j.paid, 0)
	}
	for p := range s.parcels {
		count(p.from, c.store.body(p.top).Size, 0)
	}
	for from, a := range s.of {
		if is[from] != a || a.bytes > c.cfg.MaxBytes/senderPart || a.entries > max(1, c.cfg.MaxEntries/senderPart) {
			t.Fatalf("%s has %+v, and pays for %+v", from, is[from], a)
		}
		delete(is, from)
	}
	for from, a := range is {
		if a != (account{}) {
			t.Fatalf("%s has %+v, and pays for nothing", from, a)
		}
	}
	if s.bytes != all || all > c.cfg.MaxBytes/sendersPart {
		t.Fatalf("senders have %d bytes, and pay for %d", all, s.bytes)
	}
}

// unit is so much that it comes in pieces.
const unit = 2 * pieceSize

// version makes a version after another, and what leads to it.
func version(parent *Recipe, i, size int) (r *Recipe, write, state *Body) {
	write, state = Build([]byte{byte(i), byte(i >> 8)}), Build(append(noise(size-2), byte(i), byte(i>>8)))
	return &Recipe{Kind: Phased, Name: parent.Name, Parent: parent.Digest(), Write: write.Blob, State: state.Blob},
		write, state
}

// tell is gossip of a write that a core hears and applies; ok is false if it does not apply it.
func tell(c *Core, from PeerID, parent *Recipe, i, size int) (d Digest, ok bool) {
	r, write, state := version(parent, i, size)
	for _, o := range c.Hear(2, from, &News{Writes: []Told{{Recipe: *r, Write: write.Bytes()}}}).Orders {
		if o.Kind == OrderApply {
			c.Applied(3, o.Ticket, state)
			return r.Digest(), true
		}
	}
	return r.Digest(), false
}

// What a member pushes, by gossip, announcements, questions for others or offers, takes a quarter of the room and of
// the table at most, in the place of its own; what another member pushes, and what jobs here name, still comes. It is
// said once.
func TestSendersAreBounded(t *testing.T) {
	c := newTestCore(t, func(c *Config) { c.MaxBytes, c.MaxEntries = 64*unit, 68 })
	first := Build(noise(100))
	root := &Recipe{Kind: Phased, Name: "x", State: first.Blob}
	c.Created(1, root, first)
	c.Pin(root.Digest())
	other, ok := tell(c, "b2", root, 5000, unit)
	if !ok {
		t.Fatal("an honest write is not applied")
	}
	for i := range 200 {
		if _, ok := tell(c, "b1", root, i, unit); !ok {
			t.Errorf("write %d is not applied: the sender's own makes room", i)
		}
		checkSenders(t, c)
	}
	if a := c.store.senders.of["b1"]; a.bytes < 10*unit || a.entries < 10 {
		t.Errorf("it has %+v", a)
	}
	if !c.Has(other) || !c.Has(root.Digest()) {
		t.Error("what others have sent, or need, makes room for it")
	}
	said := 0
	elsewhere := &Recipe{Kind: Phased, Name: "y", State: first.Blob}
	for i := range 200 { // of which no piece ever comes
		r, _, _ := version(elsewhere, 1000+i, 3*unit)
		for _, o := range c.Step(4, &Message{From: "b1", To: "a1",
			Announce: &Announce{Origin: "b1", Recipe: *r}}).Orders {
			if o.Kind == OrderNote && strings.Contains(o.Text, "b1 has sent more of") {
				said++
			}
		}
		c.Step(4, &Message{From: "b1", To: "a1", Ask: &Ask{Digest: Digest{byte(i)}, Holders: []PeerID{"b2"}}})
		checkSenders(t, c)
	}
	if said != 1 || c.Stats().Refused < 100 || c.Stats().PushedMost > 16*unit {
		t.Errorf("it was said %d times; %+v", said, c.Stats())
	}
	r, _, _ := version(elsewhere, 2000, 12*unit)
	c.Step(5, &Message{From: "b2", To: "a1", Announce: &Announce{Origin: "b2", Recipe: *r}})
	if f := c.fetches.byDigest[r.Digest()]; f == nil || f.pull == nil {
		t.Error("what another announces is not fetched")
	}
	r, _, _ = version(elsewhere, 3000, 14*unit)
	c.Step(5, &Message{From: "a2", To: "a1", Announce: &Announce{Origin: "a2", Recipe: *r}})
	checkSenders(t, c)
	b := Build(noise(34 * unit))
	needed := Recipe{Kind: Constant, Name: "sky", State: b.Blob}
	c.JobCame(6, Job{ID: 1, Victim: "a2", Needs: []Need{{Digest: needed.Digest()}}})
	c.Step(6, &Message{From: "a2", To: "a1", Answer: &Answer{Digest: needed.Digest(), Status: Here,
		Told: []Told{{Recipe: needed}}}})
	if f := c.fetches.byDigest[needed.Digest()]; f == nil || f.pull == nil {
		t.Error("what a job here names is not fetched")
	}
	checkSenders(t, c)
}

// What has come because a member has sent it is the run's as soon as a job here names it: it counts against nobody,
// and nothing else of that member's takes its place. So it is with what is still on its way.
func TestNamedIsTheRuns(t *testing.T) {
	c := newTestCore(t, func(c *Config) { c.MaxBytes = 20 * unit })
	first := Build(noise(100))
	root := &Recipe{Kind: Phased, Name: "x", State: first.Blob}
	c.Created(1, root, first)
	c.Pin(root.Digest())
	named, _ := tell(c, "b1", root, 1, 2*unit)
	coming, _, _ := version(&Recipe{Kind: Phased, Name: "y", State: first.Blob}, 2, 2*unit)
	c.Step(2, &Message{From: "b1", To: "a1", Announce: &Announce{Origin: "b1", Recipe: *coming}})
	if a := c.store.senders.of["b1"]; a.bytes < 4*unit || a.entries != 2 {
		t.Fatalf("it pays for %+v", a)
	}
	c.JobCame(3, Job{ID: 1, Victim: "b2", Needs: []Need{{Digest: named}, {Digest: coming.Digest()}}})
	if a := c.store.senders.of["b1"]; a != (account{}) {
		t.Errorf("it pays for %+v that a job names", a)
	}
	checkSenders(t, c)
	c.Withdrawn(3, 1)
	checkSenders(t, c)
	for i := range 20 {
		tell(c, "b1", root, 10+i, unit)
	}
	if checkSenders(t, c); !c.Has(named) {
		t.Error("what the run has makes room for what nobody named")
	}
}

// Values of lattices that a member offers are bounded while they come, wait to be joined, and are here for others; and
// those of which a member has the seeds fetched take no place of those that jobs here use.
func TestLatticesOfSenders(t *testing.T) {
	c := newTestCore(t, func(c *Config) { c.MaxBytes, c.MaxLattices = 64*unit, 2 })
	seed := Build([]byte("x"))
	var recipes []*Recipe
	for _, name := range []string{"one", "two", "three"} {
		recipes = append(recipes, &Recipe{Kind: Lattice, Name: name, State: seed.Blob})
	}
	c.Created(1, recipes[0], seed)
	joins := 0
	var wanted []*Message
	bodies := map[Hash]*Body{}
	take := func(out Output) {
		for _, m := range out.Messages {
			if m.Get != nil {
				wanted = append(wanted, m)
			}
		}
		for _, o := range out.Orders {
			if o.Kind == OrderJoin {
				joins++
			}
		}
		checkSenders(t, c)
	}
	for i := range 100 {
		b := Build(append(noise(5*unit), byte(i)))
		bodies[b.Top] = b
		take(c.Step(1, &Message{From: "b1", To: "a1", Announce: &Announce{Origin: "b1",
			Recipe: *recipes[0], Offer: b.Blob}}))
		for len(wanted) > 0 {
			get := wanted[0].Get
			wanted = wanted[1:]
			for _, id := range get.Pieces {
				data, _ := bodies[get.Top].Piece(id)
				take(c.Step(1, &Message{From: "b1", To: "a1", Piece: &Piece{Top: get.Top, ID: id, Data: data}}))
			}
		}
	}
	if joins != 3 { // of five units each, in sixteen
		t.Errorf("%d values of one sender wait to be joined", joins)
	}
	for _, r := range recipes[1:] { // its seed is fetched because a neighbour asks
		d := r.Digest()
		c.Step(2, &Message{From: "a2", To: "a1", Ask: &Ask{Digest: d, Holders: []PeerID{"b1"}}})
		f := c.fetches.fetch(d, "b1")
		f.from, f.askers = "a2", []asker{{"a2", false}}
		f.ways = []*way{{peer: "b1", state: asked}}
		c.Step(2, &Message{From: "b1", To: "a1", Answer: &Answer{Digest: d, Status: Here,
			Told: []Told{{Recipe: *r, State: seed.Bytes()}}}})
		checkSenders(t, c)
	}
	if l := c.lattices; l.byDigest[recipes[0].Digest()] == nil || l.byDigest[recipes[2].Digest()] != nil {
		t.Error("a lattice that nobody here has named takes the place of another")
	}
	c.Read(3, recipes[2].Digest())
	if l := c.lattices; l.byDigest[recipes[0].Digest()] == nil || l.byDigest[recipes[2].Digest()] == nil {
		t.Error("one that is named here does not take the place of one that is not")
	}
}

// One peer has a quarter of the table of pieces that are waited for, over all blobs, and of the comparisons of lattices
// that are under way: others have room. What it has had is free again when it is lost, or has been served.
func TestPlacesAreShared(t *testing.T) {
	c := newTestCore(t, nil)
	s := c.serve
	fill := func(id PeerID) (n int) {
		for s.hold(c.now, Hash{byte(n), byte(n >> 8)}, heldGet{id, PieceID{}, c.now}) {
			n++
		}
		return n
	}
	if n := fill("b1"); n != maxHeld/senderPart {
		t.Errorf("one has %d places", n)
	}
	if n := fill("b2"); n != maxHeld/senderPart || s.n != maxHeld/2 {
		t.Errorf("another has %d, of %d", n, s.n)
	}
	s.drop(Hash{}, func(g heldGet) bool { return g.peer == "b1" })
	if n := s.of["b1"]; n != maxHeld/senderPart-1 {
		t.Errorf("one that was served has %d", n)
	}
	if s.lost("b1"); s.n != maxHeld/senderPart || len(s.of) != 1 {
		t.Errorf("when one is lost there are %d, of %d peers", s.n, len(s.of))
	}

	seed := Build([]byte("0"))
	c.Created(1, &Recipe{Kind: Lattice, Name: "bids", State: seed.Blob}, seed)
	for _, id := range []PeerID{"b1", "b2"} {
		for range maxOwed {
			c.Step(1, &Message{From: id, To: "a1", Sums: &Sums{Values: []Sum{{Digest: Digest{1}, Blob: seed.Blob}}}})
		}
	}
	if n := len(c.lattices.owed); n != 2*maxOwed/senderPart {
		t.Errorf("%d comparisons are under way", n)
	}
}

// What one member has this peer fetch before a job names it is so much a second, whatever of it makes way for the next;
// what another announces is fetched beside it, and what a job names in any case. Nobody is blamed for that.
func TestFetchesOfSenders(t *testing.T) {
	c := newTestCore(t, func(c *Config) { c.MaxBytes, c.SentRate = 400*unit, 4*unit })
	elsewhere := &Recipe{Kind: Phased, Name: "y", State: Build(noise(100)).Blob}
	n := 0
	announced := func(from PeerID, at time.Duration) (fetched int) {
		for range 10 {
			n++
			r, _, _ := version(elsewhere, n, unit)
			out := c.Step(at, &Message{From: from, To: "a1", Announce: &Announce{Origin: from, Recipe: *r}})
			if slices.ContainsFunc(out.Orders, func(o Order) bool { return o.Kind == OrderNote }) {
				t.Errorf("at %s: %+v", from, out.Orders)
			}
			if f := c.fetches.byDigest[r.Digest()]; f != nil && f.pull != nil {
				fetched++
			}
		}
		return fetched
	}
	now := time.Second
	if a, b := announced("b1", now), announced("b2", now); a != 4 || b != 4 {
		t.Errorf("at once %d of one are fetched, and %d of another", a, b)
	}
	if a := announced("b1", now+time.Second/2); a != 2 {
		t.Errorf("%d are fetched half a second later", a)
	}
	if c.Stats().Refused == 0 {
		t.Error("what was refused is not counted")
	}
	b := Build(noise(20 * unit))
	needed := Recipe{Kind: Constant, Name: "sky", State: b.Blob}
	c.JobCame(now+time.Second, Job{ID: 1, Victim: "b1", Needs: []Need{{Digest: needed.Digest()}}})
	c.Step(now+time.Second, &Message{From: "b1", To: "a1", Answer: &Answer{Digest: needed.Digest(), Status: Here,
		Told: []Told{{Recipe: needed}}}})
	if f := c.fetches.byDigest[needed.Digest()]; f == nil || f.pull == nil {
		t.Error("what a job here names is not fetched")
	}
	c.SetMembers(now+time.Second, nil)
	if len(c.store.senders.fetched) > 0 {
		t.Error("what was fetched of who is gone is remembered")
	}
}

// One peer gets no more by comparing lattices than by asking for pieces.
func TestComparisonsAreMetered(t *testing.T) {
	c := newTestCore(t, func(c *Config) { c.ServeRate = maxPieces * pieceSize })
	seed := Build([]byte("x"))
	r := &Recipe{Kind: Lattice, Name: "l", State: seed.Blob}
	c.Created(1, r, seed)
	value := Build(noise(10_000))
	theirs := &Sums{Values: []Sum{{Digest: r.Digest(), Blob: Blob{1, Hash{1}}}}}
	got := uint64(0)
	for range 1000 {
		out := c.Step(1, &Message{From: "b1", To: "a1", Sums: theirs})
		for _, o := range slices.Clone(out.Orders) {
			if o.Kind == OrderEncode {
				out = c.Encoded(1, o.Ticket, o.Digest, value)
			}
		}
		for _, m := range out.Messages {
			if m.Sums != nil {
				got += uint64(len(m.Sums.Values[0].Value))
			}
		}
	}
	if got == 0 || got > c.cfg.ServeRate {
		t.Errorf("%d bytes were sent at once", got)
	}
}
