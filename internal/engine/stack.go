package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"unsafe"
)

// The job stack
//
// Every worker owns a direct task stack (after Faxén's Wool and van Dijk's Lace; the papers' work queue and
// outstandingSpawnsList in one): an array of slots, each holding a record that is reused in place.
//
//	0 ........ tail ............ split ............ head
//	  stolen        stealable         private            free
//
//	- head is the owner's alone. Spawn fills slot head, Get of the newest job takes slot head-1.
//	- tail and split are one 64-bit word, ts, changed only by compare-and-swap while anything is stealable.
//	  A thief moves tail up by one: the record in the old tail slot is its own until it returns it.
//	  The owner moves split: up to publish jobs, down to claim jobs back. w.split is the owner's copy; only the
//	  owner changes split, so its copy is exact.
//	- Slots below split do not change, except by their owner after the job in them came back.
//
// Why a job runs exactly once: a record in a slot below tail was taken by the one thief whose compare-and-swap moved
// tail over it. A slot at or above split is visible to nobody else. A slot between them becomes one or the
// other by a compare-and-swap on the one word that holds both bounds, so thief and owner cannot both get it. A word
// that went through other values and back (ABA) does no harm: a thief reads the slot only after its
// compare-and-swap, when the slot is its own, whatever passed before.
//
// Why a thief reads a whole record: the owner wrote it before the publishing compare-and-swap, which the
// thief's own one follows on the same word. The owner changes the slot only after it saw the thief's mark,
// stolen, in the record (record.go), which the thief sets after it has read the slot. Growing copies the
// slots and then stores the new array; a thief loads the array after its compare-and-swap, so it finds either
// array with the same record in a published slot.
//
// The attention word, limit, is what makes the private part free: Get and Results compare the head with it, which
// they would do anyway to see whether they may call the newest job (the fence). Anybody who wants something of a
// worker first says what (want, a root's dropped state, the pool's ready queue), and then raises the word: it
// stores 0 in limit and shuts the door. The owner's next Spawn or Get goes the slow way to attention, which first
// opens both and then looks for the wishes. So a wish is seen either by that look or, said after it, by the next
// visit, which raising has made necessary after the opening: none is lost.
// internal/mutants breaks these rules one by one and wants the tests to notice.
//
// # Spawn, and the door
//
// Spawn is so short that the compiler puts it into the programs that call it. All that it asks is whether the next
// slot, as seen through the door, has a record of its function. It has, nearly always: then it writes argument and
// ID into the record and raises head. The door is one atomic pointer: open, it leads to the slots; shut, to an
// array of the same length whose entries are all one record that fits no function. So Spawn goes the slow way when
//
//   - somebody has raised the attention word, or the owner has (hold): for jobs that count as coarse, or when a
//     wish is left that could not be fulfilled;
//   - the slot had another function's job, or none yet;
//   - the stack is full: the record of the last slot is never given to a function.
//
// Others may shut the door, only the owner opens it or changes the arrays, when the stack grows. To shut is a
// compare-and-swap from the open pointer of an array to the shut one of the same (slotTab), so the door never leads
// to an array that is too short. If that fails, nothing is lost: either the door is shut already, and its owner's next
// opening comes after the wish; or the owner has just opened it or is about to, for the first time since it
// grew, and it visits attention after that (Room).
//
// No thief sees a half-written record. The fast way publishes nothing: the job lies above split until its owner
// itself moves split, later in the same goroutine. The slow way (Room, CopyArg, Spawned) may publish older jobs first,
// in attention, where head does not count the new one yet; then it writes the argument, then ID and head, and
// then, if jobs are coarse, publishes. Rejected: a Spawn that calls for a record in all cases and writes the argument
// after that. It is shorter still, but a coarse job could be published only at the next visit, which a long leaf
// may be in the way of.
//
// Rejected: Chase-Lev deques (a fence or a locked instruction per Get, 21 ns against 6), a queue under a mutex
// (25 ns), closures (40 ns and garbage), a goroutine per job (560 ns).

