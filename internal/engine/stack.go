package engine

import (
	"fmt"
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
//	  The owner moves split: up to publish jobs, down to claim jobs back. stack.split is the owner's copy; only the
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

// A stack is a worker's job stack: the jobs of its running frames that have not begun or are away, and how these frames
// were entered. Whoever is not said to be anybody is the worker. Fields are grouped by who writes them, a cache line or
// more apart: the fast path touches the first group and reads limit.
type stack struct {
	// Owner only.
	Door    unsafe.Pointer // atomic: leads to slots or to their shut twin. Package satin knows these four
	Head    uint32         // package satin knows where these four are
	fence   uint32         // Get and Results leave the jobs below it to step; see lowestFence
	Cur     uint64         // the running frame
	slots   []*Record
	base    unsafe.Pointer // of slots
	Levels  []Level
	Counts  counts
	split   uint32    // the split in ts
	coarse  bool      // jobs take long: what is stealable stays so (grain)
	handed  []uint32  // slots whose jobs were handed over (gone.go), ascending
	used    uint32    // slots from here on have no record of a function
	free    []*Record // by function index: records to reuse, linked by next
	last    [8]*Desc  // functions spawned recently, by a hash of their key
	owner   *Worker   // of its records
	tab     atomic.Pointer[levelTab]
	slotTab atomic.Pointer[slotTab] // slots, for others
	_       [64]byte

	// Written by anybody.
	limit atomic.Uint32 // attention word: ^fence, or 0 = go the slow way
	_     [60]byte

	ts atomic.Uint64 // tail<<32 | split
	_  [56]byte
}

// init makes it the stack of w.
func (s *stack) init(w *Worker) {
	s.owner = w
	s.growSlots(firstSlots)
	tab := &levelTab{make([]Level, firstSlots), make([]*Record, firstSlots)}
	s.Levels = tab.levels
	s.tab.Store(tab)
}

func (s *stack) fullLimit() uint32 { return uint32(len(s.slots)) - 1 }

// growSlots gives the stack n slots.
func (s *stack) growSlots(n int) {
	if n > maxSlots {
		panic(fmt.Sprintf("satin: more than %d jobs of one worker have been spawned and not finished", maxSlots/2))
	}
	slots := make([]*Record, n)
	unused := make([]Record, n-len(s.slots))
	for i := copy(slots, s.slots); i < n; i++ {
		r := &unused[i-len(s.slots)]
		r.Key = unsafe.Pointer(r) // no function's, nor that of a nil function: the record has no room for an argument
		slots[i] = r
	}
	s.slots, s.base = slots, unsafe.Pointer(unsafe.SliceData(slots))
	shut := &Record{}
	shut.Key = unsafe.Pointer(shut)
	s.slotTab.Store(&slotTab{slots, s.base, unsafe.Pointer(unsafe.SliceData(slices.Repeat([]*Record{shut}, n)))})
	s.open()
}

// setFence moves the fence. Who raises the attention word meanwhile is heard: open sets the word to the new fence.
func (s *stack) setFence(n uint32) {
	s.limit.CompareAndSwap(^s.fence, ^n)
	s.fence = n
}

// open lets the owner's Spawn and Get go the fast way. The door is last, as it is first in raise: it is not shut for
// long while the word is not raised, for then nobody would open it.
func (s *stack) open() {
	s.limit.Store(^s.fence)
	if atomic.LoadPointer(&s.Door) != s.base {
		atomic.StorePointer(&s.Door, s.base)
	}
}

// hold makes the owner's next Spawn or Get go the slow way; the owner says it.
func (s *stack) hold() {
	atomic.StorePointer(&s.Door, s.slotTab.Load().shut)
	s.limit.Store(0)
}

// raise makes the owner's next Spawn or Get go the slow way; anybody says it.
func (s *stack) raise() {
	s.shutDoor(s.slotTab.Load())
	s.limit.Store(0)
}

// shutDoor shuts the door, unless the slots are others by now.
func (s *stack) shutDoor(t *slotTab) { atomic.CompareAndSwapPointer(&s.Door, t.open, t.shut) }

// Limit is the attention word: Get calls the newest job at once if ^Head is below it, which says that head is above the
// fence, and that nobody has raised the word.
func (s *stack) Limit() uint32 { return s.limit.Load() }

// NextSlot is the record of the next slot as Spawn sees it.
func (s *stack) NextSlot() *Record {
	return *(**Record)(unsafe.Add(atomic.LoadPointer(&s.Door), uintptr(s.Head)*unsafe.Sizeof(s.base)))
}

// SlotAt is slots[h] without the check of bounds: h is below Head.
func (s *stack) SlotAt(h uint32) *Record {
	return *(**Record)(unsafe.Add(s.base, uintptr(h)*unsafe.Sizeof(s.base)))
}

// enter makes the frame of a job the running one: of the job with the given id, as a child of the frame cur.
func (s *stack) enter(job, cur uint64) {
	d := cur>>DepthShift + 1
	if d >= uint64(len(s.Levels)) {
		s.growLevels()
	}
	s.Levels[d] = Level{job, cur}
	s.Cur = d << DepthShift
}

//go:noinline
func (s *stack) growLevels() {
	t := s.tab.Load()
	if n := len(t.levels); n >= maxDepth {
		panic(fmt.Sprintf("satin: jobs are nested more than %d deep", n))
	}
	t = &levelTab{append(t.levels, make([]Level, len(t.levels))...), append(t.roots, make([]*Record, len(t.roots))...)}
	s.Levels = t.levels
	s.tab.Store(t)
}

// hasChildren says whether the newest slot belongs to the running frame: its children are on top.
func (s *stack) hasChildren() bool {
	return s.Head > 0 && s.slots[s.Head-1].ID>>DepthShift == s.Cur>>DepthShift
}

// install makes a record of d's function the one of slot h, which must be free.
func (s *stack) install(d *Desc, h uint32) *Record {
	if old := s.slots[h]; old.d != nil {
		s.recycle(old)
	}
	r := s.take(d)
	r.Slot = h
	s.slots[h] = r
	s.used = max(s.used, h+1)
	return r
}

// empty takes the records out of the free slots, so that the last jobs' arguments can be collected: Get leaves them
// there for the next job to overwrite.
//
// It does to each what install may do to it at any time, because it is free: whatever was there came back, was
// dropped and left to its thief, or never was visible to one (pop, disown, regain). So no thief that is between its
// compare-and-swap and its look at a slot means one of these, and no path leads through their records. Neither the
// array nor the bounds change. The next job in the slot finds a record that fits no function, and is spawned the slow
// way.
func (s *stack) empty() {
	unused := *(**Record)(s.slotTab.Load().shut)
	for ; s.used > s.Head; s.used-- {
		s.recycle(s.slots[s.used-1])
		s.slots[s.used-1] = unused
	}
}

// take gives an unused record of d's function.
func (s *stack) take(d *Desc) *Record {
	for len(s.free) <= d.index {
		s.free = append(s.free, nil)
	}
	r := s.free[d.index]
	if r == nil {
		r = d.Ops.NewRecord()
		r.W = s.owner
		return r
	}
	s.free[d.index] = r.next
	r.next = nil
	return r
}

// recycle keeps r, which nobody else knows any more, for the next job of its function.
func (s *stack) recycle(r *Record) {
	r.d.Ops.Clear(r)
	if r.joined || r.Fail != nil || r.Group != 0 {
		r.renew()
	}
	r.ID, r.Slot = 0, NoSlot
	r.next = s.free[r.d.index]
	s.free[r.d.index] = r
}

// detach takes r out of slot h, which gets another record of the same function.
func (s *stack) detach(r *Record, h uint32) {
	n := s.take(r.d)
	n.Slot = h
	s.slots[h] = n
	r.Slot = NoSlot
}

// desc finds the description of the function with the given key.
func (s *stack) desc(key unsafe.Pointer) *Desc {
	d := &s.last[uintptr(key)>>3&7]
	if *d == nil || (*d).Key != key {
		*d = MustLookup(key)
	}
	return *d
}

// expose makes the n oldest private jobs stealable.
func (s *stack) expose(n uint32) {
	ns := s.split + n
	for {
		v := s.ts.Load()
		if s.ts.CompareAndSwap(v, v&^0xffffffff|uint64(ns)) {
			break
		}
	}
	s.split = ns
	s.setFence(max(s.fence, ns))
}

// claim makes slot h private again, with half of the stealable ones below it, so that fine jobs are not
// claimed one by one; false if it was stolen. Coarse jobs stay stealable: the one claimed may be a long leaf,
// during which nobody could have them.
func (s *stack) claim(h uint32) bool {
	if h >= s.split {
		return true
	}
	for {
		v := s.ts.Load()
		tail := uint32(v >> 32)
		if tail > h {
			return false
		}
		ns := tail + (h-tail)/2
		if s.coarse {
			ns = h
		}
		if s.ts.CompareAndSwap(v, uint64(tail)<<32|uint64(ns)) {
			s.split = ns
			return true
		}
	}
}

// pop removes the newest slot, whose job was away and came back, or was dropped, and lowers the fence to next if it
// may. If the slot is not private (regain), all below it are stolen: tail is h+1, nothing is stealable, no thief can
// change ts.
func (s *stack) pop(h, next uint32) {
	if s.Head = h; h < s.split {
		s.ts.Store(uint64(h)<<32 | uint64(h))
		s.split = h
	}
	s.setFence(max(s.lowestFence(), min(s.fence, next)))
}

// lowestFence is below which slot Get and Results must not begin jobs by themselves: they are not private, or
// were handed over.
func (s *stack) lowestFence() uint32 {
	if n := len(s.handed); n > 0 {
		return max(s.split, s.handed[n-1]+1)
	}
	return s.split
}

// steal takes the oldest stealable job; last says that none was left after it, or none was there. Anybody may call it.
func (s *stack) steal() (r *Record, last bool) {
	for {
		x := s.ts.Load()
		tail, split := uint32(x>>32), uint32(x)
		if tail >= split {
			return nil, true
		}
		if s.ts.CompareAndSwap(x, x+1<<32) {
			r := s.slotTab.Load().slots[tail]
			if r.state.Load() != fresh { // it had left before (gone.go)
				r.passed.Store(true)
				continue
			}
			r.state.Store(stolen)
			return r, tail+1 == split
		}
	}
}

// stealable says whether a thief would find something.
func (s *stack) stealable() bool {
	x := s.ts.Load()
	return uint32(x>>32) < uint32(x)
}
