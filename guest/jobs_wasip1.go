package guest

import (
	"cmp"
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

// A failure is an error that a job returned, with the result beside it, or what it panicked with. It is that of the job
// at the path from the one that the host runs.
type failure struct {
	Path     job.Path
	Func     string
	Panicked bool
	Text     string
	Is       []string // see satin.RegisterError
	Value    []byte
}

// String names the job, unless that is the one that the host runs, and names itself.
func (f *failure) String() string {
	s := f.Text
	if f.Panicked {
		s = "panicked: " + s
	}
	if len(f.Path) == 0 {
		return s
	}
	return fmt.Sprintf("job %v (%s): %s", f.Path, f.Func, s)
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
	out := decodeOutcome(list[i].Job(), b)
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
	var b []byte
	var err error
	engine.Handles(o.Result, func(h engine.Shared) {
		if !reflect.ValueOf(h).IsNil() {
			err = errors.New("it names what is shared, which results of modules may not")
		}
	})
	if err == nil {
		b, err = wire.Outcomes().Encode(o.Result)
	}
	switch {
	case err != nil:
		return failing(panicked, fmt.Errorf("the result of %s cannot leave: %w", name, err), nil)
	case o.Err != nil:
		return failing(failed, o.Err, b)
	}
	return append([]byte{returned}, b...)
}

func failing(how byte, err error, value []byte) []byte {
	f := failure{Panicked: how == panicked, Text: err.Error(), Is: engine.ErrorNames(err), Value: value}
	if je := (*job.Error)(nil); errors.As(err, &je) {
		f.Path, f.Func, f.Panicked, f.Text = je.ID.Path, je.Func, je.Err == nil, fmt.Sprint(je.Panic)
		if je.Err != nil {
			f.Text = fmt.Sprint(je.Err)
		}
	}
	b, bad := wire.Outcomes().Encode(&f)
	if bad != nil {
		panic(bad) // texts, names and bytes
	}
	return append([]byte{how}, b...)
}

func decodeOutcome(j engine.Job, b []byte) engine.Outcome {
	o, err := opened(j, b)
	if err != nil {
		return engine.Outcome{Failure: &job.Error{ID: j.ID, Func: j.Func, Panic: err.Error()}}
	}
	return o
}

func opened(j engine.Job, b []byte) (o engine.Outcome, err error) {
	if len(b) == 0 {
		return o, errors.New("its outcome is missing")
	}
	how, value := b[0], b[1:]
	if how != returned {
		var f failure
		if err := wire.Shared().Decode(value, &f); err != nil {
			return o, err
		}
		e := &job.Error{ID: job.ID{Run: j.ID.Run, Path: slices.Concat(j.ID.Path, f.Path)}, Func: cmp.Or(f.Func, j.Func)}
		switch {
		case !f.Panicked:
			e.Err = engine.ErrorOf(f.Text, f.Is)
		case len(f.Is) > 0:
			e.Panic = engine.ErrorOf(f.Text, f.Is)
		default:
			e.Panic = f.Text
		}
		if how == panicked {
			return engine.Outcome{Failure: e}, nil
		}
		o.Err, value = e, f.Value
	}
	fn, _ := engine.Lookup(j.Func)
	v := reflect.New(fn.Result)
	err = wire.Shared().Decode(value, v.Interface())
	o.Result = v.Elem().Interface()
	return o, err
}
