package checkpoint

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The index against the plainest thing that does the same: a list that is searched from end to end.
func TestIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var x index
		var list []entry
		width := rapid.Uint32Range(1, 300).Draw(t, "width")
		for range rapid.IntRange(1, 2000).Draw(t, "steps") {
			r := Record{Identity: [16]byte{byte(rapid.IntRange(0, 9).Draw(t, "identity") / 9)}}
			for range rapid.IntRange(0, 4).Draw(t, "depth") {
				r.Path = append(r.Path, rapid.Uint32Range(0, width).Draw(t, "child"))
			}
			e := entry{key: r.key(), id: r.Identity}
			covered := slices.ContainsFunc(list, func(o entry) bool {
				return o.key == e.key && o.id == e.id || o.key != e.key && strings.HasPrefix(e.key, o.key)
			})
			if got := x.covered(e.key, e.id); got != covered {
				t.Fatalf("covered %v: %t, want %t", r.Path, got, covered)
			}
			switch {
			case !covered && len(e.key) > 0:
				var evicted, want []entry
				x.insert(e, func(o entry) { evicted = append(evicted, o) })
				list = slices.DeleteFunc(list, func(o entry) bool {
					below := o.key != e.key && strings.HasPrefix(o.key, e.key)
					if below {
						want = append(want, o)
					}
					return below
				})
				list = append(list, e)
				slices.SortFunc(list, byKey)
				if !slices.Equal(evicted, want) {
					t.Fatalf("inserting %v evicted %d, want %d", r.Path, len(evicted), len(want))
				}
			case rapid.IntRange(0, 3).Draw(t, "remove") == 0:
				x.remove(e.key, e.id)
				list = slices.DeleteFunc(list, func(o entry) bool { return o.key == e.key && o.id == e.id })
			}
			want := int64(0)
			for _, o := range list {
				want += int64(len(o.key)) + entryBytes
			}
			if x.n != len(list) || x.memory() != want {
				t.Fatalf("%d entries of %d bytes, want %d of %d", x.n, x.memory(), len(list), want)
			}
		}
		var all []entry
		for e, ok := x.next("", [16]byte{}, true); ok; e, ok = x.next(e.key, e.id, false) {
			all = append(all, e)
		}
		if !slices.Equal(all, list) {
			t.Fatalf("walked %d entries, want %d", len(all), len(list))
		}
	})
}

func byKey(a, b entry) int {
	if before(a, b.key, b.id) {
		return -1
	}
	return 1
}

// Large enough to have many blocks, and to lose them all at once.
func TestIndexBlocks(t *testing.T) {
	var x index
	n := uint32(20 * blockSize)
	for i := range n {
		r := Record{Path: []uint32{1, i * 7919 % n}}
		x.insert(entry{key: r.key()}, func(entry) { t.Error("evicted") })
	}
	if len(x.blocks) < 20 || x.n != int(n) {
		t.Errorf("%d blocks, %d entries", len(x.blocks), x.n)
	}
	gone := 0
	r := Record{Path: []uint32{1}}
	x.insert(entry{key: r.key()}, func(entry) { gone++ })
	if gone != int(n) || x.n != 1 || len(x.blocks) != 1 {
		t.Errorf("%d evicted, %d left in %d blocks", gone, x.n, len(x.blocks))
	}
}

// Long paths take no more memory than they took on their way, and large numbers come in their order too.
func TestLongPaths(t *testing.T) {
	if n := IndexBytes(make([]uint32, MaxPath)); n > MaxPath+entryBytes {
		t.Errorf("a path of %d steps takes %d bytes", MaxPath, n)
	}
	last := ""
	for _, c := range []uint32{0, 1, 254, 255, 256, 1 << 24, 1<<32 - 1} {
		if k := keyOf([]uint32{c}); k <= last {
			t.Errorf("%d has the key %x, behind %x", c, k, last)
		} else {
			last = k
		}
	}
}
