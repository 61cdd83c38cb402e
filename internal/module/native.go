package module

import (
	"errors"
	"reflect"
	"sync"
	"unsafe"

	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/job"
)

// Func is the registered name of the one function by which package engine runs jobs of modules. Its argument is a
// [Call], its result bytes.
const Func = "satin1.job"

// A Call is a job of a module as the swarm knows it: a pure function of its bytes, since Module is a hash.
type Call struct {
	Module Hash
	Fn     uint32
	Arg    []byte
	Names  []byte `cbor:",omitempty"` // of shared values that it reads, 32 bytes each
	// Guarded calls begin where they were stolen to when the module says so.
	Guarded bool `cbor:",omitempty"`
	// Files are what a root job begins with.
	Files []File `cbor:",omitempty"`

	from *vault // where it was offered: some of what it names may be there
}

// provided are the modules that jobs of this process may need, by hash: a table like that of registered functions.
// One that cannot be run is there as the error that says why.
var provided sync.Map

// Provide makes a module's jobs run in this process, until Withdraw.
func Provide(m *Module) { provided.Store(m.Hash, m) }

// ProvideError makes all jobs of a module fail with what is wrong with it.
func ProvideError(h Hash, err error) { provided.Store(h, err) }

// Withdraw takes a module back. Jobs of it that begin later fail.
func Withdraw(h Hash) { provided.Delete(h) }

func init() {
	f := run
	d := engine.Describe(Func, *(*unsafe.Pointer)(unsafe.Pointer(&f)), reflect.TypeFor[Call](),
		reflect.TypeFor[[]byte](),
		true)
	d.Alike = engine.Exact // where they run strictly
	d.Enter(&ops{d})
	engine.EnterGuard(d.Key, hasGuard, func(w *engine.Worker, arg any) (ok, fits bool) {
		c, fits := arg.(Call)
		return fits && guarded(w, c), fits
	})
}

// A task is a job's record with its argument and outcome. The record comes first, so a pointer to one is a pointer
// to the other.
type task struct {
	engine.Record
	call Call
	out  []byte
	err  error
}

func taskOf(r *engine.Record) *task { return (*task)(unsafe.Pointer(r)) }

// ops is how the engine handles such records.
type ops struct{ d *engine.Desc }

func (o *ops) NewRecord() *engine.Record {
	t := &task{}
	t.Init(o.d)
	return &t.Record
}

func (o *ops) Run(w *engine.Worker, r *engine.Record) {
	t := taskOf(r)
	if t.out, t.err = run(w, o.d, t.call); t.err != nil {
		t.err = w.Name(o.d, t.err)
	}
}

func (o *ops) Clear(r *engine.Record) {
	t := taskOf(r)
	t.call, t.out, t.err = Call{}, nil, nil
}

func (o *ops) CopyArg(r *engine.Record, arg unsafe.Pointer) { taskOf(r).call = *(*Call)(arg) }

func (o *ops) Arg(r *engine.Record) any { return taskOf(r).call }

func (o *ops) SetArg(r *engine.Record, arg any) bool {
	c, ok := arg.(Call)
	taskOf(r).call = c
	return ok
}

func (o *ops) Result(r *engine.Record) (any, error) { return taskOf(r).out, taskOf(r).err }

func (o *ops) Err(r *engine.Record) error { return taskOf(r).err }

func (o *ops) SetResult(r *engine.Record, res any, err error) bool {
	b, ok := res.([]byte)
	taskOf(r).out, taskOf(r).err = b, err
	return ok || err != nil
}

// run runs one job of a module on a worker. What a module does wrong is a panic, for which no other job of the
// module is asked.
func run(w *engine.Worker, d *engine.Desc, c Call) ([]byte, error) {
	m, err := here(c.Module)
	if err != nil {
		panic(err)
	}
	values := newValues(w, m, c.Names)
	defer values.release()
	for _, f := range c.Files {
		values.Constant(f.Bytes)
	}
	out, err := m.Run(&lender{engine.Lender{Worker: w}, d, values}, c.Fn, c.Arg)
	if e, wrong := err.(*Error); wrong {
		panic(e)
	}
	return out, err
}

// A lender is the Engine of a job that a worker runs.
type lender struct {
	w      engine.Lender
	d      *engine.Desc
	values *values
}

// A lent child.
type lent struct {
	t  *task
	id uint64
}

func (l *lender) Attend() int { return l.w.Wanted() }

func (l *lender) Offer(j Job) Child {
	t := taskOf(l.w.Worker.Room(l.d.Key))
	t.call = Call{Module: l.values.m.Hash, Fn: j.Fn, Arg: j.Arg, Names: j.Names, Guarded: j.Guarded,
		from: l.values.vault}
	l.w.Lend(&t.Record, job.Path(j.Path))
	return &lent{t, t.ID}
}

func (l *lender) TakeBack(x Child) bool { return l.w.TakeBack(&x.(*lent).t.Record, x.(*lent).id) }

func (l *lender) Await(x Child) ([]byte, error) {
	t := x.(*lent).t
	if !l.w.Worker.Await(&t.Record, x.(*lent).id) {
		return nil, &Failure{engine.ErrAborted.Error()}
	}
	out, err, fail := t.out, t.err, t.Fail
	l.w.Worker.Release(&t.Record)
	if fail != nil {
		panic(fail)
	}
	if je := (*job.Error)(nil); errors.As(err, &je) {
		if je.Err == nil {
			panic(je)
		}
		err = je.Err
	}
	if err != nil {
		return nil, &Failure{err.Error()}
	}
	return out, nil
}

func (l *lender) Any(list []Child) int {
	return l.w.AwaitAny(len(list), func(i int) (*engine.Record, uint64) {
		return &list[i].(*lent).t.Record, list[i].(*lent).id
	})
}

func (l *lender) Shared() Shared { return l.values }

func (l *lender) Drop(x Child) { l.w.DropChild(&x.(*lent).t.Record, x.(*lent).id) }
