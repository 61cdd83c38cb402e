package steal

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/satin-peer/satin/job"
)

// modelTable is what a tuple table should be: a list, oldest first, searched from end to end.
type modelTable struct {
	list []Tuple
	most int
}

func (m *modelTable) put(u Tuple) {
	for _, a := range m.list {
		if a.Done && !u.Done && a.Path.Above(u.Path) && a.Holder == u.Holder {
			return
		}
	}
	same := func(v Tuple) bool { return v.Identity == u.Identity && slices.Equal(v.Path, u.Path) }
	drop := -1
	for i, v := range m.list {
		if same(v) && v.Holder.Peer == u.Holder.Peer {
			if v.Holder.Inc > u.Holder.Inc || v.Holder.Inc == u.Holder.Inc && (v.Done || !u.Done) {
				return
			}
			m.list = slices.Delete(m.list, i, i+1)
			drop = -1
			break
		}
		if same(v) && (drop < 0 || m.list[drop].Done && !v.Done) {
			drop = i
		}
	}
	n := 0
	for _, v := range m.list {
		if same(v) && v.Holder.Peer != u.Holder.Peer {
			n++
		}
	}
	if n >= maxHolders {
		m.list = slices.Delete(m.list, drop, drop+1)
	}
	if u.Done {
		m.list = slices.DeleteFunc(m.list, func(d Tuple) bool {
			return u.Path.Above(d.Path) && d.Holder.Peer == u.Holder.Peer && !d.Done
		})
	}
	for len(m.list) >= m.most {
		most, big := 0, PeerID("")
		for _, id := range []PeerID{"a", "b", "c", "d"} {
			n := 0
			for _, v := range m.list {
				if v.Holder.Peer == id {
					n++
				}
			}
			if n > most {
				most, big = n, id
			}
		}
		i := slices.IndexFunc(m.list, func(v Tuple) bool { return v.Holder.Peer == big })
		m.list = slices.Delete(m.list, i, i+1)
	}
	m.list = append(m.list, u)
}

// A tuple table is its model: bounded; one tuple a job and peer, of three peers, what is done preferred; an ancestor
// that a peer has done in the place of all below it that it works on; those who tell most lose first; what the gone had
// is gone.
func TestTupleTableIsItsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 12).Draw(t, "most")
		table, m := newTupleTable(most, nil), &modelTable{most: most}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			holder := Address{Peer: rapid.SampledFrom([]PeerID{"a", "b", "c", "d"}).Draw(t, "holder"),
				Inc: Incarnation(rapid.IntRange(1, 2).Draw(t, "inc"))}
			if rapid.IntRange(0, 9).Draw(t, "gone") == 0 {
				table.dropHolder(holder.Peer, holder.Inc)
				m.list = slices.DeleteFunc(m.list, func(u Tuple) bool {
					return u.Holder.Peer == holder.Peer &&
						u.Holder.Inc < holder.Inc
				})
			}
			u := Tuple{Path: drawPath(t), Identity: drawIdentity(t), Holder: holder, Done: rapid.Bool().Draw(t, "done")}
			table.put(u)
			m.put(u)
			if len(table.index) != len(m.list) || len(table.index) > most {
				t.Fatalf("%d tuples, the model has %d, at most %d may be", len(table.index), len(m.list), most)
			}
			for _, v := range m.list {
				if es := table.find(v.Path, v.Identity); !slices.ContainsFunc(es, func(e *tupleEntry) bool {
					return e.Holder == v.Holder && e.Done == v.Done
				}) {
					t.Fatalf("of %v the table knows %+v, the model %+v", v.Path, es, v)
				}
			}
			n := 0
			for _, l := range table.holders {
				n += l.Len()
			}
			if n != len(table.index) {
				t.Fatalf("%d tuples are listed by holder, %d in all", n, len(table.index))
			}
		}
	})
}

// A peer that floods the table drives out its own tuples and nobody else's.
func TestFloodOfTuples(t *testing.T) {
	table := newTupleTable(100, nil)
	for i := range 40 {
		table.put(Tuple{Path: job.Path{1, uint32(i)}, Holder: Address{Peer: "honest", Inc: 1}, Done: true})
	}
	for i := range 10_000 {
		table.put(Tuple{Path: job.Path{2, uint32(i)}, Holder: Address{Peer: "flood", Inc: 1}, Done: true})
	}
	if n := table.holders["honest"].Len(); n != 40 || len(table.index) != 100 {
		t.Errorf("%d of 40 honest tuples are left, of %d", n, len(table.index))
	}
}

func BenchmarkLook(b *testing.B) {
	var paths []job.Path
	for i := range 16384 {
		paths = append(paths, job.Path{1, uint32(i % 7), uint32(i % 31), uint32(i)})
	}
	slices.SortFunc(paths, job.Path.Compare)
	o := inChunks(paths)
	for i := range b.N {
		o.Look(job.Path{1, uint32(i % 7), uint32(i % 31)})
	}
}

func ExampleOrphans_Look() {
	o := inChunks([]job.Path{{1, 2}, {1, 2, 3}})
	fmt.Println(o.Look(job.Path{1}))
	fmt.Println(o.Look(job.Path{1, 2}))
	fmt.Println(o.Look(job.Path{2}))
	// Output:
	// false true
	// true true
	// false false
}
