package steal

import (
	"errors"
	"slices"
	"sort"

	"github.com/satin-peer/satin/job"
)

// Orphans is what a core knew of lost work at one moment: the paths of jobs whose outcome somebody has or is
// working on, this peer included. Immutable, so safe for concurrent use; the nil and the zero value know of
// none. Two snapshots share the chunks in which they are alike.
type Orphans struct {
	chunks [][]job.Path // in order, none of them empty, each path once
	n      int
}

// chunkPaths is how many paths a chunk has at first; one of twice as many is divided.
const chunkPaths = 64

func inChunks(paths []job.Path) *Orphans {
	return &Orphans{slices.Collect(slices.Chunk(paths, chunkPaths)), len(paths)}
}

// mergeOrphans makes a snapshot of lists that are in order, of which the third is short.
func mergeOrphans(keeps byPath[*kept], knows byPath[*tupleEntry], running []job.Path) *Orphans {
	paths := make([]job.Path, 0, len(keeps)+len(knows)+len(running))
	for {
		var next job.Path
		from := 0
		consider := func(list int, p job.Path) {
			if from == 0 || p.Compare(next) < 0 {
				from, next = list, p
			}
		}
		if len(keeps) > 0 {
			consider(1, keeps[0].Path)
		}
		if len(knows) > 0 {
			consider(2, knows[0].Path)
		}
		if len(running) > 0 {
			consider(3, running[0])
		}
		switch from {
		case 0:
			return inChunks(paths)
		case 1:
			keeps = keeps[1:]
		case 2:
			knows = knows[1:]
		case 3:
			running = running[1:]
		}
		if n := len(paths); n == 0 || !slices.Equal(paths[n-1], next) {
			paths = append(paths, next)
		}
	}
}

// find gives the place of a path, or where it would be: behind the last chunk if all are before it.
func (o *Orphans) find(p job.Path) (chunk, i int, hit bool) {
	chunk = sort.Search(len(o.chunks), func(k int) bool {
		c := o.chunks[k]
		return c[len(c)-1].Compare(p) >= 0
	})
	if chunk < len(o.chunks) {
		i, hit = slices.BinarySearchFunc(o.chunks[chunk], p, job.Path.Compare)
	}
	return chunk, i, hit
}

// copied is what set may be called for.
func (o *Orphans) copied() *Orphans { return &Orphans{slices.Clone(o.chunks), o.n} }

// set has a path there or not, in a snapshot that nobody has got yet: its chunk may be others', and is copied.
func (o *Orphans) set(p job.Path, there bool) {
	k, i, hit := o.find(p)
	if hit == there {
		return
	}
	if !there {
		o.n--
		if c := o.chunks[k]; len(c) > 1 {
			o.chunks[k] = slices.Concat(c[:i], c[i+1:])
		} else {
			o.chunks = slices.Delete(o.chunks, k, k+1)
		}
		return
	}
	o.n++
	if k == len(o.chunks) {
		if k == 0 {
			o.chunks = append(o.chunks, []job.Path{p})
			return
		}
		k--
		i = len(o.chunks[k])
	}
	c := slices.Concat(o.chunks[k][:i], []job.Path{p}, o.chunks[k][i:])
	if o.chunks[k] = c; len(c) >= 2*chunkPaths {
		o.chunks[k] = c[:chunkPaths]
		o.chunks = slices.Insert(o.chunks, k+1, c[chunkPaths:])
	}
}

// Look says whether there is an orphan at exactly that path, and whether there are any strictly below it. It takes
// O(len(p) log n) steps and allocates nothing.
func (o *Orphans) Look(p job.Path) (hit, below bool) {
	if o == nil {
		return false, false
	}
	k, i, hit := o.find(p)
	if hit {
		i++
	}
	if k < len(o.chunks) && i == len(o.chunks[k]) {
		k, i = k+1, 0
	}
	return hit, k < len(o.chunks) && p.Above(o.chunks[k][i])
}

// Len is how many paths there are.
func (o *Orphans) Len() int {
	if o == nil {
		return 0
	}
	return o.n
}

// steps is how many all paths have.
func (o *Orphans) steps() (n int) {
	if o == nil {
		return 0
	}
	for _, chunk := range o.chunks {
		for _, p := range chunk {
			n += len(p)
		}
	}
	return n
}

// Paths lists what there is, sorted, each once.
func (o *Orphans) Paths() []job.Path {
	if o == nil {
		return nil
	}
	return slices.Concat(o.chunks...)
}

// NewOrphans makes a snapshot of what Paths listed. The error says that the paths are not in order.
func NewOrphans(paths []job.Path) (*Orphans, error) {
	for i := 1; i < len(paths); i++ {
		if paths[i-1].Compare(paths[i]) >= 0 {
			return nil, errors.New("paths that are not in order")
		}
	}
	return inChunks(paths), nil
}
