package sharedobj

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(uint64(n), 1))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// A blob put together from pieces in any order in which they can be verified is the blob, and nothing that is
// not of it gets in.
func TestAssemblyIsItsBlob(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{0, 1, pieceSize - 1, pieceSize, pieceSize + 1, 3 * pieceSize,
			fanOut*pieceSize + 5, 600*pieceSize - 7}).Draw(t, "size")
		whole := Build(noise(size))
		a := newAssembly(whole.Blob)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 1))
		for len(a.want) > 0 {
			i := r.IntN(len(a.want))
			id := a.want[i]
			a.want = append(a.want[:i:i], a.want[i+1:]...)
			data, ok := whole.Piece(id)
			if !ok {
				t.Fatalf("piece %v is wanted and does not exist", id)
			}
			bad := append(bytes.Clone(data), 1)
			if r.IntN(2) == 0 && len(data) > 0 {
				bad = bytes.Clone(data)
				bad[r.IntN(len(bad))] ^= 1
			}
			if a.put(id, bad) == nil || a.has(id) {
				t.Fatalf("a wrong piece %v was taken", id)
			}
			if err := a.put(id, data); err != nil || !a.has(id) {
				t.Fatalf("piece %v: %v", id, err)
			}
		}
		b, ok := a.whole()
		if !ok || !bytes.Equal(b.Bytes(), whole.Bytes()) || b.Top != whole.Top {
			t.Fatalf("%d pieces are missing", a.left)
		}
		if again := Build(b.Bytes()); again.Blob != whole.Blob || !bytes.Equal(bytes.Join(again.nodes, nil),
			bytes.Join(b.nodes, nil)) {
			t.Fatal("what was put together has other hashes")
		}
	})
}

// A blob whose size is not that of its pieces cannot be put together: sizes are part of the name.
func TestSizeIsChecked(t *testing.T) {
	for _, size := range []int{10, pieceSize, 3*pieceSize + 1} {
		b := Build(noise(size))
		for _, claimed := range []uint64{uint64(size) - 1, uint64(size) + 1, maxSize} {
			if claimed > 1<<30 {
				continue
			}
			a := newAssembly(Blob{claimed, b.Top})
			for len(a.want) > 0 {
				id := a.want[0]
				a.want = a.want[1:]
				if data, ok := b.Piece(id); ok {
					a.put(id, data) //nolint:errcheck // some are refused
				}
			}
			if _, ok := a.whole(); ok {
				t.Errorf("%d bytes pass for %d", size, claimed)
			}
		}
	}
}

// A pull asks several sources, takes only what it asked them for, and gives up one that lies or is silent.
func TestPullSources(t *testing.T) {
	cfg := Default()
	whole := Build(noise(64 * pieceSize))
	p := newPull(whole.Blob, &cfg)
	p.add(1, "mute")
	p.add(1, "liar")
	p.add(1, "good")
	asked := map[PeerID]int{}
	var pending []Message
	now := time.Duration(1)
	for step := 0; step < 10_000; step++ {
		p.request(now, func(id PeerID, ids []PieceID) {
			asked[id] += len(ids)
			for _, i := range ids {
				pending = append(pending, Message{From: id, Piece: &Piece{Top: whole.Top, ID: i}})
			}
		})
		if _, ok := p.parts.whole(); ok {
			break
		}
		now += time.Millisecond
		if len(pending) == 0 {
			now = p.next()
			p.expire(now)
			continue
		}
		m := pending[0]
		pending = pending[1:]
		m.Piece.Data, _ = whole.Piece(m.Piece.ID)
		if p.take(now, "stranger", m.Piece) != unsought {
			t.Fatal("a piece of a stranger was taken")
		}
		switch m.From {
		case "good":
			if got := p.take(now, "good", m.Piece); got != useful {
				t.Fatalf("%v for a good piece", got)
			}
			if got := p.take(now, "good", m.Piece); got != unsought {
				t.Fatalf("%v for one that came twice", got)
			}
		case "liar":
			m.Piece.Data = []byte("lie")
			p.take(now, "liar", m.Piece)
		}
	}
	if _, ok := p.parts.whole(); !ok {
		t.Fatal("the blob has not come")
	}
	if asked["liar"] > 2*leastWindow || asked["mute"] > maxMisses*leastWindow {
		t.Errorf("asked: %v", asked)
	}
}

// The window of a source grows while pieces come in time, shrinks when they queue up, and stays within its bounds.
func TestWindow(t *testing.T) {
	w := newWindow(64)
	for range 1000 {
		w.came(10 * time.Millisecond)
	}
	if w.size != 64 {
		t.Errorf("a window of %d on a free link, want 64", w.size)
	}
	for range 100 {
		w.came(10*time.Millisecond + 2*queueing)
	}
	if w.size != leastWindow {
		t.Errorf("a window of %d behind a queue, want %d", w.size, leastWindow)
	}
	if w.lost(); w.size != leastWindow {
		t.Errorf("a window of %d after a loss", w.size)
	}
}

// Every member is below exactly one other in the tree of an announcement, its origin below none, and links between
// clusters are used once each (MagPIe; Albatross paper, section 2.1).
func TestAnnouncementsReachEverybodyOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var members []Member
		for c := range rapid.IntRange(1, 5).Draw(t, "clusters") {
			for range rapid.IntRange(1, 12).Draw(t, "peers") {
				members = append(members, Member{ID: PeerID(rune('A' + len(members))),
					Cluster: ClusterID(rune('a' + c))})
			}
		}
		d := Digest{byte(rapid.Int().Draw(t, "digest"))}
		origin := members[rapid.IntRange(0, len(members)-1).Draw(t, "origin")]
		told := map[PeerID]int{}
		wide := map[ClusterID]int{}
		for _, m := range members {
			p := newPlace(m.ID, members)
			for _, to := range p.below(d, origin.ID) {
				told[to]++
				if !p.near(to) {
					wide[p.cluster[to]]++
				}
			}
		}
		for _, m := range members {
			want := 1
			if m.ID == origin.ID {
				want = 0
			}
			if told[m.ID] != want {
				t.Fatalf("%s is told %d times, want %d", m.ID, told[m.ID], want)
			}
		}
		for c, n := range wide {
			if n != 1 || c == origin.Cluster {
				t.Fatalf("cluster %s is told %d times from outside", c, n)
			}
		}
	})
}
