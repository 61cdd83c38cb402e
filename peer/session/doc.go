// Package session drives one peer's part in one run: a [steal.Core], which decides, and a [satin.Pool], which computes.
//
// The core does no I/O and knows no jobs; the pool knows no peers. A Session stands between them. It carries out the core's
// orders (take a job and give it away, run a stolen one, deliver an outcome), tells the core what the workers do, and turns
// arguments and outcomes into bytes and back. This is the only place where they are encoded.
//
// # What it guarantees
//
// All inputs of the core happen on one goroutine, the loop, in the order in which they came from each source. The loop never
// waits for the network or for a job: messages leave through Config.Send, which must not block; Pool.Take, which may wait a
// millisecond for a worker, has a goroutine of its own; encoding an outcome is the work of the worker that computed it.
//
// Received blocks while the loop is behind by more than inboxLength messages, which is how a flood is felt by who sends it.
// Everything else returns at once, but Close and Leave.
//
// # Why no news is lost
//
// Workers may not wait for the loop. What they have to say goes into a list under a mutex, or shows in the pool's own figures (which cores
// are idle), and then a token goes into the channel bell, which has room for one. The loop takes the token out first and looks at list
// and pool afterwards. So news that came before the look is seen by it; news that comes after it finds the bell empty and leaves a
// token, and the loop looks again. The list is bounded by what the core has handed out: one ending for every segment, one
// dropping for every lease, one answer for every Take.
package session
