package porttest

import (
	"cmp"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// patience is how long a test waits for what must come.
const patience = time.Minute

// rig is an engine under test, and what it has told that nobody has asked for yet.
type rig struct {
	t       *testing.T
	e       port.Live
	run     job.RunID
	told    []port.Event
	segment steal.SegmentID
	ticket  steal.Ticket
}

// start has one core work.
func (r *rig) start() { r.e.Do(&port.Order{Kind: port.Cores, Max: 1, Others: true}) }

// await waits for an event and takes it out.
func (r *rig) await(what string, fits func(*port.Event) bool) port.Event {
	r.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		events, again := r.e.Poll()
		r.told = append(r.told, events...)
		for i := range r.told {
			if e := r.told[i]; fits(&e) {
				r.told = append(r.told[:i:i], r.told[i+1:]...)
				return e
			}
		}
		again = cmp.Or(again, patience)
		select {
		case <-r.e.Bell():
		case <-time.After(again):
		case <-deadline.C:
			r.t.Fatalf("%s does not come; what came: %+v", what, r.told)
		}
	}
}

// kind waits for an event of a kind.
func (r *rig) kind(k port.EventKind) port.Event {
	r.t.Helper()
	return r.await(k.String(), func(e *port.Event) bool { return e.Kind == k })
}

// begin orders a job to be run, at a path.
func (r *rig) begin(fn string, arg any, change func(*port.Order)) steal.SegmentID {
	r.t.Helper()
	r.segment++
	o := &port.Order{Kind: port.Run, Segment: r.segment, Job: &steal.Job{Path: job.Path{uint32(r.segment)},
		Function: fn, Arg: r.encode(arg)}}
	if change != nil {
		change(o)
	}
	r.e.Do(o)
	return r.segment
}

// take takes one job of a function. An engine may have set another one aside before.
func (r *rig) take(fn string) steal.Taken {
	r.t.Helper()
	for begun := time.Now(); time.Since(begun) < patience; {
		r.ticket++
		r.e.Do(&port.Order{Kind: port.Take, Ticket: r.ticket, Max: 1})
		ticket := r.ticket
		e := r.await("a taken job", func(e *port.Event) bool { return e.Kind == port.Taken && e.Ticket == ticket })
		if len(e.Jobs) > 1 {
			r.t.Fatalf("%d jobs were taken, 1 was asked for", len(e.Jobs))
		}
		if len(e.Jobs) == 1 && e.Jobs[0].Job.Function == fn {
			return e.Jobs[0]
		}
		for _, other := range e.Jobs {
			r.e.Do(&port.Order{Kind: port.PutBack, Ref: other.Ref})
		}
	}
	r.t.Fatalf("no job %s can be taken", fn)
	return steal.Taken{}
}

// finished waits for the end of a segment.
func (r *rig) finished(id steal.SegmentID) port.Event {
	r.t.Helper()
	return r.await("an end", func(e *port.Event) bool { return e.Kind == port.Finished && e.Segment == id })
}

// result reads what came of a job that returned.
func (r *rig) result(fn string, outcome []byte) any {
	r.t.Helper()
	f, _ := engine.Lookup(fn)
	v, err, panicked, bad := compute.DecodeOutcome(r.run, outcome, f)
	if err != nil || panicked != nil || bad != nil {
		r.t.Fatalf("%s: %v, %v, %v", fn, err, panicked, bad)
	}
	return v
}

func (r *rig) encode(v any) []byte {
	r.t.Helper()
	b, err := wire.Value().Encode(v)
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

// outcome is that of a job that returned v.
func (r *rig) outcome(v any) []byte {
	r.t.Helper()
	return r.encode(&compute.Outcome{Value: r.encode(v)})
}
