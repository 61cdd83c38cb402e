// Package compute is the engine behind its port: it runs registered functions on a [engine.Pool] of this
// process, and turns arguments and outcomes into bytes and back. This is the only place where they are encoded.
//
// An [Engine] has no loop of its own: whoever drives it gives orders with Do and collects events with Poll, on
// one goroutine, which waits neither for workers nor for encodings: Pool.Take, which may wait a millisecond for
// a worker, has a goroutine of its own; encoding an outcome is the work of the worker that computed it, and
// encoding a job that leaves that of whoever took it out.
//
// # Recovery
//
//   - Workers ask Salvage before they begin a job under a restarted one. They look into the snapshot of the
//     last LostWork order, without a lock; a hit leaves the pool as though it had been stolen, and comes back by
//     Deliver or PutBack, and then it is not looked up again.
//   - Workers offer the outcome of each job that took KeepAfter or longer in place. It is encoded, unless the
//     driver is far behind or encoding has taken more than a hundredth of the workers' time. What is dropped is
//     counted, and computed again if need be. A job that panicked is not kept: the cause may be this machine.
//
// # Why no news is lost
//
// Workers may not wait for the driver. What they have to say goes into a list under a mutex, or shows in the
// pool's own figures (which cores are idle), and then a token goes into the channel bell, which has room for
// one. The driver takes the token out first and calls Poll, which looks at list and pool, afterwards. So news
// that came before the look is seen by it; news that comes after it finds the bell empty and leaves a token,
// and the driver looks again. The list is bounded by what was ordered: one ending for every segment, one
// dropping for every job outside, one answer for every Take and Count; and by the pool's jobs: one finding for
// each. What jobs share, and leave by satin.Keep, only the memory of their process bounds. Kept outcomes have a bounded
// list of their own, and wait for the next pulse, which comes as long as a worker works, or for news; they leave a
// token only when that list is half full.
package compute
