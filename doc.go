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
// Only Get, Try, Sync, Results, Run, Close and Take may block. Blocked jobs give their core away.
//
// # What a job may be
//
// A registered top-level function of one argument and one result, both encodable (see Register), and pure: its result
// depends on its argument alone. Arguments are handed over by reference inside a process and by value between
// processes, so nobody may change what they point to. On a machine that fails, a job may run again elsewhere.
//
// The model is that of Satin (van Nieuwpoort et al., "Satin: a High-Level and Efficient Grid Programming Model"),
// with Go functions in place of marked Java methods.
package satin
