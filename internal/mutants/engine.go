package main

// Tests of the engine: the stack against its model, programs against the sequential one, jobs' lives, the border.
const (
	stackTests = "^Test(Stack|StealRace|StealHammer|Dropped.*|Frames.*|Wish.*)$"
	programs   = "^Test(Programs|Results)$"
	lives      = "^Test(Abort|Context|Close|Failures|Forgotten|Goexit|Inlets|Recover|Progress)"
	border     = "^Test(Take|Submit)"
	restarts   = "^Test(RestartedPrograms|OnlyWatchedAreAsked|RewatchReachesRunningFrames|RewatchOfNothing|ParkedAreWatched|PutBackRestartedIsWatched|DroppedAfterFound)$"
	keeps      = "^Test(KeptCoverage|KeptOutcomes|KeptNotAborted|SleepIsNotTimed)$"
	handOver   = "^Test(Stack|HandOverRace|SlotWaitsForPassingThief)$"
	cores      = "^Test(SetCoresPrograms|LastSetCoresCounts|Pause|PausedBorder|IdleIsTold|ProcessorsForAllPools)$"
)

// brief makes a hanging mutant die soon, and rapid keep no file of it.
var brief = []string{"-test.timeout=40s", "-test.short", "-rapid.nofailfile", "-rapid.shrinktime=0s"}

// thorough is brief with all rounds: for races of a few nanoseconds.
var thorough = []string{"-test.timeout=60s", "-test.count=8", "-rapid.nofailfile", "-rapid.shrinktime=0s"}

