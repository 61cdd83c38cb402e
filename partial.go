package satin

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/job"
)

// PartialRead is what a job got from a lattice in RunPartial.
type PartialRead struct {
	Job             job.Path // of the run's root, so nothing is the root itself
	Lattice         string   // the name it was registered under
	Value           any
	Joined, Offered int // so many of the offers that there were are in it, not counting what the job had to see
}

// RunPartial runs the sequential program so that each Value of a lattice has joined only some of what was offered so
// far, drawn from the seed, as it may on a swarm: what the job itself has offered or seen before, and what the job that
// spawned it had by then, always; of the others some, all or none. A test that demands the same result for many seeds
// finds programs that rest on more: package satintest has it. Each watch is called for each Value.
func RunPartial[A, R any](ctx context.Context, seed uint64, fn func(*Frame, A) R, arg A, watch ...func(PartialRead)) (R,
	error) {
	t := taskOf[A, R](engine.MustLookup(funcKey(fn)).Ops.NewRecord())
	t.arg = arg
	p := &partial{rnd: rand.New(rand.NewPCG(seed, 1)), watch: watch}
	err := engine.RunAlone(ctx, &t.Record, &engine.Shelf{Partial: p})
	return t.res, err
}

// partial is what RunPartial puts on the shelf, for the oracles of its lattices.
type partial struct {
	rnd   *rand.Rand
	watch []func(PartialRead)
}

// oracle remembers all offers to a lattice, and what each job had to see of it, so that each Value can join others.
type oracle[V any] struct {
	*partial
	mu     sync.Mutex
	kind   string
	join   func(V, V) V
	hints  bool
	bottom V
	offers []V
	seen   map[string][]seen[V] // by the job's path; by how many jobs it had spawned
}

// seen is what a job had to see of a lattice after it had spawned so many jobs.
type seen[V any] struct {
	spawned uint64
	v       V
}

func newOracle[K, V any](p *partial, l *lattice[K, V], bottom V) *oracle[V] {
	return &oracle[V]{partial: p, kind: l.name, join: l.join, hints: l.hints, bottom: bottom,
		seen: map[string][]seen[V]{}}
}

// floor is what a job has to see that had spawned so many jobs, through a handle that a job of that depth made: what it
// had offered or seen, else what the job that spawned it had when it did that. A job that was not handed the handle but
// shares the lattice anew has nothing of its parent's, nor does anybody if values are hints.
func (o *oracle[V]) floor(path job.Path, spawned uint64, made int) V {
	list := o.seen[fmt.Sprint(path)]
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].spawned <= spawned {
			return list[i].v
		}
	}
	if len(path) <= made || o.hints {
		return o.bottom
	}
	parent := len(path) - 1
	return o.floor(path[:parent], uint64(path[parent])-1, made)
}

// has notes what the running job has to see from now on.
func (o *oracle[V]) has(path job.Path, spawned uint64, v V) {
	name := fmt.Sprint(path)
	list := o.seen[name]
	if n := len(list); n > 0 && list[n-1].spawned == spawned {
		list[n-1].v = v
		return
	}
	o.seen[name] = append(list, seen[V]{spawned, v})
}

func (o *oracle[V]) offer(f *Frame, v V, made int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.offers = append(o.offers, v)
	path, spawned := f.ID().Path, engine.Children(f.worker())
	o.has(path, spawned, o.join(o.floor(path, spawned, made), v))
}

// value joins what the job has to see with any of the others, in any order.
func (o *oracle[V]) value(f *Frame, made int) V {
	o.mu.Lock()
	defer o.mu.Unlock()
	path, spawned := f.ID().Path, engine.Children(f.worker())
	v, joined := o.floor(path, spawned, made), 0
	share := o.rnd.IntN(3) // none, some or nearly all
	for _, i := range o.rnd.Perm(len(o.offers)) {
		if o.rnd.IntN(4) < share+share/2 {
			v = o.join(v, o.offers[i])
			joined++
		}
	}
	o.has(path, spawned, v)
	for _, w := range o.watch {
		w(PartialRead{path, o.kind, v, joined, len(o.offers)})
	}
	return v
}
