// Package deposits decides which members keep copies of what somebody wants to outlive his machine: a deposit, some
// bytes that never change, named by their digest. A [Core] has no I/O, clock, goroutine or randomness. The bytes
// themselves are fetched, and verified, by package library.
//
// # The rule
//
// Everybody ranks the members for a deposit alike, by a hash of both names. Whoever has it looks now and then whether
// the first Config.Copies of the others have it too, and asks those that do not to keep it. Who refuses, or cannot
// be asked, is passed over for a while, and the next one asked. So it does not matter who made a deposit: each of those
// that have it sees to it that enough others do, and when one is gone for good another takes its place.
//
// # What holds
//
//   - Nothing is kept for others beyond Config.MostOf deposits of one giver, Config.Most of all, and what the Room
//     has. What is handed on counts as its giver's, wherever it is; what another wants kept for longer, as that one's.
//   - A deposit that is not as large as was said is dropped when it has come, and one that does not come is, too; at
//     most Config.Coming are on their way. Where another said its size rightly it is kept as that one's.
//   - A deposit ends at its time, which is at most Config.Life away whatever is asked for.
//   - As long as one member that has a deposit is there and Copies others have room and can be asked, they will have
//     it; what was passed over is tried again.
//   - Questions that are not answered yet are at most Config.AtOnce.
//   - Messages may be lost, late, repeated or wrong: that costs time. Whoever says that it keeps what it does not keep
//     is believed: Copies is how many such members, less one, may be gone or lie.
package deposits
