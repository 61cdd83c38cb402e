// Package sim runs thousands of protocol cores (package steal) in virtual time on one goroutine: modelled
// engines that run modelled job trees, a modelled wide-area network (package wan), and everything that can go
// wrong. Where jobs share values (share.go) the core of package sharedobj stands beside the other one on its driver.
//
// # What is real and what is modelled
//
// The cores and their policies are the ones that run in the swarm, unchanged, and the sizes of messages are
// those of the real encoding. Modelled are: the engine (queue, frames and workers, engine.go), job trees
// (tree.go, shapes.go), the local network (latency, and a bandwidth that each peer's interface shares among
// its messages), the wide-area network, clocks, the spreading of membership, and processor time that messages
// cost.
//
// Two things are not as in a swarm. What is told to everybody (gossip.go) crosses each link between clusters once,
// where a swarm's mesh may bring several copies. And of long messages no more is under way than the least that the
// swarm's transport allows (bulk.go).
//
// # Guarantees
//
// A run is a function of its Config: the same configuration gives the same run, byte for byte in its trace,
// on every machine. Nothing depends on map order, wall clock, goroutines or fused floating-point
// instructions. Runs share nothing but immutable trees, so several may run at once.
//
// Every run is checked, at every step, for the invariants named in invariant.go; a violation ends it with an
// error that says which, when and where.
//
// # Faults
//
// fault.go lists the kinds of fault; Config.Faults says when which strikes whom. Schedule draws random runs
// with random faults from a seed: the material of the exactness tests, and of the seeds that satin-sim
// replays.
//
// # Speed
//
// An event costs well under a microsecond: the queue is a four-way heap without pointers, trees are computed
// from hashes and need no memory, an inner job is not an event.
package sim
