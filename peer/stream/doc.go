// Package stream carries steal.Message between peers over libp2p: small messages at once, long results
// without standing in their way.
//
// # Guarantees
//
//   - Send never waits for the network or for another caller's message. What cannot be queued is reported to
//     Handler.Failed.
//   - Messages from one peer to another arrive in the order of their Sends, except those with a long result,
//     which travel beside the others. The core profits from the order and does not depend on it.
//   - Failed means certainly not delivered. Silence means nothing: a message that was written may still be lost with
//     its connection, which is why results are acknowledged and heartbeats carry inventories.
//   - A message arrives at most once, valid by itself (steal.Message.Validate), and its From.Peer is the peer
//     that sent it. (What is inside a Relayed one may be somebody else's.)
//   - A partner that is dead, stalled, slow or hostile costs the others nothing but the memory that Config allows it.
//   - Nothing waits longer than its own deadline: a dial Config.DialTimeout, a write Config.WriteTimeout, a
//     frame that has begun Config.FrameTimeout, a transfer without progress Config.StallTimeout.
//
// # Streams
//
// A control stream is used in one direction: each of two partners opens its own to the other when it first
// has something to say, keeps it, and is its one writer. So it does not matter when both begin at the same
// moment, and there is no stream to be settled on: with one stream for both directions, the loser of that
// race has already written messages to the stream that is given up, and they are lost, or come after later
// ones. The price is a second stream for each pair, some kilobytes.
//
// Order across streams. A sender opens another control stream to the same peer after it has closed the one
// before (nothing to say for a while) or lost it. The handler of the new stream may run at the receiver
// before the old stream's is done: two goroutines, and in QUIC no order between streams at all. So every
// stream begins with a number (wire.Opening), and the receiver takes turns: the reader of a stream begins
// when the one before it has ended (turn.go).
//
// Backpressure. Handler.Received runs on the goroutine that reads the stream. While it is blocked nothing
// more is read from this partner, the stream's flow control fills, then the partner's queue for us, then its
// Sends fail. Other partners have readers of their own.
//
// Latency. A message goes from Send to the stream through one goroutine, the partner's writer; what was
// queued while it wrote is written at once, as one. There is no timer and no flush interval. On the other
// side the reader itself calls Received.
//
// Between two processes of one machine a steal over TCP takes 4 us longer than an empty libp2p stream's 33, over
// QUIC 5 longer than 42 (`make bench BENCH=steal`). None of it is the hand-over to the writer: no thread is woken
// that an empty stream would not wake (2.4 futex calls a round trip of both sides, with it and without). Measured
// side by side, four pairs of processes each, over TCP and QUIC, as multiples of the stream:
//
//	as it is                                                        1.11, 1.10
//	the reader writes what Received has queued, without a deadline  1.10, 1.10
//	the writer waits on a condition instead of a channel            1.12, 1.12
//	no garbage is collected (GOGC=off; TCP only)                    1.14
//	the clock is read once less for each message (TCP only)         1.13
//
// and with one pair each, where two pairs of the same program were 1.16 and 1.15: the reader yields to the writer
// 1.17, the writer spins for 3 us before it sleeps 1.43, for 15 us 2.40, another goroutine between Received and
// Send, as the loop of package session is one, 1.17. What is left is spread over what a stream does not do, none
// of it more than 0.7 us of a round trip: the clock, encoding and decoding, memory, finding the partner, locks.
// To write in Send with a deadline of a millisecond was slower still (66 us against 60): a timer that is the next
// to fire wakes whoever sleeps in the poller, each time.
//
// # Long results
//
// A Result (also a Relayed one) whose outcome is longer than Config.BulkFrom goes over a second stream, in
// chunks of 16 KiB of which no more are unacknowledged than the link holds by itself (window.go). So no queue
// of them stands in front of a steal (with 2 MB under way over a link of 100 ms and 100 KB/s its round trip
// is 322 ms, on a stream of its own without this window 839, behind the result 5,234). Several results to one
// partner take turns, chunk by chunk. A receiver that has no room refuses, and cuts off transfers that are late
// (laggards.go); the core sends its results again. So it does when one breaks off: there is no resumption.
//
// # Misbehaviour
//
// A frame that is too long, malformed, not decodable or begun and not ended is an offence: the stream is
// reset and counted. After Config.Offences within Config.OffenceWindow the peer is refused for
// Config.RefuseFor: its streams are reset unread and Sends to it fail.
//
// Safe for concurrent use.
package stream
