// Package peer builds a member of a swarm: identity and connections (package host), the protocol that moves
// jobs (stream), what is told to everybody (gossip), clusters (locality), and the life of runs, which it
// describes to the commands through package control. Package runs decides what becomes of runs; conductor.go
// carries that out.
//
// # Parts
//
// A Peer is parts with a job each; assemble.go puts them together, and daemon.go passes commands on to them. A part
// is made with what it needs of the others, has a mutex of its own if it has state, and is in the file of its name.
// All of them work with one Base: a log, a clock, and goroutines that Close waits for.
//
// # A run
//
// Its owner signs a manifest (package statement), keeps it, starts the root job here and announces the run by
// gossip. A peer that hears of it fetches the manifest from whoever announced it, checks it, and takes part
// if it has the application in the same version: it makes a session (package session), which steals.
// Newcomers learn of the runs in progress from the first member they meet. When the root job ends, the owner
// writes the answer to disk, syncs it, and only then tells anybody; a signed tombstone ends the run
// everywhere. Gossip may lose all of this: the owner announces again and again, and the peers that take part
// ask the owner and others now and then whether the run still is.
//
// # What it survives
//
// Every participant keeps the manifest. When the owner is lost, another one becomes master (package steal
// says which), keeps the answer for the owner, has two more peers keep it, and says so in a signed statement;
// package runs has the rules whose statement counts. A peer that was restarted finds its own runs, the
// answers that it keeps for others (archive.go) and the checkpoints of other runs (resume.go) in its state
// directory. What finishes of a run is kept there, too, while it lives (package ledger), unless the disk does
// not take it: then the run goes on without.
//
// # Several runs
//
// Each has a session with a pool of its own. The arbiter divides the cores among them.
//
// # What waits
//
// Open and Submit write to disk, ResumeRun reads a checkpoint. Leave takes at most the time its context
// allows, and Suspend at most 15 s for collecting what others have. Nothing else waits for other peers: every
// exchange with one has a deadline of its own and a goroutine that nobody waits for.
package peer
