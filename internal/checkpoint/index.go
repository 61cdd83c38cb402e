package checkpoint

import (
	"slices"
	"sort"
	"strings"
)

// An entry says where a record lies.
type entry struct {
	key string // Record.key
	id  [16]byte
	at  place
}

// A place is a frame in a file.
type place struct {
	in   *segment
	off  int64
	size int64
}

// An index knows what is stored: a set of jobs none of which is an ancestor of another, in the order of their
// paths, an ancestor before its descendants. In that order a job that is covered by an ancestor comes right
// behind it, since nothing lies between but other descendants, and a job's descendants follow it without a
// gap. So both questions that the log asks are answered by one search.
//
// Jobs of the same path and different identity are all kept: an inlet may have spawned in another order.
type index struct {
	blocks [][]entry // sorted, none empty
	n      int
	keys   int64 // their bytes
}

// entryBytes is about what an entry takes besides its key.
const entryBytes = 100

// memory is about what the index takes.
func (x *index) memory() int64 { return x.keys + int64(x.n)*entryBytes }

// blockSize is how many entries are moved at most to make room for one.
const blockSize = 256

func before(a entry, key string, id [16]byte) bool {
	if a.key != key {
		return a.key < key
	}
	return string(a.id[:]) < string(id[:])
}

// seek gives the place of the first entry that is not before key and id.
func (x *index) seek(key string, id [16]byte) (b, i int) {
	b = sort.Search(len(x.blocks), func(b int) bool { return !before(x.blocks[b][len(x.blocks[b])-1], key, id) })
	if b == len(x.blocks) {
		return b, 0
	}
	return b, sort.Search(len(x.blocks[b]), func(i int) bool { return !before(x.blocks[b][i], key, id) })
}

// covered says whether the job is stored or has an ancestor that is.
func (x *index) covered(key string, id [16]byte) bool {
	if x.find(key, id) != nil {
		return true
	}
	b, i := x.seek(key, [16]byte{})
	switch {
	case i > 0:
		i--
	case b > 0:
		b--
		i = len(x.blocks[b]) - 1
	default:
		return false
	}
	return strings.HasPrefix(key, x.blocks[b][i].key)
}

// find gives the entry of a job, or nil.
func (x *index) find(key string, id [16]byte) *entry {
	b, i := x.seek(key, id)
	if b == len(x.blocks) || x.blocks[b][i].key != key || x.blocks[b][i].id != id {
		return nil
	}
	return &x.blocks[b][i]
}

// insert adds a job that is not covered, and calls evicted with its descendants, which are covered now.
func (x *index) insert(e entry, evicted func(entry)) {
	x.evict(e.key, evicted)
	x.n++
	x.keys += int64(len(e.key))
	b, i := x.seek(e.key, e.id)
	if b == len(x.blocks) {
		if b == 0 {
			x.blocks = [][]entry{{e}}
			return
		}
		b--
		i = len(x.blocks[b])
	}
	x.blocks[b] = slices.Insert(x.blocks[b], i, e)
	if n := len(x.blocks[b]); n > blockSize {
		right := slices.Clone(x.blocks[b][n/2:])
		clear(x.blocks[b][n/2:])
		x.blocks[b] = x.blocks[b][:n/2]
		x.blocks = slices.Insert(x.blocks, b+1, right)
	}
}

// evict removes the descendants of a job.
func (x *index) evict(key string, evicted func(entry)) {
	b, i := x.seek(key+"\x00", [16]byte{})
	for b < len(x.blocks) {
		end := i
		for end < len(x.blocks[b]) && strings.HasPrefix(x.blocks[b][end].key, key) {
			x.keys -= int64(len(x.blocks[b][end].key))
			evicted(x.blocks[b][end])
			end++
		}
		last := end < len(x.blocks[b])
		x.n -= end - i
		x.blocks[b] = slices.Delete(x.blocks[b], i, end)
		if len(x.blocks[b]) == 0 {
			x.blocks = slices.Delete(x.blocks, b, b+1)
		} else {
			b++
		}
		if last {
			return
		}
		i = 0
	}
}

// remove takes one job out.
func (x *index) remove(key string, id [16]byte) {
	if b, i := x.seek(key, id); b < len(x.blocks) && x.blocks[b][i].key == key && x.blocks[b][i].id == id {
		x.blocks[b] = slices.Delete(x.blocks[b], i, i+1)
		x.n--
		x.keys -= int64(len(key))
		if len(x.blocks[b]) == 0 {
			x.blocks = slices.Delete(x.blocks, b, b+1)
		}
	}
}

// next gives the first entry behind key and id; with first, the first of all.
func (x *index) next(key string, id [16]byte, first bool) (entry, bool) {
	b, i := x.seek(key, id)
	if !first && b < len(x.blocks) && x.blocks[b][i].key == key && x.blocks[b][i].id == id {
		i++
	}
	if b < len(x.blocks) && i == len(x.blocks[b]) {
		b, i = b+1, 0
	}
	if b == len(x.blocks) {
		return entry{}, false
	}
	return x.blocks[b][i], true
}
