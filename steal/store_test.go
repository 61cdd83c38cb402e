package steal

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/satin-peer/satin/job"
)

// drawPath draws one of few paths, so that they meet.
func drawPath(t *rapid.T) job.Path {
	return job.Path(rapid.SliceOfN(rapid.Uint32Range(1, 3), 1, 4).Draw(t, "path"))
}

func drawIdentity(t *rapid.T) job.Identity {
	return job.Identity{rapid.ByteRange(1, 2).Draw(t, "identity")}
}

// modelStore is what a store should be: a list, oldest first, searched from end to end.
type modelStore struct {
	list       []kept
	most, room int
}

func (m *modelStore) count(of func(k *kept) bool) (number, bytes int) {
	for i := range m.list {
		if of(&m.list[i]) {
			number, bytes = number+1, bytes+m.list[i].size()
		}
	}
	return number, bytes
}

func (m *modelStore) dropOldest(c keptClass) bool {
	i := slices.IndexFunc(m.list, func(k kept) bool { return k.class == c })
	if i >= 0 {
		m.list = slices.Delete(m.list, i, i+1)
	}
	return i >= 0
}

func (m *modelStore) put(p Partial, class keptClass) {
	if i := slices.IndexFunc(m.list, func(k kept) bool {
		return k.Identity == p.Identity &&
			slices.Equal(k.Path, p.Path)
	}); i >= 0 {
		if k := m.list[i]; class > k.class {
			k.class = class
			m.list = append(slices.Delete(m.list, i, i+1), k)
		}
		return
	}
	k := kept{Partial: p, class: class}
	for _, a := range m.list {
		if a.Path.Above(p.Path) && (a.class.computedHere() || class == handed || class == a.class) {
			return
		}
	}
	number, size := m.count(func(h *kept) bool { return h.class > class })
	if number >= m.most || size+k.size() > m.room || class == settled && k.size() > m.room/4 ||
		class == handed && (m.most < 2 || k.size() > m.room/2) {
		return
	}
	for class == handed {
		number, size := m.count(func(h *kept) bool { return h.class == handed })
		if number < m.most/2 && size+k.size() <= m.room/2 {
			break
		}
		m.dropOldest(handed)
	}
	for c := settled; c <= class; c++ {
		for {
			number, size := m.count(func(*kept) bool { return true })
			if number < m.most && size+k.size() <= m.room || !m.dropOldest(c) {
				break
			}
		}
	}
	m.list = slices.DeleteFunc(m.list, func(d kept) bool {
		return p.Path.Above(d.Path) &&
			(class.computedHere() || d.class == handed || d.class == class)
	})
	m.list = append(m.list, k)
}

// A store is its model, whatever is put into it: bounded, with the least valuable dropped first, ancestors in
// the place of their descendants, and nothing that was computed here displaced by what another peer handed
// over.
func TestStoreIsItsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most, room := rapid.IntRange(1, 12).Draw(t, "entries"), rapid.IntRange(200, 3000).Draw(t, "bytes")
		s, m := newStore(&shared{}, most, room), &modelStore{most: most, room: room}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			p := Partial{Path: drawPath(t), Identity: drawIdentity(t),
				Outcome: bytes.Repeat([]byte{1}, rapid.IntRange(0, 400).Draw(t, "size"))}
			class := keptClass(rapid.IntRange(0, int(own)).Draw(t, "class"))
			ownBefore, _ := m.count(func(k *kept) bool { return k.class == own })
			s.put(p, class, "")
			m.put(p, class)
			if ownAfter := s.age[own].Len(); class == handed && ownAfter < ownBefore {
				t.Fatalf("what was handed over displaced %d of %d outcomes computed here", ownBefore-ownAfter,
					ownBefore)
			}
			if len(s.index) > most || s.total() > room {
				t.Fatalf("%d outcomes of %d bytes are kept, %d of %d may be", len(s.index), s.total(), most, room)
			}
			if len(s.index) != len(m.list) {
				t.Fatalf("%d outcomes are kept, the model has %d", len(s.index), len(m.list))
			}
			for i := range m.list {
				if k := s.find(m.list[i].Path, m.list[i].Identity); k == nil || k.class != m.list[i].class {
					t.Fatalf("the outcome of %v in the store is %+v, in the model %+v", m.list[i].Path, k, m.list[i])
				}
			}
			for c := range keptClasses { // in order of age
				var want []job.Path
				for _, k := range m.list {
					if k.class == c {
						want = append(want, k.Path)
					}
				}
				for e := s.age[c].Front(); e != nil; e = e.Next() {
					if !slices.Equal(e.Value.(*kept).Path, want[0]) {
						t.Fatalf("class %d is not in the order of age", c)
					}
					want = want[1:]
				}
			}
		}
	})
}

// The ordered list finds what a search from end to end finds: at a path, below it, above it.
func TestByPath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list byPath[*kept]
		for range rapid.IntRange(0, 40).Draw(t, "entries") {
			p, id := drawPath(t), drawIdentity(t)
			if i, there := list.find(p, id); !there {
				list = slices.Insert(list, i, &kept{Partial: Partial{Path: p, Identity: id}})
			}
		}
		p := drawPath(t)
		pick := func(keep func(q job.Path) bool) (found []*kept) {
			for _, k := range list {
				if keep(k.Path) {
					found = append(found, k)
				}
			}
			return found
		}
		if got, want := list.at(p), pick(func(q job.Path) bool { return slices.Equal(p, q) }); !slices.Equal(got,
			want) {
			t.Errorf("at %v: %v, want %v", p, got, want)
		}
		if got, want := list.below(p), pick(func(q job.Path) bool { return p.Above(q) }); !slices.Equal(got, want) {
			t.Errorf("below %v: %v, want %v", p, got, want)
		}
		var got []*kept
		list.above(p, func(k *kept) bool { got = append(got, k); return false })
		want := pick(func(q job.Path) bool { return q.Above(p) })
		for i := 1; i < len(got); i++ {
			if len(got[i].Path) > len(got[i-1].Path) {
				t.Errorf("above %v the longest do not come first: %v", p, got)
			}
		}
		for _, k := range want {
			if !slices.Contains(got, k) {
				t.Errorf("above %v: %v is missing", p, k.Path)
			}
		}
		if len(got) != len(want) {
			t.Errorf("above %v: %d found, want %d", p, len(got), len(want))
		}
	})
}

// What a finished segment costs when the store is full.
func BenchmarkStorePut(b *testing.B) {
	s := newStore(&shared{}, 8192, 64<<20)
	b.ReportAllocs()
	for i := range b.N {
		s.put(Partial{Path: job.Path{1, 2, uint32(i * 7919 % 100_000), uint32(i)}, Outcome: make([]byte, 100)}, settled,
			"p")
	}
}
