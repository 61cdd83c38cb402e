package compute

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// MaxChecked bounds the arguments that are decoded where memory has no limit, in bytes: a larger one may become much
// larger still, and only the process that computes has a limit for that. It decodes them all.
const MaxChecked = 64 << 10

// RootOf makes the root of a run. The error says that there is no such function here. Whether the argument fits it is
// for ArgumentOf to say, and for whoever runs the job.
func RootOf(fn string, arg []byte) (steal.Job, error) {
	if _, ok := engine.Lookup(fn); !ok {
		return steal.Job{}, unknown(fn)
	}
	return steal.Job{Identity: job.Identify(fn, arg), Function: fn, Arg: arg}, nil
}

func unknown(fn string) error {
	return fmt.Errorf("there is no function %q here", clip(fn, maxFailureName))
}

// read decodes an argument for a function.
func read(fn string, arg []byte) (f engine.Func, v any, err error) {
	f, ok := engine.Lookup(fn)
	if !ok {
		return f, nil, unknown(fn)
	}
	if v, err = decodeValue(arg, f.Arg); err != nil {
		return f, nil, fmt.Errorf("the argument of %s: %w", fn, err)
	}
	if err = f.Refuses(v); err != nil {
		return f, nil, fmt.Errorf("the argument of %s is refused: %w", fn, err)
	}
	return f, v, nil
}

// ArgumentOf gives the argument of a job of a registered function. The error says that there is no such function, or
// that the argument does not fit it.
func ArgumentOf(fn string, arg []byte) (any, error) {
	_, v, err := read(fn, arg)
	return v, err
}

// jobOf encodes a job that is on its way out, and tells of what it shares. The error says that this, or its path,
// is too much; Register has seen to the rest.
func (e *Engine) jobOf(j engine.Job) (out steal.Taken, err error) {
	if len(j.ID.Path) > steal.MaxPath {
		return out, fmt.Errorf("its path has %d steps, at most %d may be told", len(j.ID.Path), steal.MaxPath)
	}
	names, err := e.sharing.names(j)
	if err != nil {
		return out, err
	}
	arg, err := wire.Shared().Encode(j.Arg)
	if err != nil {
		return out, err
	}
	out.Job = steal.Job{Path: j.ID.Path, Identity: job.Identify(j.Func, arg), Function: j.Func, Arg: arg,
		Restarted: j.Restarted, Names: names, Depth: j.Depth}
	out.Spawned, out.Segment = true, steal.SegmentID(j.Root) // a guest that has not begun is never taken
	return out, nil
}

// run starts a stolen job, or the root. One that cannot be run ends at once, as a job that panicked: its
// spawner has to learn of it.
func (e *Engine) run(o *port.Order) {
	e.runs++
	id, j := o.Segment, o.Job
	which, fn := job.ID{Run: e.cfg.Run, Path: j.Path}, j.Function
	_, v, err := read(fn, j.Arg)
	var g *engine.Guest
	if err == nil {
		in := engine.Job{ID: which, Root: uint64(id), Func: fn, Arg: v, First: o.First, Alone: o.Alone,
			Restarted: j.Restarted && !e.cfg.Naive, Depth: min(j.Depth, steal.MaxDepth)}
		g, err = e.pool.Submit(in, func(o engine.Outcome) {
			begun := time.Now()
			outcome, returned := e.sharing.encodeOutcome(e.cfg.Self, which, fn, o)
			e.encoded(begun)
			e.tell(func(told *[]port.Event) { e.ended(told, id, outcome, returned) })
		})
	}
	if err != nil {
		e.trouble("a job cannot be run", which, err)
		e.happened(port.Event{Kind: port.Finished, Segment: id,
			Outcome: encodePanic(e.cfg.Self, which, fn, &job.Error{ID: which, Func: fn, Panic: err})})
		return
	}
	e.segments[id] = g
}

// ended tells what came of a segment. A panic is not Good, not worth keeping: its cause may be this machine.
func (e *Engine) ended(told *[]port.Event, id steal.SegmentID, outcome []byte, returned bool) {
	g := e.segments[id]
	if g == nil {
		return // it was aborted meanwhile
	}
	delete(e.segments, id)
	*told = append(*told, port.Event{Kind: port.Finished, Segment: id, Outcome: outcome, Good: returned,
		Tally: tally(g)})
}

