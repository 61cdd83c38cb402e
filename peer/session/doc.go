// Package session drives one peer's part in one run, by the wall clock: it gives a [driver.Driver] messages,
// gossip, ticks and what the engine tells, carries the driver's words to the network, its outcomes to a store,
// and remembers what people want to know of the segments that ran here.
//
// # What it guarantees
//
// Everything that the driver is fed comes in on one goroutine, the loop, in the order in which it came from
// each source. The loop never waits for the network, for a disk or for a job: messages leave through
// Config.Send, news through Config.Tell and outcomes through Config.Store, none of which may block, and the
// engine does not block either.
//
// Received blocks while the loop is behind by more than inboxLength messages, which is how a flood is felt by
// whoever sends it. Figures and Segments wait figuresPatience at most. Everything else returns at once, but Close,
// Leave and Cancel.
//
// # Recovery
//
// The core decides what becomes of lost work (package steal). What the session adds: the root is a segment, at
// whichever peer is the run's master, and its outcome goes to Config.Answer; two masters may both have one, and
// whoever takes them makes one of them. The store gets what finishes here, and what others' results bring
// home: so the disk of one survivor knows of most of the run. If it cannot write, the run goes on and Stats
// say so. A naive run stores nothing.
//
// When the engine dies, this peer says goodbye in this run at once: what it held is queued again elsewhere.
//
// # Why no news is lost
//
// What others have to say goes into a list under a mutex, and then a token goes into the channel bell, which
// has room for one. The loop takes the token out first and looks at the list afterwards. So news that came
// before the look is seen by it; news that comes after it finds the bell empty and leaves a token, and the
// loop looks again. With the engine's bell it is the same.
package session
