// Package session drives one peer's part in one run: a [steal.Core], which decides, and a [engine.Pool], which
// computes.
//
// The core does no I/O and knows no jobs; the pool knows no peers. A Session stands between them. It carries
// out the core's orders (take a job and give it away, run a stolen one or the root, deliver an outcome, tell
// news), tells the core what the workers do, and turns arguments and outcomes into bytes and back. This is
// the only place where they are encoded.
//
// # What it guarantees
//
// All inputs of the core happen on one goroutine, the loop, in the order in which they came from each source.
// The loop never waits for the network, for a disk or for a job: messages leave through Config.Send, news
// through Config.Tell and outcomes through Config.Store, none of which may block; Pool.Take, which may wait a
// millisecond for a worker, has a goroutine of its own; encoding an outcome is the work of the worker that
// computed it.
//
// Received blocks while the loop is behind by more than inboxLength messages, which is how a flood is felt by
// who sends it. Everything else returns at once, but Close, Leave and Cancel.
//
// # Recovery
//
// The core decides what becomes of lost work (package steal). What the session adds:
//
//   - The root is a segment, at whichever peer is the run's master. Its outcome goes to Config.Answer. Two
//     masters may both have one; whoever takes them makes one of them.
//   - Workers ask Salvage before they begin a job under a restarted one. They look into a snapshot of what
//     the core knows, without a lock; a hit leaves the pool as though it had been stolen, and the core gets
//     the outcome, or puts the job back, and then it is not asked about again.
//   - Workers offer the outcome of each job that took KeepAfter or longer in place. It is encoded, unless the
//     loop is far behind or encoding has taken more than a hundredth of the workers' time, and goes to the
//     core and to the store. What is dropped is counted, and computed again if need be. A job that panicked
//     is not kept: the cause may be this machine.
//   - The store gets what finishes here, and what others' results bring home: so the disk of one survivor
//     knows of most of the run. If it cannot write, the run goes on and Stats say so.
//
// A naive run does none of this but restart the root.
//
// # Why no news is lost
//
// Workers may not wait for the loop. What they have to say goes into a list under a mutex, or shows in the
// pool's own figures (which cores are idle), and then a token goes into the channel bell, which has room for
// one. The loop takes the token out first and looks at list and pool afterwards. So news that came before the
// look is seen by it; news that comes after it finds the bell empty and leaves a token, and the loop looks
// again. The list is bounded by what the core has handed out: one ending for every segment, one dropping for
// every lease, one answer for every Take; and by the pool's jobs: one finding for each. Kept outcomes have a
// bounded list of their own.
package session
