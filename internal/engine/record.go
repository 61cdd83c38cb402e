package engine

import (
	"sync/atomic"
	"unsafe"

	"github.com/satin-peer/satin/job"
)

// States of a record. The thief moves a record from fresh to stolen when it has found it in its slot, to
// running when it begins, to done when result and fail are final. The owner, or whoever cancels a run, may
// move it from stolen or running to dropped. Whoever loses the compare-and-swap yields to the other: a done
// record can no longer be dropped, a dropped one never becomes done.
//
// An owner that wants to drop a record which it sees stolen from the stack but still fresh waits for the thief's next
// step, a few nanoseconds away: before it, the thief has yet to read the slot, which must not change.
const (
	fresh   uint32 = iota // on its owner's stack, or stolen a moment ago
	stolen                // a thief has taken it from its slot, or it waits in the inbox
	running               // a thief, here or outside, runs it
	done                  // it is on its way to the owner
	dropped               // nobody waits for it any more; the thief owns the record
)

// NoSlot marks a record that is on no stack: a root, or one that left the stack with its result.
const NoSlot = ^uint32(0) - 1

// doneBit in a record's id says that it ran ahead of its Get and holds the result. abortedBit says that Abort
// dropped it.
const (
	doneBit    = uint64(1) << 63
	abortedBit = uint64(1) << 62
)

// A Record is the paper's invocation record (programming model, 4.1.1) without its typed part: one job's place on a
// worker's stack. Records stay in their slots and are reused in place by the next job of the same function.
//
// Fields without a remark belong to the owner, or, between a successful steal and the record's return through the
// owner's finished list, to the thief.
type Record struct {
	Key   unsafe.Pointer // identity of the function; in a slot that was never used the record's own address
	W     *Worker        // owner: the worker whose stack the record is on; nil for a root that came from outside
	ID    uint64         // depth<<DepthShift | child index, and doneBit or abortedBit
	Slot  uint32         // where on the stack; NoSlot when it is on none
	state atomic.Uint32  // fresh, stolen, running, done, dropped: anybody

	d        *Desc
	Group    uint64      // the Group it was spawned by; 0 for a Future
	joined   bool        // owner only: it came back through the finished list
	consumed bool        // owner only: it came back, its result was taken, and it waits to be popped
	gone     bool        // owner only: it left its slot before a thief's turn came (gone.go)
	passed   atomic.Bool // gone, and a thief has stepped over the slot
	Fail     error       // a *job.Error: the job panicked
	thief    atomic.Pointer[Worker]
	next     *Record   // in a free list, the finished list or nowhere
	out      *passport // how it came in from, or went to, the outside
	steps    job.Path  // of a lent child: the way from the job that spawned it (lend.go)
}

// finished reports that the job with the given id has run and that its result is here for the owner.
func (r *Record) finished(id uint64) bool {
	return r.ID == id|doneBit || r.ID == id && r.joined && !r.consumed
}

// renew makes a record that came back from a thief usable in its slot again.
func (r *Record) renew() {
	r.Group, r.joined, r.consumed, r.gone, r.Fail, r.out = 0, false, false, false, nil, nil
	r.passed.Store(false)
	r.thief.Store(nil)
	r.state.Store(fresh)
}

// Ops is what the engine does with a record without knowing its types.
type Ops interface {
	NewRecord() *Record       // made for the function, by Init
	Run(w *Worker, r *Record) // calls the function and stores the result; may panic
	Clear(r *Record)          // forgets argument and result, so that they can be collected
	Arg(r *Record) any
	SetArg(r *Record, arg any) bool
	CopyArg(r *Record, arg unsafe.Pointer) // from a value of the argument's type
	Result(r *Record) (any, error)
	Err(r *Record) error // the error that the function returned
	SetResult(r *Record, res any, err error) bool
}

// Init makes r an unused record of d's function.
func (r *Record) Init(d *Desc) { r.Key, r.d, r.Slot = d.Key, d, NoSlot }
