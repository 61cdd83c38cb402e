// Package verify decides when an outcome that a stranger has computed is believed, and names who has lied. It is a pure
// core: no I/O, clock, goroutine or randomness of its own; the same inputs give the same orders.
//
// # What is checked
//
// A Node is a job whose outcome comes from a peer that is not trusted. Whoever brings it commits to the whole tree of
// nodes below it: a Claim has a hash over identity, outcome and the children's claims, so nothing of it can be
// changed afterwards, and any node of it can be opened. A node is a pure function of its argument and of its
// children's outcomes; so a single one is checked by running it again with these supplied, at the price of that node
// and not of what is below it.
//
// # The three ways
//
//   - Quorum: an outcome is believed when so many peers with different introducers have come to it. Two that differ are
//     settled by descent: both open the node, and the first child that both have and whose outcome differs is next,
//     until there is none. That node is run again here with the outcomes on which they agree, and whoever is wrong is
//     its author. It takes as many steps as the tree is deep (Canetti, Riva and Rothblum, Practical Delegation of
//     Computation using Multiple Servers, 2011; van den Hooff, Kaashoek and Zeldovich, VerSum, 2014).
//   - Doubt: as Quorum, but as many copies as the records of those call for who bring an outcome; the file
//     credibility.go has the formulas, and what is assumed.
//   - Spot: some nodes of the tree, drawn after the commitment, are opened and run again: as many as the rate says that
//     are drawn alike, and then some by the time that they took as their author says; the file audit.go has the draws.
//
// # What is promised
//
// Nobody is blamed whose claims are those of its jobs: blame rests on a node that was run again here. A wrong outcome
// is believed by quorum only if as many peers as it takes, with different introducers, agree on it; when one of them is
// caught elsewhere, what rests on it is taken back. Spot checks find who skips work, and machines that err often: of
// a claim with a share f of false nodes the probability to pass k draws that are alike is (1-f)^k, whatever its author
// says of times. They do not find one false leaf in a million. Whoever does not open what it has claimed is not
// believed, and not blamed either: this machine computes the job, and that decides.
//
// Jobs must be functions of their arguments alone, as far as outcomes are compared: of those that may honestly differ
// the caller gives what all right ones have in common. What the caller knows to be right, or wrong, by itself
// (Proven, Refuted) is not compared with anything, and nothing is that turns out to differ where it may (Unlike): this
// machine's outcome counts then.
package verify