const (
	firstSlots = 1 << 10 // slots of a new stack; it doubles when full
	maxSlots   = 1 << 28 // some 40 GB of records; Spawn reckons with 8 times a slot's number in 32 bits

	// A frame is named by one word, depth<<DepthShift | children spawned so far.
	DepthShift = 40
	childMask  = 1<<DepthShift - 1
	maxDepth   = 1<<(62-DepthShift) - 2 // frames in each other; Go's own stack ends long before
)

// A Level says how the running frame of one depth was entered.
type Level struct {
	Job  uint64 // id of the job that runs there, in its parent's terms: (depth-1)<<DepthShift | child index; 0: a root
	From uint64 // the parent's cur then: low bits, the children it had spawned
}

// A levelTab is the array of levels, and where roots start the record that runs there: for those who resolve
// paths. Entries of suspended frames are frozen, so others may read them (see path.go).
type levelTab struct {
	levels []Level
	roots  []*Record
}

// A slotTab is the array of slots and where the door leads to when it is open and when it is shut.
type slotTab struct {
	slots      []*Record
	open, shut unsafe.Pointer
}

// A Worker is a goroutine that runs jobs, with its own job stack. Fields are grouped by who writes them, a cache line
// or more apart: the fast path touches the first group and reads limit.
type Worker struct {
	// Owner only.
	Door    unsafe.Pointer // atomic: leads to slots or to their shut twin. Package satin knows these four
	Head    uint32         // package satin knows where these four are
	fence   uint32         // Get and Results leave the jobs below it to step; see lowestFence
	Cur     uint64         // the running frame
	slots   []*Record
	base    unsafe.Pointer // of slots
	Levels  []Level
	Counts  counts
	tallied tallied
	free    []*Record // by function index: records to reuse, linked by next
	ready   readyList
	stolen  []stolenRoot
	// failures that nobody has taken; those from failBase on are of call's frame and those above
	failed     []failedChild
	failBase   int
	Groups     uint64 // groups opened so far: names them
	grain      grain
	last       [8]*Desc // functions spawned recently, by a hash of their key
	rng        *rand.Rand
	split      uint32   // the split in ts
	handed     []uint32 // slots whose jobs were handed over (gone.go), ascending
	resalvaged uint64   // the call of Resalvage that was answered last
	stopwatch  stopwatch
	breath     breath
	pool       *Pool  // nil: the sequential program
	shelf      *Shelf // of the sequential program
	index      int
	// to begin with, when it gets a core (Job.First); written under the scheduler's mutex while it has none
	first   *Record
	tab     atomic.Pointer[levelTab]
	slotTab atomic.Pointer[slotTab] // slots, for others
	spent   spent
	_       [48]byte

	// Written by anybody.
	limit    atomic.Uint32 // attention word: ^fence, or 0 = go the slow way
	want     atomic.Int64  // when somebody found nothing to steal here, in ns since the pool's start; 0: nobody
	finished atomic.Pointer[Record]
	parked   atomic.Bool
	came     atomic.Bool // what waitUntil waits for, perhaps
	core     chan bool   // receives when the worker is given a core: whether nobody had it before
	_        [64]byte

	ts atomic.Uint64 // tail<<32 | split
	_  [56]byte

	busy      atomic.Bool // has a root
	goroutine atomic.Uint64
	stats     report
}

// A stolenRoot is a job that this worker runs for someone else, and where on the stack it began.
type stolenRoot struct {
	r      *Record
	base   uint32 // the head then
	depth  uint64 // its depth
	search search
}

func NewWorker(p *Pool, id int) *Worker {
	w := &Worker{pool: p, index: id, stopwatch: newStopwatch(p), rng: rand.New(rand.NewPCG(uint64(id), 0x5a71)),
		core: make(chan bool, 1)}
	w.growSlots(firstSlots)
	tab := &levelTab{make([]Level, firstSlots), make([]*Record, firstSlots)}
	w.Levels = tab.levels
	w.tab.Store(tab)
	return w
}

func (w *Worker) fullLimit() uint32 { return uint32(len(w.slots)) - 1 }

