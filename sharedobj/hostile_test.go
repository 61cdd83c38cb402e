package sharedobj

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// drawMessage makes anything that the types allow, of few names, so that what it says is about what is going on.
func drawMessage(t *rapid.T, digests []Digest, tops []Hash, recipes []Recipe) *Message {
	digest := rapid.SampledFrom(digests)
	top := rapid.SampledFrom(tops)
	small := rapid.SliceOfN(rapid.Byte(), 0, 40)
	blob := rapid.Custom(func(t *rapid.T) Blob {
		return Blob{rapid.SampledFrom([]uint64{0, 1, 5, pieceSize + 1, 1 << 40, 1 << 63}).Draw(t, "size"),
			top.Draw(t, "top")}
	})
	recipe := rapid.Custom(func(t *rapid.T) Recipe {
		r := rapid.SampledFrom(recipes).Draw(t, "recipe")
		if rapid.IntRange(0, 2).Draw(t, "forge") == 0 {
			r.State = blob.Draw(t, "state")
			r.Parent = digest.Draw(t, "parent")
			r.Kind = Kind(rapid.IntRange(0, 5).Draw(t, "kind"))
		}
		return r
	})
	told := rapid.Custom(func(t *rapid.T) Told {
		return Told{recipe.Draw(t, "recipe"), small.Draw(t, "write"), small.Draw(t, "state")}
	})
	piece := rapid.Custom(func(t *rapid.T) PieceID {
		return PieceID{rapid.Uint8().Draw(t, "level"),
			rapid.SampledFrom([]uint64{0, 1, 511, 512, 1 << 62}).Draw(t, "index")}
	})
	peer := rapid.SampledFrom([]PeerID{"a1", "a2", "b1", "b2", "z9", ""})
	m := &Message{From: peer.Draw(t, "from"), To: "a1"}
	switch rapid.IntRange(0, 6).Draw(t, "body") {
	case 0:
		m.Ask = &Ask{digest.Draw(t, "digest"), rapid.SliceOfN(peer, 0, 4).Draw(t, "holders")}
	case 1:
		m.Answer = &Answer{digest.Draw(t, "digest"), Status(rapid.IntRange(0, 4).Draw(t, "status")),
			rapid.SliceOfN(told, 0, 4).Draw(t, "told")}
	case 2:
		m.Get = &Get{top.Draw(t, "top"), rapid.SliceOfN(piece, 0, 4).Draw(t, "pieces")}
	case 3:
		m.Piece = &Piece{top.Draw(t, "top"), piece.Draw(t, "id"), small.Draw(t, "data")}
	case 4:
		m.Gone = &Gone{top.Draw(t, "top")}
	case 5:
		m.Announce = &Announce{peer.Draw(t, "origin"), recipe.Draw(t, "recipe"), blob.Draw(t, "offer")}
	case 6:
		sum := rapid.Custom(func(t *rapid.T) Sum {
			return Sum{digest.Draw(t, "digest"), blob.Draw(t, "blob"), small.Draw(t, "value")}
		})
		m.Sums = &Sums{rapid.SliceOfN(sum, 0, 3).Draw(t, "values"), rapid.Bool().Draw(t, "reply")}
	}
	return m
}

