package sharedobj

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A cluster is six peers, of which a1 lies and has no core. Its bodies can be had from it unless it is silent.
type cluster struct {
	t       *testing.T
	now     time.Duration
	cores   map[PeerID]*Core
	lattice *Recipe
	bodies  map[Hash]*Body
	joined  map[PeerID]int // valid values
	struck  map[PeerID]int // values that are not
	silent  bool
}

var clusterIDs = []string{"a1", "a2", "a3", "a4", "a5", "a6"}

func newCluster(t *testing.T) *cluster {
	s := &cluster{t: t, now: 1, cores: map[PeerID]*Core{}, bodies: map[Hash]*Body{}, joined: map[PeerID]int{},
		struck: map[PeerID]int{}}
	seed := Build([]byte("x"))
	s.lattice = &Recipe{Kind: Lattice, Name: "l", State: seed.Blob}
	for _, id := range clusterIDs[1:] {
		c, err := NewCore(Default(), PeerID(id), membersOf(clusterIDs...), rand.New(rand.NewPCG(1, 1)))
		if err != nil {
			t.Fatal(err)
		}
		c.Created(s.now, s.lattice, seed)
		s.cores[PeerID(id)] = c
	}
	return s
}

// body is an offer too large for the news. One whose first byte is ! is not valid.
func (s *cluster) body(first byte, i int) *Body {
	b := Build(append([]byte{first, byte(i)}, noise(20_000)...))
	s.bodies[b.Top] = b
	return b
}

// announce has a peer announce an offer, as its own or another's.
func (s *cluster) announce(from, to, origin PeerID, b *Body) {
	s.step(to, &Message{From: from, To: to, Announce: &Announce{Origin: origin, Recipe: *s.lattice, Offer: b.Blob}})
}

func (s *cluster) step(to PeerID, m *Message) { s.absorb(to, s.cores[to].Step(s.now, m)) }

// absorb plays engine and network.
func (s *cluster) absorb(id PeerID, out Output) {
	orders, messages := slices.Clone(out.Orders), slices.Clone(out.Messages)
	for _, o := range orders {
		if o.Kind != OrderJoin {
			continue
		}
		valid := o.Data[0] != '!'
		if valid {
			s.joined[id]++
		} else {
			s.struck[id]++
		}
		s.absorb(id, s.cores[id].Joined(s.now, o.Ticket, valid, valid))
	}
	for _, m := range messages {
		switch {
		case m.To != "a1":
			s.step(m.To, m)
		case m.Get != nil && !s.silent:
			for _, p := range m.Get.Pieces {
				data, _ := s.bodies[m.Get.Top].Piece(p)
				s.step(id, &Message{From: "a1", To: id, Piece: &Piece{Top: m.Get.Top, ID: p, Data: data}})
			}
		}
	}
}

// below is a peer to which another passes on what comes from an origin.
func (s *cluster) below(from, origin PeerID) PeerID {
	p := newPlace(from, membersOf(clusterIDs...))
	for _, id := range p.below(s.lattice.Digest(), origin) {
		if id != "a1" {
			return id
		}
	}
	s.t.Fatalf("%s passes nothing on of %s", from, origin)
	return ""
}

// passer is a peer that passes on what comes from an origin.
func (s *cluster) passer(origin PeerID) PeerID {
	for _, x := range clusterIDs[1:] {
		id := PeerID(x)
		p := newPlace(id, membersOf(clusterIDs...))
		if id != origin && len(p.below(s.lattice.Digest(), origin)) > 0 {
			return id
		}
	}
	s.t.Fatalf("nobody passes on what comes from %s", origin)
	return ""
}

// Whoever announces what is not valid is not listened to any more, and nobody is blamed who has passed that on: what
// honest members offer is joined, told by news or announced, in whosever name the liar spoke.
func TestWhoPassesOnIsNotBlamed(t *testing.T) {
	for _, origin := range []PeerID{"a1", "z9"} {
		s := newCluster(t)
		passer := s.passer(origin)
		other := s.below(passer, origin)
		for i := range 2 * maxStrikes {
			s.announce("a1", passer, origin, s.body('!', i))
		}
		if origin == "a1" && (s.struck[passer] != maxStrikes || s.struck[other] != maxStrikes) {
			t.Errorf("of the liar's values %s has got %d and %s %d", passer, s.struck[passer], other, s.struck[other])
		}
		if s.struck[other] < maxStrikes {
			t.Fatalf("%s was passed on %d values", other, s.struck[other])
		}
		for id, c := range s.cores {
			for blamed, n := range c.lattices.strikes {
				if blamed != "a1" {
					t.Errorf("%s has %d strikes of %s", id, n, blamed)
				}
			}
		}
		good := &News{Offers: []Offer{{s.lattice.Digest(), []byte("good")}}}
		if out := s.cores[other].Hear(s.now, passer, good); len(out.Orders) != 1 {
			t.Errorf("%s does not take in what %s tells", other, passer)
		}
		s.cores[passer].lattices.expose(s.lattice.Digest(), "", s.body('v', 0))
		before := s.joined[other]
		if s.announce(passer, other, passer, s.body('v', 0)); s.joined[other] != before+1 {
			t.Errorf("%s does not take in what %s announces", other, passer)
		}
	}
}