// growSlots gives the stack n slots.
func (w *Worker) growSlots(n int) {
	if n > maxSlots {
		panic(fmt.Sprintf("satin: more than %d jobs of one worker have been spawned and not finished", maxSlots/2))
	}
	s := make([]*Record, n)
	unused := make([]Record, n-len(w.slots))
	for i := copy(s, w.slots); i < n; i++ {
		r := &unused[i-len(w.slots)]
		r.Key = unsafe.Pointer(r) // no function's, nor that of a nil function: the record has no room for an argument
		s[i] = r
	}
	w.slots, w.base = s, unsafe.Pointer(unsafe.SliceData(s))
	shut := &Record{}
	shut.Key = unsafe.Pointer(shut)
	w.slotTab.Store(&slotTab{s, w.base, unsafe.Pointer(unsafe.SliceData(slices.Repeat([]*Record{shut}, n)))})
	w.open()
}

// setFence moves the fence. Who raises the attention word meanwhile is heard: open sets the word to the new fence.
func (w *Worker) setFence(n uint32) {
	w.limit.CompareAndSwap(^w.fence, ^n)
	w.fence = n
}

// open lets the owner's Spawn and Get go the fast way. The door is last, as it is first in raise: it is not shut for
// long while the word is not raised, for then nobody would open it.
func (w *Worker) open() {
	w.limit.Store(^w.fence)
	if atomic.LoadPointer(&w.Door) != w.base {
		atomic.StorePointer(&w.Door, w.base)
	}
}

// hold makes the owner's next Spawn or Get go the slow way; the owner says it.
func (w *Worker) hold() {
	atomic.StorePointer(&w.Door, w.slotTab.Load().shut)
	w.limit.Store(0)
}

// raise makes the owner's next Spawn or Get go the slow way; anybody says it.
func (w *Worker) raise() {
	w.shutDoor(w.slotTab.Load())
	w.limit.Store(0)
}

// shutDoor shuts the door, unless the slots are others by now.
func (w *Worker) shutDoor(t *slotTab) { atomic.CompareAndSwapPointer(&w.Door, t.open, t.shut) }

// Limit is the attention word: Get calls the newest job at once if ^Head is below it, which says that head is above the
// fence, and that nobody has raised the word.
func (w *Worker) Limit() uint32 { return w.limit.Load() }

// NextSlot is the record of the next slot as Spawn sees it.
func (w *Worker) NextSlot() *Record {
	return *(**Record)(unsafe.Add(atomic.LoadPointer(&w.Door), uintptr(w.Head)*unsafe.Sizeof(w.base)))
}

// SlotAt is slots[h] without the check of bounds: h is below Head.
func (w *Worker) SlotAt(h uint32) *Record {
	return *(**Record)(unsafe.Add(w.base, uintptr(h)*unsafe.Sizeof(w.base)))
}

// enter makes the frame of a job the running one: of the job with the given id, as a child of the frame cur.
func (w *Worker) enter(job, cur uint64) {
	d := cur>>DepthShift + 1
	if d >= uint64(len(w.Levels)) {
		w.growLevels()
	}
	w.Levels[d] = Level{job, cur}
	w.Cur = d << DepthShift
}

//go:noinline
func (w *Worker) growLevels() {
	t := w.tab.Load()
	if n := len(t.levels); n >= maxDepth {
		panic(fmt.Sprintf("satin: jobs are nested more than %d deep", n))
	}
	t = &levelTab{append(t.levels, make([]Level, len(t.levels))...), append(t.roots, make([]*Record, len(t.roots))...)}
	w.Levels = t.levels
	w.tab.Store(t)
}

// install makes a record of d's function the one of slot h, which must be free.
func (w *Worker) install(d *Desc, h uint32) *Record {
	if old := w.slots[h]; old.d != nil {
		w.recycle(old)
	}
	r := w.take(d)
	r.Slot = h
	w.slots[h] = r
	return r
}

// take gives an unused record of d's function.
func (w *Worker) take(d *Desc) *Record {
	for len(w.free) <= d.index {
		w.free = append(w.free, nil)
	}
	r := w.free[d.index]
	if r == nil {
		r = d.Ops.NewRecord()
		r.W = w
		return r
	}
	w.free[d.index] = r.next
	r.next = nil
	return r
}

