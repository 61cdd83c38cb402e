// Package pipe takes the engine port through a pair of pipes: [Engine] is an engine for a driver, and what it
// is told comes from, and goes to, the engine that [Serve] has at the other end, as a rule in another process.
//
// A message is the CBOR encoding of an order or an event (package wire), in one frame or several (parts.go).
// Decoding is strict, and an event that no correct engine tells ends the connection: what is at the other end
// runs other people's jobs and may have been damaged by them.
//
// Nothing here holds the driver up. Whoever gives an order writes it, as long as the pipe takes it without waiting,
// so that no other goroutine has to wake first; else it waits in a queue (queue.go), from which a shared value goes
// that is forgotten before it was written. An engine that does not take maxUnwritten bytes of orders is given up.
// Events wait for Poll; when they take maxUnread bytes of memory, nothing more is read, so that the pipe fills and the
// other end waits. It waits for nothing else: so either the driver polls or it is busy, and neither side can wait for
// the other one's waiting.
//
// A job is fetched before somebody asks for it (stock.go), so that most steals do not wait for the other process.
//
// When the pipe ends, for whatever reason, Poll tells all that came before, and then once that the engine died.
package pipe