// Nobody announces to a peer what that peer has offered: it would tell it to all clusters as its own.
func TestNobodySpeaksForAnother(t *testing.T) {
	s := newCluster(t)
	s.announce("a1", "a2", "a2", s.body('!', 0))
	if len(s.struck) > 0 || s.cores["a2"].Stats().Malformed != 1 {
		t.Errorf("values that were joined and are not valid: %v", s.struck)
	}
}

// An offer that a liar announces before its author does, and does not send, is got from the author.
func TestFirstToAnnounceIsNotAll(t *testing.T) {
	for _, refuses := range []bool{false, true} {
		s := newCluster(t)
		s.silent = true
		b := s.body('v', 0)
		s.announce("a1", "a2", "a1", b)
		if refuses {
			s.step("a2", &Message{From: "a1", To: "a2", Gone: &Gone{b.Top}})
		}
		s.cores["a3"].lattices.expose(s.lattice.Digest(), "", b)
		s.announce("a3", "a2", "a3", b)
		for range 10 {
			s.now += time.Second
			s.absorb("a2", s.cores["a2"].Tick(s.now))
		}
		if s.joined["a2"] == 0 {
			t.Errorf("what a3 has offered does not come; the liar says that it has nothing: %v", refuses)
		}
	}
}

// What is not got here is not passed on: whoever is below could not get it here.
func TestFloodsOfOffersAreNotPassedOn(t *testing.T) {
	s := newCluster(t)
	s.silent = true
	passer := s.passer("a1")
	for i := range 20 * maxErrandsEach {
		s.announce("a1", passer, "a1", s.body('v', i))
	}
	p := newPlace(passer, membersOf(clusterIDs...))
	n := len(p.below(s.lattice.Digest(), "a1"))
	if told := s.cores[passer].Stats().Announced; told != uint64(n*maxErrandsEach) {
		t.Errorf("%d announcements are passed on to %d peers", told, n)
	}
}

// What others have passed on through a peer takes no place of what it offers itself, nor of its jobs' floors.
func TestPassedOnTakesNoPlaces(t *testing.T) {
	c := newTestCore(t, nil)
	seed := Build([]byte("x"))
	r := &Recipe{Kind: Lattice, Name: "l", State: seed.Blob}
	c.Created(1, r, seed)
	n := 0
	announce := func(origin PeerID) bool {
		n++
		before := len(c.errands.list)
		b := Build(append(noise(20_000), byte(n)))
		c.Step(1, &Message{From: "b1", To: "a1", Announce: &Announce{Origin: origin, Recipe: *r, Offer: b.Blob}})
		return len(c.errands.list) > before
	}
	for announce("b2") {
	}
	if n != maxErrandsEach+1 {
		t.Errorf("%d are got that were passed on", n-1)
	}
	floor := Build(noise(20_000))
	out := c.JobCame(1, Job{ID: 1, Victim: "b1", Needs: []Need{{Digest: r.Digest(), FloorBlob: floor.Blob}}})
	if len(out.Orders) > 0 {
		t.Errorf("its job goes back: %+v", out.Orders)
	}
	if !announce("b1") {
		t.Error("what it offers itself is not got")
	}
}

// A guest hears from its host what anybody says, and does not blame the host for it.
func TestGuestsBlameNoHosts(t *testing.T) {
	g, err := NewCore(Default(), "a9", append(membersOf("a1"), Member{ID: "a9", Cluster: "a", Guest: true}),
		rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	seed := Build([]byte("x"))
	r := &Recipe{Kind: Lattice, Name: "l", State: seed.Blob}
	g.Created(1, r, seed)
	for range 2 * maxStrikes {
		out := g.Hear(1, "a1", &News{Offers: []Offer{{r.Digest(), []byte("!")}}})
		if len(out.Orders) != 1 {
			t.Fatal("what the host tells is not taken in")
		}
		g.Joined(1, out.Orders[0].Ticket, false, false)
	}
	if l := g.lattices; len(l.strikes)+len(l.queued) > 0 {
		t.Errorf("strikes %v, joins under way %v", l.strikes, l.queued)
	}
}