// recycle keeps r, which nobody else knows any more, for the next job of its function.
func (w *Worker) recycle(r *Record) {
	r.d.Ops.Clear(r)
	if r.joined || r.Fail != nil || r.Group != 0 {
		r.renew()
	}
	r.ID, r.Slot = 0, NoSlot
	r.next = w.free[r.d.index]
	w.free[r.d.index] = r
}

// detach takes r out of slot h, which gets another record of the same function.
func (w *Worker) detach(r *Record, h uint32) {
	n := w.take(r.d)
	n.Slot = h
	w.slots[h] = n
	r.Slot = NoSlot
}

// desc finds the description of the function with the given key.
func (w *Worker) desc(key unsafe.Pointer) *Desc {
	d := &w.last[uintptr(key)>>3&7]
	if *d == nil || (*d).Key != key {
		*d = MustLookup(key)
	}
	return *d
}

// publish makes the n oldest private jobs stealable.
func (w *Worker) publish(n uint32) {
	ns := w.split + n
	for {
		v := w.ts.Load()
		if w.ts.CompareAndSwap(v, v&^0xffffffff|uint64(ns)) {
			break
		}
	}
	w.split = ns
	w.setFence(max(w.fence, ns))
	w.Counts.published++
	if w.pool != nil {
		w.pool.workAppeared()
		w.pool.offer()
	}
}

// claim makes slot h private again, with half of the stealable ones below it, so that fine jobs are not
// claimed one by one; false if it was stolen. Coarse jobs stay stealable: the one claimed may be a long leaf,
// during which nobody could have them.
func (w *Worker) claim(h uint32) bool {
	if h >= w.split {
		return true
	}
	for {
		v := w.ts.Load()
		tail := uint32(v >> 32)
		if tail > h {
			return false
		}
		ns := tail + (h-tail)/2
		if w.grain.coarse {
			ns = h
		}
		if w.ts.CompareAndSwap(v, uint64(tail)<<32|uint64(ns)) {
			w.split = ns
			return true
		}
	}
}

// popStolen removes the newest slot, whose job was away and came back, or was dropped. If it is not private
// (regain), all below it are stolen: tail is h+1, nothing is stealable, no thief can change ts.
func (w *Worker) popStolen(h uint32) {
	if w.Head = h; h < w.split {
		w.ts.Store(uint64(h)<<32 | uint64(h))
		w.split = h
	}
	next := h
	if w.stopwatch.budget > 0 {
		next++ // the next job here is looked at too
	}
	w.setFence(max(w.lowestFence(), min(w.fence, next)))
}

// lowestFence is below which slot Get and Results must not begin jobs by themselves: they are not private, or
// were handed over.
func (w *Worker) lowestFence() uint32 {
	if n := len(w.handed); n > 0 {
		return max(w.split, w.handed[n-1]+1)
	}
	return w.split
}

// lowerFence is called when a job in slot h, below the fence, begins without being timed: those below it may
// be as short.
func (w *Worker) lowerFence(h uint32) {
	n := w.lowestFence()
	if w.stopwatch.keeps() && h > n {
		n += (h - n) / 2
	}
	w.setFence(min(w.fence, n))
}

// steal takes the oldest stealable job of v, or asks v to publish some. Any goroutine may call it.
func (v *Worker) steal() *Record {
	for {
		x := v.ts.Load()
		tail, split := uint32(x>>32), uint32(x)
		if tail >= split {
			v.nudge()
			return nil
		}
		if v.ts.CompareAndSwap(x, x+1<<32) {
			if tail+1 == split {
				v.nudge()
			}
			r := v.slotTab.Load().slots[tail]
			if r.state.Load() != fresh { // it had left before (gone.go)
				r.passed.Store(true)
				continue
			}
			r.state.Store(stolen)
			return r
		}
	}
}

// nudge asks v to publish something at its next Spawn or Get.
func (v *Worker) nudge() {
	if v.want.Load() == 0 && v.busy.Load() {
		v.want.Store(v.pool.now())
		v.raise()
	}
}

// stealable says whether a thief would find something.
func (v *Worker) stealable() bool {
	x := v.ts.Load()
	return uint32(x>>32) < uint32(x)
}
