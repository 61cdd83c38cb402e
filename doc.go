// Package satin is a programming model for recursive programs that run on many cores and machines as if they
// were one. Package internal/engine runs them on the cores of this machine; what they may use of it is here. Both
// need nothing but the standard library.
//
// A job is a call that may run elsewhere: Spawn makes one, Get waits for its result. In between, the program calls
// on, and an idle core steals the job if it can use one.
//
//	func fib(f *satin.Frame, n int) int {
//		if n < 2 {
//			return n
//		}
//		x := satin.Spawn(f, fib, n-1) // may run elsewhere
//		y := fib(f, n-2)              // an ordinary call
//		return x.Get() + y
//	}
//
// Nearly all jobs run in place, in the goroutine that spawned them, at the price of some nanoseconds and without an
// allocation. So a program spawns whatever could run in parallel, as deep as it likes, and leaves it to the engine
// which few jobs move. Run with a nil Pool it is the sequential program, with the same result.
//
// # The ideas
//
//   - Spawn and Future.Get: one child. Future.Try: the same, with a panic as an error.
//   - Fork and Group.Results: many children of one function, taken in order of completion. The loop's body is an
//     inlet: it runs in the spawner's frame, never at the same time as the frame or another body, and leaving the
//     loop aborts the children that are still at work.
//   - Frame.Sync, Frame.Abort, Frame.Aborted: all children of the running job.
//   - SpawnErr, ForkErr: functions that may return an error. Failures arrive as a JobError, which names the job.
//     RegisterError keeps errors.Is true of what failed on another machine.
//   - ShareConstant, Share, ShareLattice: data that many jobs read, some that changes from step to step, and
//     some that all jobs see grow, such as the bound of a search. Keep: bytes that outlive the run.
//   - Pool, Run: the cores, and a run on them. Pool.Stats and Pool.Progress tell how it goes. Pool.SetCores
//     changes the number of cores meanwhile.
//
// # Guarantees
//
// A job runs at most once on a Pool without thieves outside, and its result is taken exactly once. A job ends
// after its children: one whose result nobody wants is waited for, and if it fails, so does the job. An inlet
// overlaps nothing of its frame. Abort is best effort. The order in which children run is not defined; what
// is written before a Spawn is visible to the child, and what a child wrote is visible after its Get.
//
// # What may block
//
// These wait for a child that a thief has, and their worker's core goes to another job meanwhile: Get of a Future
// or FutureErr, Try, Sync, Results and Tries between two bodies, leaving such a loop early or Abort of a Group (for
// children that are newer and not of the group), and the end of a job that left children behind. All of them run
// what was not stolen first. Read of a Constant, an Object or a Kept, and Write, wait in the same way for a value
// that is not here; so do Value, About and Offer of a Lattice whose handle came from elsewhere, and not in the
// job's own argument. Exec waits for the executable, which has the worker's core as long.
//
// Besides these, what spawns (Spawn, SpawnErr, Spawn of a Group) and Get may give their core to a job that goes
// on, or to SetCores, which asks for fewer. Run, RunErr, RunNamed and RunPartial wait for the run, Close for the
// workers, Stats and Progress for 20 ms at most.
//
// Nothing else does: Fork, ForkErr, Abort of a Frame, Aborted, Deeper, ID, NewConstant, ShareConstant, Share,
// ShareLattice, Keep, NewPool, SetCores, Cores, Workers, Hints, what registers and what makes an Option return at
// once.
//
// A job must not wait for its own pool: Run and Close panic when a job calls them there. What a job waits for in
// other ways (a goroutine that it started and that calls Run there, a job of another pool that does, a channel)
// is not noticed; the core is held meanwhile, and when all cores are, the pool stands still.
//
// # What a job may be
//
// A registered top-level function of one argument and one result, both encodable (see Register), and pure: its result
// depends on its argument alone. Arguments are handed over by reference inside a process and by value between
// processes, so nobody may change what they point to. On a machine that fails, a job may run again elsewhere.
//
// # What jobs share
//
// What a job reads besides its argument is named in its argument, by a handle: a Constant, that nobody
// changes; one version of an Object, whose next version comes of a write by a registered function; or a
// Lattice, a value that only grows, by a registered join. So a job stays a pure function of its argument, but
// for the reading of a lattice: a program must have the same result whatever valid offers a Value has joined,
// which RunPartial tries. Inside a process sharing is by reference. Constants and versions travel with the
// jobs that name them; a lattice's value is shared by the jobs of one process, also those that come to it
// from elsewhere.
//
// docs/writing-applications.md is for whoever writes programs; example_test.go, loops_test.go and shared_test.go have
// some to begin with: searches, a loop with its reduction, alpha-beta, and branch and bound.
//
// The model is that of Satin (van Nieuwpoort et al., "Satin: a High-Level and Efficient Grid Programming Model"),
// with Go functions in place of marked Java methods.
package satin
