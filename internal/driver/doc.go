// Package driver carries out what the protocol cores decide. It is the only place where that is done: peers,
// the simulator and the cores' own tests use it, so what is tested is what runs.
//
// A [Driver] stands between a [steal.Core], which knows no jobs, an engine behind its port ([port.Engine]),
// which knows no peers, and a [Transport]. It has no goroutine, no clock and no randomness: the caller feeds it
// messages, gossip, ticks, and what the engine tells. One goroutine may do so at a time.
//
// Beside it, if jobs share values, stands a core of package sharedobj, which gets these values to where they are
// read. The driver is between the two as well: it tells the one what jobs name, and the other when they may begin
// (shared.go). Inputs and orders of both are in the same queues.
//
// # The order in which things happen
//
// What is fed in are inputs; what the core wants done are messages, which leave at once, and orders.
//
//  1. While an input waits, the oldest is given to the core. The messages that this makes the core send are
//     given to the transport before anything else happens; the orders go to the end of the queue of orders.
//  2. When no input waits, the oldest order is carried out. What the engine tells meanwhile becomes an input.
//  3. When neither waits, the call ends.
//
// So an order is carried out when the core has heard all that the engine had to say until then, orders are
// carried out in the order in which the core gave them, and no order is carried out inside another one.
//
// Nothing recurses: an input that comes while the driver is at work, from the engine or from the transport, is
// put at the end of the inputs, and the call that is at work takes it up; it is the same for a single input
// and for several. Nothing is lost: a call ends only when both queues are empty, and an order leaves its queue
// only to be carried out. The slices of a core's output belong to the core until its next input; by then their
// content has been sent or copied.
//
// A call ends, for the engine answers an order with events that are bounded by what the order names, and a
// core gives orders for an event only about jobs, segments and requests that it then counts as dealt with.
package driver
