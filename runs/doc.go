// Package runs is the life of runs on one peer: who has which, when one begins and ends, whose word about that
// counts, and where its answer is kept. It is a state machine: what is heard, commands, ticks and the ends of what
// it ordered go in, and orders come out, which package peer carries out. It does no I/O, has no clock, draws
// nothing at random, starts no goroutine and takes no lock: the same inputs give the same orders. Statements come in
// with their authors, whose signatures were checked outside.
//
// # Whose word counts
//
// A run's owner signs a manifest, and ends its run by a tombstone. The tombstones of others about it mean nothing:
// they are kept by run and author, because a peer may hear one before it knows who the owner is. Of what an owner says
// of one run, what is final replaces what is not, and among the latter the higher number counts, so that an
// older "suspended" does not undo "resumed".
//
// A run whose owner is lost is answered by whoever holds the root job then, and that peer claims so (Claim).
//
//   - For a peer that takes part, a claim counts only if the owner and all deputies before its author are silent,
//     or say the same; of an author that is none of the deputies, only if that holds of all of them. Its author must
//     have been heard as master while they were silent, or somebody else have ended the run by it; where the beacons
//     were missed, nobody else may have been heard to hold the root for Config.Vacant. That shows that it led openly,
//     not that it computed.
//   - An owner that holds its root believes itself, unless it was away. One that does not, because it was away,
//     takes no part, or has given the root up, believes a deputy that has shown as much. If it has not only given it
//     up, it has not been there to hear who led: it asks those who take part, and believes any admitted member if
//     none of them says that the run goes on, or one of them has ended the run by that claim or heard its author
//     lead, or nobody was heard to lead for Config.Vacant. With nobody to ask it waits for Config.LeadsFor, unless
//     it has heard the author lead for as long: others may be about to be met. So who finished alone is believed,
//     which nobody can tell from a liar that is alone with the owner; what the answer rests on says so. Whoever only
//     keeps an answer for its author says nothing of it. Once it has its root back, it believes only a deputy: if
//     another one has ended the run by that claim, or none of them has said that the run goes on. The owner believes
//     the answer, not the claim: it fetches the outcome, and outside its hash is compared and it is read.
//
// # What holds
//
//   - An own run is announced only after it is written down, and its answer is told only after it is on the disk, or
//     after the disk has refused it, which whoever waits is told.
//   - A run has one accepted answer. A second one that differs is kept beside it and the run is disputed;
//     neither displaces the other, and what this peer computed itself is never given up for what another says.
//   - No run goes on here after its owner's final tombstone was heard, and a cancelled one never comes back: the
//     cancellation is on the disk before anybody is told. A suspended one stays so until it is resumed.
//   - An answer kept for an owner is told to it whenever it is met, until it has it, has cancelled the run, or
//     Config.HeldFor is over. What was written down of an own run may be lost: the answer is found all the same,
//     because the peer that keeps it has the manifest.
//
// All tables are bounded: Config has the bounds.
package runs
