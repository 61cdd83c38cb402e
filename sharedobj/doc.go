// Package sharedobj keeps the values that jobs share: it names them, gets them to the peers whose jobs read them, and
// holds a job back until what it reads is here.
//
// A version is a value. A job names in its argument what it reads, so it stays a pure function of its argument, and
// two peers that have the same name have the same bytes. There are five kinds, and one way to name them all, the
// Recipe:
//
//   - A constant is never written. Its digest is a hash of its registered name and its content.
//   - A phased object goes from version to version. The digest of a version is a hash of the digest before it, of the
//     write that leads to it and of the state that it leads to. Each write is a global method, a pure function of
//     state and write that every replica applies for itself.
//   - A lattice has one value that only grows by a join that is commutative, associative and idempotent. Its digest
//     is that of its seed: what it is about and its least value. Any join of valid offers must give an acceptable
//     result, so nothing about it is ordered.
//   - An argument is that of one job which is too large to go with it. It is gone with the job.
//   - An outcome is what came of a job, too large for a message.
//
// # The core
//
// A Core is one state machine for one peer in one run. It does no I/O, starts no goroutine and reads no clock: each
// input carries the time, randomness comes in through Rand, and the same inputs give the same outputs, to the byte.
// Inputs are messages of other cores (Step), gossip (Hear), time (Tick), failures of the transport (SendFailed),
// membership (SetMembers, Lost), and what the engine here did (Created, Wrote, Read, Offered, JobCame, JobDone, and
// the answers to orders: Applied, Joined, Encoded, Guarded). Each returns an Output: orders and messages, in the
// order in which they are to be carried out. Nothing blocks. A Core is not safe for concurrent use.
//
// The core never runs code of the application. It orders Apply, Join and Guard, and gets the outcome as bytes.
//
// # What it guarantees
//
// The network may lose, delay, repeat and reorder any message, and any peer may stall, leave, crash or lie. Then:
//
//   - What the engine gets as a digest's value (Here) hashes to what the digest names.
//   - A job is ordered to begin (Ready) only when all it names is here, its parent's values of lattices are joined,
//     and its guard, if it has one, was true. It is ready, or goes back within Config.Patience of the last piece that
//     came of what it names, and within Config.ReadPatience in any case.
//   - What is pinned stays; all that is held together stays within Config.MaxBytes.
//   - Lattices of peers that hear each other now and then become equal when nobody offers any more.
//   - Every table, queue and message is bounded by Config, and nothing is taken in that was not asked for.
//
// # How
//
// A digest that is missing is fetched: that is the only mechanism that correctness rests on, and a late joiner, one
// that comes back, a partition and a lost message are all cases of it. Gossip of small writes and announcements of
// larger ones only make it rare. What the digest names is a Recipe, which proves itself; it names blobs by the top of
// a tree of hashes (blob.go), whose pieces of 16 KiB are each verified as they come, from several sources at once
// (pull.go). A chain of writes is fetched where that is shorter than the state (fetch.go).
//
// One copy for each cluster goes over a wide-area link, which is MagPIe's rule: the peers of a cluster ask the one of
// them that ranks first for the digest (place.go), which asks elsewhere and passes pieces on as they come.
// Announcements of large writes take the same way down (spread.go), and what is announced is pulled, not pushed. So a
// write crosses each link once and reads are local, as in RepMI (Albatross paper, sections 2.1 and 2.2).
//
// Nothing here fills a link. Pieces, and questions, are under way in windows that shrink when they are not answered in
// time, and what was asked is not asked again while the answer may be on its way; what nobody has is asked for ever
// more rarely (asking.go, seek.go). A cluster compares its lattices with others about as often as one peer would, by
// itself, however many it has; inside it each peer compares. Without that a link of 24 KB/s between two clusters of
// six was busy with repetitions alone, and no value came over it in the time that jobs wait.
//
// # Blobs
//
// A constant is a blob under a name, so whoever knows name, size and hash of some bytes, those of a module for
// example, can have them fetched and verified like what jobs share: the Recipe made of them gives the digest that is
// to be Read, and Created enters them where they are.
//
// Guards, and the waiting for what they want, are those of the Satin paper (van Nieuwpoort et al., Satin: a
// High-Level and Efficient Grid Programming Model, sections 3.2 and 4.2), but for the digests: a guard there
// is a test of a replica that may be stale, a digest is the same test made exact and free of order.
package sharedobj