// abort ends a segment.
func (e *Engine) abort(id steal.SegmentID) {
	if g := e.segments[id]; g != nil {
		delete(e.segments, id)
		g.Cancel()
		e.happened(port.Event{Kind: port.Stopped, Segment: id, Tally: tally(g)})
	}
}

func tally(g *engine.Guest) (t port.Tally) {
	t.Spawned, t.Executed = g.Counts()
	t.Own = g.Own()
	return t
}

// trouble tells of a job with which something went wrong.
func (e *Engine) trouble(what string, id job.ID, err error) {
	e.happened(port.Event{Kind: port.Troubled, Text: fmt.Sprintf("%s: job %s: %s", what, id, clip(err.Error(),
		maxFailureText))})
}

// give enters a job that was taken, under a new Ref.
func (e *Engine) give(t *engine.Taken) steal.Ref {
	e.lastRef++
	e.given[e.lastRef], e.refs[t] = t, e.lastRef
	return e.lastRef
}

// forget ends a Ref; false if it has ended before.
func (e *Engine) forget(ref steal.Ref) (*engine.Taken, bool) {
	t, ok := e.given[ref]
	if ok {
		delete(e.given, ref)
		delete(e.refs, t)
	}
	return t, ok
}

// putBack has a job that was given away run here after all. If it is restarted, what is under it may not need to.
func (e *Engine) putBack(t *engine.Taken, o *port.Order) {
	if restarted := o.Restarted && !e.cfg.Naive; o.Stays {
		t.Stay(restarted)
	} else {
		t.PutBack(restarted)
	}
}

// deliver fills the slot of a given-away job. An outcome that makes no sense is not used: the job runs here again.
func (e *Engine) deliver(ref steal.Ref, outcome []byte) {
	t, ok := e.forget(ref)
	if !ok {
		return
	}
	out := t.Job()
	fn, _ := engine.Lookup(out.Func)
	result, err, panicked, bad := DecodeOutcome(e.cfg.Run, outcome, fn)
	good := bad == nil && panicked == nil
	switch {
	case bad != nil:
	case panicked != nil:
		_, _ = t.End(engine.Outcome{Failure: panicked}) // a failure fits any function
	default:
		_, bad = t.End(engine.Outcome{Result: result, Err: err})
		good = bad == nil
	}
	if bad != nil {
		e.trouble("an outcome cannot be used and the job runs again", out.ID, bad)
		t.PutBack(false)
	}
	e.happened(port.Event{Kind: port.Delivered, Ref: ref, Good: good})
}

// count tells the counters, those of the pool when its workers have told theirs.
func (e *Engine) count(whole bool) {
	if !whole {
		e.happened(port.Event{Kind: port.Counted, Figures: e.figures()})
		return
	}
	if e.counting {
		return // one answer for both
	}
	e.counting = true
	e.wg.Go(func() {
		s := e.pool.Stats()
		share, _ := e.pool.Progress() // 0 when the root is not here yet
		e.tell(func(told *[]port.Event) {
			e.counting = false
			f := e.figures()
			f.Whole, f.Progress = true, share
			f.Spawned, f.Executed, f.Syncs = s.Spawned, s.Executed, s.Syncs
			f.Aborts, f.Aborted, f.Late = s.Aborts, s.Aborted, s.Late
			f.Times = e.times(&s.Times)
			*told = append(*told, port.Event{Kind: port.Counted, Figures: f})
		})
	})
}

// times puts the pool's times and this engine's own in the terms of the port.
func (e *Engine) times(t *engine.Times) port.Times {
	return port.Times{Cores: t.Cores, Free: t.Free, Stealing: t.Searching, Waiting: t.Waiting,
		Recovering: t.Recovering, Encoding: time.Duration(e.encoding.Load()), CPU: t.CPU}
}

// encoded notes that a worker has encoded something since then.
func (e *Engine) encoded(since time.Time) { e.encoding.Add(int64(time.Since(since))) }

// figures are those that cost nothing.
func (e *Engine) figures() *port.Figures {
	f := &port.Figures{Speed: e.gauge.speed()}
	e.mu.Lock()
	f.Leaf = e.leaf
	e.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(e.segments)) {
		f.Segments = append(f.Segments, port.SegmentTally{Segment: id, Tally: tally(e.segments[id])})
	}
	return f
}