// Whatever peers say, in whatever order, the core neither panics nor holds more than it may, sends nothing
// malformed, gives the engine nothing that does not hash to its name, and has something to do again only when time has
// passed.
func TestCoreSurvivesAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Default()
		cfg.MaxBytes = 64 << 10
		cfg.MaxEntries, cfg.MaxFetches, cfg.MaxAdopted, cfg.MaxJobs = 12, 4, 2, 6
		members := membersOf("a1", "a2", "b1", "b2")
		c, err := NewCore(cfg, "a1", members, zeroRand{})
		if err != nil {
			t.Fatal(err)
		}
		digests, tops := []Digest{{1}}, []Hash{{1}}
		var recipes []Recipe
		var bodies []*Body
		for i := range 4 {
			b := Build(noise(10 + i*9000))
			r := Recipe{Kind: []Kind{Constant, Phased, Lattice, Phased}[i], Name: "x", State: b.Blob}
			if i == 3 {
				r.Parent, r.Write = recipes[1].Digest(), b.Blob
			}
			recipes, bodies = append(recipes, r), append(bodies, b)
			digests, tops = append(digests, r.Digest()), append(tops, b.Top)
		}
		large := Recipe{Kind: Constant, Name: "x", State: bodies[3].Blob} // of which a peer may send less
		recipes, bodies = append(recipes, large), append(bodies, bodies[3])
		digests = append(digests, large.Digest())
		now := time.Duration(0)
		var tickets []Ticket // that the engine has to answer
		check := func(out Output) {
			for _, m := range out.Messages {
				if err := m.Validate(); err != nil || m.To == "a1" {
					t.Fatalf("it sends %+v: %v", m, err)
				}
			}
			for _, o := range out.Orders {
				if o.Kind == OrderApply || o.Kind == OrderJoin {
					tickets = append(tickets, o.Ticket)
				}
				if o.Kind != OrderHere {
					continue
				}
				e := c.store.find(o.Digest)
				if e == nil || Build(o.Data).Blob != e.recipe.State || e.recipe.Digest() != o.Digest {
					t.Fatalf("%v comes with other bytes", o.Digest)
				}
			}
			checkSenders(t, c)
			if c.store.used+c.store.reserved > cfg.MaxBytes || len(c.store.entries) > cfg.MaxEntries {
				t.Fatalf("%d bytes held and %d coming of %d, %d entries", c.store.used, c.store.reserved, cfg.MaxBytes,
					len(c.store.entries))
			}
		}
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += time.Duration(rapid.IntRange(0, 2000).Draw(t, "ms")) * time.Millisecond
			d := rapid.SampledFrom(digests).Draw(t, "of")
			switch rapid.IntRange(0, 14).Draw(t, "input") { // the first come more often
			case 0:
				from := rapid.SampledFrom([]PeerID{"b1", "a2"}).Draw(t, "who")
				r := recipes[rapid.SampledFrom([]int{3, 4, 1, 0, 2}).Draw(t, "what")]
				check(c.Step(now, &Message{From: from, To: "a1", Announce: &Announce{Origin: from, Recipe: r}}))
			case 9:
				check(c.JobCame(now, Job{ID: JobID(i), Victim: "b1", Needs: []Need{{Digest: d, Floor: []byte{1}}}}))
			case 2:
				check(c.Withdrawn(now, JobID(rapid.IntRange(0, 60).Draw(t, "job"))))
			case 1:
				k := rapid.SampledFrom([]int{4, 1, 3, 0, 2}).Draw(t, "which")
				if k != 3 {
					check(c.Created(now, &recipes[k], bodies[k]))
				} else {
					check(c.Wrote(now, &recipes[3], bodies[3], bodies[3]))
				}
			case 3:
				check(c.Read(now, d, "b1"))
			case 4:
				check(c.Tick(now))
			case 5:
				check(c.Lost(now, "b1"))
			case 6:
				check(c.Offered(now, d))
			case 7:
				write := Build([]byte{byte(i)})
				r := Recipe{Kind: Phased, Name: "x", Parent: recipes[1].Digest(), Write: write.Blob,
					State: bodies[i%4].Blob}
				check(c.Hear(now, "a2", &News{Writes: []Told{{Recipe: r, Write: write.Bytes()}}}))
			case 8:
				if len(tickets) > 0 {
					ticket := tickets[0]
					tickets = tickets[1:]
					if _, join := c.lattices.joins[ticket]; join {
						check(c.Joined(now, ticket, i%2 == 0, true))
					} else {
						check(c.Applied(now, ticket, bodies[i%4]))
					}
				}
			default:
				check(c.Step(now, drawMessage(t, digests, tops, recipes)))
			}
			if at, ok := c.Next(); ok && at <= now {
				check(c.Tick(now))
			}
			if at, ok := c.Next(); ok && at <= now {
				t.Fatalf("at %v it has something to do at %v, after it had its turn", now, at)
			}
		}
	})
}

type zeroRand struct{}

func (zeroRand) IntN(int) int { return 0 }

// What a core says, it accepts: every kind of message of a run of the tests is valid, and news too.
func TestMessagesSayOneThing(t *testing.T) {
	for i, m := range []*Message{
		{From: "a", Ask: &Ask{}}, {From: "a", Get: &Get{Pieces: []PieceID{{}}}}, {From: "a", Gone: &Gone{}},
		{From: "a", Piece: &Piece{}}, {From: "a", Answer: &Answer{Status: Lacking}},
	} {
		if err := m.Validate(); err != nil {
			t.Errorf("%d: %v", i, err)
		}
		two := *m
		two.Sums = &Sums{Values: []Sum{{}}}
		if err := two.Validate(); err == nil {
			t.Errorf("%d: with two bodies it is valid", i)
		}
	}
	for i, bad := range []*Message{
		{From: "a"}, {Gone: &Gone{}}, {From: "a", Answer: &Answer{Status: Here}},
		{From: "a", Ask: &Ask{Holders: make([]PeerID, maxHolders+1)}},
		{From: "a", Get: &Get{}}, {From: "a", Get: &Get{Pieces: make([]PieceID, maxPieces+1)}},
		{From: "a", Piece: &Piece{Data: make([]byte, pieceSize+1)}},
		{From: "a", Announce: &Announce{}}, {From: "a", Sums: &Sums{}},
		{From: "a", Announce: &Announce{Recipe: Recipe{Kind: Constant, Name: "x", Write: Blob{Size: 1}}}},
		{From: "a", Announce: &Announce{Recipe: Recipe{Kind: Constant, Name: "x", State: Blob{Size: maxSize + 1}}}},
	} {
		if err := bad.Validate(); err == nil {
			t.Errorf("%d: %s is valid", i, fmt.Sprintf("%+v", bad))
		}
	}
}
