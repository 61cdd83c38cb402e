// Package record takes the job trees of real programs down for the simulator (sim.Recorded): which job
// spawned which, what each costs, how large its argument and result are when they travel.
//
// A program runs on one core, and every job that its engine offers to thieves is taken away, as the swarm
// would take it, and given back to the same core when that has nothing else to do. So the tree is the one
// that thieves see: jobs too small for the engine to offer are part of the job that spawned them. Then every
// job is run once more by the sequential program, to be timed without any of this: a job's own cost is its
// time less that of the jobs recorded below it.
//
// Of what jobs share, arguments have the names, as in a swarm; how the values get to the peers is not recorded. A
// lattice has grown when a job is run once more, so a search prunes as if each bound had been known at once.
//
// A recording depends on the machine and the moment. What is simulated with it does not.
package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"

	"github.com/satin-peer/satin/internal/engine"
)

// node is one job that was taken, or the root.
type node struct {
	path    job.Path
	fn      string
	arg     any
	outcome engine.Outcome
	taken   *engine.Taken // nil for the root
	ended   bool
}

// recorder runs one program.
type recorder struct {
	pool    *engine.Pool
	run     job.RunID
	byPath  map[string]*node
	pending []*node // not begun

	mu    sync.Mutex
	ended []*node       // not yet noticed by the loop
	news  chan struct{} // one token: look at ended
}

// Tree runs the function registered as fn and returns the tree of its jobs, and its result. It blocks for the
// length of the run and, for each level of the tree, about as long again, or until ctx is done. A job that
// fails, or that the program aborts, is an error: the sequential program would not do the same.
func Tree(ctx context.Context, name, fn string, arg any) (tree *sim.Recorded, result any, err error) {
	r := &recorder{run: job.NewRunID(), byPath: make(map[string]*node), news: make(chan struct{}, 1)}
	pool, err := engine.NewPool(engine.Config{Workers: 1, Outside: namer{wire.Shared()}})
	if err != nil {
		return nil, nil, err
	}
	r.pool = pool
	result, err = r.takeAll(ctx, fn, arg)
	pool.Close()
	if err != nil {
		return nil, nil, err
	}
	jobs, err := r.measure(ctx)
	if err != nil {
		return nil, nil, err
	}
	tree, err = sim.NewRecorded(name, jobs)
	return tree, result, err
}

// takeAll runs the program until its root has ended.
func (r *recorder) takeAll(ctx context.Context, fn string, arg any) (result any, err error) {
	root := &node{fn: fn, arg: arg}
	r.add(root)
	for !root.ended {
		if t := r.pool.Take(); t != nil {
			j := t.Job()
			r.add(&node{path: j.ID.Path, fn: j.Func, arg: j.Arg, taken: t})
			continue
		}
		if n := len(r.pending); n > 0 && r.pool.Idle() > 0 {
			j := r.pending[n-1]
			r.pending = r.pending[:n-1]
			if err := r.begin(j); err != nil {
				return nil, err
			}
			continue
		}
		if err := r.endings(ctx); err != nil {
			return nil, err
		}
	}
	return root.outcome.Result, nil
}

func (r *recorder) add(j *node) {
	r.byPath[j.path.String()] = j
	r.pending = append(r.pending, j)
}

func (r *recorder) begin(j *node) error {
	in := engine.Job{ID: job.ID{Run: r.run, Path: j.path}, Func: j.fn, Arg: j.arg}
	_, err := r.pool.Submit(in, func(o engine.Outcome) {
		j.outcome = o
		r.mu.Lock()
		r.ended = append(r.ended, j)
		r.mu.Unlock()
		select {
		case r.news <- struct{}{}:
		default:
		}
	})
	return err
}

// endings gives results to those who wait for them. It does not wait for one: Take is the loop's rest.
func (r *recorder) endings(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-r.news:
	default:
		runtime.Gosched() // for the few microseconds in which the core has nothing and is not yet idle
		return nil
	}
	r.mu.Lock()
	ended := r.ended
	r.ended = nil
	r.mu.Unlock()
	for _, j := range ended {
		if err := cmp.Or(j.outcome.Failure, j.outcome.Err); err != nil {
			return fmt.Errorf("job %v of %s failed: %w", j.path, j.fn, err)
		}
		j.ended = true
		if j.taken == nil {
			continue
		}
		if wanted, err := j.taken.End(j.outcome); err != nil || !wanted {
			return errors.Join(err, abortedError(j))
		}
	}
	return nil
}

func abortedError(j *node) error {
	return fmt.Errorf("job %v of %s was aborted by the program: such a search cannot be recorded", j.path, j.fn)
}

// measure times all jobs and puts them in preorder.
func (r *recorder) measure(ctx context.Context) ([]sim.RecordedJob, error) {
	all := make([]*node, 0, len(r.byPath))
	for _, j := range r.byPath {
		all = append(all, j)
	}
	slices.SortFunc(all, func(a, b *node) int { return slices.Compare(a.path, b.path) })
	out := make([]sim.RecordedJob, len(all))
	var above []int // the jobs whose subtrees are not complete, the root first
	for i, j := range all {
		if !j.ended {
			return nil, abortedError(j)
		}
		began := time.Now()
		if _, err := (*engine.Pool)(nil).Run(ctx, j.fn, j.arg); err != nil {
			return nil, fmt.Errorf("job %v of %s, run again: %w", j.path, j.fn, err)
		}
		out[i].Cost = time.Since(began)
		var err error
		if out[i].Arg, err = encodedSize(j.arg); err != nil {
			return nil, err
		}
		if out[i].Result, err = encodedSize(j.outcome.Result); err != nil {
			return nil, err
		}
		for len(above) > 0 && !all[above[len(above)-1]].path.Above(j.path) {
			above = above[:len(above)-1]
		}
		if len(above) > 0 {
			parent := &out[above[len(above)-1]]
			parent.Children++
			parent.Cost = max(0, parent.Cost-out[i].Cost) // its own; the child's is still all of its subtree
		}
		above = append(above, i)
	}
	return out, nil
}

func encodedSize(v any) (int, error) {
	b, err := wire.Value().Encode(v)
	return len(b), err
}
