package engine_test

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
)

func init() {
	satin.Register("doortest.roomy", roomy)
	watched.Enter(&watchedOps{})
}

// roomy has an argument that does not fit into registers.
func roomy(_ *satin.Frame, a [5]int) int { return a[0] + a[4] }

// TestSlowSpawnAllocatesNothing: nor does the slow way need memory, which coarse jobs go each time.
func TestSlowSpawnAllocatesNothing(t *testing.T) {
	w := engine.NewWorker(nil, 0)
	w.Enter(0, 0)
	n := 0
	bytes := testing.AllocsPerRun(100, func() {
		w.Hold()
		x := satin.Spawn(frame(w), identity, n)
		w.Hold()
		y := satin.Spawn(frame(w), roomy, [5]int{0: n, 4: 1})
		if y.Get()+x.Get() != 2*n+1 {
			t.Error("an argument was not copied")
		}
		n++
	})
	if bytes != 0 {
		t.Errorf("%v allocations", bytes)
	}
}

// watchedOps are those of a function whose records show what thieves see of them while an argument is copied.
type watchedOps struct {
	engine.Ops
	w        *engine.Worker
	record   engine.Record
	arg      int
	tooEarly bool
}

// watchedKey is what the function is known by; nobody calls it.
var watchedKey = unregisteredToo

func unregisteredToo(*satin.Frame, int) int { return 0 }

var watched = engine.Describe("doortest.watched", *(*unsafe.Pointer)(unsafe.Pointer(&watchedKey)),
	reflect.TypeFor[int](), reflect.TypeFor[int](), false)

func (o *watchedOps) NewRecord() *engine.Record {
	o.record.Init(watched)
	return &o.record
}

func (o *watchedOps) CopyArg(r *engine.Record, arg unsafe.Pointer) {
	o.arg, o.tooEarly = *(*int)(arg), o.w.Stealable()
}

// TestArgumentBeforePublication: a coarse job is published as it is spawned, but not before its argument is written.
func TestArgumentBeforePublication(t *testing.T) {
	w := engine.NewWorker(testPool(t, 1), 1)
	w.Enter(0, 0)
	w.SetCoarse()
	o := watched.Ops.(*watchedOps)
	o.w = w
	arg := 7
	w.Spawn(watched.Key, unsafe.Pointer(&arg))
	if o.arg != 7 || o.tooEarly {
		t.Errorf("the argument was %d, the job published before that: %v", o.arg, o.tooEarly)
	}
	if !w.Stealable() {
		t.Error("a coarse job was not published")
	}
}

// TestWishIsSeenBySpawn: whoever wants a job gets one from a frame that only spawns, and a frame whose jobs are coarse
// publishes each as it is spawned.
func TestWishIsSeenBySpawn(t *testing.T) {
	w := engine.NewWorker(testPool(t, 1), 1)
	w.Enter(0, 0)
	w.SetBusy()
	f := frame(w)
	for range 3 { // the first finds the slots without records, and brings them there
		satin.Spawn(f, identity, 1)
		w.Nudge()
		satin.Spawn(f, identity, 2)
		if r := w.Steal(); r == nil {
			t.Fatal("a wish was not seen")
		}
		f.Abort()
	}
	satin.Spawn(f, identity, 1)
	w.SetCoarse()
	w.Hold()
	for i := range 3 {
		for w.Steal() != nil {
		}
		w.Attend()
		if satin.Spawn(f, identity, i); !w.Stealable() {
			t.Fatal("a coarse job was not published as it was spawned")
		}
	}
}

// TestFenceKeepsTheWord: a raised attention word stays raised when the fence moves.
func TestFenceKeepsTheWord(t *testing.T) {
	w := engine.NewWorker(testPool(t, 1), 1)
	w.Enter(0, 0)
	x := satin.Spawn(frame(w), identity, 1)
	w.Attend()
	w.Raise()
	if w.Publish(1); w.Stack.Limit() != 0 {
		t.Error("who published has forgotten that somebody wants something")
	}
	w.Attend()
	if w.Stack.Limit() != ^w.Fence() || w.Fence() != 1 || x.Get() != 1 {
		t.Errorf("the word is %d, the fence %d", w.Stack.Limit(), w.Fence())
	}
}

// TestDoorOfAnOldArray: who raises the attention word while the stack grows must not shut the door on an array that has
// become too short.
func TestDoorOfAnOldArray(t *testing.T) {
	w := engine.NewWorker(nil, 0)
	w.Enter(0, 0)
	f := frame(w)
	shut := w.RaiseLate()
	for range 2 * engine.FirstSlots {
		satin.Spawn(f, identity, 1)
	}
	if shut(); w.Stack.NextSlot() != w.Slots()[w.Stack.Head] {
		t.Error("the door leads to an array that the stack has grown out of")
	}
	w.Raise()
	if w.Stack.NextSlot() == w.Slots()[w.Stack.Head] {
		t.Error("the door is open though the word was raised")
	}
}
