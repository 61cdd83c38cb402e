package guest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
)

// Jobs and outcomes as the host moves them
//
// A function's number is its place among the registered names in order, from 1. Number 0 is the root job: its argument
// says with which arguments the application was called, so that its answer can be rendered elsewhere.
// An outcome's first byte says what follows: a result, or the failure that was returned, or that was a panic.
const (
	returned = iota
	failed
	panicked
)

// A failure is an error that a job returned, with the result beside it, or what it panicked with.
type failure struct {
	Text  string
	Is    []string // see satin.RegisterError
	Value []byte
}

// inside is the engine in here.
var inside = engine.NewInside(outer{handles: map[*engine.Taken]int32{}}, outside{wire.Shared()}, around{})

// outer is the host as the engine sees it.
type outer struct{ handles map[*engine.Taken]int32 }

func (o outer) Wanted() int { return int(hostWanted()) }

func (o outer) Offer(t *engine.Taken) {
	j := t.Job()
	arg, err := wire.Shared().Encode(j.Arg)
	if err == nil {
		err = tellNames(j.Func, j.Arg)
	}
	if err != nil {
		return // it cannot leave: Await gives it back
	}
	up, last := j.ID.Path[:len(j.ID.Path)-1], j.ID.Path[len(j.ID.Path)-1]
	o.handles[t] = hostOffer(number(j.Func), at(arg), uint32(len(arg)), unsafe.Pointer(unsafe.SliceData(up)),
		uint32(len(up)), last)
}

func (o outer) Await(list []*engine.Taken) (int, *engine.Outcome) {
	handles := make([]int32, len(list))
	for i, t := range list {
		h, away := o.handles[t]
		if !away {
			return i, nil
		}
		handles[i] = h
	}
	i := 0
	if len(list) > 1 {
		i = int(hostAny(unsafe.Pointer(unsafe.SliceData(handles)), uint32(len(handles))))
	}
	delete(o.handles, list[i])
	got := hostJoin(handles[i])
	if got < 0 {
		return i, nil
	}
	b := make([]byte, uint32(got))
	hostResult(at(b))
	out := decodeOutcome(list[i].Job().Func, b)
	return i, &out
}

func (o outer) Dropped(t *engine.Taken) {
	if h, away := o.handles[t]; away {
		hostDrop(h)
		delete(o.handles, t)
	}
}

// names are the registered names, in order.
func names() []string {
	all := engine.Names()
	slices.Sort(all)
	return all
}

func number(fn string) uint32 {
	i, _ := slices.BinarySearch(names(), fn)
	return uint32(i) + 1
}

// runJob runs a job for the host.
func runJob(fn uint32, arg []byte) int64 {
	if fn == 0 {
		return runRoot(arg)
	}
	all := names()
	if int(fn) > len(all) {
		return place(failing(panicked, fmt.Errorf("there is no function %d", fn), nil), false)
	}
	return place(runNamed(all[fn-1], arg), false)
}

func runNamed(name string, arg []byte) []byte {
	v, err := argument(name, arg)
	if err != nil {
		return failing(panicked, fmt.Errorf("the argument of %s: %w", name, err), nil)
	}
	o, err := inside.Run(name, v)
	if err != nil {
		return failing(panicked, err, nil)
	}
	return encodeOutcome(name, o)
}

// argument decodes a job's argument.
func argument(name string, b []byte) (any, error) {
	f, _ := engine.Lookup(name)
	v := reflect.New(f.Arg)
	err := wire.Shared().Decode(b, v.Interface())
	return v.Elem().Interface(), err
}

func encodeOutcome(name string, o engine.Outcome) []byte {
	if o.Failure != nil {
		return failing(panicked, o.Failure, nil)
	}
	b, err := wire.Outcomes().Encode(o.Result)
	switch {
	case err != nil:
		return failing(panicked, fmt.Errorf("the result of %s cannot leave: %w", name, err), nil)
	case o.Err != nil:
		return failing(failed, o.Err, b)
	}
	return append([]byte{returned}, b...)
}

func failing(how byte, err error, value []byte) []byte {
	b, bad := wire.Outcomes().Encode(&failure{why(err), engine.ErrorNames(err), value})
	if bad != nil {
		panic(bad) // a text, names and bytes
	}
	return append([]byte{how}, b...)
}

// why is what went wrong, without the job's ID: the host names jobs.
func why(err error) string {
	if je := (*job.Error)(nil); errors.As(err, &je) {
		if je.Err != nil {
			return fmt.Sprint(je.Err)
		}
		return fmt.Sprint(je.Panic)
	}
	return err.Error()
}

func decodeOutcome(name string, b []byte) engine.Outcome {
	o, err := opened(name, b)
	if err != nil {
		return engine.Outcome{Failure: &job.Error{Func: name, Panic: err.Error()}}
	}
	return o
}

func opened(name string, b []byte) (o engine.Outcome, err error) {
	if len(b) == 0 {
		return o, errors.New("its outcome is missing")
	}
	how, value := b[0], b[1:]
	if how != returned {
		var f failure
		if err := wire.Shared().Decode(value, &f); err != nil {
			return o, err
		}
		err := engine.ErrorOf(f.Text, f.Is)
		if how == panicked {
			e := &job.Error{Func: name, Panic: f.Text}
			if len(f.Is) > 0 {
				e.Panic = err
			}
			return engine.Outcome{Failure: e}, nil
		}
		o.Err, value = &job.Error{Func: name, Err: err}, f.Value
	}
	fn, _ := engine.Lookup(name)
	v := reflect.New(fn.Result)
	err = wire.Shared().Decode(value, v.Interface())
	o.Result = v.Elem().Interface()
	return o, err
}
