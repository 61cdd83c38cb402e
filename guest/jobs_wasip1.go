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
// An outcome's first byte says what follows: a result, an error's text, or what the job panicked with.
const (
	returned = iota
	failed
	panicked
)

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
		return place(fmt.Appendf([]byte{panicked}, "there is no function %d", fn), false)
	}
	return place(runNamed(all[fn-1], arg), false)
}

func runNamed(name string, arg []byte) []byte {
	v, err := argument(name, arg)
	if err != nil {
		return fmt.Appendf([]byte{panicked}, "the argument of %s: %v", name, err)
	}
	o, err := inside.Run(name, v)
	if err != nil {
		return fmt.Appendf([]byte{panicked}, "%v", err)
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
	switch {
	case o.Failure != nil:
		return append([]byte{panicked}, why(o.Failure)...)
	case o.Err != nil:
		return append([]byte{failed}, why(o.Err)...)
	}
	b, err := wire.Outcomes().Encode(o.Result)
	if err != nil {
		return fmt.Appendf([]byte{panicked}, "the result of %s cannot leave: %v", name, err)
	}
	return append([]byte{returned}, b...)
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

func decodeOutcome(name string, b []byte) (o engine.Outcome) {
	f, _ := engine.Lookup(name)
	if len(b) == 0 {
		b = []byte{panicked}
	}
	switch b[0] {
	case returned:
		v := reflect.New(f.Result)
		if err := wire.Shared().Decode(b[1:], v.Interface()); err != nil {
			o.Failure = &job.Error{Func: name, Panic: err.Error()}
			return o
		}
		o.Result = v.Elem().Interface()
	case failed:
		o.Err = &job.Error{Func: name, Err: errors.New(string(b[1:]))}
	default:
		o.Failure = &job.Error{Func: name, Panic: string(b[1:])}
	}
	return o
}
