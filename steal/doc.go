// Package steal moves jobs between peers: the protocol core that keeps account of who stole what, so that every
// stolen job's outcome comes home exactly once whatever the network does. Whom to steal from is for a policy to say
// (package policy).
//
// # The core
//
// A Core is one state machine for one peer in one run. It does no I/O, starts no goroutine, reads no clock
// and draws no randomness of its own: each input carries the time, randomness comes in through Rand, and the
// same inputs give the same outputs, to the byte. Inputs are messages from other cores (Step), the passing of
// time (Tick), reports from the engine that runs jobs (Report, Taken, Finished, Aborted, Found, Keep), gossip
// (Hear), failures of the transport (SendFailed) and changes of membership (SetMembers). Each input returns
// an Output: orders to the engine and messages to send, in the order in which they are to be carried out.
// Next says when the core wants to be ticked. Nothing blocks. A Core is not safe for concurrent use.
//
// It is composed of machines, each with the state of one concern, that share who they are, the time and the output
// (shared.go). None has more than some thirty methods, and each knows only some of those before it:
//
//	partners    peers that are known, and when each is owed a heartbeat
//	segments    what is held here for others: what waits, runs, or has a result that is not acknowledged
//	leases      what was given away: handles, thieves
//	lostWork    outcomes kept, what others told of theirs, what is told to them, what the engine is shown of it
//	mirror      copies of outcomes, to whoever waits for the job above them
//	relay       the way of a result
//	book        moves jobs between engine, leases and segments, until each slot is filled once
//	adoption    brings orphans and the jobs above them, run again, together
//	victim      answers requests
//	thief       asks the policy, sends requests
//	losses      what becomes of the work of a peer that is gone
//	liveness    who is gone
//	mastership  who has the root (an election that knows of nothing else), and leading, which does what it says
//	departure   leaving
//	pastime     what idle workers wait for
//
// # What it guarantees
//
// The network may lose, delay, repeat and reorder any message, peers may join at any time, and any peer may
// stall, leave or crash. Then:
//
//   - The engine sees at most one Deliver or PutBack for a job that it gave away or found (a slot is filled once).
//   - While messages get through now and then, it sees one of them in the end (no job is lost).
//   - An outcome that is used matches run, path and identity, whoever had it. Those of aborted jobs are never kept.
//   - A message of another run, an earlier life of a peer, an unknown handle or a repeated one changes
//     nothing but a counter.
//   - Every queue, table and message is bounded by Config.
//
// Jobs may run more than once: after a lost reply, a lost peer, a long silence. They are pure, so only time
// is lost. Gossip, and all that is done to use lost work again, may fail in any way: that too costs only
// time.
//
// # How
//
// Return addresses. A victim issues a Handle for each job that it gives away, fresh for every gift, and the
// result comes back to (peer, incarnation, handle). The handle is closed by the first of: a result, the
// result of a copy, a return, a goodbye or new life of the thief, two missing inventories, an abort. After
// that everything that carries it is stale and is dropped and counted.
//
// Write before send. The victim enters thief and handle into its lease table before the reply leaves. If the
// reply cannot be written (SendFailed) the jobs go back into the queue and the handles are closed.
//
// Inventory leases. Every heartbeat lists the receiver's handles that the sender holds, from the moment it
// got the job to the moment its result was acknowledged. A job that is missing from two consecutive
// heartbeats, both of which could have known of it, goes back into the queue: its reply was lost, though
// nobody is suspected dead. A handle that is listed but not leased is answered with an Abort: the thief works
// for nobody. Waiting for changes of membership instead hangs (72 of 2,000 simulated schedules did; none
// of 200,000 with inventories).
//
// Results are repeated until acknowledged, and acknowledged even when nobody waits for them, so that the
// thief can forget.
//
// Liveness. Partners, peers between which jobs are out, exchange heartbeats, rarer over slow links; each says
// when the next will come. One that is silent for three periods is lost: the jobs it holds run again as
// copies, while the leases stay open, since silence is not proof. If it is heard again and still holds a job,
// the copy is dropped; else the first outcome counts. Only a goodbye or a new life closes its leases. Jobs
// held for an owner are given up after three times that silence. A core whose own ticks come late gives
// everybody the time it missed: after a stall it must not believe that the rest of the world has died.
//
// Relays. A policy that is a Router may send results to another cluster through a third one: wrapped for a
// peer there, which sends them on once. Handles and incarnations are those of the two ends; the relay keeps
// nothing.
//
// Lost work (losses.go). A job whose owner is gone is an orphan: it runs on. Outcomes are kept (store.go), also
// after they went home, and told to everybody when an owner is lost (tell.go). What others tell is in a table
// (tuples.go). The engine gets a snapshot of it (orphans.go), asks it before it begins a job under a
// restarted one, and hands what it finds to the core, which adopts the orphan (adopt.go): from then on it is
// a stolen job like any other. A peer that leaves hands over what it keeps (leave.go).
//
// Masters. The root is a segment without owner (book_segments.go). When its master falls silent, another peer
// starts it again (masters_election.go) and finds the lost one's jobs as orphans.
package steal