// engineMutants are mistakes in the engine at the module's root.
var engineMutants = []mutant{
	{name: "engine/publish-without-swap", wrong: "a theft during a publication is forgotten", file: "stack.go", pkg: ".", run: stackTests, args: thorough,
		old: "if w.ts.CompareAndSwap(v, v&^0xffffffff|uint64(ns)) {", new: "if w.ts.Store(v&^0xffffffff | uint64(ns)); true {"},
	{name: "engine/claim-without-swap", wrong: "owner and thief both get a job", file: "stack.go", pkg: ".", run: stackTests, args: thorough,
		old: "if w.ts.CompareAndSwap(v, uint64(tail)<<32|uint64(ns)) {", new: "if w.ts.Store(uint64(tail)<<32 | uint64(ns)); true {"},
	{name: "engine/steal-without-swap", wrong: "two thieves get one job", file: "stack.go", pkg: ".", run: stackTests, args: thorough,
		old: "if v.ts.CompareAndSwap(x, x+1<<32) {", new: "if v.ts.Store(x + 1<<32); true {"},
	{name: "engine/claim-stolen", wrong: "a stolen job is run by its owner too", file: "stack.go", pkg: ".", run: stackTests, args: brief,
		old: "		if tail > h {\n			return false\n		}\n", new: ""},
	{name: "engine/steal-newest", wrong: "thieves take the newest job", file: "stack.go", pkg: ".", run: stackTests, args: brief,
		old: "r := (*v.slotTab.Load())[tail]", new: "r := (*v.slotTab.Load())[split-1]"},
	{name: "engine/stale-slots", wrong: "thieves look at the array before it grew", file: "stack.go", pkg: ".", run: programs, args: brief,
		old: "	w.slotTab.Store(&s)\n", new: "	if len(s) == firstSlots {\n		w.slotTab.Store(&s)\n	}\n"},
	{name: "engine/wish-lost-in-growth", wrong: "a thief's wish is forgotten when the stack grows", file: "frame.go", pkg: ".", run: stackTests, args: brief,
		old: "		w.attention() // the new", new: "		// the new"},
	{name: "engine/slot-reused-under-thief", wrong: "an owner drops a job whose thief has yet to read the slot", file: "join.go", pkg: ".", run: stackTests + "|" + programs, args: append([]string{"-test.count=5"}, brief...),
		old: "if s == fresh || !r.state", new: "if !r.state"},
	{name: "engine/drained-while-helping", wrong: "a worker sleeps on although what it waits for came back", file: "join.go", pkg: ".", run: programs, args: append([]string{"-test.count=30"}, brief...),
		old: "for w.drain(); w.counts.back == before; w.drain() {", new: "for got := false; !got; got = func() bool { before = w.counts.back; w.drain(); return w.counts.back != before }() {"},
	{name: "engine/park-without-second-look", wrong: "what comes back while a worker parks does not wake it", file: "park.go", pkg: ".", run: programs + "|" + border + "|" + lives, args: append([]string{"-test.count=10"}, brief...),
		old: "	if w.finished.Load() != nil || w.abortWanted() {\n", new: "	if false {\n"},
	{name: "engine/nobody-woken", wrong: "a result does not wake its owner", file: "run.go", pkg: ".", run: border + "|" + programs, args: brief,
		old: "	o.wake()\n", new: ""},
	{name: "engine/abort-wakes-nobody", wrong: "a parked worker does not notice the abort of its job", file: "pool.go", pkg: ".", run: lives, args: brief,
		old: "		v.limit.Store(0)\n		v.wake()\n", new: ""},
	{name: "engine/rest-without-second-look", wrong: "a job that appears while a worker goes to rest is missed", file: "sched.go", pkg: ".", run: "^TestManySmallRuns$", args: brief,
		old: "	if work {\n", new: "	if false {\n"},
	{name: "engine/inbox-tells-nobody", wrong: "a root in the inbox wakes no worker", file: "sched.go", pkg: ".", run: lives, args: brief,
		old: "	p.inboxLen.Add(1)\n	p.mu.Unlock()\n	p.workAppeared()\n", new: "	p.inboxLen.Add(1)\n	p.mu.Unlock()\n"},
	{name: "engine/finished-child-lost", wrong: "an abort forgets the result of a child that has finished", file: "join.go", pkg: ".", run: lives, args: brief,
		old: "	w.detach(r, h) // it finished in time, its result may still be wanted\n	w.popStolen(h)", new: "	w.popBack(h)"},
	{name: "engine/dropped-job-runs", wrong: "a thief begins a job that was dropped", file: "run.go", pkg: ".", run: stackTests, args: brief,
		old: "if !r.state.CompareAndSwap(stolen, running) {", new: "if !r.state.CompareAndSwap(stolen, running) && false {"},
	{name: "engine/abort-unseen", wrong: "a running job never notices its abort", file: "run.go", pkg: ".", run: lives, args: brief,
		old: "			panic(abortPanic{s.r})\n", new: ""},
	{name: "engine/children-forgotten", wrong: "a frame ends before its children", file: "run.go", pkg: ".", run: lives, args: brief,
		old: "	if w.head != base || len(w.failed) > failed {\n		w.syncTo(base)\n	}\n", new: ""},
	{name: "engine/panic-leaves-children", wrong: "a job that panicked leaves its children on the stack", file: "run.go", pkg: ".", run: lives + "|" + programs, args: brief,
		old: "		for w.head > base {\n			w.drop()\n		}\n", new: ""},
	{name: "engine/frame-lost-after-panic", wrong: "jobs after a failed one have wrong IDs", file: "run.go", pkg: ".", run: lives + "|" + programs, args: brief,
		old: "		w.cur = cur\n		if aborted &&", new: "		if aborted &&"},
	{name: "engine/frames-below-popped", wrong: "a frame pops slots of the frame below", file: "future.go", pkg: ".", run: stackTests, args: brief,
		old: "for w.hasChildren() && w.slots[w.head-1].consumed {", new: "for w.head > 0 && w.slots[w.head-1].consumed {"},
	{name: "engine/taken-twice", wrong: "a result can be taken twice", file: "future.go", pkg: ".", run: stackTests + "|" + lives, args: brief,
		old: "if r.id != id || r.consumed || r.slot >= w.head || w.slots[r.slot] != r {", new: "if r.slot >= w.head && r.id != id {"},
	{name: "engine/groups-mixed", wrong: "a loop gets another group's results", file: "ready.go", pkg: ".", run: programs, args: brief,
		old: "		if q.group == group {\n			r", new: "		if q.group >= group {\n			r"},
	{name: "engine/last-finished-first", wrong: "results come in the reverse order of completion", file: "ready.go", pkg: ".", run: "^TestReadyInOrder$", args: brief,
		old: "		q.last.next = r\n		q.last = r\n", new: "		r.next = q.first\n		q.first = r\n"},
	{name: "engine/early-end-aborts-nothing", wrong: "leaving a Results loop leaves its group running", file: "group.go", pkg: ".", run: "^TestEarlyEndAborts$", args: brief,
		old: "					if !yield(res) {\n						g.abort()\n", new: "					if !yield(res) {\n"},
	{name: "engine/abort-not-counted", wrong: "jobs do not add up", file: "run.go", pkg: ".", run: "^Test(JobsAddUp|AbortCountsEachFrame)$", args: brief,
		old: "w.counts.unwound += w.cur>>depthShift - depth + 1", new: "w.counts.unwound += 1 + 0*depth"},
	{name: "engine/result-accepted-twice", wrong: "a taken job can be completed twice", file: "outside.go", pkg: ".", run: border, args: brief,
		old: "if t.back || t.r.state.Load() != running {", new: "if false {"},
	{name: "engine/thief-not-told", wrong: "a thief outside is not told of an abort", file: "join.go", pkg: ".", run: border, args: brief,
		old: "		if s == running {\n			w.pool.tellDropped(r)\n		}\n", new: ""},
	{name: "engine/wrong-type", wrong: "a result of the wrong type is delivered", file: "record.go", pkg: ".", run: border, args: brief,
		old: "	(*task[A, R])(unsafe.Pointer(r)).res = v\n	return ok\n", new: "	(*task[A, R])(unsafe.Pointer(r)).res = v\n	return ok || true\n"},
	{name: "engine/cores-tell-nobody", wrong: "workers in the middle of a job do not notice that their core is taken", file: "cores.go", pkg: ".", run: cores, args: brief,
		old: "	if p.free.Load() < 0 {\n		p.callAll()\n	}\n", new: ""},
	{name: "engine/cores-wake-nobody", wrong: "workers sleep on although there are cores again", file: "cores.go", pkg: ".", run: cores, args: brief,
		old: "	for p.free.Load() > 0 {\n		w := p.next()", new: "	for p.free.Load() > 1 {\n		w := p.next()"},
	{name: "engine/core-handed-on", wrong: "a core that must be given up goes to the next worker", file: "park.go", pkg: ".", run: cores, args: brief,
		old: "	case p.giveUp():\n", new: ""},
	{name: "engine/core-kept-at-rest", wrong: "a worker without a job keeps a core that was taken away", file: "sched.go", pkg: ".", run: cores, args: brief,
		old: "if p.resumable.Load() > 0 || p.free.Load() < 0 {\n			w.counts", new: "if p.resumable.Load() > 0 {\n			w.counts"},
	{name: "engine/fed-in-silence", wrong: "nobody outside is told that a core has work again", file: "cores.go", pkg: ".", run: cores, args: brief,
		old: "		h.Fed()\n", new: "		_ = h\n"},
	{name: "engine/pools-forgotten", wrong: "GOMAXPROCS leaves no processor to the network when there are several pools", file: "cores.go", pkg: ".", run: cores, args: brief,
		old: "want += int32(q.allowed) - min(q.free.Load(), 0)", new: "want = max(want, 1+int32(q.allowed)-min(q.free.Load(), 0))"},
	{name: "engine/nil-fits-everywhere", wrong: "a nil function is spawned into a slot that has no room for its argument", file: "stack.go", pkg: ".", run: "^TestNilFunction$", args: brief,
		old: "		r.key = unsafe.Pointer(r) //", new: "		//"},
	{name: "engine/error-forgotten", wrong: "an error that nobody takes is lost", file: "join.go", pkg: ".", run: "^TestForgotten", args: brief,
		old: "	r.id = id | doneBit\n	w.noteFailure(r)\n", new: "	r.id = id | doneBit\n"},
	{name: "engine/stolen-error-forgotten", wrong: "an error of a stolen child that nobody takes is lost", file: "join.go", pkg: ".", run: "^TestForgotten", args: brief,
		old: "		w.popStolen(h)\n		w.noteFailure(r)\n", new: "		w.popStolen(h)\n"},
	{name: "engine/siblings-error", wrong: "a job fails for what its sibling forgot", file: "run.go", pkg: ".", run: "^TestForgotten", args: brief,
		old: "	w.failBase = failed\n", new: ""},
	{name: "engine/own-error-hidden", wrong: "a forgotten error hides the one that the job returned", file: "run.go", pkg: ".", run: "^TestForgotten", args: brief,
		old: "} else if !ran || r.d.ops.err(r) == nil {", new: "} else if ran || !ran {"},
	{name: "engine/taken-error-counts", wrong: "an error that was taken fails the job too", file: "future.go", pkg: ".", run: "^TestForgotten", args: brief,
		old: "	w.crossOut(r)\n", new: ""},
	{name: "engine/threads-given-back", wrong: "Go gets threads back that run only when nothing else does", file: "sched.go", pkg: ".", run: "^TestIdle(ThreadsEnd|Priority)$", args: brief,
		old: "	ended = true\n", new: "	ended = true\n	runtime.UnlockOSThread()\n"},
	{name: "engine/path-of-detached", wrong: "a job run ahead of its Get has its parent's path", file: "join.go", pkg: ".", run: "^TestPaths$|" + lives, args: brief,
		old: "	w.enter(id, cur)\n", new: "	w.enter(cur, cur)\n"},
}
