package sharedobj

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// A store keeps what is pinned, and within its bounds; it says of every state that it dropped that it is
// gone; and of an object nobody pins or is short of room for, the two newest versions stay.
func TestStoreKeepsWhatItMust(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Default()
		cfg.MaxBytes = uint64(rapid.IntRange(200, 4000).Draw(t, "most"))
		cfg.MaxEntries = rapid.IntRange(4, 40).Draw(t, "entries")
		s := newStore(&cfg)
		last := map[int]*Recipe{}
		pins := map[Digest]int{}
		states := map[Digest]bool{}
		for i := range rapid.IntRange(1, 80).Draw(t, "steps") {
			k := rapid.IntRange(0, 3).Draw(t, "object")
			body := Build(noise(rapid.IntRange(1, 500).Draw(t, "size") + i))
			write := Build([]byte{byte(i)})
			r := &Recipe{Kind: Phased, Name: "o", State: body.Blob}
			if last[k] != nil {
				r.Parent, r.Write = last[k].Digest(), write.Blob
			}
			if rapid.IntRange(0, 3).Draw(t, "pin") == 0 {
				s.pin(r.Digest())
				pins[r.Digest()]++
			}
			e := s.know(r)
			if e == nil {
				continue
			}
			if !r.First() {
				s.putWrite(e, write)
			}
			if s.putState(e, body) {
				states[r.Digest()] = true
				if last[k] = r; s.find(r.Digest()).state == nil {
					t.Fatal("a state that was just entered is not there")
				}
			}
			for d := range pins {
				if rapid.IntRange(0, 9).Draw(t, "unpin") == 0 {
					s.unpin(d)
					if pins[d]--; pins[d] == 0 {
						delete(pins, d)
					}
				}
			}
			for _, d := range s.gone {
				if pins[d] > 0 && states[d] {
					t.Fatalf("%v is pinned and gone", d)
				}
				delete(states, d)
			}
			s.gone = nil
			for d := range states {
				if e := s.find(d); e == nil || e.state == nil {
					t.Fatalf("%v is gone, and nobody was told", d)
				}
			}
			if s.used > cfg.MaxBytes || len(s.entries) > cfg.MaxEntries {
				t.Fatalf("%d bytes of %d, %d entries of %d", s.used, cfg.MaxBytes, len(s.entries), cfg.MaxEntries)
			}
		}
	})
}

// Of an object the newest two versions stay, and the writes before them as far as they are shorter than the state.
func TestTwoVersionsStay(t *testing.T) {
	cfg := Default()
	s := newStore(&cfg)
	var all []Digest
	r := &Recipe{Kind: Phased, Name: "o"}
	for i := range 10 {
		body, write := Build(noise(100+i)), Build(noise(30+i))
		next := &Recipe{Kind: Phased, Name: "o", State: body.Blob}
		if i > 0 {
			next.Parent, next.Write = r.Digest(), write.Blob
		}
		r = next
		e := s.know(r)
		if i > 0 {
			s.putWrite(e, write)
		}
		s.putState(e, body)
		all = append(all, r.Digest())
	}
	for i, d := range all {
		e := s.find(d)
		if here := e.state != nil; here != (i >= 8) {
			t.Errorf("version %d has its state: %v", i, here)
		}
		if here := e.write != nil; here != (i >= 8) { // 38 and 39 bytes, and 37 would be more than 109 together
			t.Errorf("version %d has its write: %v", i, here)
		}
	}
}

// Of the versions that kept outcomes name a quarter of the room stays, whenever they came, until the last of these
// outcomes is gone; what jobs name has that room first.
func TestStoreRetains(t *testing.T) {
	cfg := Default()
	cfg.MaxBytes = 4000
	s := newStore(&cfg)
	var last *Recipe
	version := func(retain bool) *entry {
		body := Build(noise(300 + len(s.entries)))
		r := &Recipe{Kind: Phased, Name: "o", State: body.Blob}
		if write := Build(noise(299)); last != nil {
			r.Parent, r.Write = last.Digest(), write.Blob
		}
		if retain {
			s.retain(r.Digest())
		}
		last = r
		e := s.know(r)
		s.putState(e, body)
		return e
	}
	var all []*entry
	for i := range 7 {
		all = append(all, version(i != 3))
	}
	s.retain(all[0].digest)
	s.forgo(all[0].digest)
	version(false)
	for i, e := range all {
		if here := e.state != nil; here != (i < 3 || i == 6) { // three are 903 bytes, four too many; the last two stay
			t.Errorf("version %d has its state: %v", i, here)
		}
	}
	s.forgo(all[1].digest)
	s.retain(all[6].digest) // it is here, and has the room of the one that is not retained any more
	version(false)
	version(false)
	for i, e := range all {
		if here := e.state != nil; here != (i == 0 || i == 2 || i == 6) {
			t.Errorf("version %d has its state: %v", i, here)
		}
	}
	if !s.room(3900) || all[0].state != nil || s.retainedBytes != 0 {
		t.Errorf("what is retained does not make room: %d bytes", s.retainedBytes)
	}
	for _, e := range all {
		s.forgo(e.digest)
		s.forgo(e.digest)
	}
	if len(s.retained) > 0 {
		t.Errorf("%d versions are retained for nobody", len(s.retained))
	}
}

// Where as much is known as may be, what makes room is looked for once for a part of all that comes, and not for each:
// a job that makes small values without an end would have its core walk over all of them each time.
func TestRoomIsMadeForMany(t *testing.T) {
	c := newTestCore(t, func(c *Config) { c.MaxEntries = 1024 })
	kept := recipeOf(0)
	c.Pin(kept.Digest())
	walks := 0
	for i := range 3 * c.cfg.MaxEntries {
		r, before := recipeOf(i), len(c.store.entries)
		c.Created(1, r, Build([]byte(fmt.Sprint(i))))
		if !c.Has(r.Digest()) {
			t.Fatalf("value %d is not here", i)
		}
		if len(c.store.entries) <= before {
			walks++
		}
	}
	if most := 2*16 + 1; walks > most {
		t.Errorf("for %d values more than may be known %d walks, at most %d", 2*c.cfg.MaxEntries, walks, most)
	}
	if n := len(c.store.entries); n < c.cfg.MaxEntries*(droppedPart-1)/droppedPart || !c.Has(kept.Digest()) {
		t.Errorf("%d values of %d are left, the pinned one: %v", n, c.cfg.MaxEntries, c.Has(kept.Digest()))
	}
}
